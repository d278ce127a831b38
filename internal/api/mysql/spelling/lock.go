package spelling

// share looks behind FOR: SHARE locks rows for others' writes, as UPDATE does, and no row is ever locked here. Where a
// parenthesis ends behind it, it may be a column, as in SUBSTRING(a FROM 1 FOR share).
func (w *writer) share() {
	ahead := w.scanner
	t := ahead.next()
	if !w.is(t, "share") {
		return
	}
	last := ahead
	if behind := ahead.next(); behind.kind == end || w.any(behind, ";", "of", "nowait", "skip") != "" {
		w.replace(t.at, t.end, "UPDATE")
		w.scanner = last
	}
}

// hinted looks behind USE INDEX and its like: what an index is for is left out.
func (w *writer) hinted(t token) {
	ahead := w.scanner
	last := ahead.next()
	if w.any(last, "order", "group") != "" {
		if last = ahead.next(); !w.is(last, "by") {
			return
		}
	} else if !w.is(last, "join") {
		return
	}
	w.replace(t.at, last.end, "")
	w.scanner = ahead
}

// setting looks at a word that is the whole value of a variable: MySQL takes these for texts although they are words of
// its language, and tells whether the word is one.
func (w *writer) setting(t token) bool {
	ahead := w.scanner
	behind := ahead.next()
	if !w.is(w.before, "=") || w.any(t, "row", "system", "binary", "all") == "" ||
		behind.kind != end && w.any(behind, ",", ";") == "" {
		return false
	}
	w.replace(t.at, t.end, "'"+t.text(w)+"'")
	return true
}

// schema looks behind ALTER.
func (w *writer) schema() {
	ahead := w.scanner
	if t := ahead.next(); w.is(t, "schema") {
		w.replace(t.at, t.end, "DATABASE")
		w.scanner = ahead
	}
}
