package config

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/condition"
)

// every has a field of each kind that a Config may have.
type every struct {
	Text     string            `yaml:"text"`
	Choice   string            `yaml:"choice" oneof:"red green blue" default:"green"`
	Needed   string            `yaml:"needed" required:"true"`
	Flag     bool              `yaml:"flag"`
	Small    int8              `yaml:"small"`
	Count    uint16            `yaml:"count" max:"1000"`
	Whole    int               `yaml:"whole" min:"-5" max:"5"`
	Ratio    float64           `yaml:"ratio" min:"0" max:"1"`
	Size     int64             `yaml:"size" unit:"bytes"`
	RoomKeys int               `yaml:"room_bytes"`
	Wait     time.Duration     `yaml:"wait" default:"5s" min:"1s" max:"1h"`
	List     []string          `yaml:"list"`
	Numbers  []int             `yaml:"numbers"`
	Map      map[string]int    `yaml:"map"`
	Free     any               `yaml:"free"`
	Pointer  *int              `yaml:"pointer"`
	Unset    *bool             `yaml:"unset"`
	Inner    innerSettings     `yaml:"inner"`
	Inners   []innerSettings   `yaml:"inners"`
	ByName   map[string]*inner `yaml:"by_name"`
	Own      evenNumber        `yaml:"own"`
	Ordered  orderedPairs      `yaml:"ordered"`
	Password string            `yaml:"password" secret:"true"`
	embedded `yaml:",inline"`
	Inline   inner `yaml:",inline"`
	Ignored  int   `yaml:"-"`
	Untagged int
}

type innerSettings struct {
	Name string `yaml:"name" required:"true"`
	Wait int    `yaml:"wait_secs" default:"3"`
}

type inner struct {
	Deep string `yaml:"deep"`
}

type embedded struct {
	Below string `yaml:"below" default:"stairs"`
}

type evenNumber int

func (e *evenNumber) UnmarshalText(text []byte) error {
	if _, err := fmt.Sscan(string(text), (*int)(e)); err != nil || *e%2 != 0 {
		return fmt.Errorf("%q is no even number", text)
	}
	return nil
}

type orderedPairs []component.Pair

func (o *orderedPairs) SetPairs(pairs []component.Pair) error {
	for _, p := range pairs {
		if p.Key == "bad" {
			return component.Setting("bad", errors.New("not this one"))
		}
	}
	*o = pairs
	return nil
}

// decode reads a YAML text into every.
func decodeEvery(t *testing.T, text string, env ...string) (every, Errors) {
	t.Helper()
	s, failure := newSource("a.yaml", []byte(text))
	if failure != nil {
		t.Fatal(failure)
	}
	root, failure := read(s)
	if failure != nil {
		t.Fatal(failure)
	}
	d := &decoder{&report{file: s}}
	d.expand(root, environment(env...))
	var e every
	d.mapping(root, "", &e)
	return e, d.result()
}

func TestEveryTypeOfFieldIsFilled(t *testing.T) {
	got, errs := decodeEvery(t, `
text: "飛脚"
choice: blue
needed: x
flag: true
small: -128
count: 0x10
whole: -5
ratio: 1
size: 2k
room_bytes: 1 MiB
wait: 1h
list: one
numbers: [1, 2_000]
map: { a: 1, b: 2 }
free: { a: [1, 1.5, true, null, x], b: 2026-01-02 }
pointer: 0
inner: { name: n }
inners: { name: only }
by_name: { first: { deep: d } }
own: 4
ordered: { z: 1, a: { x: y }, m: [1] }
deep: inlined
password: hunter22
`)
	if errs != nil {
		t.Fatal(errs)
	}
	zero := 0
	want := every{
		Text: "飛脚", Choice: "blue", Needed: "x", Flag: true, Small: -128, Count: 16, Whole: -5, Ratio: 1, Size: 2048,
		RoomKeys: 1 << 20,
		Wait:     time.Hour, List: []string{"one"}, Numbers: []int{1, 2000}, Map: map[string]int{"a": 1, "b": 2},
		Free:    map[string]any{"a": []any{1, 1.5, true, nil, "x"}, "b": "2026-01-02"},
		Pointer: &zero, Inner: innerSettings{"n", 3}, Inners: []innerSettings{{"only", 3}},
		ByName: map[string]*inner{"first": {"d"}}, Own: 4,
		Ordered: orderedPairs{{Key: "z", Value: 1}, {Key: "a", Value: map[string]any{"x": "y"}},
			{Key: "m", Value: []any{1}}},
		embedded: embedded{"stairs"}, Inline: inner{"inlined"}, Password: "hunter22",
	}
	if d := cmp.Diff(want, got, exportAll()); d != "" {
		t.Error(d)
	}
}

func TestDefaultsHoldForKeysThatAreNotThere(t *testing.T) {
	got, errs := decodeEvery(t, "needed: x\ninner: { name: n }\n")
	if errs != nil {
		t.Fatal(errs)
	}
	if got.Choice != "green" || got.Wait != 5*time.Second || got.Inner.Wait != 3 || got.Below != "stairs" {
		t.Errorf("%+v", got)
	}
	if got.Unset != nil || got.Pointer != nil || got.List != nil || got.Map != nil {
		t.Errorf("what is not set is not nil: %+v", got)
	}
}

