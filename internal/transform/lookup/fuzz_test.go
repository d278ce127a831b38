package lookup

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/fetch"
	"github.com/hikyaku/hikyaku/internal/message"
)

// FuzzAnswer puts any answer into any body: what becomes of it is a JSON object, or refused.
func FuzzAnswer(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"id":1}`, `{"name":"Ann","lang":"ja"}`},
		{`{"id":1,"user":{}}`, `[1,2,{"a":null}]`},
		{`{}`, `null`},
		{`[1]`, `{"a":1,"a":2}`},
		{"{\"\xff\":1}", `"text"`},
	} {
		f.Add(seed[0], seed[1], false, false, "lang")
		f.Add(seed[0], seed[1], true, false, "")
		f.Add(seed[0], seed[1], false, true, "")
	}
	f.Fuzz(func(t *testing.T, body, answer string, merge, many bool, attribute string) {
		c := Config{Into: "user", Merge: merge && !many, Many: many}
		if attribute != "" {
			c.Attributes = []string{attribute}
		}
		text := json.RawMessage(answer)
		if !json.Valid(text) {
			return // the door to it is fetch, which has a target of its own
		}
		found, err := c.ofJSON(fetch.Compact(text))
		if err != nil {
			return
		}
		m := &message.Message{Body: []byte(body)}
		out, err := (&Lookup{config: c}).fill(m, found)
		switch {
		case err != nil:
			return
		case !json.Valid(out.Body) || !strings.HasPrefix(string(out.Body), "{"):
			t.Errorf("%s with %s is %s", body, answer, out.Body)
		case string(m.Body) != body:
			t.Errorf("the message was changed from %s to %s", body, m.Body)
		}
	})
}

// FuzzKey reads any text as a key of a question, and a key again that was made of it.
func FuzzKey(f *testing.F) {
	for _, key := range []string{`["a",1,1.5,true,null]`, `[]`, `[[1]]`, `{`, `["\ud800"]`} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		values := decodeKey(key)
		again := encodeKey(values)
		if read := decodeKey(again); len(read) != len(values) || encodeKey(read) != again {
			t.Errorf("%q has %v, whose key is %q, which has %v", key, values, again, read)
		}
	})
}
