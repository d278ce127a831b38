package spelling

import "strings"

// The names of functions that stand for what MySQL has and the parser does not know. No statement can call them so
// without backquotes, and Shown takes them out of names again.
const (
	Assign   = ":="       // @a := 1 as `:=`(@a , 1)
	Interval = "interval" // INTERVAL(n, 1, 2): the parser takes the word for the beginning of INTERVAL 1 DAY
	Rollup   = "rollup"   // GROUP BY a WITH ROLLUP as GROUP BY a, `ROLLUP`()
	Grouping = "grouping"
	All      = "all" // a > ALL (SELECT …) as a > `ALL`((SELECT …))
	Any      = "any"
	Some     = "some"
	// NTH_VALUE(a, 2) OVER w as LAG(`NTH_VALUE`(a, 2)) OVER w: go-mysql-server takes LAG for a function of windows
	NthValue = "nth_value"
	CumeDist = "cume_dist"
	Inverted = "~" // ~a as `~`() ^ a, where the function has all bits
)

// carrier is the function that carries those of windows.
const carrier = "LAG("

// quantified looks at the word behind a comparison: all, any or some of what a subquery gives.
func (w *writer) quantified() {
	ahead := w.scanner
	next := ahead.next()
	if w.any(next, All, Any, Some) == "" || strings.HasPrefix(w.text[max(0, next.at-4):], "<=>") {
		return
	}
	open := ahead.next()
	if w.is(open, "(") && w.any(ahead.next(), "select", "with", "values", "table") != "" {
		w.replace(next.at, next.end, "`"+next.text(w)+"`(")
		w.scanner.at, w.doubled = next.end, open.at+1
	}
}

// inverted looks at a ~, which binds more tightly than ^. Behind a sign that binds more tightly than that it stays.
func (w *writer) inverted(t token) {
	if w.any(w.before, "-", "+", "!", "binary") == "" {
		w.replace(t.at, t.end, allBits)
	}
}

// allBits stands for a ~.
const allBits = "`" + Inverted + "`() ^ "

// function looks at the name of a function that the parser does not know, or not as one.
func (w *writer) function(t token, windowed bool) {
	ahead := w.scanner
	open := ahead.next()
	if !w.is(open, "(") || w.is(w.before, ".") {
		return
	}
	if windowed {
		w.replace(t.at, t.end, carrier+"`"+t.text(w)+"`")
		w.doubled = open.at + 1
		return
	}
	w.replace(t.at, t.end, "`"+t.text(w)+"`")
}

// lists tells whether what a parenthesis encloses has several parts. All of them are looked at once, so that it does
// not take longer for those that enclose others.
func (w *writer) lists(open int) bool {
	if w.parted == nil {
		w.parted = map[int]bool{}
		ahead := scanner{text: w.text, escapes: w.escapes}
		var within []int
		for t := ahead.next(); t.kind != end; t = ahead.next() {
			switch {
			case w.is(t, "("):
				within = append(within, t.at)
			case len(within) == 0:
			case w.is(t, ")"):
				within = within[:len(within)-1]
			case w.is(t, ","):
				w.parted[within[len(within)-1]] = true
			}
		}
	}
	return w.parted[open]
}

// rollup looks behind WITH.
func (w *writer) rollup(t token) {
	ahead := w.scanner
	if next := ahead.next(); w.is(next, "rollup") {
		w.replace(t.at, next.end, ", `"+next.text(w)+"`()")
		w.scanner = ahead
	}
}

// parenthesis keeps count of those that are open, and closes twice what was opened twice.
func (w *writer) parenthesis(t token) {
	if w.text[t.at] == '(' {
		w.within = append(w.within, w.doubled == t.at+1)
		return
	}
	if n := len(w.within); n > 0 {
		if w.within[n-1] {
			w.replace(t.end, t.end, ")")
		}
		w.within = w.within[:n-1]
	}
}

// Shown is the name of a column as the client wrote it, of one that is named after a part of a statement that was
// rewritten.
func Shown(name string) string {
	if !strings.Contains(name, "`") {
		return name
	}
	w := writer{scanner: scanner{text: name, escapes: true}}
	type parenthesis struct{ dropped, assigns bool }
	var within []parenthesis
	next := parenthesis{}
	for t := w.next(); t.kind != end; t = w.next() {
		ahead := w.scanner
		switch {
		case w.is(t, "("):
			if within = append(within, next); next.dropped {
				w.replace(t.at, t.end, "")
			}
			next = parenthesis{}
		case w.is(t, ")") && len(within) > 0:
			if within[len(within)-1].dropped {
				w.replace(t.at, t.end, "")
			}
			within = within[:len(within)-1]
		case w.is(t, ",") && w.is(ahead.next(), "`"+Rollup+"`"):
			open, closed := ahead.next(), ahead.next()
			w.replace(t.at, closed.end, "WITH "+bare(strings.TrimLeft(name[t.end:open.at], " ")))
			w.scanner = ahead
		case w.is(t, ",") && len(within) > 0 && within[len(within)-1].assigns:
			within[len(within)-1].assigns = false
			w.replace(t.at, t.end, Assign)
		case w.is(t, carrier[:len(carrier)-1]):
			first := ahead.next()
			if w.is(first, "(") && w.any(ahead.next(), "`"+NthValue+"`", "`"+CumeDist+"`") != "" {
				w.replace(t.at, first.end, "")
				w.scanner.at, within = first.end, append(within, parenthesis{dropped: true})
			}
		case strings.HasPrefix(name[t.at:], allBits):
			w.replace(t.at, t.at+len(allBits), Inverted)
			w.scanner.at = t.at + len(allBits)
		case t.kind == sign && w.is(ahead.next(), "("):
			switch strings.ToLower(bare(t.text(&w))) {
			case Assign:
				w.replace(t.at, t.end, "")
				next = parenthesis{true, true}
			case All, Any, Some:
				next.dropped = true
				fallthrough
			case Interval, Grouping, NthValue, CumeDist:
				w.replace(t.at, t.at+1, "")
				w.replace(t.end-1, t.end, "")
			}
		}
	}
	if w.done == 0 {
		return name
	}
	w.out.WriteString(name[w.done:])
	return w.out.String()
}
