package rows

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

func TestSettingsAreChecked(t *testing.T) {
	table := []string{"t"}
	for _, c := range []struct {
		config  Config
		setting string
		says    string
	}{
		{Config{}, "table", "missing"},
		{Config{Table: []string{""}}, "table", "empty"},
		{Config{Table: []string{"a..b"}}, "table", "empty"},
		{Config{Table: []string{`"a`}}, "table", "not closed"},
		{Config{Table: []string{"a", "b\x00"}}, "table", "NUL"},
		{Config{Table: table, Mode: "replace"}, "mode", "insert, upsert, once, update and delete"},
		{Config{Table: table, Key: []string{"a"}}, "key", "mode: update and delete"},
		{Config{Table: table, Mode: "upsert", NoSuchRow: "reject"}, "no_such_row", "mode: update and delete"},
		{Config{Table: table, Mode: "update", NoSuchRow: "keep"}, "no_such_row", "deliver nor reject"},
		{Config{Table: table, Mode: "update", Key: []string{""}}, "key", "empty"},
		{Config{Table: table, Mode: "delete", Key: []string{"a", "a"}}, "key", "twice"},
		{Config{Table: table, Mode: "update", Key: []string{"a"}, Columns: Mapping{{"b", "x"}}}, "key",
			"does not say what it takes"},
		{Config{Table: table, Mode: "update", Key: []string{"a"}, Columns: Mapping{{"a", "x"}}}, "columns",
			"the key alone"},
		{Config{Table: table, Mode: "update", IDColumn: "a"}, "id_column", "key: a"},
		{Config{Table: table, Mode: "delete", Create: true}, "create", "finds rows"},
		{Config{Table: table, Unknown: "keep"}, "unknown", "reject nor drop"},
		{Config{Table: table, Missing: "drop"}, "missing", "reject, null and default"},
		{Config{Table: table, PoolSize: -1}, "pool_size", "negative"},
		{Config{Table: table, Columns: Mapping{{"a", "$keys"}}}, "columns.a", "did you mean $key"},
		{Config{Table: table, Columns: Mapping{{"a", "x"}, {"a", "y"}}}, "columns.a", "twice"},
		{Config{Table: table, IDColumn: "a", Columns: Mapping{{"a", "x"}}}, "columns.a", "id_column"},
		{Config{Table: table, Create: 7}, "create", "definitions"},
		{Config{Table: table, Create: "a"}, "create", "type of a"},
		{Config{Table: table, Create: "a int, a text"}, "create", "twice"},
		{Config{Table: table, Create: []any{"a int", 5}}, "create", "5"},
		{Config{Table: table, Create: []any{}}, "create", "no column"},
		{Config{Table: table, Create: "a int, primary key (a)"}, "create", "columns only"},
		{Config{Table: table, Create: "a int", Columns: Mapping{{"b", "x"}}}, "create", "the column b"},
	} {
		_, err := New(newScripted(), c.config, component.Env{})
		var e *component.SettingError
		if !errors.As(err, &e) || e.Setting != c.setting || !strings.Contains(e.Error(), c.says) {
			t.Errorf("%+v: %v", c.config, err)
		}
	}
	var m Mapping
	if err := m.SetPairs([]component.Pair{{Key: "a", Value: 5}}); err == nil {
		t.Error("a column takes a number")
	}
	if err := m.SetPairs([]component.Pair{{Key: "b", Value: "x"}, {Key: "a", Value: "$id"}}); err != nil ||
		!slices.Equal(m, Mapping{{"b", "x"}, {"a", "$id"}}) {
		t.Error(m, err)
	}
}

func TestTheModeFollowsFromTheIDColumn(t *testing.T) {
	for _, c := range []struct {
		config Config
		want   Mode
	}{{Config{}, Insert}, {Config{IDColumn: "k"}, Once}, {Config{IDColumn: "k", Mode: "insert"}, Insert},
		{Config{IDColumn: "k", Mode: "upsert"}, Upsert}} {
		c.config.Table = []string{"t"}
		s, err := c.config.check()
		if err != nil || s.mode != c.want {
			t.Errorf("%+v: %v, %v", c.config, s.mode, err)
		}
	}
}

