package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/config/vrl"
)

// remap answers a transform of a type that other log shippers have, whose program is VRL: it shows what does the same
// here.
func (d *decoder) remap(p *part, t *node) {
	source := p.node.get("source")
	if source == nil || source.kind != kindString {
		d.at(t.at, "decode takes lines apart, jq makes new bodies", "%s: there is no remap; its work is done by "+
			"transforms of type decode and jq", p.path)
		return
	}
	made := vrl.Translate(source.text)
	if !made.Parsed || made.Decode == nil && (made.Program == "" || made.Program == "null") {
		hint := "decode takes lines apart, jq makes new bodies: see docs/configuration.md"
		if len(made.Unknown) > 0 {
			hint = strings.Join(made.Unknown, ", ") + " could not be translated; " + hint
		}
		d.at(t.at, hint, "%s: there is no remap, and its program is not one that could be translated", p.path)
		return
	}
	message, hint := "%s: there is no remap; what does the same is below", "put that in its place"
	if len(made.Unknown) > 0 {
		hint = "put that in its place, and see to the rest: " + strings.Join(made.Unknown, ", ") +
			" could not be translated"
	}
	e := d.at(t.at, hint, message, p.path)
	e.Instead = instead(p, made, d.file.isTOML())
}

// instead writes the components that stand for a remap, in the language of the file.
func instead(p *part, t vrl.Translation, isTOML bool) string {
	w := &settingsWriter{toml: isTOML}
	inputs := listOf(p.node.get("inputs"))
	name := p.name
	if d := t.Decode; d != nil {
		if t.Program != "" {
			name += "_fields"
		}
		w.begin(name)
		w.text("type", "decode")
		w.list("inputs", inputs)
		w.text("codec", d.Codec)
		w.list("columns", d.Columns)
		w.text("rest", d.Rest)
		w.text("delimiter", d.Delimiter)
		w.text("pattern", d.Pattern)
		w.mapping("types", d.Types)
		inputs = []string{name}
	}
	if t.Program != "" {
		w.begin(p.name)
		w.text("type", "jq")
		w.list("inputs", inputs)
		w.text("program", t.Program)
	}
	return w.b.String()
}

// listOf is the texts of a list, or of the single one that stands for it.
func listOf(n *node) []string {
	switch {
	case n == nil:
		return nil
	case n.kind == kindString:
		return []string{n.text}
	}
	var all []string
	for _, item := range n.items {
		all = append(all, item.text)
	}
	return all
}

// settingsWriter writes transforms as YAML or TOML.
type settingsWriter struct {
	toml bool
	b    strings.Builder
}

func (w *settingsWriter) begin(name string) {
	if w.toml {
		if w.b.Len() > 0 {
			w.b.WriteString("\n")
		}
		fmt.Fprintf(&w.b, "[transforms.%s]\n", name)
		return
	}
	fmt.Fprintf(&w.b, "  %s:\n", name)
}

func (w *settingsWriter) line(key, value string) {
	if w.toml {
		fmt.Fprintf(&w.b, "%s = %s\n", key, value)
		return
	}
	fmt.Fprintf(&w.b, "    %s: %s\n", key, value)
}

func (w *settingsWriter) text(key, value string) {
	if value != "" {
		w.line(key, w.quote(value))
	}
}

// quote writes a text so that the file's language reads it back, with quotes only where they are needed.
func (w *settingsWriter) quote(s string) string {
	s = strings.ReplaceAll(s, "${", "$${")
	bare := strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
	}) < 0
	if s == "" {
		return "''"
	}
	switch first := s[0]; {
	case !w.toml && bare && (first < '0' || first > '9') && !reserved(s):
		return s
	case !strings.ContainsAny(s, "'\n\r\t") && printable(s) == s:
		return "'" + s + "'"
	default:
		return strconv.Quote(s)
	}
}

// reserved tells whether YAML would take a word for something else than text.
func reserved(s string) bool {
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "null", "y", "n":
		return true
	}
	return false
}

func (w *settingsWriter) list(key string, items []string) {
	if len(items) == 0 {
		return
	}
	quoted := make([]string, len(items))
	for i, s := range items {
		quoted[i] = w.quote(s)
	}
	w.line(key, "["+strings.Join(quoted, ", ")+"]")
}

func (w *settingsWriter) mapping(key string, m map[string]string) {
	if len(m) == 0 {
		return
	}
	var pairs []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		colon := ": "
		if w.toml {
			colon = " = "
		}
		name := k
		if strings.IndexFunc(k, func(r rune) bool {
			return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", r)
		}) >= 0 || reserved(k) {
			name = w.quote(k)
		}
		pairs = append(pairs, name+colon+w.quote(m[k]))
	}
	w.line(key, "{ "+strings.Join(pairs, ", ")+" }")
}
