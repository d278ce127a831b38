package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestChangedNamesTheKeysThatDiffer(t *testing.T) {
	const base = "limits: { messages: 5 }\nqueues: { news: { max_messages: 3 }, mail: {} }\n" +
		"namespaces: { a: [b, c] }\n"
	for _, c := range []struct{ text, want string }{
		{base, ""},
		{"# a remark\nnamespaces: {a: [b, \"c\"]}\nqueues: { mail: {}, news: { max_messages: 3 } }\nlimits:\n" +
			"  messages: 5\n", ""},
		{strings.Replace(base, "5", "6", 1), "limits.messages"},
		{strings.Replace(base, "[b, c]", "[c, b]", 1), "namespaces.a"},
		{strings.Replace(base, ", mail: {}", ", post: { max_messages: 1 }", 1),
			"queues.mail queues.post.max_messages"},
		{"journal: { scrub: { every: 1h } }\n" + base, "journal.scrub.every"},
		{"", "limits.messages namespaces.a queues.mail queues.news.max_messages"},
	} {
		for _, turned := range []bool{false, true} {
			from, to := parse(t, "a.yaml", base), parse(t, "a.yaml", c.text)
			if turned {
				from, to = to, from
			}
			if got := strings.Join(from.Changed(to), " "); got != c.want {
				t.Errorf("%q: %s, not %s", c.text, got, c.want)
			}
		}
	}
}

// TestChangedNamesEveryKeyOfTheSchema: whatever key there is, of whatever part, alone it is named in full.
func TestChangedNamesEveryKeyOfTheSchema(t *testing.T) {
	var names []string
	var list func(of reflect.Type, prefix string)
	list = func(of reflect.Type, prefix string) {
		for _, f := range fieldsOf(of) {
			name := prefix + f.name
			if f.typ.Kind() == reflect.Struct && len(fieldsOf(f.typ)) > 0 {
				list(f.typ, name+".")
				continue
			}
			names = append(names, name)
		}
	}
	list(reflect.TypeFor[schema](), "")
	if !slices.Contains(names, "journal.scrub.every") || !slices.Contains(names, "api.lambda.isolation") ||
		!slices.Contains(names, "access.local_accounts") || !slices.Contains(names, "limits.memory") {
		t.Fatalf("the keys are not found: %q", names)
	}
	tree := func(name, value string) *node {
		n := &node{kind: kindString, text: value}
		keys := strings.Split(name, ".")
		for _, key := range slices.Backward(keys) {
			n = &node{kind: kindMap, pairs: []pair{{key: key, value: n}}}
		}
		return n
	}
	for _, name := range names {
		with := &File{root: tree(name, "a")}
		for _, other := range []*File{{root: tree(name, "b")}, {root: &node{kind: kindMap}}} {
			if got := with.Changed(other); len(got) != 1 || got[0] != name {
				t.Errorf("%s has changed, and what is named is %q", name, got)
			}
		}
	}
}
