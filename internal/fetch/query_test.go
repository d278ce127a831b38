package fetch

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

func TestParametersAreFoundOutsideOfTextsAndComments(t *testing.T) {
	for text, want := range map[string]string{
		`select 1`:                                    ``,
		`select :a, :b.c, :a`:                         `a b.c a`,
		`select ':a', ":b", ` + "`:c`" + `, :d`:       `d`,
		`select 'it''s :a', :b`:                       `b`,
		"select 1 -- :a\n, :b":                        `b`,
		"select 1 /* :a */, :b":                       `b`,
		`select a::text, :b::int`:                     `b`,
		`select x[1:2], '12:30'`:                      ``,
		`select :a. from t`:                           `a`,
		`select data ?| array['x'], :a`:               `a`,
		`select :keys where id in (:keys) -- the end`: `keys keys`,
	} {
		q, err := parseSQL("query", text)
		if err != nil || strings.Join(q.names, " ") != want {
			t.Errorf("%s: %v, %v; want %s", text, q, err, want)
		}
	}
}

func TestAQueryThatCannotBeReadSaysWhere(t *testing.T) {
	for text, want := range map[string]int{
		`select 'a`:         7,
		`select 1 /* a`:     9,
		`select a from ?`:   14,
		`select $1`:         7,
		"select `a, b":      7,
		`select "a, b from`: 7,
	} {
		_, err := parseSQL("source.query", text)
		var e *component.SettingError
		if !errors.As(err, &e) || e.Offset != want || e.Setting != "source.query" {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func texts(s ...string) (vs []message.Value) {
	for _, one := range s {
		vs = append(vs, message.String(one))
	}
	return vs
}

func TestListsOfKeysAreFilledUpToAPowerOfTwo(t *testing.T) {
	q, err := parseSQL("query", "select * from t where id in (:keys) and lang = :lang")
	if err != nil {
		t.Fatal(err)
	}
	d := sqLite("x")
	text, args, err := q.build(d, Params{Keys: texts("a", "b", "c"), "lang": texts("ja")})
	if err != nil || text != "select * from t where id in (?,?,?,?) and lang = ?" ||
		!slices.Equal(args, []any{"a", "b", "c", "c", "ja"}) {
		t.Errorf("%s %v %v", text, args, err)
	}
	if _, _, err = q.build(d, Params{"lang": texts("ja"), Keys: nil}); err == nil {
		t.Error("no keys were asked for")
	}
	if _, _, err = q.build(d, Params{Keys: texts("a")}); err == nil || !strings.Contains(err.Error(), ":lang") {
		t.Error(err)
	}
}

func TestPostgreSQLTakesKeysAsAnArray(t *testing.T) {
	q, err := parseSQL("query", "select * from t where id = ANY ( :keys ) or id in (:keys)")
	if err != nil {
		t.Fatal(err)
	}
	d, err := postgres("postgres://u@h/d")
	if err != nil {
		t.Fatal(err)
	}
	text, args, err := q.build(d, Params{Keys: {message.Int(7), message.String(`a"\{,}`), message.Null()}})
	want := []any{`{"7","a\"\\{,}",NULL}`, "7", `a"\{,}`, nil, nil}
	if err != nil || text != "select * from t where id = ANY ( $1 ) or id in ($2,$3,$4,$5)" ||
		!slices.Equal(args, want) {
		t.Errorf("%s %#v %v", text, args, err)
	}
}

func TestADatabaseIsNamedWithoutShowingItsPassword(t *testing.T) {
	for _, address := range []string{"", "oracle://scott:tiger@h/d", "postgres://u:tiger@h:x/d", "mysql://u:tiger@/d",
		"mysql://u:tiger@h/d?parseTime=tiger", "mysql://u:tiger@%zz/d"} {
		_, err := NewSQL(SQL{Database: address, Query: "select 1"}, "source.")
		var e *component.SettingError
		if !errors.As(err, &e) || e.Setting != "source.database" || strings.Contains(err.Error(), "tiger") {
			t.Errorf("%s: %v", address, err)
		}
	}
	for address, want := range map[string]string{"a b.db": "SQLite", "sqlite:///tmp/x": "SQLite",
		"postgresql://h/d": "PostgreSQL", "mariadb://u@h/d": "MySQL"} {
		if d, err := newDialect(address); err != nil || d.name != want {
			t.Errorf("%s: %s, %v", address, d.name, err)
		}
	}
}

// FuzzQuery: whatever the text, what is taken apart is the text again, and an error points into it.
func FuzzQuery(f *testing.F) {
	for _, s := range []string{"select :a", "':a'", "/*:a*/ :b", "a::b :c.", "-- :x\n:y", "\"", ":keys in (:keys)", "?",
		"$1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := parseSQL("query", text)
		if err != nil {
			var e *component.SettingError
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset >= len(text) {
				t.Fatalf("%v", err)
			}
			return
		}
		var b strings.Builder
		for i, name := range q.names {
			if !isNameStart(name[0]) || strings.HasSuffix(name, ".") {
				t.Fatalf("the name %q", name)
			}
			b.WriteString(q.texts[i] + ":" + name)
		}
		if b.String()+q.texts[len(q.names)] != text {
			t.Fatalf("%q was taken apart into %q and %q", text, q.texts, q.names)
		}
	})
}
