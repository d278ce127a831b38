package codec_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hikyaku/hikyaku/internal/codec"
	"github.com/hikyaku/hikyaku/internal/message"
)

func mustNew(t testing.TB, c codec.Config) *codec.Decoder {
	t.Helper()
	d, err := codec.New(c)
	if err != nil {
		t.Fatalf("New(%+v): %v", c, err)
	}
	return d
}

// attributeList shows attributes with their kinds.
func attributeList(as message.Attributes) string {
	var list []string
	for _, a := range as {
		list = append(list, fmt.Sprintf("%s=%#v", a.Name, a.Value))
	}
	return strings.Join(list, " ")
}

var decodeCases = []struct {
	name       string
	config     codec.Config
	in         string
	body       string
	attributes string
}{
	// JSON
	{"json is made compact", codec.Config{Codec: "json"}, " { \"b\" : [ 1 , 2.50 ] ,\n \"a\" : { } } \n",
		`{"b":[1,2.50],"a":{}}`, ""},
	{"json may be any value", codec.Config{Codec: "json"}, ` [ 1 ] `, `[1]`, ""},
	{"json keeps huge numbers", codec.Config{Codec: "json", Attributes: "all"},
		`{"a":9007199254740993,"b":18446744073709551615,"c":123456789012345678901234567890,"d":0.1234567890123456789,"e":1e3,"f":-0}`,
		`{"a":9007199254740993,"b":18446744073709551615,"c":123456789012345678901234567890,"d":0.1234567890123456789,"e":1e3,"f":-0}`,
		"a=integer(9007199254740993) b=integer(18446744073709551615) c=decimal(123456789012345678901234567890) " +
			"d=decimal(0.1234567890123456789) e=float(1000) f=integer(0)"},
	{"json escapes are read for attributes and left in bodies", codec.Config{Codec: "json", Attributes: "all"},
		`{"k\u0065y":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\ud800x"}`,
		`{"k\u0065y":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\ud800x"}`,
		"key=string(\"\\/\b\f\n\r\té😀\ufffdx)"},
	{"all are the record's own scalars", codec.Config{Codec: "json", Attributes: "all"},
		`{"s":"x","t":true,"n":null,"o":{"x":1},"l":[1],"":"unnamed","a.b":2}`,
		`{"s":"x","t":true,"n":null,"o":{"x":1},"l":[1],"":"unnamed","a.b":2}`,
		"a.b=integer(2) n=null() s=string(x) t=bool(true)"},
	{"all are not the fields of fields, though these may have types",
		codec.Config{Codec: "json", Attributes: "all", Types: map[string]string{"o.x": "int"}},
		`{"o":{"x":"1","y":"2"},"z":3}`, `{"o":{"x":1,"y":"2"},"z":3}`, "z=integer(3)"},
	{"dots reach into objects", codec.Config{Codec: "json", Attributes: []any{"user.address.city", "user.id"},
		Types: map[string]string{"user.id": "int"}},
		`{"user":{"id":"007","address":{"city":"大阪","zip":"1"}},"list":[{"id":3}]}`,
		`{"user":{"id":7,"address":{"city":"大阪","zip":"1"}},"list":[{"id":3}]}`,
		"user.address.city=string(大阪) user.id=integer(7)"},
	{"fields inside arrays are no fields of the record",
		codec.Config{Codec: "json", Attributes: []string{"a.b"}, Types: map[string]string{"a.b": "int"}},
		`{"x":[{"a":{"b":"no"}}]}`, `{"x":[{"a":{"b":"no"}}]}`, ""},
	{"types read strings and numbers",
		codec.Config{Codec: "json", Types: map[string]string{"a": "string", "b": "float", "c": "timestamp(unix_ms)",
			"d": "bool", "e": "int"}},
		`{"a": 1.0, "b": "1.50", "c": 1767323045123, "d": "yes", "e": null}`,
		`{"a":"1.0","b":1.50,"c":"2026-01-02T03:04:05.123Z","d":true,"e":null}`, ""},
	{"of a name that is there twice the last is the attribute", codec.Config{Codec: "json", Attributes: "all"},
		`{"a":1,"a":2}`, `{"a":1,"a":2}`, "a=integer(2)"},

	// CSV
	{"csv fields are strings", codec.Config{Codec: "csv", Columns: []string{"a", "b"}}, "1, x\r\n",
		`{"a":"1","b":" x"}`, ""},
	{"csv quotes", codec.Config{Codec: "csv", Columns: []string{"a", "b", "c"}},
		"\"x, \"\"y\"\"\",\"two\r\nlines\",\"\"", `{"a":"x, \"y\"","b":"two\r\nlines","c":""}`, ""},
	{"csv quotes at the edges", codec.Config{Codec: "csv", Columns: []string{"a", "b", "c", "d"}, Attributes: "all",
		Delimiter: "|"}, `""""|plain|""""""|"|"`, `{"a":"\"","b":"plain","c":"\"\"","d":"|"}`,
		`a=string(") b=string(plain) c=string("") d=string(|)`},
	{"csv with another delimiter", codec.Config{Codec: "csv", Columns: []string{"a", "b"}, Delimiter: "tab"},
		"1,2\t\"3\t4\"", `{"a":"1,2","b":"3\t4"}`, ""},
	{"csv with a wide delimiter", codec.Config{Codec: "csv", Columns: []string{"名", "b"}, Delimiter: "、"}, "山田、\"一、二\"",
		`{"名":"山田","b":"一、二"}`, ""},
	{"csv empty fields", codec.Config{Codec: "csv", Columns: []string{"a", "b", "c"},
		Types: map[string]string{"b": "int"}, Attributes: "all"}, ",,", `{"a":"","b":null,"c":""}`,
		"a=string() b=null() c=string()"},
	{"csv one empty column", codec.Config{Codec: "csv", Columns: []string{"a"}}, "", `{"a":""}`, ""},
	{"csv without an end to its columns", codec.Config{Codec: "csv", Columns: []string{"at"}, Rest: "value",
		Types: map[string]string{"value": "float"}}, "now,1.5,,\"2\"",
		`{"at":"now","value1":1.5,"value2":null,"value3":2}`, ""},
	{"csv of nothing but the rest", codec.Config{Codec: "csv", Rest: "c", Attributes: []any{"c"}}, "x,y",
		`{"c1":"x","c2":"y"}`, "c1=string(x) c2=string(y)"},
	{"csv whose rest is empty", codec.Config{Codec: "csv", Columns: []string{"a"}, Rest: "c"}, "x", `{"a":"x"}`, ""},
	{"csv types", codec.Config{Codec: "csv", Columns: []string{"i", "f", "d", "b", "t", "l"}, Attributes: "all",
		Types: map[string]string{"i": "int", "f": "float", "d": "decimal", "b": "bool", "t": "timestamp",
			"l": "timestamp(02/Jan/2006:15:04:05 -0700)"}},
		"+0012, 2.50 ,.10,No,2026-01-02 03:04:05,02/Jan/2026:03:04:05 +0900",
		`{"i":12,"f":2.50,"d":0.10,"b":false,"t":"2026-01-02T03:04:05Z","l":"2026-01-01T18:04:05Z"}`,
		"b=bool(false) d=decimal(0.10) f=float(2.5) i=integer(12) l=time(2026-01-01T18:04:05Z) " +
			"t=time(2026-01-02T03:04:05Z)"},
	{"csv integers of any size",
		codec.Config{Codec: "csv", Columns: []string{"a"}, Types: map[string]string{"a": "int"}, Attributes: "all"},
		"-170141183460469231731687303715884105728", `{"a":-170141183460469231731687303715884105728}`,
		"a=decimal(-170141183460469231731687303715884105728)"},
	{"bodies keep nanoseconds",
		codec.Config{Codec: "csv", Columns: []string{"a", "b"},
			Types: map[string]string{"a": "timestamp", "b": "timestamp(unix)"}, Attributes: "all"},
		"2026-01-02T03:04:05.123456789+09:00,-1.000000001",
		`{"a":"2026-01-01T18:04:05.123456789Z","b":"1969-12-31T23:59:58.999999999Z"}`,
		"a=time(2026-01-01T18:04:05.123456Z) b=time(1969-12-31T23:59:58.999999Z)"},

	// logfmt
	{"logfmt", codec.Config{Codec: "logfmt", Types: map[string]string{"status": "int"}, Attributes: []any{"status"}},
		`at=info method=GET path="/a \"b\" \u00e9" status=200 debug empty= q=a=b`,
		`{"at":"info","method":"GET","path":"/a \"b\" é","status":200,"debug":true,"empty":"","q":"a=b"}`,
		"status=integer(200)"},
	{"logfmt: the last of a key counts, at the place of the first", codec.Config{Codec: "logfmt", Attributes: "all"},
		"a=1 b=2 a=3", `{"a":"3","b":"2"}`, "a=string(3) b=string(2)"},
	{"logfmt of nothing", codec.Config{Codec: "logfmt"}, " \t\r\n", `{}`, ""},

	// regex
	{"regex", codec.Config{Codec: "regex", Pattern: `^(?P<host>\S+) (?P<status>\d+)(?: (?P<note>.+))?$`,
		Types: map[string]string{"status": "int"}, Attributes: "all"},
		"例え.jp 404", `{"host":"例え.jp","status":404,"note":null}`, "host=string(例え.jp) note=null() status=integer(404)"},

	// text, bytes
	{"text stays", codec.Config{Codec: "text"}, "飛脚 \x00 ok", "飛脚 \x00 ok", ""},
	{"bytes stay", codec.Config{Codec: "bytes"}, "\xff\xfe", "\xff\xfe", ""},
	{"no codec is bytes", codec.Config{}, "\xff\xfe", "\xff\xfe", ""},
}

