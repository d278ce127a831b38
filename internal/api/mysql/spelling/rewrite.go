package spelling

import "strings"

// Rewrite writes a statement as the parser reads it. escapes tells whether a backslash escapes in literals, as it does
// without NO_BACKSLASH_ESCAPES. What needs no rewriting is returned as it is.
func Rewrite(query string, escapes bool) string {
	w := writer{scanner: scanner{text: query, escapes: escapes}}
	for {
		behind := w.at
		t := w.next()
		if len(w.values) > 0 {
			w.closeValues(t, behind)
		}
		if t.kind == end {
			break
		}
		if !w.braces(t) {
			break // the parser knows no braces: it will refuse them, so that the rest stays as it is
		}
		w.look(t)
		w.before = t
	}
	if w.done == 0 {
		return query
	}
	w.out.WriteString(query[w.done:])
	return w.out.String()
}

// writer walks through a statement.
type writer struct {
	scanner
	before  token // the token before the one that is looked at
	out     strings.Builder
	done    int    // the bytes of the text that out has, in whatever form
	open    int    // the escapes that are open, whose braces are left out
	defines bool   // the statement is a CREATE or ALTER
	rows    bool   // the statement is one of VALUES ROW(…), where ROW has to stay
	renamed string // the other name of a DELETE's table, without quotes, that is written as name; "": none
	name    string

	within  []bool       // the parentheses that are open, and whether they are closed twice
	doubled int          // the byte behind the parenthesis that will be; 0: none
	parted  map[int]bool // parentheses that enclose several parts; nil: nobody has asked
	sets    bool         // the statement is a SET
	shows   bool         // the statement is a SHOW, and IN stands for FROM: neither its condition nor a log has come
	values  []assignment // that are looked at, each in the one before
}

// replace writes a part of the text in another way. Parts are replaced in their order.
func (w *writer) replace(from, to int, with string) {
	if w.done == 0 {
		w.out.Grow(len(w.text) + len(with))
	}
	w.out.WriteString(w.text[w.done:from])
	w.out.WriteString(with)
	w.done = to
}

// is tells whether a token is a word or a sign.
func (w *writer) is(t token, text string) bool {
	return t.kind != quoted && t.end-t.at == len(text) && strings.EqualFold(w.text[t.at:t.end], text)
}

// any is the first of some words or signs that the token is; "" if it is none.
func (w *writer) any(t token, words ...string) string {
	for _, text := range words {
		if w.is(t, text) {
			return text
		}
	}
	return ""
}

