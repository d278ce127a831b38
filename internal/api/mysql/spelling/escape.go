package spelling

import "strings"

// typed are the words of escapes with a literal, and those of the literal.
var typed = map[string]string{"d": "DATE", "t": "TIME", "ts": "TIMESTAMP"}

// braces looks at a token that may be the beginning or the end of an escape. false: it is a brace of something else.
func (w *writer) braces(t token) bool {
	switch {
	case w.is(t, "{"):
		return w.brace(t)
	case w.is(t, "}"):
		return w.closeBrace(t)
	}
	return true
}

// brace looks at the beginning of an escape of ODBC. false: it is none that is known.
func (w *writer) brace(t token) bool {
	ahead := w.scanner
	name := ahead.next()
	if w.any(name, "fn", "oj") != "" {
		w.replace(t.at, name.end, " ")
		w.open++
		w.scanner.at = name.end
		return true
	}
	kind, known := typed[strings.ToLower(name.text(w))]
	value, last := ahead.next(), ahead.next()
	if !known || value.kind != quoted || !w.is(last, "}") {
		return false
	}
	if cast, ok := castOf(kind, value.text(w)); ok {
		w.replace(t.at, value.end, cast)
	} else {
		w.replace(t.at, name.end, kind)
	}
	w.replace(last.at, last.end, " ")
	w.scanner = ahead
	return true
}

// closeBrace looks at the end of an escape. false: none is open.
func (w *writer) closeBrace(t token) bool {
	if w.open == 0 {
		return false
	}
	w.replace(t.at, t.end, " ")
	w.open--
	return true
}
