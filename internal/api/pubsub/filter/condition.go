package filter

import "strings"

// Condition is a text of package condition that is true for just the messages that the filter lets through; "" if it
// lets all through.
//
// spell gives each key the name by which the condition shall call it, where a condition's reader knows other things
// than attributes by some names; nil takes the keys as they are. It must not return "".
//
// Values are compared by their text, so that an attribute which another door stored as the number 5 equals "5" and not
// "05".
func (f *Filter) Condition(spell func(key string) string) string {
	if f.root == nil {
		return ""
	}
	if spell == nil {
		spell = func(key string) string { return key }
	}
	w := writer{spell: spell}
	w.write(f.root, true)
	return w.b.String()
}

type writer struct {
	b     strings.Builder
	spell func(string) string
}

// write writes where n is true (want) or false. What it writes is true for these messages and false or null for all
// others.
func (w *writer) write(n *node, want bool) {
	switch n.op {
	case opNot:
		w.write(n.args[0], !want)
	case opAnd:
		w.join(n.args, want, want)
	case opOr:
		w.join(n.args, want, !want)
	case opHas:
		w.name(n.key)
		if want {
			w.b.WriteString(" is not null")
		} else {
			w.b.WriteString(" is null")
		}
	case opEqual:
		w.like(n.key, n.value, "", want)
	case opNotEqual:
		w.like(n.key, n.value, "", !want)
	case opHasPrefix:
		w.like(n.key, n.value, "%", want)
	}
}

// join writes the parts in parentheses, joined by and (conjunction) or by or.
func (w *writer) join(args []*node, want, conjunction bool) {
	word := " or "
	if conjunction {
		word = " and "
	}
	w.b.WriteByte('(')
	for i, a := range args {
		if i > 0 {
			w.b.WriteString(word)
		}
		w.write(a, want)
	}
	w.b.WriteByte(')')
}

// like writes the comparison with a value and a pattern behind it. Its opposite holds for a missing attribute, too.
func (w *writer) like(key, value, rest string, want bool) {
	w.name(key)
	w.b.WriteString(" like '")
	// Writing to a strings.Builder cannot fail.
	_, _ = literalEscapes.WriteString(&w.b, patternEscapes.Replace(value))
	w.b.WriteString(rest + "'")
	if !want {
		w.b.WriteString(" is not true")
	}
}

func (w *writer) name(key string) {
	w.b.WriteString("`" + strings.ReplaceAll(w.spell(key), "`", "``") + "`")
}

var (
	// patternEscapes make a text a pattern that only it fits.
	patternEscapes = strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`)
	// literalEscapes make a text a literal's inside.
	literalEscapes = strings.NewReplacer(`\`, `\\`, "'", "''")
)
