package config

import (
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// readTOML reads TOML in two passes: the library's own decoder finds what TOML forbids (a key or table defined twice),
// and its syntax tree gives the values with their places.
func readTOML(s *source) (*node, *Error) {
	patched, bare := bareVariables(s.text)
	if failure := countTOML(s, patched); failure != nil {
		return nil, failure
	}
	var ignored map[string]any
	if err := toml.Unmarshal(patched, &ignored); err != nil {
		return nil, tomlError(s, err)
	}
	root := &node{kind: kindMap, at: place{1, 1}, token: -1}
	r := &tomlReader{source: s, places: placer{source: s}, root: root, tables: map[*node]map[string]*node{}, bare: bare}
	r.parser.Reset(patched)
	table, depth := root, 0
	for r.parser.NextExpression() {
		e := r.parser.Expression()
		var err *Error
		switch e.Kind {
		case unstable.KeyValue:
			err = r.keyValue(table, e, depth+1)
		case unstable.Table, unstable.ArrayTable:
			table, depth, err = r.header(e)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := r.parser.Error(); err != nil {
		return nil, tomlError(s, err)
	}
	return root, nil
}

// maxTOMLKeys bounds the keys and tables of a file: the library's search for those defined twice grows with their
// square.
const maxTOMLKeys = 10_000

// countTOML refuses a file with too many keys before the library looks at it as a whole. Syntax errors are left to
// that.
func countTOML(s *source, text []byte) *Error {
	var p unstable.Parser
	p.Reset(text)
	count := 0
	var walk func(n *unstable.Node)
	walk = func(n *unstable.Node) {
		for it := n.Children(); it.Next() && count <= maxTOMLKeys; {
			if it.Node().Kind == unstable.Key {
				count++
			}
			walk(it.Node())
		}
	}
	for p.NextExpression() && count <= maxTOMLKeys {
		walk(p.Expression())
	}
	if count > maxTOMLKeys {
		return s.error(place{}, "write so large a file as YAML or JSON",
			"the file has more than %d keys, which are too many for TOML", maxTOMLKeys)
	}
	return nil
}

func tomlError(s *source, err error) *Error {
	message := strings.TrimPrefix(err.Error(), "toml: ")
	if d := (*toml.DecodeError)(nil); errors.As(err, &d) {
		line, column := d.Position() // columns are bytes
		if line >= 1 && line <= len(s.lines) {
			return s.error(s.place(s.lines[line-1]+column-1), "", "this is not TOML: %s", message)
		}
	}
	return s.error(place{}, "", "this is not TOML: %s", message)
}

type tomlReader struct {
	source *source
	places placer
	parser unstable.Parser
	root   *node
	tables map[*node]map[string]*node // the values of each mapping by key
	bare   map[int]string             // see bareVariables
	budget budget
}

// tomlKey is one part of a dotted key.
type tomlKey struct {
	text string
	at   place
	end  int // offset behind it
}

func (r *tomlReader) keys(it unstable.Iterator) []tomlKey {
	var ks []tomlKey
	for it.Next() {
		n := it.Node()
		ks = append(ks, tomlKey{string(n.Data), r.places.place(int(n.Raw.Offset)), int(n.Raw.Offset + n.Raw.Length)})
	}
	return ks
}

// header opens [a.b] or [[a.b]].
func (r *tomlReader) header(e *unstable.Node) (*node, int, *Error) {
	ks := r.keys(e.Key())
	t, depth := r.root, 1
	for i, k := range ks {
		depth++
		next := r.tables[t][k.text]
		if last := i == len(ks)-1; last && e.Kind == unstable.ArrayTable {
			if next == nil {
				next = &node{kind: kindList, at: k.at, token: -1}
				r.put(t, k, next)
			}
			next.items = append(next.items, &node{kind: kindMap, at: k.at, token: -1})
			depth++
		} else if next == nil {
			next = &node{kind: kindMap, at: k.at, token: -1}
			r.put(t, k, next)
		}
		if broken := r.budget.take(depth); broken != "" {
			return nil, 0, r.source.error(k.at, "", "%s", broken)
		}
		if next.kind == kindList {
			next = next.items[len(next.items)-1]
		}
		t = next
	}
	return t, depth, nil
}

// keyValue puts "a.b = value" into a table.
func (r *tomlReader) keyValue(t *node, e *unstable.Node, depth int) *Error {
	ks := r.keys(e.Key())
	for _, k := range ks[:len(ks)-1] {
		depth++
		next := r.tables[t][k.text]
		if next == nil {
			if broken := r.budget.take(depth); broken != "" {
				return r.source.error(k.at, "", "%s", broken)
			}
			next = &node{kind: kindMap, at: k.at, token: -1}
			r.put(t, k, next)
		}
		t = next
	}
	last := ks[len(ks)-1]
	value, err := r.value(e.Value(), depth, r.behindEqual(last.end))
	if err != nil {
		return err
	}
	r.put(t, last, value)
	return nil
}

// put adds a value to a mapping.
func (r *tomlReader) put(t *node, k tomlKey, value *node) {
	t.pairs = append(t.pairs, pair{k.text, k.at, value})
	if r.tables[t] == nil {
		r.tables[t] = map[string]*node{}
	}
	r.tables[t][k.text] = value
}

// behindEqual finds the value's first byte after a key.
func (r *tomlReader) behindEqual(i int) int {
	for i < len(r.source.text) && strings.IndexByte(" \t=", r.source.text[i]) >= 0 {
		i++
	}
	return i
}

// value reads a value; start is where it begins when the syntax tree does not tell, as for arrays.
func (r *tomlReader) value(t *unstable.Node, depth, start int) (*node, *Error) {
	if t.Raw.Length > 0 {
		start = int(t.Raw.Offset)
	}
	n := &node{at: r.places.place(start), token: start}
	if broken := r.budget.take(depth); broken != "" {
		return nil, r.source.error(n.at, "", "%s", broken)
	}
	if variable, ok := r.bare[start]; ok && t.Kind == unstable.String {
		n.kind, n.text, n.plain = kindString, variable, true
		return n, nil
	}
	switch t.Kind {
	case unstable.InlineTable:
		n.kind = kindMap
		for it := t.Children(); it.Next(); {
			if it.Node().Kind != unstable.KeyValue {
				continue
			}
			if err := r.keyValue(n, it.Node(), depth+1); err != nil {
				return nil, err
			}
		}
	case unstable.Array:
		n.kind = kindList
		for it := t.Children(); it.Next(); {
			if it.Node().Kind == unstable.Comment {
				continue
			}
			item, err := r.value(it.Node(), depth+1, start)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
	case unstable.Bool:
		n.kind, n.text = kindBool, string(t.Data)
	case unstable.Integer:
		n.kind, n.text = kindInt, string(t.Data)
	case unstable.Float:
		n.kind, n.text = kindFloat, string(t.Data)
	default: // texts, and dates as texts
		n.kind, n.text = kindString, string(t.Data)
	}
	return n, nil
}
