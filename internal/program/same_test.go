package program

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/itchyny/gojq"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/program/programtest"
)

// jqOf runs a program on jq's own machine. ok is false when something goes wrong, be it after some results.
func jqOf(t testing.TB, text string, m *message.Message) (made []string, ok bool) {
	query, err := gojq.Parse(text)
	if err != nil {
		return nil, false
	}
	code, err := gojq.Compile(query, gojq.WithVariables([]string{"$attributes", "$id", "$key", "$time", "$expires"}))
	if err != nil {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(m.Body))
	d.UseNumber()
	var body any
	if err := d.Decode(&body); err != nil {
		return nil, false
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	iter := code.RunWithContext(ctx, body, attributesOf(m), m.ID.String(), m.Key, nil, nil)
	for {
		v, more := iter.Next()
		if !more {
			return made, true
		}
		if _, failed := v.(error); failed {
			return nil, false
		}
		text, err := gojq.Marshal(v)
		if err != nil {
			return nil, false
		}
		made = append(made, string(text))
	}
}

func attributesOf(m *message.Message) map[string]any {
	all := map[string]any{}
	for _, a := range m.Attributes {
		switch v := a.Value; v.Kind() {
		case message.KindNull:
			all[a.Name] = nil
		case message.KindBool:
			all[a.Name] = v.AsBool()
		case message.KindInt, message.KindUint, message.KindDecimal:
			all[a.Name] = json.Number(v.Text())
		case message.KindFloat:
			all[a.Name] = v.AsFloat()
		default:
			all[a.Name] = v.Text()
		}
	}
	return all
}

func testScope() *Scope {
	nothing := func(dst []byte, _ *message.Message) ([]byte, bool) { return append(dst, "null"...), true }
	return NewScope(
		Variable{Name: "$attributes", Append: Attributes, Field: Attribute},
		Variable{Name: "$id", Append: func(dst []byte, m *message.Message) ([]byte,
			bool) {
			return Quoted(dst, m.ID.String())
		}},
		Variable{Name: "$key", Append: func(dst []byte, m *message.Message) ([]byte,
			bool) {
			return Quoted(dst, m.Key)
		}},
		Variable{Name: "$time", Append: nothing}, Variable{Name: "$expires", Append: nothing})
}

// both runs a program both ways, and through each entrance. It tells whether the short cut had a result.
func both(t *testing.T, s *Scope, text string, m *message.Message) bool {
	p := s.Compile(text)
	if p == nil {
		return false
	}
	w := s.Begin(m)
	if w == nil {
		return false
	}
	defer s.End(w)
	var texts, values []string
	ok := p.EachText(w, w.Body(), func(made []byte) bool {
		texts = append(texts, string(made))
		return len(texts) < 1000 // jq's machine takes long for more
	})
	again := p.Each(w, w.Body(), func(v Value) bool {
		made, ok := w.TextOf(v)
		values = append(values, string(made))
		return ok
	})
	if !ok && !again {
		return false
	}
	want, fine := jqOf(t, text, m)
	if !fine {
		t.Fatalf("%s\nof %q\nfails, here it is %q", text, m.Body, texts)
	}
	for i, got := range [][]string{texts, values} {
		if i == 0 && !ok || i == 1 && !again {
			continue
		}
		if len(got) != len(want) {
			t.Fatalf("%s\nof %q\nis   %q\nwant %q", text, m.Body, got, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%s\nof %q\nis   %q\nwant %q", text, m.Body, got, want)
			}
		}
	}
	one, ok := p.Text(w, w.Body())
	if ok != (len(want) == 1) && ok || ok && string(one) != want[0] {
		t.Fatalf("%s\nof %q\nis %q alone, want %q", text, m.Body, one, want)
	}
	return true
}

func TestEveryResultIsTheOneOfJQ(t *testing.T) {
	s := testScope()
	simple, met, all := 0, 0, 12_000
	for seed := range uint64(all) {
		g := programtest.New(seed)
		text := g.Program()
		if s.Compile(text) == nil {
			continue
		}
		simple++
		for range 3 {
			if both(t, s, text, g.Message()) {
				met++
			}
		}
	}
	t.Logf("%d of %d programs are simple, of 3 messages each %d had a result", simple, all, met)
	if simple < all/10 || met < simple/2 {
		t.Errorf("only %d of %d programs are simple, and %d had a result: this shows little", simple, all, met)
	}
}

func FuzzSameAsJQ(f *testing.F) {
	for _, c := range []struct{ program, body string }{
		{`{aps: {alert: "news \(.id)"}}`, `{"id":1}`},
		{".users[]", `{"users":[{"b":1,"a":2.50}]}`},
		{`.a // "none" | tostring`, `{"a":null,"a":"\ud83d"}`},
		{`{token, collapse_id: "user-\(.id)"}`, `{"token":"a\n","id":1e999}`},
		{`[.[] | select(.a == 1) | {$key, n: (.n | tonumber)}]`, `[{"a":1,"n":"12"},{"a":1.0}]`},
		{`if .a and (.b | not) then .c[-1] else empty end, $attributes.user`, `{"a":1,"c":[1,2]}`},
	} {
		f.Add(c.program, []byte(c.body), uint64(1))
	}
	s := testScope()
	f.Fuzz(func(t *testing.T, program string, body []byte, seed uint64) {
		if len(program) > 200 {
			return // jq's machine takes long for some
		}
		m := programtest.New(seed).Message()
		m.Body = body
		both(t, s, program, m)
	})
}