func TestDefinitionsAreDividedAtTheirCommas(t *testing.T) {
	columns, _, err := definitions(`id bigint primary key, price decimal(10, 2) default '1,5', "a, ""b""" text check (a in ('x', 'y')),
		at timestamp(6)`)
	var got []string
	for _, c := range columns {
		got = append(got, c.Name+"="+c.Native)
	}
	want := []string{"id=bigint primary key", "price=decimal(10, 2) default '1,5'",
		`a, "b"=text check (a in ('x', 'y'))`, "at=timestamp(6)"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAnIDColumnThatIsNotDefinedIsAdded(t *testing.T) {
	c := Config{Table: []string{"t"}, IDColumn: "id", Create: "a int"}
	s, err := c.check()
	if err != nil || len(s.create) != 2 || s.create[0].Name != "id" || !s.create[0].Key {
		t.Errorf("%+v, %v", s.create, err)
	}
	c.Create = "a int, id varchar(36) primary key"
	if s, err = c.check(); err != nil || len(s.create) != 2 || s.create[1].Key {
		t.Errorf("%+v, %v", s.create, err)
	}
}

func TestColumnsFollowFromMessages(t *testing.T) {
	s := settings{id: "id"}
	batch := []*message.Message{
		{Body: []byte(`{"a":1,"b":null,"c":"x","d":true,"e":[1],"f":1}`)},
		{Body: []byte(`{"a":2.5,"b":null,"c":1,"d":"x","e":"y","g":12345678901234567890}`)},
		{Body: []byte("no object")},
	}
	batch[2].Attributes.Set("h", message.Bytes([]byte("x")))
	got := ""
	for _, c := range s.inferred(batch) {
		got += fmt.Sprintf("%s %v %d; ", c.Name, c.Kind, c.Bits)
	}
	if want := "id text 0; a float 64; b text 0; c text 0; d text 0; e json 0; f integer 64; g float 64; h bytes 0; "; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	if s.inferred(batch[2:2]) != nil || s.inferred([]*message.Message{{Body: []byte("{}")}}) != nil {
		t.Error("a table is made of nothing")
	}
}

func TestAKeyIsFound(t *testing.T) {
	k, u, v := Column{Name: "k", Kind: Int, Bits: 64, Key: true}, Column{Name: "u", Kind: Text, Unique: true},
		Column{Name: "v", Kind: Text, Nullable: true}
	serial := Column{Name: "n", Kind: Int, Bits: 64, Key: true, Unique: true, Default: true}
	k2 := k
	k2.Name, k2.Kind = "k2", UUID
	for _, c := range []struct {
		columns []Column
		s       settings
		key     string // "" is an error
		says    string
	}{
		{[]Column{k, v}, settings{mode: Upsert}, "k", ""},
		{[]Column{k, k2, v}, settings{mode: Once}, "k k2", ""},
		{[]Column{serial, u}, settings{mode: Once, id: "u"}, "u", ""},
		{[]Column{k, k2, v}, settings{mode: Once, id: "k2"}, "k k2", ""},
		{[]Column{k, v}, settings{mode: Once, id: "v"}, "", "is no key"},
		{[]Column{u, v}, settings{mode: Once}, "", "no primary key"},
		{[]Column{serial, v}, settings{mode: Upsert, columns: Mapping{{"v", "v"}}}, "", "not every column is written"},
	} {
		p, err := newPlan(&Table{Name: Name{"t"}, Columns: c.columns}, &c.s)
		if c.key == "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%+v: %v", c.columns, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", c.columns, err)
			continue
		}
		var names []string
		for i, k := range p.full.key {
			names = append(names, k.Name)
			if p.full.columns[p.full.keyAt[i]].Name != k.Name {
				t.Errorf("%+v: the key is not at %v", c.columns, p.full.keyAt)
			}
		}
		if strings.Join(names, " ") != c.key {
			t.Errorf("%+v: the key is %v", c.columns, names)
		}
	}
}

func TestAKeyIsNeverLeftToItsDefault(t *testing.T) {
	for mode, want := range map[string]component.Verdict{"insert": component.Delivered, "upsert": component.Rejected} {
		d := newScripted()
		d.table.Columns[0].Default = true
		s := begin(t, d, Config{Mode: mode})
		d.write = func(context.Context) error { return nil }
		o := sent(t, s, []*message.Message{{Body: []byte(`{"v":"x"}`)}})[0]
		if o.Verdict != want {
			t.Errorf("%s: %v, because %v", mode, o.Verdict, o.Reason)
		}
	}
}

func TestBodiesThatAreNoJSONAreRefusedWithThePlace(t *testing.T) {
	s := begin(t, newScripted(), Config{})
	for body, says := range map[string]string{
		`{"k":1`:                   "at byte 6 there is the end",
		`{"k":1}}`:                 `at byte 7 there is "}"`,
		`{"k":01}`:                 `at byte 6 there is "1"`,
		`{"k":nul}`:                "at byte 5",
		`{"k":"\x"}`:               "an escape that JSON knows",
		`[1]`:                      "no JSON object",
		`k=1`:                      "decode",
		`{}`:                       "the column k of t: the field is missing",
		``:                         "the column k of t: the field is missing",
		`{"k":` + deep(1001) + `}`: "deeper than 1000",
	} {
		o := sent(t, s, []*message.Message{{Body: []byte(body)}})[0]
		if o.Verdict != component.Rejected || !strings.Contains(o.Reason.Error(), says) {
			t.Errorf("%.40s: %v because %v", body, o.Verdict, o.Reason)
		}
	}
}

func TestAMessageWithNothingForTheTableIsRefused(t *testing.T) {
	d := newScripted()
	d.table.Columns = d.table.Columns[1:]
	s := begin(t, d, Config{Unknown: "drop"})
	for _, body := range []string{`{}`, ``, `{"other":1}`, `"text"`} {
		o := sent(t, s, []*message.Message{{Body: []byte(body)}})[0]
		if o.Verdict != component.Rejected || !errors.Is(o.Reason, errNothing) {
			t.Errorf("%s: %v because %v", body, o.Verdict, o.Reason)
		}
	}
}

func deep(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
