package message

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestIDsAreDistinctOrderedAndReadBack(t *testing.T) {
	var before ID
	if !before.IsZero() {
		t.Error("the zero ID is not zero")
	}
	for range 1000 {
		id := NewID()
		if id.IsZero() || strings.Compare(before.String(), id.String()) >= 0 {
			t.Fatalf("%s comes after %s", id, before)
		}
		if back, err := ParseID(id.String()); err != nil || back != id || len(id.String()) != 36 {
			t.Fatalf("%s reads as %s, %v", id, back, err)
		}
		before = id
	}
	if _, err := ParseID("no id"); err == nil {
		t.Error("no id is an ID")
	}
}

func TestAttributesAreAMapInTheOrderOfNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var attributes Attributes
		model := map[string]Value{}
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			name := rapid.StringMatching(`[a-e]{0,2}`).Draw(t, "name")
			if rapid.IntRange(0, 3).Draw(t, "what") == 0 {
				attributes.Delete(name)
				delete(model, name)
			} else {
				v := Int(rapid.Int64().Draw(t, "value"))
				attributes.Set(name, v)
				model[name] = v
			}
			got, ok := attributes.Get(name)
			want, has := model[name]
			if ok != has || got != want {
				t.Fatalf("%q: got %#v, %v, want %#v, %v", name, got, ok, want, has)
			}
			if len(attributes) != len(model) ||
				!slices.IsSortedFunc(attributes, func(a, b Attribute) int { return strings.Compare(a.Name, b.Name) }) {
				t.Fatalf("attributes %v", attributes)
			}
		}
	})
}

func TestACloneMayBeChangedAlone(t *testing.T) {
	m := Message{Body: []byte("body"), Row: []Value{Int(1)}, Key: "k", Time: time.Unix(1, 0)}
	m.Attributes.Set("lang", String("ja"))
	m.Attributes.Set("n", Int(1))
	c := m.Clone()
	c.Body = []byte("other")
	c.Row[0] = Int(2)
	c.Attributes.Set("lang", String("en"))
	c.Attributes.Delete("n")
	lang, _ := m.Attributes.Get("lang")
	if _, ok := m.Attributes.Get("n"); string(m.Body) != "body" || m.Row[0] != Int(1) || lang != String("ja") || !ok {
		t.Errorf("the original changed: %+v", m)
	}
	if c.Key != "k" || !c.Time.Equal(m.Time) {
		t.Errorf("the clone lacks something: %+v", c)
	}
}

func TestSizeCountsWhatLimitsCount(t *testing.T) {
	m := Message{Body: make([]byte, 100), Key: "12345", Row: []Value{Int(1), String("abc"), Null()},
		Dedup: "does not count"}
	m.Attributes.Set("name", Bytes(make([]byte, 10)))
	if got, want := m.Size(), 100+5+8+3+1+4+10; got != want {
		t.Errorf("size %d, want %d", got, want)
	}
}