// look rewrites what begins with a token. What it takes of the tokens behind is passed.
func (w *writer) look(t token) {
	if w.renamed != "" && !w.is(w.before, ".") {
		w.qualifier(t)
	}
	if t.kind == sign {
		switch w.text[t.at] {
		case '=', '>', '<':
			if !w.compared(t) {
				w.quantified()
			}
		case '-':
			if w.is(w.before, "-") && w.before.end == t.at {
				w.replace(t.at, t.at, " ") // the parser takes -- for a comment also where no blank is behind it
			}
		case '~':
			w.inverted(t)
		case '(', ')':
			w.parenthesis(t)
		case ';':
			w.renamed = ""
		}
		return
	}
	if t.kind != word || w.is(w.before, ".") {
		return
	}
	if w.before.kind == end || w.is(w.before, ";") {
		w.defines, w.sets, w.shows = w.any(t, "create", "alter") != "", w.is(t, "set"), w.is(t, "show")
		if w.is(t, "alter") {
			w.schema()
		}
	}
	w.shows = w.shows && w.any(t, "where", "like", "events") == ""
	if w.text[t.at] == '@' && w.assigns(t) || w.sets && w.setting(t) {
		return
	}
	if w.bits(t) {
		return
	}
	switch len(t.text(w)) {
	case 1:
		if w.is(t, "n") && strings.HasPrefix(w.text[t.end:], "'") {
			w.replace(t.at, t.end, " ")
		}
	case 2:
		switch w.any(t, "is", "in") {
		case "is":
			w.unknown()
		case "in":
			if w.shows {
				w.replace(t.at, t.end, "FROM")
			}
		}
	case 3:
		switch w.any(t, "row", "for") {
		case "row":
			w.row(t)
		case "for":
			if w.any(w.before, "index", "key") != "" {
				w.hinted(t)
			} else {
				w.share()
			}
		}
	case 4:
		switch w.any(t, "trim", "lock", "date", "time", "with") {
		case "with":
			w.rollup(t)
		case "trim":
			w.trim()
		case "lock":
			w.lock(t)
		case "date", "time":
			w.dates(t)
		}
	case 6:
		switch w.any(t, "select", "insert", "delete") {
		case "select":
			w.hints("high_priority", "sql_small_result", "sql_big_result", "sql_buffer_result")
		case "insert":
			if w.before.kind == end {
				w.hints("low_priority", "high_priority", "delayed")
			}
		case "delete":
			if w.before.kind == end {
				w.hints("low_priority", "quick")
				w.alias()
			}
		}
	case 8:
		switch ahead := w.scanner; w.any(t, "interval", Grouping) {
		case "interval":
			if open := ahead.next(); w.is(open, "(") && w.lists(open.at) {
				w.function(t, false)
			} else {
				w.interval()
			}
		case Grouping:
			w.function(t, false)
		}
	case 9:
		switch w.any(t, "timestamp", NthValue, CumeDist) {
		case "timestamp":
			w.dates(t)
		case NthValue, CumeDist:
			w.function(t, true)
		}
	case 11:
		if w.is(t, "distinctrow") {
			w.distinct(t)
		}
	case 12, 13:
		if w.any(t, "timestampadd", "timestampdiff") != "" {
			w.unit()
		}
	}
}

func (t token) text(w *writer) string { return w.text[t.at:t.end] }

// unknown looks behind IS.
func (w *writer) unknown() {
	ahead := w.scanner
	t := ahead.next()
	if w.is(t, "not") {
		t = ahead.next()
	}
	if w.is(t, "unknown") {
		w.replace(t.at, t.end, "NULL")
		w.scanner = ahead
	}
}

// trim looks behind TRIM.
func (w *writer) trim() {
	ahead := w.scanner
	if !w.is(ahead.next(), "(") || w.any(ahead.next(), "both", "leading", "trailing") == "" {
		return
	}
	if t := ahead.next(); w.is(t, "from") {
		w.replace(t.at, t.at, "' ' ")
	}
}

// lock looks at the first word of LOCK TABLE.
func (w *writer) lock(t token) {
	ahead := w.scanner
	if next := ahead.next(); w.before.kind == end && w.is(next, "table") {
		w.replace(next.at, next.end, "TABLES")
		w.scanner = ahead
	}
}

// hints looks behind SELECT, INSERT and DELETE: it leaves out what the parser does not know.
func (w *writer) hints(out ...string) {
	for ahead := w.scanner; ; w.scanner = ahead {
		t := ahead.next()
		switch {
		case w.any(t, out...) != "":
			w.replace(t.at, t.end, "")
		case w.is(t, "distinctrow"):
			w.distinct(t)
		case w.any(t, "all", "distinct", "sql_no_cache", "sql_cache", "sql_calc_found_rows", "straight_join") == "":
			return
		}
	}
}

// alias looks behind DELETE: where the only table has another name, as MySQL 8.0.16 and later have it, that name is
// said to be what rows are deleted from. With an ORDER BY or a LIMIT the parser knows no other name: there the table's
// own stands in its place.
func (w *writer) alias() {
	ahead := w.scanner
	from := ahead.next()
	if w.is(from, "ignore") {
		from = ahead.next()
	}
	table := ahead.next()
	if !w.is(from, "from") || table.kind == end {
		return
	}
	t := ahead.next()
	if w.is(t, ".") {
		table = ahead.next()
		t = ahead.next()
	}
	first := t
	if w.is(t, "as") {
		t = ahead.next()
	}
	if !w.names(t) || w.any(t, "where", "order", "limit", "using", "partition", "returning", "join",
		"inner", "left", "right", "cross", "natural", "straight_join") != "" {
		return
	}
	switch ordered, clear := w.ordered(ahead, t); {
	case !ordered:
		w.replace(from.at, from.at, t.text(w)+" ")
	case clear:
		w.replace(first.at, t.end, "")
		w.renamed, w.name = bare(t.text(w)), table.text(w)
	}
}

