package jsontext_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/message/jsontext"
)

func TestValuesAreCountedOutsideOfStrings(t *testing.T) {
	for _, c := range []struct {
		text         string
		all, objects int64
	}{
		{``, 1, 0},
		{`3`, 1, 0},
		{`{}`, 2, 1},
		{`"{[,:"`, 1, 0},
		{`"\"{[,:"`, 1, 0},
		{`"\\",{}`, 3, 1},
		{`[{},{},{}]`, 7, 3},
		{`{"a":[1,2],"b":{"c":null}}`, 9, 2},
		{`["` + strings.Repeat(`{`, 1000), 2, 0}, // a string that does not end
	} {
		all, objects := jsontext.Values(c.text)
		if all != c.all || objects != c.objects {
			t.Errorf("%.30s: %d values, %d objects; %d and %d are wanted", c.text, all, objects, c.all, c.objects)
		}
		if most, objectsAtMost := jsontext.MostValues([]byte(c.text)); most < all || objectsAtMost < objects {
			t.Errorf("%.30s: at most %d values, %d objects: there are more", c.text, most, objectsAtMost)
		}
	}
}

func FuzzValues(f *testing.F) {
	f.Add(`{"a":[1,"\\\"",{}],"b":{"c":null}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var v any
		if json.Unmarshal([]byte(text), &v) != nil {
			return
		}
		all, objects := jsontext.Values(text)
		wantAll, wantObjects := count(v)
		if all < wantAll || objects < wantObjects {
			t.Errorf("%s: %d values, %d objects; there are %d and %d", text, all, objects, wantAll, wantObjects)
		}
		if most, objectsAtMost := jsontext.MostValues([]byte(text)); most < all || objectsAtMost < objects {
			t.Errorf("%s: at most %d values, %d objects: there are %d and %d", text, most, objectsAtMost, all, objects)
		}
	})
}

func count(v any) (all, objects int64) {
	all = 1
	var inner []any
	switch v := v.(type) {
	case []any:
		inner = v
	case map[string]any:
		objects = 1
		all += int64(len(v))
		for _, m := range v {
			inner = append(inner, m)
		}
	}
	for _, m := range inner {
		a, o := count(m)
		all, objects = all+a, objects+o
	}
	return all, objects
}
