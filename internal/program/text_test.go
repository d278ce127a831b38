package program

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/itchyny/gojq"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/message/jsontext/jsontexttest"
)

// FuzzText takes texts apart and writes them again.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "a\"\\/\b\f\n\r\t\x00\x1f\x7f", "飛脚 😀 \u2028", `\ud83d\ude00 \u0041`, "\xff",
		`\ud83d`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if utf8.ValidString(s) {
			want, err := gojq.Marshal(s)
			if got := appendQuoted(nil, s); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%q is written as %s, want %s", s, got, want)
			}
		}
		tape := tape{text: []byte(`"` + s + `"`)}
		if _, ok := tape.read(0, 1); !ok {
			return
		}
		var want string
		if err := json.Unmarshal(tape.text, &want); err != nil {
			t.Fatalf("%q is no string: %v", tape.text, err)
		}
		if got := string(appendPlain(nil, tape.inside(0))); got != want {
			t.Errorf("%q is read as %q, want %q", s, got, want)
		}
	})
}

// TestStringsAreReadAsEncodingJSONDoes: so does gojq, to which what is no string is left.
func TestStringsAreReadAsEncodingJSONDoes(t *testing.T) {
	s := testScope()
	p := s.Compile(".text")
	jsontexttest.Check(t, func(quoted string) (string, bool) {
		w := s.Begin(&message.Message{Body: []byte(`{"text":` + quoted + `}`)})
		if w == nil {
			return "", false
		}
		defer s.End(w)
		made, ok := p.Text(w, w.Body())
		var text string
		if err := json.Unmarshal(made, &text); err != nil || !ok {
			t.Errorf("%s becomes %s: %v", quoted, made, err)
		}
		return text, true
	})
}

func TestValuesAreSeenAsTheyAre(t *testing.T) {
	s := testScope()
	w := s.Begin(&message.Message{Body: []byte(`{"b": "x\n", "a": [true, null], "b": 12.50}`)})
	defer s.End(w)
	body := w.Body()
	var seen []string
	if !body.IsObject() || body.IsNull() || body.Size() != 3 {
		t.Errorf("%d members", body.Size())
	}
	ok := body.Members(w, func(name []byte, v Value) bool {
		text, ok := w.TextOf(v)
		number, is := v.Number()
		seen = append(seen, fmt.Sprint(string(name), "=", string(text), ok, number, is))
		return true
	})
	if got := strings.Join(seen, " "); !ok || got != "a=[true,null]truefalse b=12.50true12.50true" {
		t.Errorf("%s, %v", got, ok)
	}
	if body.Members(w, func([]byte, Value) bool { return false }) {
		t.Error("it goes on")
	}
}

func TestManyMessagesShareMemoryWithoutMixing(t *testing.T) {
	s := testScope()
	p := s.Compile(
		`{to: "user-\(.id)", all: [.list[] | tostring], key: $key, n: (.n | tonumber), who: $attributes.user}`)
	if p == nil {
		t.Fatal("it is left to gojq")
	}
	var work sync.WaitGroup
	for g := range 8 {
		work.Go(func() {
			for i := range 300 {
				id := fmt.Sprint(g*1000 + i)
				m := &message.Message{Key: "k" + id,
					Body: []byte(`{"n": "` + id + `", "list": [1, "` + id + `", {"b": 2, "a": 1}], "id": ` + id + `}`)}
				m.Attributes.Set("user", message.String(id))
				w := s.Begin(m)
				got, ok := p.Text(w, w.Body())
				s.End(w)
				want := `{"all":["1","` + id + `","{\"a\":1,\"b\":2}"],"key":"k` + id + `","n":` + id + `,"to":"user-` +
					id + `","who":"` + id + `"}`
				if !ok || string(got) != want {
					t.Errorf("%s, %v, want %s", got, ok, want)
					return
				}
			}
		})
	}
	work.Wait()
}
