package payload

import (
	"encoding/json"
	"testing"
)

func TestFillAddsWhatAMemberDoesNotSay(t *testing.T) {
	for _, c := range []struct {
		text string
		add  map[string]any
		want string // "": it is refused
	}{
		{`{}`, nil, `{}`},
		{`{}`, map[string]any{"ttl": "1s"}, `{"android":{"ttl":"1s"}}`},
		{`{"android":null}`, map[string]any{"ttl": "1s"}, `{"android":{"ttl":"1s"}}`},
		{`{"android":{"ttl":"9s","x":[1]}}`, map[string]any{"ttl": "1s", "collapse_key": 7},
			`{"android":{"collapse_key":7,"ttl":"9s","x":[1]}}`},
		{`{"android":3}`, map[string]any{"ttl": "1s"}, ""},
		{`{"android":3}`, nil, `{"android":3}`}, // the far end's to refuse
	} {
		var members map[string]json.RawMessage
		if err := json.Unmarshal([]byte(c.text), &members); err != nil {
			t.Fatal(err)
		}
		err := Fill(members, "android", c.add)
		if got, _ := json.Marshal(members); err == nil && string(got) != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s with %v: %s, %v", c.text, c.add, got, err)
		}
	}
}
