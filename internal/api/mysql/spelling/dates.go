package spelling

import (
	"strconv"
	"strings"
	"time"
)

// dates looks behind DATE, TIME and TIMESTAMP for a literal. In a definition it is a default, and stays.
func (w *writer) dates(t token) {
	ahead := w.scanner
	l := ahead.next()
	if w.defines || l.kind != quoted {
		return
	}
	if cast, ok := castOf(strings.ToUpper(t.text(w)), l.text(w)); ok {
		w.replace(t.at, l.end, cast)
		w.scanner = ahead
	}
}

// castOf is a literal of a date or time, of which the parser knows no more than its text, as a CAST with the digits
// that its second has. false: MySQL would refuse it, or it has another form than these, and it stays.
func castOf(kind, literal string) (string, bool) {
	if len(literal) < 2 || literal[0] != '\'' {
		return "", false
	}
	whole, fraction, point := strings.Cut(literal[1:len(literal)-1], ".")
	layout := time.DateOnly
	switch kind {
	case "TIME":
		layout, whole = time.TimeOnly, strings.TrimPrefix(whole, "-")
	case "TIMESTAMP":
		kind, layout = "DATETIME", time.DateTime
	}
	if _, err := time.Parse(layout, whole); err != nil || strings.Trim(fraction, "0123456789") != "" {
		return "", false
	}
	if fraction != "" {
		kind += "(" + strconv.Itoa(min(len(fraction), 6)) + ")"
	}
	return "CAST(" + literal + " AS " + kind + ")", !point || layout != time.DateOnly
}
