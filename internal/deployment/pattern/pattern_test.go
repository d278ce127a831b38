package pattern

import (
	"encoding/json"
	"testing"
)

func parsed(t *testing.T, text string) map[string]any {
	t.Helper()
	v, err := Decode([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v.(map[string]any)
}

func TestAPatternMatchesWhatTheProviderSays(t *testing.T) {
	for _, c := range []struct {
		pattern string
		yes, no []string
	}{
		{`{"a":[null]}`, []string{`{"a":null}`}, []string{`{}`, `{"a":""}`, `{"a":"null"}`, `{"a":[]}`}},
		{`{"a":[""]}`, []string{`{"a":""}`, `{"a":["x",""]}`}, []string{`{"a":null}`, `{"a":"x"}`, `{}`}},
		{`{"a":["x","y"]}`, []string{`{"a":"y"}`, `{"a":["z","x"]}`}, []string{`{"a":"X"}`, `{"a":"z"}`, `{"b":"x"}`}},
		{`{"a":[300]}`, []string{`{"a":300}`}, []string{`{"a":300.0}`, `{"a":3.0e2}`, `{"a":"300"}`}},
		{`{"a":[true]}`, []string{`{"a":true}`}, []string{`{"a":false}`, `{"a":"true"}`}},
		{`{"a":["x"],"b":["y"]}`, []string{`{"a":"x","b":"y"}`}, []string{`{"a":"x"}`, `{"a":"x","b":"x"}`}},
		{`{"$or":[{"a":["x"]},{"b":["y"]}]}`, []string{`{"a":"x"}`, `{"b":"y"}`}, []string{`{"a":"y","b":"x"}`}},
		{`{"c":[1],"d":{"$or":[{"a":["x"]},{"b":["y"],"e":[2]}]}}`, []string{`{"c":1,"d":{"b":"y","e":2}}`},
			[]string{`{"c":1,"d":{"b":"y"}}`, `{"d":{"a":"x"}}`}},
		{`{"$or":["x"]}`, []string{`{"$or":"x"}`}, []string{`{}`}}, // an array that is no choice is a field's
		{`{"a":[{"anything-but":["x"]}]}`, []string{`{"a":"y"}`, `{"a":null}`, `{"a":1}`, `{"a":["x","y"]}`},
			[]string{`{"a":"x"}`, `{}`}},
		{`{"a":[{"anything-but":5}]}`, []string{`{"a":6}`, `{"a":"5"}`}, []string{`{"a":5}`}},
		{`{"a":[{"anything-but":{"prefix":["x","y"]}}]}`, []string{`{"a":"zx"}`, `{"a":1}`},
			[]string{`{"a":"xz"}`, `{"a":"yz"}`, `{}`}},
		{`{"a":[{"numeric":["=",100]}]}`, []string{`{"a":100}`, `{"a":1e2}`, `{"a":100.0}`},
			[]string{`{"a":"100"}`, `{"a":101}`, `{"a":null}`}},
		{`{"a":[{"numeric":[">",10,"<=",20]}]}`, []string{`{"a":10.1}`, `{"a":20}`},
			[]string{`{"a":10}`, `{"a":20.01}`}},
		{`{"a":[{"numeric":["<",0]}]}`, []string{`{"a":-1}`}, []string{`{"a":0}`, `{"a":[]}`}},
		{`{"a":[{"exists":true}]}`, []string{`{"a":null}`, `{"a":[1]}`},
			[]string{`{}`, `{"a":{"b":1}}`, `{"a":[]}`, `{"a":[{"b":1}]}`}},
		{`{"a":{"b":[{"exists":false}]}}`, []string{`{}`, `{"a":1}`, `{"a":{"b":{"c":1}}}`, `{"a":[{"c":1}]}`},
			[]string{`{"a":{"b":null}}`, `{"a":[{"c":1},{"b":1}]}`}},
		{`{"a":[{"prefix":"us-"}]}`, []string{`{"a":"us-east-1"}`}, []string{`{"a":"US-east-1"}`, `{"a":1}`}},
		{`{"a":[{"prefix":{"equals-ignore-case":"us-"}}]}`, []string{`{"a":"US-east-1"}`}, []string{`{"a":"eu"}`}},
		{`{"a":[{"suffix":".png"}]}`, []string{`{"a":"x.png"}`}, []string{`{"a":"x.PNG"}`}},
		{`{"a":[{"equals-ignore-case":"alice"}]}`, []string{`{"a":"ALICE"}`}, []string{`{"a":"alice "}`}},
		{`{"a":{"b":[1],"c":[2]}}`, []string{`{"a":[{"b":1,"c":2}]}`, `{"a":[[{"b":1,"c":2}]]}`},
			[]string{`{"a":[{"b":1},{"c":2}]}`}},
		{`{"a.b":[1]}`, []string{`{"a":{"b":1}}`, `{"a.b":1}`}, []string{`{"a":{"b":2}}`}},
		{`{"a":{"b.c":[1]}}`, []string{`{"a.b":{"c":1}}`, `{"a":{"x":1},"a.b.c":1}`}, []string{`{"a.b":1}`}},
	} {
		p, err := Parse(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		for _, e := range c.yes {
			if !p.Match(parsed(t, e)) {
				t.Errorf("%s does not match %s", c.pattern, e)
			}
		}
		for _, e := range c.no {
			if p.Match(parsed(t, e)) {
				t.Errorf("%s matches %s", c.pattern, e)
			}
		}
	}
}

func TestAPatternThatCannotBeSaysWhereAndWhy(t *testing.T) {
	for text, want := range map[string]string{
		`null`:                                     "a pattern is a JSON object",
		`simple string`:                            "it is no JSON: invalid character 's' looking for beginning of value",
		`{"a":[1]} x`:                              "it is no JSON: something follows the JSON value",
		`{}`:                                       "an object of a pattern names a field at least",
		`{"a":{}}`:                                 "a: an object of a pattern names a field at least",
		`{"a":"b"}`:                                "a: a value stands in an array: [b]",
		`{"a":{"b":[]}}`:                           "a.b: an array of a pattern has a value at least",
		`{"a":[["b"]]}`:                            "a: an array of a pattern has no array in it",
		`{"a":[{"wildcard":"*"}]}`:                 `a: there is no operator "wildcard"`,
		`{"a":[{"exists":true,"prefix":""}]}`:      "a: an object in an array has one operator, not 2",
		`{"a":[{"exists":"yes"}]}`:                 "a: exists is true or false",
		`{"a":[{"prefix":1}]}`:                     "a: prefix and suffix want a text",
		`{"a":[{"suffix":{"prefix":"x"}}]}`:        "a: prefix and suffix know one operator, equals-ignore-case",
		`{"a":[{"equals-ignore-case":[]}]}`:        "a: equals-ignore-case wants a text",
		`{"a":[{"anything-but":[null]}]}`:          "a: anything-but wants texts or numbers",
		`{"a":[{"anything-but":[]}]}`:              "a: anything-but has a value at least",
		`{"a":[{"anything-but":{"exists":true}}]}`: "a: anything-but does not know exists",
		`{"a":[{"anything-but":{"prefix":""}}]}`:   "a: prefix in anything-but wants a text that is not empty",
		`{"a":[{"numeric":10}]}`:                   `a: numeric wants ["=", NUMBER], one bound, or the lower one and the upper one`,
		`{"a":[{"numeric":[">",0,">",1]}]}`:        "a: numeric does not take > here",
		`{"a":[{"numeric":["=","1"]}]}`:            "a: numeric wants numbers from -5.0e9 to 5.0e9, not 1",
		`{"a":[{"numeric":["<",6e9]}]}`:            "a: numeric wants numbers from -5.0e9 to 5.0e9, not 6e9",
		`{"a":[{"numeric":[">",2,"<",1]}]}`:        "a: the lower bound of numeric has to be less than the upper one",
	} {
		if _, err := Parse(text); err == nil || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A value and an array of it alone are the same to a pattern.
func FuzzPattern(f *testing.F) {
	f.Add(`{"body":{"a":["x",{"numeric":[">",1,"<",5]}],"$or":[{"b":[null]},{"c.d":[{"anything-but":["q"]}]}]}}`,
		`{"body":{"a":3,"c":{"d":[1,"q"]}}}`)
	f.Add(`{"a":{"b":[{"exists":false}]}}`, `{"a":[{"b":1},{}]}`)
	f.Add(`{"a.b":[{"prefix":{"equals-ignore-case":"É"}}]}`, `{"a":{"b":"éa"}}`)
	f.Fuzz(func(t *testing.T, pattern, text string) {
		p, err := Parse(pattern)
		if err != nil {
			return
		}
		v, err := Decode([]byte(text))
		event, ok := v.(map[string]any)
		if err != nil || !ok {
			return
		}
		plain := p.Match(event)
		if again, err := Parse(pattern); err != nil || again.Match(event) != plain {
			t.Fatalf("%s and %s: another answer the second time, %v", pattern, text, err)
		}
		for name, v := range event {
			event[name] = []any{v}
		}
		if p.Match(event) != plain {
			out, err := json.Marshal(event)
			t.Fatalf("%s matches %s: %v, and %s: %v (%v)", pattern, text, plain, out, !plain, err)
		}
	})
}