func TestDecode(t *testing.T) {
	for _, c := range decodeCases {
		t.Run(c.name, func(t *testing.T) {
			in := []byte(c.in)
			out, err := mustNew(t, c.config).Decode(&message.Message{Body: in})
			if err != nil {
				t.Fatal(err)
			}
			if string(in) != c.in {
				t.Errorf("the input was changed to %q", in)
			}
			if string(out.Body) != c.body {
				t.Errorf("body\n got %s\nwant %s", out.Body, c.body)
			}
			if got := attributeList(out.Attributes); got != c.attributes {
				t.Errorf("attributes\n got %s\nwant %s", got, c.attributes)
			}
		})
	}
}

func TestDecodeKeepsTheRestOfTheMessage(t *testing.T) {
	m := &message.Message{ID: message.NewID(), Key: "k", Time: time.Unix(1, 0), Body: []byte(`{"b":2}`),
		Row: []message.Value{message.Int(1)}}
	m.Attributes.Set("a", message.String("stays"))
	m.Attributes.Set("b", message.String("goes"))
	before := attributeList(m.Attributes)
	out, err := mustNew(t, codec.Config{Codec: "json", Attributes: "all"}).Decode(m)
	if err != nil {
		t.Fatal(err)
	}
	if out.ID != m.ID || out.Key != "k" || !out.Time.Equal(m.Time) {
		t.Errorf("id, key or time changed: %+v", out)
	}
	if out.Row != nil {
		t.Errorf("the row of the old body is still there: %v", out.Row)
	}
	if got, want := attributeList(out.Attributes), "a=string(stays) b=integer(2)"; got != want {
		t.Errorf("attributes %s, want %s", got, want)
	}
	if got := attributeList(m.Attributes); got != before {
		t.Errorf("the message given was changed: %s", got)
	}
	if text, err := mustNew(t, codec.Config{Codec: "text"}).Decode(m); err != nil || len(text.Row) != 1 {
		t.Errorf("text lost the row: %+v, %v", text, err)
	}
}

