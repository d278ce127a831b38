package spelling

// typed are the words of escapes with a literal, and those of the literal.
var typed = map[string]string{"d": "DATE", "t": "TIME", "ts": "TIMESTAMP"}

// brace looks at the beginning of an escape of ODBC.
func (w *writer) brace(t token) {
	ahead := w.scanner
	name := ahead.next()
	switch {
	case w.any(name, "fn", "oj") != "":
		w.replace(t.at, name.end, " ")
		w.open = append(w.open, true)
	case w.any(name, "d", "t", "ts") != "":
		value, last := ahead.next(), ahead.next()
		if value.kind == quoted && w.is(last, "}") {
			kind := typed[w.any(name, "d", "t", "ts")]
			if cast, ok := castOf(kind, value.text(w)); ok {
				w.replace(t.at, value.end, cast)
			} else {
				w.replace(t.at, name.end, kind)
			}
			w.replace(last.at, last.end, " ")
			w.scanner = ahead
			return
		}
		w.open = append(w.open, false)
	default:
		w.open = append(w.open, false)
		return
	}
	w.scanner.at = name.end
}

// closeBrace looks at the end of an escape.
func (w *writer) closeBrace(t token) {
	if len(w.open) == 0 {
		return
	}
	last := len(w.open) - 1
	if w.open[last] {
		w.replace(t.at, t.end, " ")
	}
	w.open = w.open[:last]
}
