package jq_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/transform/jq"
)

func mustNew(t testing.TB, c jq.Config) component.Transform {
	t.Helper()
	tr, err := jq.New(c, component.Env{})
	if err != nil {
		t.Fatalf("New(%+v): %v", c, err)
	}
	return tr
}

// transform gives what comes out for a message; nothing does when there is an error.
func transform(ctx context.Context, tr component.Transform, m *message.Message) ([]*message.Message, error) {
	var out []*message.Message
	err := tr.Transform(ctx, m, func(port string, m *message.Message) {
		if port != "" {
			panic("jq has no port " + port)
		}
		out = append(out, m)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func bodies(ms []*message.Message) []string {
	list := []string{}
	for _, m := range ms {
		list = append(list, string(m.Body))
	}
	return list
}

func attributeList(as message.Attributes) string {
	var list []string
	for _, a := range as {
		list = append(list, fmt.Sprintf("%s=%#v", a.Name, a.Value))
	}
	return strings.Join(list, " ")
}

func letter() *message.Message {
	id, _ := message.ParseID("0190b0a0-0000-7000-8000-000000000001")
	m := &message.Message{ID: id, Key: "k1", Time: time.Date(2026, 1, 2, 3, 4, 5, 600_000_000, time.UTC),
		Body: []byte(`{"n": 12345678901234567890123, "list": [1, 2.50, "三"], "s": "text"}`),
		Row:  []message.Value{message.Int(1)}}
	m.Attributes.Set("lang", message.String("ja"))
	m.Attributes.Set("big", message.Uint(18446744073709551615))
	return m
}

func TestProgramsMakeMessages(t *testing.T) {
	for _, c := range []struct {
		program string
		raw     bool
		want    []string
	}{
		{".", false, []string{`{"list":[1,2.50,"三"],"n":12345678901234567890123,"s":"text"}`}},
		{".n", false, []string{`12345678901234567890123`}},
		{".n + 1", false, []string{`12345678901234567890124`}},
		{".list[]", false, []string{`1`, `2.50`, `"三"`}},
		{".list[], .s", true, []string{`1`, `2.50`, `三`, `text`}},
		{"empty", false, []string{}},
		{"select(.s == \"other\")", false, []string{}},
		{"{level: ($attributes.lang), at: $time, k: $key, id: $id}", false,
			[]string{`{"at":"2026-01-02T03:04:05.6Z","id":"0190b0a0-0000-7000-8000-000000000001","k":"k1","level":"ja"}`}},
		{"$attributes.big", false, []string{`18446744073709551615`}},
		{"$expires, $death", false, []string{`null`, `null`}},
		{"$body.s", false, []string{`"text"`}},
		{".s, halt, .s", false, []string{`"text"`}},
		{"try error(\"x\") catch .", false, []string{`"x"`}},
		{"env, $ENV", false, []string{`{}`, `{}`}},
		{`"<&\u2028>"`, false, []string{"\"<&\u2028>\""}},
		{"nan, infinite", false, []string{`null`, `1.7976931348623157e+308`}},
	} {
		t.Run(c.program, func(t *testing.T) {
			m := letter()
			out, err := transform(t.Context(), mustNew(t, jq.Config{Program: c.program, Raw: c.raw}), m)
			if err != nil {
				t.Fatal(err)
			}
			// \u2028 may stand as it is in JSON; both forms are the same string.
			if d := cmp.Diff(c.want, bodies(out)); d != "" {
				t.Error(d)
			}
			for _, o := range out {
				if o.ID != m.ID || o.Key != m.Key || o.Row != nil || !c.raw && !json.Valid(o.Body) {
					t.Errorf("id, key, row or body is wrong: %+v", o)
				}
			}
			if d := cmp.Diff(letter().Body, m.Body); d != "" || len(m.Row) != 1 {
				t.Errorf("the message given was changed: %s", d)
			}
		})
	}
}

func TestDeadLettersTellTheirDeath(t *testing.T) {
	m := letter()
	m.Death = &message.Death{Queue: "default/news", Step: "archive", Reason: "no room", Attempts: 5, Time: m.Time}
	m.Expires = m.Time.Add(time.Hour)
	m.Key, m.ID = "", message.ID{}
	out, err := transform(t.Context(), mustNew(t, jq.Config{Program: "$death, $expires, $key, $id"}), m)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`{"attempts":5,"queue":"default/news","reason":"no room","step":"archive","time":"2026-01-02T03:04:05.6Z"}`, `"2026-01-02T04:04:05.6Z"`, `null`, `null`}
	if d := cmp.Diff(want, bodies(out)); d != "" {
		t.Error(d)
	}
}

func TestEveryKindOfAttributeIsSeen(t *testing.T) {
	m := letter()
	m.Attributes = nil
	m.Attributes.Set("null", message.Null())
	m.Attributes.Set("bool", message.Bool(true))
	m.Attributes.Set("int", message.Int(-9007199254740993))
	m.Attributes.Set("float", message.Float(1.5))
	m.Attributes.Set("bytes", message.Bytes([]byte{0xff, 0}))
	m.Attributes.Set("time", message.Time(m.Time))
	m.Attributes.Set("decimal", message.Decimal("-12.50"))
	out, err := transform(t.Context(), mustNew(t, jq.Config{Program: "$attributes"}), m)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"bool":true,"bytes":"/wA=","decimal":-12.50,"float":1.5,"int":-9007199254740993,"null":null,"time":"2026-01-02T03:04:05.6Z"}`
	if string(out[0].Body) != want {
		t.Errorf("got %s\nwant %s", out[0].Body, want)
	}
}

func TestAttributesComeFromPrograms(t *testing.T) {
	for _, c := range []struct {
		name       string
		attributes any
		want       string
	}{
		{"a program each", map[string]any{"s": ".s", "n": "$body.n", "key2": "$key", "half": "0.5", "whole": "6 / 2",
			"yes": "true", "big": "$attributes.big - 1"},
			"big=integer(18446744073709551614) half=float(0.5) key2=string(k1) lang=string(ja) " +
				"n=decimal(12345678901234567890123) s=string(text) whole=integer(3) yes=bool(true)"},
		{"typed mapping", map[string]string{"s": ".s"},
			"big=integer(18446744073709551615) lang=string(ja) s=string(text)"},
		{"one program", "{s, lang: null}", "big=integer(18446744073709551615) s=string(text)"},
		{"null and no output", map[string]any{"big": "null", "lang": "empty"}, "lang=string(ja)"},
		{"one program without output", "empty", "big=integer(18446744073709551615) lang=string(ja)"},
		{"one program of null", "null", "big=integer(18446744073709551615) lang=string(ja)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := letter()
			out, err := transform(t.Context(), mustNew(t, jq.Config{Program: "{s}", Attributes: c.attributes}), m)
			if err != nil {
				t.Fatal(err)
			}
			if got := attributeList(out[0].Attributes); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if d := cmp.Diff(attributeList(letter().Attributes), attributeList(m.Attributes)); d != "" {
				t.Errorf("the message given was changed: %s", d)
			}
		})
	}
	out, err := transform(t.Context(),
		mustNew(t, jq.Config{Program: ".list[:2][]", Attributes: map[string]any{"n": "."}}), letter())
	if err != nil || len(out) != 2 {
		t.Fatal(out, err)
	}
	for i, want := range []message.Value{message.Int(1), message.Float(2.5)} {
		if got, _ := out[i].Attributes.Get("n"); got != want {
			t.Errorf("output %d has n = %#v, want %#v", i, got, want)
		}
	}
}

func TestAnEndlessProgramIsStopped(t *testing.T) {
	for _, program := range []string{"def f: f; f", "[repeat(1)]", "last(range(0; infinite))"} {
		_, err := transform(t.Context(), mustNew(t, jq.Config{Program: program, Timeout: 20 * time.Millisecond}),
			letter())
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", program, err)
		}
		if _, again := component.AsRetry(err); again {
			t.Errorf("%s: a program without end would be tried for ever", program)
		}
	}
	_, err := transform(t.Context(),
		mustNew(t, jq.Config{Program: ".", Attributes: "def f: f; f", Timeout: 20 * time.Millisecond}), letter())
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("attributes: %v", err)
	}
}

func TestAStoppingPipelineMakesNoDeadLetters(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	err := mustNew(t, jq.Config{Program: "repeat(1)"}).Transform(ctx, letter(),
		func(string, *message.Message) { cancel() })
	if _, again := component.AsRetry(err); !again || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want a retry", err)
	}
}

func TestOutputsAreBounded(t *testing.T) {
	if out, err := transform(t.Context(), mustNew(t, jq.Config{Program: "range(10000)"}),
		letter()); len(out) != jq.DefaultMaxOutputs || err != nil {
		t.Errorf("%d outputs, %v", len(out), err)
	}
	if _, err := transform(t.Context(), mustNew(t, jq.Config{Program: "repeat(1)"}), letter()); err == nil ||
		!strings.Contains(err.Error(), "max_outputs") {
		t.Errorf("endless outputs: %v", err)
	}
	if _, err := transform(t.Context(), mustNew(t, jq.Config{Program: "1, 2, 3", MaxOutputs: 2}),
		letter()); err == nil {
		t.Error("three outputs, two allowed")
	}
	large := mustNew(t, jq.Config{Program: `("x" * 1000000) as $x | range(1000) | $x`, Timeout: time.Minute})
	if err := large.Transform(t.Context(), letter(), func(string, *message.Message) {}); err == nil ||
		!strings.Contains(err.Error(), "bytes") {
		t.Errorf("1 GB of outputs: %v", err)
	}
	if _, err := transform(t.Context(),
		mustNew(t, jq.Config{Program: "reduce range(100000) as $i (0; [.])", Timeout: time.Minute}),
		letter()); err == nil || !strings.Contains(err.Error(), "deeper") {
		t.Errorf("a very deep output: %v", err)
	}
}

// A pattern that comes out of a message is compiled for it; what is remembered of it must not grow for ever.
func TestPatternsOfMessagesAreForgotten(t *testing.T) {
	tr := mustNew(t, jq.Config{Program: `. as $p | "x" | test($p)`})
	held := func() uint64 {
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	before := held()
	for i := range 10_000 {
		m := &message.Message{Body: fmt.Appendf(nil, `"(abcdefghijklmnopq|y|z)x%d"`, i)}
		if out, err := transform(t.Context(), tr, m); err != nil || string(out[0].Body) != "false" {
			t.Fatal(bodies(out), err)
		}
	}
	if grown := int64(held() - before); grown > 5<<20 {
		t.Errorf("10,000 patterns left %d bytes behind", grown)
	}
	runtime.KeepAlive(tr)
}

func TestOneTransformServesManyGoroutines(t *testing.T) {
	tr := mustNew(t, jq.Config{Program: `{s: (.s | test("^t")), n: (.n + 1), l: [.list[] | tostring]}`,
		Attributes: map[string]any{"n": ".n"}})
	var work sync.WaitGroup
	shared := letter()
	for range 8 {
		work.Go(func() {
			for range 50 {
				out, err := transform(t.Context(), tr, shared)
				if err != nil || string(out[0].Body) != `{"l":["1","2.50","三"],"n":12345678901234567890124,"s":true}` {
					t.Errorf("got %v, %v", bodies(out), err)
					return
				}
			}
		})
	}
	work.Wait()
}
