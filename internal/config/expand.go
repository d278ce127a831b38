package config

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
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
				r.at(r.file.inside(n, i), "write ${NAME} or ${NAME:-default}; $$ is a plain $", "a ${ has no } behind it")
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
	if n.plain {
		n.resolve()
	}
}

// lookUp reads ${NAME:-default} at raw[from:to] without its }.
func (r *report) lookUp(n *node, raw string, from, to int, env func(string) (string, bool)) (value, name string, ok bool) {
	m := variable.FindStringSubmatch(raw[from+2 : to])
	if m == nil {
		r.at(r.file.inside(n, from), "write ${NAME} or ${NAME:-default}; $$ is a plain $", "%q is not the name of an environment variable", shorten(raw[from+2:to]))
		return "", "", false
	}
	name = m[1]
	value, ok = env(name)
	if m[2] != "" && value == "" {
		return strings.TrimPrefix(m[2], ":-"), name, true // as in a shell, :- serves an empty variable too
	}
	if !ok {
		r.at(r.file.inside(n, from), "set it, or write ${"+name+":-default}", "the environment variable %s is not set", name)
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
	values []string
	shown  []string // instead of the value of that index
}

// leastSecret is the length from which a value is taken out of other people's messages: taking out every "1" would
// only make them unreadable.
const leastSecret = 4

func (s *secrets) add(name, value string) { s.keep("${"+name+"}", value) }

// keep notes a value and what to show for it.
func (s *secrets) keep(shown, value string) {
	if len(value) < leastSecret || slices.Contains(s.values, value) {
		return
	}
	s.shown = append(s.shown, shown)
	s.values = append(s.values, value)
}

// redact takes the secret values out of a message that may have been made from them.
func (s *secrets) redact(message string) string {
	for i, v := range s.values {
		quoted := strconv.Quote(v)
		for _, form := range []string{v, quoted[1 : len(quoted)-1]} {
			message = strings.ReplaceAll(message, form, s.shown[i])
		}
	}
	return message
}
