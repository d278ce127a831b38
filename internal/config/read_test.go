package config

import (
	"fmt"
	"strings"
	"testing"
)

// outline writes a tree in one line, with the places of keys and values.
func outline(n *node) string {
	switch n.kind {
	case kindMap:
		var parts []string
		for _, p := range n.pairs {
			parts = append(parts, fmt.Sprintf("%s@%d:%d=%s", p.key, p.at.line, p.at.column, outline(p.value)))
		}
		return "{" + strings.Join(parts, " ") + "}"
	case kindList:
		var parts []string
		for _, item := range n.items {
			parts = append(parts, outline(item))
		}
		return "[" + strings.Join(parts, " ") + "]"
	case kindNull:
		return "null"
	default:
		letter := map[kind]string{kindBool: "b", kindInt: "i", kindFloat: "f", kindString: "s"}[n.kind]
		return fmt.Sprintf("%s(%s)@%d:%d", letter, n.text, n.at.line, n.at.column)
	}
}

func TestFilesAreReadIntoATreeWithPlaces(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"scalars.yaml", "a: 1\nb: 1.5\nc: true\nd: x\ne: '1'\nf: ~\ng: 2026-01-02\nh: yes\n",
			"{a@1:1=i(1)@1:4 b@2:1=f(1.5)@2:4 c@3:1=b(true)@3:4 d@4:1=s(x)@4:4 e@5:1=s(1)@5:4 f@6:1=null " +
				"g@7:1=s(2026-01-02)@7:4 h@8:1=s(yes)@8:4}"},
		{"nested.yaml", "a:\n  - b: [1, 2]\n  - c\n", "{a@1:1=[{b@2:5=[i(1)@2:9 i(2)@2:12]} s(c)@3:5]}"},
		{"alias.yaml", "a: &x {b: 1}\nc: *x\n", "{a@1:1={b@1:8=i(1)@1:11} c@2:1={b@1:8=i(1)@1:11}}"},
		{"merge.yaml", "a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}\n", "{a@1:1={b@1:8=i(1)@1:11 c@1:14=i(2)@1:17} " +
			"d@2:1={c@2:13=i(3)@2:16 b@1:8=i(1)@1:11}}"},
		{"merges.yaml", "a: {<<: [{b: 1}, {b: 2, c: 3}]}\n", "{a@1:1={b@1:11=i(1)@1:14 c@1:25=i(3)@1:28}}"},
		{"str.yaml", "a: !!str 5\n", "{a@1:1=s(5)@1:4}"},
		{"empty.yaml", "# nothing\n", "null"},
		{"scalars.json", `{"a": 1, "b": -1.5e3, "c": true, "d": null, "e": "\u98db"}`,
			"{a@1:2=i(1)@1:7 b@1:10=f(-1.5e3)@1:15 c@1:23=b(true)@1:28 d@1:34=null e@1:45=s(飛)@1:50}"},
		{"nested.json", "{\"a\":\n [ {\"b\" : [ 1,2 ]} , \"c\" ] }",
			"{a@1:2=[{b@2:5=[i(1)@2:13 i(2)@2:15]} s(c)@2:22]}"},
		{"scalars.toml", "a = 1\nb = 1.5\nc = true\nd = 'x'\ng = 2026-01-02\n",
			"{a@1:1=i(1)@1:5 b@2:1=f(1.5)@2:5 c@3:1=b(true)@3:5 d@4:1=s(x)@4:5 g@5:1=s(2026-01-02)@5:5}"},
		{"tables.toml", "[a.b]\nc = 1\n[a]\nd = 2\n[[e]]\nf = 3\n[[e]]\nf = 4\n[e.g]\nh = 5\n",
			"{a@1:2={b@1:4={c@2:1=i(1)@2:5} d@4:1=i(2)@4:5} e@5:3=[{f@6:1=i(3)@6:5} {f@8:1=i(4)@8:5 " +
				"g@9:4={h@10:1=i(5)@10:5}}]}"},
		{"dotted.toml", "a.b.c = 1\na.\"d e\" = 2\n", "{a@1:1={b@1:3={c@1:5=i(1)@1:9} d e@2:3=i(2)@2:11}}"},
		{"inline.toml", "a = { b = [1, { c = 2 }], d.e = 3 }\n", "{a@1:1={b@1:7=[i(1)@1:12 {c@1:17=i(2)@1:21}] " +
			"d@1:27={e@1:29=i(3)@1:33}}}"},
		{"array.toml", "a = [\n  1, # one\n  [2],\n]\n", "{a@1:1=[i(1)@2:3 [i(2)@3:4]]}"},
	} {
		s, failure := newSource(c.name, []byte(c.text))
		if failure != nil {
			t.Fatal(failure)
		}
		root, failure := read(s)
		if failure != nil {
			t.Errorf("%s: %v", c.name, failure)
			continue
		}
		if got := outline(root); got != c.want {
			t.Errorf("%s:\n%s, not\n%s", c.name, got, c.want)
		}
	}
}

func TestTheEndingSaysTheFormat(t *testing.T) {
	for name, text := range map[string]string{"a.YAML": "a: 1", "a.yml": "a: 1", "a.Toml": "a = 1",
		"a.b.json": `{"a": 1}`} {
		s, _ := newSource(name, []byte(text))
		if root, failure := read(s); failure != nil || outline(root.get("a"))[:4] != "i(1)" {
			t.Errorf("%s: %v", name, failure)
		}
	}
}