// names tells whether a token may be a name.
func (w *writer) names(t token) bool {
	return t.kind == word || t.kind == sign && strings.HasPrefix(t.text(w), "`")
}

// bare is a name without its quotes.
func bare(name string) string {
	if !strings.HasPrefix(name, "`") {
		return name
	}
	return strings.ReplaceAll(strings.Trim(name, "`"), "``", "`")
}

// ordered tells whether what stands behind the name of a DELETE's table has an ORDER BY or a LIMIT, and whether it is
// clear what that name means in it: a SELECT in it may give the same name to another table.
func (w *writer) ordered(ahead scanner, alias token) (ordered, clear bool) {
	depth, selects, again := 0, false, false
	for {
		t := ahead.next()
		if t.kind == end || depth == 0 && w.is(t, ";") {
			return ordered, !selects || !again
		}
		switch {
		case w.is(t, "("):
			depth++
		case w.is(t, ")"):
			depth--
		case depth == 0 && w.any(t, "order", "limit") != "":
			ordered = true
		case w.is(t, "select"):
			selects = true
		case w.names(t) && bare(t.text(w)) == bare(alias.text(w)):
			behind := ahead
			again = again || !w.is(behind.next(), ".")
		}
	}
}

// qualifier looks at a name before a point: the table's own stands in the place of the other one.
func (w *writer) qualifier(t token) {
	ahead := w.scanner
	if w.names(t) && bare(t.text(w)) == w.renamed && w.is(ahead.next(), ".") {
		w.replace(t.at, t.end, w.name)
	}
}

// distinct looks at DISTINCTROW.
func (w *writer) distinct(t token) { w.replace(t.at, t.end, "DISTINCT") }

// unit looks behind TIMESTAMPADD and TIMESTAMPDIFF.
func (w *writer) unit() {
	ahead := w.scanner
	if !w.is(ahead.next(), "(") {
		return
	}
	const prefix = "SQL_TSI_"
	t := ahead.next()
	name := t.text(w)
	if t.kind != word || len(name) < len(prefix) || !strings.EqualFold(name[:len(prefix)], prefix) {
		return
	}
	unit := token{word, t.at + len(prefix), t.end}
	if w.any(unit, "second", "minute", "hour", "day", "week", "month", "quarter", "year") != "" {
		w.replace(t.at, t.end, unit.text(w))
	}
}

// row looks at ROW where a value may stand.
func (w *writer) row(t token) {
	ahead := w.scanner
	if !w.is(ahead.next(), "(") {
		return
	}
	if w.is(w.before, "values") {
		w.rows = true
	}
	behind := w.any(w.before, "=", "<", ">", "(", ",", "select", "where", "and", "or", "xor", "not", "on", "having",
		"when", "between")
	if !w.rows && behind != "" {
		w.replace(t.at, t.end, " ")
	}
}

// compared looks behind a comparison that is an IN or a NOT IN, and tells whether it is one.
func (w *writer) compared(t token) bool {
	with, first := "IN", t.at
	ahead := w.scanner
	next := ahead.next()
	switch {
	case w.text[t.at] == '=' && w.any(w.before, "<", ">", "!", ":", "=") == "":
		if w.any(next, "any", "some") == "" {
			return false
		}
	case w.text[t.at] == '>' && w.is(w.before, "<") && w.before.end == t.at,
		w.text[t.at] == '=' && w.is(w.before, "!") && w.before.end == t.at:
		if !w.is(next, "all") {
			return false
		}
		with, first = "NOT IN", w.before.at
	default:
		return false
	}
	if !w.is(ahead.next(), "(") || w.any(ahead.next(), "select", "with", "values", "table") == "" {
		return false
	}
	w.replace(first, next.end, " "+with)
	return true
}
