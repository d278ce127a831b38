package spelling

import "strings"

// assignment is an @a := whose value is looked at. The value goes as far as it can: the operator binds weaker than all
// others.
type assignment struct {
	depth     int  // of the parentheses that it stands in
	cases     int  // CASEs that are open in the value
	intervals int  // INTERVALs whose unit is still to come
	valued    bool // the token before was the end of a value: a name behind it is another name of all
	literal   bool // it was a literal in quotes, or what may stand before one
}

// assigns looks at a variable: @a, @`a` or @'a'. In a SET it stays.
func (w *writer) assigns(t token) bool {
	ahead := w.scanner
	last := t
	if t.end == t.at+1 {
		if last = ahead.next(); last.at != t.end || last.kind != quoted && !w.names(last) {
			return false
		}
	}
	colon := ahead.next()
	equals := ahead.next()
	if !w.is(colon, ":") || !w.is(equals, "=") || equals.at != colon.end || w.sets && len(w.within) == 0 {
		return false
	}
	w.replace(t.at, t.at, "`"+Assign+"`(")
	w.replace(colon.at, equals.end, ",")
	w.scanner = ahead
	w.values = append(w.values, assignment{depth: len(w.within)})
	return true
}

// closeValues ends the values of assignments that a token is behind.
func (w *writer) closeValues(t token, behind int) {
	for len(w.values) > 0 {
		v := &w.values[len(w.values)-1]
		if v.depth < len(w.within) {
			return
		}
		if !w.ends(v, t) {
			return
		}
		w.replace(behind, behind, ")")
		w.values = w.values[:len(w.values)-1]
		if len(w.values) > 0 {
			w.values[len(w.values)-1].valued = true
		}
	}
}

// ends tells whether a token is behind a value, of which it is a part otherwise.
func (w *writer) ends(v *assignment, t token) bool {
	valued, literal := v.valued, v.literal
	v.valued, v.literal = false, false
	switch {
	case t.kind == end:
		return true
	case t.kind == quoted:
		v.valued, v.literal = true, true
		return valued && !literal
	case t.kind == sign:
		switch w.text[t.at] {
		case ',', ';', ')':
			return true
		case '`':
			v.valued = true
			return valued
		case '(', '?':
			v.valued = true // when it is closed
		}
		return false
	case w.is(w.before, "."):
		v.valued = true
		return false
	case w.any(t, "case") != "":
		v.cases++
		return false
	case w.is(t, "end") && v.cases > 0:
		v.cases--
		v.valued = true
		return false
	case w.any(t, "when", "then", "else") != "" && v.cases > 0:
		return false
	case w.any(t, "left", "right") != "":
		ahead := w.scanner
		return !w.is(ahead.next(), "(")
	case behindValues[strings.ToLower(t.text(w))]:
		return true
	case w.is(t, "interval"):
		ahead := w.scanner
		if open := ahead.next(); !w.is(open, "(") || !w.lists(open.at) {
			v.intervals++
		}
		return false
	case betweenValues[strings.ToLower(t.text(w))]:
		return false
	case valued && v.intervals > 0:
		v.intervals--
	case valued:
		return true
	}
	v.valued = true
	v.literal = w.any(t, "date", "time", "timestamp", "x", "b", "n") != "" || w.text[t.at] == '_'
	return false
}

func words(text string) map[string]bool {
	all := map[string]bool{}
	for _, word := range strings.Fields(text) {
		all[word] = true
	}
	return all
}

// behindValues are words that end a value, betweenValues those that stand between two parts of one, or before one.
var (
	behindValues = words("as asc cross desc else end except for from group having inner intersect into join limit " +
		"lock natural on order procedure separator straight_join then union using when where window")
	betweenValues = words("and between binary collate div distinct escape exists in is like member mod not of or " +
		"over regexp rlike sounds xor")
)
