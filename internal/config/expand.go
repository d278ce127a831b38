package config

import (
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/hikyaku/hikyaku/internal/mask"
)

// variable is what ${…} may hold: a name, and a default after ":-".
var variable = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)(:-(?s:.*))?$`)

// expand puts the environment into every scalar below n. It works on the tree, so a value never changes the file's
// structure. Keys are left alone. $$ stands for one $.
func (r *report) expand(n *node, env func(string) (string, bool)) {
	switch n.kind {
	case kindList:
		for _, item := range n.items {
			r.expand(item, env)
		}
	case kindMap:
		for _, p := range n.pairs {
			r.expand(p.value, env)
		}
	case kindString:
		// An alias or a merge gives several keys the same node: what is written out already has its cuts.
		if strings.Contains(n.text, "$") && n.cuts == nil {
			r.expandText(n, env)
		}
	}
}

func (r *report) expandText(n *node, env func(string) (string, bool)) {
	var out strings.Builder
	raw := n.text
	for i := 0; i < len(raw); {
		dollar := strings.IndexByte(raw[i:], '$')
		if dollar < 0 || i+dollar+1 >= len(raw) {
			out.WriteString(raw[i:])
			break
		}
		out.WriteString(raw[i : i+dollar])
		i += dollar
		from := out.Len()
		switch raw[i+1] {
		case '$':
			out.WriteByte('$')
			n.cuts = append(n.cuts, cut{from, out.Len(), i, i + 2, ""})
			i += 2
		case '{':
			end := strings.IndexByte(raw[i:], '}')
			if end < 0 {
				r.at(r.file.inside(n, i), "write ${NAME} or ${NAME:-default}; $$ is a plain $",
					"a ${ has no } behind it")
				return
			}
			value, name, ok := r.lookUp(n, raw, i, i+end, env)
			if !ok {
				n.unset = true
				return
			}
			out.WriteString(value)
			n.cuts = append(n.cuts, cut{from, out.Len(), i, i + end + 1, name})
			i += end + 1
		default:
			out.WriteByte('$')
			i++
		}
	}
	n.text = out.String()
	r.keepAround(n, raw)
	if n.plain {
		n.resolve()
	}
}

// keepAround notes the words that values of the environment have become a part of: where such a value could be a word
// of its own, it is looked for only where it stands alone.
func (r *report) keepAround(n *node, raw string) {
	for _, c := range n.cuts {
		if c.name == "" {
			continue
		}
		if whole := mask.Around(n.text, c.from, c.to); len(whole) > c.to-c.from && c.to > c.from {
			r.secrets.keep("${"+c.name+"}…", whole)
		}
	}
}

// lookUp reads ${NAME:-default} at raw[from:to] without its }.
func (r *report) lookUp(n *node, raw string, from, to int, env func(string) (string, bool)) (value, name string,
	ok bool) {
	m := variable.FindStringSubmatch(raw[from+2 : to])
	if m == nil {
		r.at(r.file.inside(n, from), "write ${NAME} or ${NAME:-default}; $$ is a plain $",
			"%q is not the name of an environment variable", shorten(beforeDefault(raw[from+2:to])))
		return "", "", false
	}
	name = m[1]
	value, ok = env(name)
	if m[2] != "" && value == "" {
		return strings.TrimPrefix(m[2], ":-"), name, true // as in a shell, :- serves an empty variable too
	}
	if !ok {
		r.at(r.file.inside(n, from), "set it, or write ${"+name+":-default}", "the environment variable %s is not set",
			name)
		return "", "", false
	}
	r.secrets.add(name, value)
	return value, name, true
}

// resolve finds out again what a YAML scalar without quotes is, now that the environment is in it.
func (n *node) resolve() {
	y := yaml.Node{Kind: yaml.ScalarNode, Value: n.text}
	switch y.ShortTag() {
	case "!!null":
		n.kind = kindString // an empty variable is an empty text
	case "!!bool":
		n.kind = kindBool
	case "!!int":
		n.kind = kindInt
	case "!!float":
		n.kind = kindFloat
	}
}

// secrets are the values that came from the environment and must not be shown, and the settings that are secret
// wherever they came from.
type secrets struct {
	kept   []mask.Secret
	short  map[int][]mask.Secret // those too short to be looked for everywhere, by the line they stand in
	masker mask.Masker
	made   int // of how many masker knows
}

func (s *secrets) add(name, value string) { s.keep("${"+name+"}", value) }

// keep notes a value and what to show for it.
func (s *secrets) keep(shown, value string) {
	if len(value) < mask.Least || slices.ContainsFunc(s.kept, func(k mask.Secret) bool { return k.Text == value }) {
		return
	}
	s.kept = append(s.kept, mask.Secret{Text: value, Shown: shown})
}

// keepShort notes a value that is hidden only where its line is quoted.
func (s *secrets) keepShort(line int, value string) {
	if len(value) >= mask.Least || value == "" {
		return
	}
	if s.short == nil {
		s.short = map[int][]mask.Secret{}
	}
	s.short[line] = append(s.short[line], mask.Secret{Text: value, Shown: stars(value), Always: true})
}

// all is what takes every secret out.
func (s *secrets) all() mask.Masker {
	if s.made != len(s.kept) {
		s.masker, s.made = mask.New(s.kept...), len(s.kept)
	}
	return s.masker
}

// line is what takes secrets out of a line of the file.
func (s *secrets) line(n int) mask.Masker {
	if len(s.short[n]) == 0 {
		return s.all()
	}
	return mask.New(append(slices.Clone(s.kept), s.short[n]...)...)
}

// redact takes the secret values out of a message that may have been made from them.
func (s *secrets) redact(message string) string { return s.all().Mask(message) }

// beforeDefault is what stands in ${} up to where a default, which may be a secret, could begin.
func beforeDefault(inside string) string {
	if i := strings.IndexAny(inside, ":-=?+"); i > 0 {
		return inside[:i+1] + "…"
	}
	return inside
}