func TestManyAttributesAreSortedAndUnique(t *testing.T) {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "k%04d=%d k%04d=last ", 1999-i, i, i)
	}
	m := &message.Message{Body: []byte(b.String())}
	m.Attributes.Set("a", message.Int(1))
	m.Attributes.Set("k0000", message.String("old"))
	out, err := mustNew(t, codec.Config{Codec: "logfmt", Attributes: "all"}).Decode(m)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Attributes) != 2001 {
		t.Fatalf("%d attributes, want 2001", len(out.Attributes))
	}
	for i := 1; i < len(out.Attributes); i++ {
		if out.Attributes[i-1].Name >= out.Attributes[i].Name {
			t.Fatalf("%q before %q", out.Attributes[i-1].Name, out.Attributes[i].Name)
		}
	}
	if v, _ := out.Attributes.Get("k0000"); v.AsString() == "old" {
		t.Error("an old attribute hides the field")
	}
}

func TestHeader(t *testing.T) {
	d := mustNew(t, codec.Config{Codec: "csv", Header: true, Types: map[string]string{"n": "int"},
		Attributes: []any{"n"}})
	if !d.NeedsHeader() {
		t.Error("the header is not asked for")
	}
	if _, err := d.Decode(&message.Message{Body: []byte("1,2")}); !errors.Is(err, codec.ErrNoHeader) {
		t.Errorf("Decode before the header: %v", err)
	}
	if _, err := d.WithHeader([]byte("\ufeffname, \"n\"\r\n")); err == nil {
		t.Error("a quote in the middle of a header field was taken")
	}
	first, err := d.WithHeader([]byte("\ufeffname, n \r\n"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := d.WithHeader([]byte("n,other"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		d    *codec.Decoder
		want string
	}{{first, `{"name":"5","n":6}`}, {second, `{"n":5,"other":"6"}`}} {
		if c.d.NeedsHeader() {
			t.Error("a decoder with its header wants one")
		}
		out, err := c.d.Decode(&message.Message{Body: []byte("5,6")})
		if err != nil || string(out.Body) != c.want {
			t.Errorf("got %s, %v, want %s", out.Body, err, c.want)
		}
	}
	plain := mustNew(t, codec.Config{Codec: "csv", Columns: []string{"a"}})
	if same, err := plain.WithHeader([]byte("x")); same != plain || err != nil || plain.NeedsHeader() {
		t.Error("a decoder without header took one")
	}
}

func TestRealPackageLog(t *testing.T) {
	log, err := os.ReadFile("testdata/dpkg.log")
	if err != nil {
		t.Fatal(err)
	}
	d := mustNew(t, codec.Config{
		Codec: "regex",
		Pattern: `^(?P<at>\S+ \S+) (?:startup (?P<startup>.+)|status (?P<state>\S+) (?P<what>\S+) (?P<version>\S+)|` +
			`(?P<action>install|upgrade|configure|trigproc|remove|purge) (?P<package>\S+) (?P<from>\S+) (?P<to>\S+))$`,
		Types:      map[string]string{"at": "timestamp(2006-01-02 15:04:05)"},
		Attributes: []any{"at", "action", "state"},
	})
	actions := 0
	for line := range bytes.Lines(log) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		out, err := d.Decode(&message.Message{Body: line})
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(out.Body, &fields); err != nil {
			t.Fatalf("%s: %v", out.Body, err)
		}
		at, _ := out.Attributes.Get("at")
		if got, want := at.AsTime().Format(time.DateTime), string(line[:19]); got != want {
			t.Errorf("at is %s, want %s", got, want)
		}
		if a, ok := fields["action"].(string); ok {
			actions++
			if want := strings.Fields(string(line)); !cmp.Equal(want[2:],
				[]string{a, fields["package"].(string), fields["from"].(string), fields["to"].(string)}) {
				t.Errorf("%s became %s", line, out.Body)
			}
		}
	}
	if actions < 5 {
		t.Errorf("only %d lines with an action", actions)
	}
}

func TestOneDecoderServesManyGoroutines(t *testing.T) {
	var work sync.WaitGroup
	for _, c := range decodeCases {
		d := mustNew(t, c.config)
		for range 4 {
			work.Go(func() {
				for range 50 {
					out, err := d.Decode(&message.Message{Body: []byte(c.in)})
					if err != nil || string(out.Body) != c.body {
						t.Errorf("%s: %v", c.name, err)
						return
					}
				}
			})
		}
	}
	work.Wait()
}