func TestEveryMistakeInOneFileIsFound(t *testing.T) {
	text := `
text: [x]
choice: gren
flag: "true"
small: 128
count: -1
whole: 6
ratio: 1.5
size: 5 apples
wait: 2h
list: [1]
numbers: { a: 1 }
map: [a]
inner: { wait_secs: 1.5 }
inners: [x]
own: 3
ordered: { good: 1, bad: 2 }
password: [1]
Untagged: 5
`
	_, errs := decodeEvery(t, text)
	want := []string{
		`2:1: "needed" is missing`,
		`2:7: text takes text, not a list`,
		`3:9: choice takes one of red, green, blue, not the text "gren" (did you mean "green"?)`,
		`4:7: flag takes true or false, not the text "true"`,
		`5:8: small: the number 128 is too large`,
		`6:8: count: the number -1 is negative`,
		`7:8: whole is from -5 to 5, not the number 6`,
		`8:8: ratio is from 0 to 1, not the number 1.5`,
		`9:7: size takes a size in bytes like 65536, 64KiB or 10MB, not the text "5 apples"`,
		`10:7: wait is at most 1h, not the text "2h"`,
		`11:8: list[0] takes text, not the number 1 (put it in quotes)`,
		`12:10: numbers takes a list, not a mapping`,
		`13:6: map takes a mapping, not a list`,
		`14:8: "name" is missing in inner`,
		`14:21: inner.wait_secs takes a whole number, not the number 1.5`,
		`15:10: inners[0] takes a mapping, not the text "x"`,
		`16:6: own: "3" is no even number`,
		`17:26: ordered.bad: not this one`,
		`18:11: password takes text, not a list`,
		`19:1: unknown key "Untagged"`,
	}
	for i, e := range errs {
		got := strings.TrimPrefix(e.Error(), "a.yaml:")
		if i >= len(want) || !strings.HasPrefix(got, want[i]) {
			t.Errorf("mistake %d: %s", i, got)
		}
	}
	if len(errs) != len(want) {
		t.Errorf("%d mistakes, not %d", len(errs), len(want))
	}
}

func TestASettingsErrorFindsItsPlace(t *testing.T) {
	s, _ := newSource("a.yaml", []byte(`
program: ". | foo"
encoding: { codec: x, "dotted.key": { a.b: 1 } }
columns: [a, b]
single: c
where: a = = 1
`))
	root, failure := read(s)
	if failure != nil {
		t.Fatal(failure)
	}
	_, bad := condition.Parse("a = = 1")
	for _, c := range []struct {
		err  error
		want string
	}{
		{component.Setting("program", errors.New("no")), "2:10: x.program: no"},
		{&component.SettingError{Setting: "program", Offset: 4, Err: errors.New("no"), Hint: "yes"},
			"2:15: x.program: no (yes)"},
		{&component.SettingError{Setting: "program", Offset: 999, Err: errors.New("no")}, "2:10: x.program: no"},
		{component.Setting("encoding.codec", errors.New("no")), "3:20: x.encoding.codec: no"},
		{component.Setting("encoding.missing", errors.New("no")), "3:11: x.encoding.missing: no"},
		{component.Setting("encoding.dotted.key.a.b", errors.New("no")), "3:44: x.encoding.dotted.key.a.b: no"},
		{component.Setting("columns[1]", errors.New("no")), "4:14: x.columns[1]: no"},
		{component.Setting("columns[7]", errors.New("no")), "4:10: x.columns[7]: no"},
		{component.Setting("single[0]", errors.New("no")), "5:9: x.single[0]: no"},
		{component.Setting("missing", errors.New("no")), "2:1: x.missing: no"},
		{component.Setting("", errors.New("no")), "2:1: x: no"},
		{component.Setting("where", bad), "6:12: x.where: unexpected =: a name or a value is wanted here"},
		{fmt.Errorf("deep down: %w", component.Setting("columns[0]", errors.New("no"))), "4:11: x.columns[0]: no"},
		{errors.New("plain"), "2:1: x: plain"},
	} {
		d := &decoder{&report{file: s}}
		d.setting(c.err, root, "x")
		if got := d.errors[0].Error(); got != "a.yaml:"+c.want {
			t.Errorf("%v is shown as %s, not %s", c.err, got, c.want)
		}
		if !errors.Is(d.errors[0], c.err) {
			t.Errorf("%v is not in the chain", c.err)
		}
	}
}

func TestSizesAndDurations(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "65536": 65536, "64k": 65536, "64K": 65536, "64KiB": 65536, "64kB": 64000, "1M": 1 << 20, "1MB": 1e6,
		"2 GiB": 2 << 30,
		"1T":    1 << 40, "12B": 12, "1_000": 1000,
	} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%s is %d, %v; not %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "k", "1.5k", "1X", "9999999T", "ten"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
	for text, want := range map[string]time.Duration{
		"0": 0, "1h30m": 90 * time.Minute, "7d": 7 * 24 * time.Hour, "250ms": 250 * time.Millisecond,
		"-1s": -time.Second,
	} {
		if got, err := parseDuration(text); err != nil || got != want {
			t.Errorf("%s is %v, %v; not %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "1.5d", "5", "999999999d", "-2d", "1w"} {
		if got, err := parseDuration(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestTheFieldsOfAStructAreFlat(t *testing.T) {
	var names []string
	for _, f := range fieldsOf(reflect.TypeFor[every]()) {
		names = append(names, f.name)
	}
	got := strings.Join(names, " ")
	if !strings.HasSuffix(got, "password below deep") {
		t.Error(got)
	}
}
