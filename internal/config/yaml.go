package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// readYAML reads one YAML document with anchors, aliases and merge keys. Aliases are written out, within the bounds.
func readYAML(s *source) (root *node, failure *Error) {
	defer func() {
		// The library panics on a few texts that it holds impossible; for a reader of files that is a mistake in the
		// file.
		if p := recover(); p != nil {
			root, failure = nil, s.error(place{}, "", "this is not YAML: %v", p)
		}
	}()
	d := yaml.NewDecoder(bytes.NewReader(s.text))
	var document yaml.Node
	switch err := d.Decode(&document); {
	case errors.Is(err, io.EOF):
		return &node{kind: kindNull, at: place{1, 1}, token: -1}, nil
	case err != nil:
		return nil, yamlError(s, err)
	}
	var second yaml.Node
	switch err := d.Decode(&second); {
	case err == nil:
		return nil, s.error(place{second.Line, second.Column}, "put it into a file of its own",
			"a second document begins here")
	case !errors.Is(err, io.EOF):
		return nil, yamlError(s, err)
	}
	r := &yamlReader{source: s, open: map[*yaml.Node]bool{}}
	return r.value(&document, 1)
}

var (
	yamlLine   = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)
	yamlAnchor = regexp.MustCompile(`unknown anchor '(.*)' referenced`)
)

// yamlError finds the place in the library's message, which knows a line at most.
func yamlError(s *source, err error) *Error {
	m := yamlLine.FindStringSubmatch(strings.ReplaceAll(err.Error(), "\n", " "))
	if m == nil {
		return s.error(place{}, "", "this is not YAML: %v", err)
	}
	if a := yamlAnchor.FindStringSubmatch(m[2]); a != nil {
		return s.error(s.place(bytes.Index(s.text, []byte("*"+a[1]))), "", "there is no anchor %q above this alias",
			a[1])
	}
	line, _ := strconv.Atoi(m[1])
	line = max(line, 1)
	if strings.Contains(m[2], "cannot start any token") {
		for l := line; l <= line+1; l++ {
			text, ok := lineOf(s.text, l)
			if i := strings.IndexByte(text, '\t'); ok && i >= 0 && strings.TrimSpace(text[:i]) == "" {
				return s.error(place{l, i + 1}, "indent with spaces", "a tab cannot indent YAML")
			}
		}
	}
	for l := line; l <= line+1; l++ {
		text, _ := lineOf(s.text, l)
		if i := strings.Index(text, "${"); i >= 0 && strings.ContainsAny(text[:i], "{[") &&
			!strings.ContainsAny(text[i-1:i], "'\"") {
			return s.error(s.place(s.lines[l-1]+i), "put it in quotes", "a ${…} between { } or [ ] would end them")
		}
	}
	return s.error(s.firstText(line), "", "this is not YAML, here or on the line below: %s", m[2])
}

type yamlReader struct {
	source *source
	budget budget
	open   map[*yaml.Node]bool // the aliases that are being written out
}

func (r *yamlReader) value(y *yaml.Node, depth int) (*node, *Error) {
	at := place{y.Line, y.Column}
	if broken := r.budget.take(depth); broken != "" {
		return nil, r.source.error(at, "", "%s", broken)
	}
	if y.Style&yaml.TaggedStyle != 0 && !strings.HasPrefix(y.Tag, "!!") {
		return nil, r.source.error(at, "leave the tag out", "the tag %s has no meaning here", shorten(y.Tag))
	}
	n := &node{at: at, token: -1}
	switch y.Kind {
	case yaml.DocumentNode:
		if len(y.Content) == 1 {
			return r.value(y.Content[0], depth)
		}
		return n, nil
	case yaml.AliasNode:
		if r.open[y.Alias] {
			return nil, r.source.error(at, "", "the alias *%s stands inside of what it names", shorten(y.Value))
		}
		r.open[y.Alias] = true
		defer delete(r.open, y.Alias)
		return r.value(y.Alias, depth)
	case yaml.SequenceNode:
		n.kind = kindList
		for _, c := range y.Content {
			item, err := r.value(c, depth+1)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
		return n, nil
	case yaml.MappingNode:
		return n, r.mapping(y, n, depth)
	default:
		return n, r.scalar(y, n)
	}
}

func (r *yamlReader) scalar(y *yaml.Node, n *node) *Error {
	n.text = y.Value
	n.token = tokenAtPlace
	n.plain = y.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle|
		yaml.TaggedStyle) == 0
	switch y.ShortTag() {
	case "!!null":
		n.kind = kindNull
	case "!!bool":
		n.kind = kindBool
	case "!!int":
		n.kind = kindInt
		digits := strings.TrimLeft(n.text, "+-")
		if len(digits) > 1 && digits[0] == '0' && strings.Trim(digits, "0123456789_") == "" {
			return r.source.error(n.at, "quote it if it is text; write 0o… for an octal number",
				"%s could be read as octal or decimal", shorten(n.text))
		}
	case "!!float":
		n.kind = kindFloat
	case "!!str", "!!timestamp":
		n.kind = kindString
	default:
		return r.source.error(n.at, "leave the tag out", "the tag %s has no meaning here", shorten(y.Tag))
	}
	return nil
}

// mapping reads the keys of y; keys that a merge brings in (<<) come after those that stand there and never replace
// them.
func (r *yamlReader) mapping(y *yaml.Node, n *node, depth int) *Error {
	n.kind = kindMap
	seen := keys{}
	var merges []*node
	for i := 0; i+1 < len(y.Content); i += 2 {
		k := y.Content[i]
		at := place{k.Line, k.Column}
		if k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		if k.Kind != yaml.ScalarNode {
			return r.source.error(at, "", "a key is a single word or text, not a list or a mapping")
		}
		value, err := r.value(y.Content[i+1], depth+1)
		if err != nil {
			return err
		}
		if k.ShortTag() == "!!merge" {
			found, err := r.merged(value, at)
			if err != nil {
				return err
			}
			merges = append(merges, found...)
			continue
		}
		if first, ok := seen.add(k.Value, at); !ok {
			return duplicate(r.source, at, k.Value, first)
		}
		n.pairs = append(n.pairs, pair{k.Value, at, value})
	}
	for _, m := range merges {
		for _, p := range m.pairs {
			if _, ok := seen.add(p.key, p.at); ok {
				n.pairs = append(n.pairs, p)
			}
		}
	}
	return nil
}

// merged gives the mappings that a merge key names: one, or a list of them.
func (r *yamlReader) merged(value *node, at place) ([]*node, *Error) {
	list := []*node{value}
	if value.kind == kindList {
		list = value.items
	}
	for _, m := range list {
		if m.kind != kindMap {
			return nil, r.source.error(at, "write <<: *name",
				"a merge key takes a mapping or a list of mappings, not %s", fmt.Sprint(m.kind))
		}
	}
	return list, nil
}
