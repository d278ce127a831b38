package sqldriver

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A place is the column that a placeholder is a value of, or is compared with.
type place struct {
	scope     *scope // where its table is looked for
	qualifier string // the table's name or alias before the dot; "" if there is none
	column    string // without quotes
	index     int    // of the table's columns, where an INSERT names none; -1: column says it
}

// A scope is what a query, or the statement itself, takes its columns from.
type scope struct {
	sources []source
	outer   *scope // nil: the scope is not that of a subquery
}

// A source is a table, or something in its place whose columns are not known: then table is "".
type source struct {
	table string // without the schema
	name  string // what its columns are qualified with: the alias, if there is one
}

// places finds the columns of a statement's placeholders, as far as their neighbours tell: VALUES (:a, …), c = :a,
// c IN (:a, …), c BETWEEN :a AND :b. It knows no more SQL, and says nothing of what it does not understand.
func places(sql string) map[string]place {
	p := &finder{tokens: tokens(sql), found: make(map[string]place)}
	p.levels = []level{{scope: new(scope)}}
	for p.at < len(p.tokens) {
		p.step()
	}
	return p.found
}

type finder struct {
	tokens []string
	at     int
	levels []level // the open parentheses, the statement's own level before them
	found  map[string]place
}

// A level is what stands between a pair of parentheses, without what stands in others inside.
type level struct {
	scope  *scope
	query  bool   // it has a query whose FROM is still to come
	from   bool   // it is in a FROM, where a comma is before a table
	list   string // the column that the values between commas are compared with
	row    bool   // it is a row of VALUES
	values *row   // of an INSERT: what the rows that follow are put into
	index  int    // of the row's value
}

// A row is where an INSERT puts values.
type row struct {
	scope   *scope
	columns []string // nil: all of the table's
}

func (p *finder) level() *level { return &p.levels[len(p.levels)-1] }

func (p *finder) peek(ahead int) string {
	if i := p.at + ahead; i >= 0 && i < len(p.tokens) {
		return p.tokens[i]
	}
	return ""
}

func (p *finder) is(ahead int, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.EqualFold(p.peek(ahead), word) })
}

// step looks at one token, or at what it begins.
func (p *finder) step() {
	l := p.level()
	switch {
	case p.peek(0) == "(":
		p.open(l)
	case p.peek(0) == ")":
		if len(p.levels) > 1 {
			p.levels = p.levels[:len(p.levels)-1]
		}
	case p.peek(0) == ",":
		l.index++
		if l.from {
			p.source()
		}
	case p.is(0, "INTO"):
		p.into()
	case p.is(0, "SELECT"):
		p.query(l)
	case p.is(0, "DELETE"):
		l.query = true
	case p.is(0, "UPDATE") && p.at == 0, p.is(0, "JOIN", "APPLY") && l.from:
		p.source()
	case p.is(0, "FROM") && l.query && !p.is(-1, "DISTINCT"): // elsewhere it is EXTRACT's, or that of IS DISTINCT FROM
		l.query, l.from = false, true
		p.source()
	case p.is(0, "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT"):
		l.from = false
	case comparison(p.peek(0)):
		p.note(p.peek(1), p.operand(-1))
		p.note(p.peek(-1), p.operand(1))
	case p.is(0, "BETWEEN"):
		p.note(p.peek(1), p.before())
		if p.is(2, "AND") {
			p.note(p.peek(3), p.before())
		}
	default:
		p.value(l)
	}
	p.at++
}

// open begins what stands between parentheses. It has the tables of what is around it, until it has a query.
func (p *finder) open(outer *level) {
	inner := level{scope: outer.scope}
	switch {
	case p.is(-1, "IN"):
		p.at--
		inner.list = p.before()
		p.at++
	case outer.values != nil && !outer.row && (p.is(-1, "VALUES") || p.peek(-1) == ","):
		inner.row, inner.values = true, outer.values
	case outer.from && p.is(-1, "FROM", "JOIN", ",", "("): // of a join, or a query that is a table
		inner.from = true
		if !p.is(1, "SELECT", "VALUES") {
			p.levels = append(p.levels, inner)
			p.source()
			return
		}
	}
	p.levels = append(p.levels, inner)
}

// query begins a query in a scope of its own. What a UNION joins are queries of one level, which do not see each other;
// neither does the query of an INSERT see its table.
func (p *finder) query(l *level) {
	inner := &scope{}
	if n := len(p.levels); n > 1 {
		inner.outer = p.levels[n-2].scope
	}
	*l = level{scope: inner, query: true}
}

// value notes a placeholder that is all of a value between commas.
func (p *finder) value(l *level) {
	if p.peek(-1) != "(" && p.peek(-1) != "," || p.peek(1) != ")" && p.peek(1) != "," {
		return
	}
	switch {
	case !l.row:
		p.note(p.peek(0), l.list)
	case l.values.columns == nil:
		p.add(p.peek(0), place{scope: l.values.scope, index: l.index})
	case l.index < len(l.values.columns):
		p.note(p.peek(0), l.values.columns[l.index])
	}
}

// operand is the column that stands alone on a side of a comparison; "" if there is more, such as a product or a call.
func (p *finder) operand(ahead int) string {
	switch p.peek(2 * ahead) {
	case "(":
		if ahead < 0 {
			break
		}
		fallthrough
	case "+", "-", "*", "/", "%", "|":
		return ""
	}
	return p.peek(ahead)
}

// before is the column before BETWEEN or IN, which may be negated.
func (p *finder) before() string {
	if !p.is(-1, "NOT") {
		return p.operand(-1)
	}
	p.at--
	defer func() { p.at++ }()
	return p.operand(-1)
}

// behind are words that follow a table and are no alias.
var behind = []string{"WHERE", "JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL", "OUTER", "APPLY", "ON",
	"USING", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "EXCEPT", "INTERSECT", "SET", "VALUES", "DEFAULT", "SELECT"}

// source notes the table behind the word, the comma or the parenthesis that the finder is at, and stays at its end. A
// query in parentheses is noted as a source without a table.
func (p *finder) source() {
	var s source
	switch path := parts(p.peek(1)); {
	case path != nil && !p.is(1, behind...):
		s = source{table: path[len(path)-1], name: path[len(path)-1]}
		p.at++
		if p.is(1, "AS") {
			p.at++
		}
		if alias := parts(p.peek(1)); alias != nil && !p.is(1, behind...) {
			s.name = alias[0]
			p.at++
		}
		if p.peek(1) == "(" && p.level().from { // of a function's arguments, or of other names for the columns
			s.table = ""
		}
	case p.peek(1) != "(" || !p.is(2, "SELECT", "VALUES"):
		return
	}
	into := p.level().scope
	into.sources = append(into.sources, s)
}

// into reads the table and the columns of an INSERT.
func (p *finder) into() {
	l := p.level()
	p.source()
	l.values = &row{scope: l.scope}
	if p.peek(1) != "(" || p.is(2, "SELECT") {
		return
	}
	l.values.columns = []string{}
	for p.at += 2; p.at < len(p.tokens) && p.peek(0) != ")"; p.at++ {
		if p.peek(0) != "," {
			l.values.columns = append(l.values.columns, p.peek(0))
		}
	}
}

// note keeps that a placeholder has to do with a column, if they are such.
func (p *finder) note(holder, column string) {
	path := parts(column)
	if path == nil {
		return
	}
	at := place{scope: p.level().scope, column: path[len(path)-1], index: -1}
	if len(path) > 1 {
		at.qualifier = path[len(path)-2]
	}
	p.add(holder, at)
}

func (p *finder) add(holder string, at place) {
	if len(holder) > 1 && holder[0] == ':' {
		if _, ok := p.found[holder[1:]]; !ok {
			p.found[holder[1:]] = at
		}
	}
}

// parts are a name and those before its dots, without their quotes; nil for what is no name.
func parts(token string) []string {
	var all []string
	for len(token) > 0 {
		r, _ := utf8.DecodeRuneInString(token)
		var name string
		switch {
		case r == '"':
			n := 0
			for n < len(token) && token[n] == '"' { // a quote written twice is one in the name
				n += opaque(token[n:])
			}
			if n < len(`"a"`) {
				return nil
			}
			name, token = strings.ReplaceAll(token[1:n-1], `""`, `"`), token[n:]
		case r == '_' || unicode.IsLetter(r):
			n := strings.IndexAny(token, `."`)
			if n < 0 {
				n = len(token)
			}
			name, token = token[:n], token[n:]
		default:
			return nil
		}
		all = append(all, name)
		token = strings.TrimPrefix(token, ".")
	}
	return all
}

func comparison(token string) bool {
	switch token {
	case "=", "<>", "!=", "<", "<=", ">", ">=":
		return true
	}
	return false
}

// tokens divides a statement into names (with the table before the dot), placeholders with their colon, texts, numbers
// and signs.
func tokens(sql string) []string {
	var all []string
	for i := 0; i < len(sql); {
		n := opaque(sql[i:])
		switch {
		case n > 0 && (sql[i] == '-' || sql[i] == '/'):
			i += n
			continue
		case n > 0 && sql[i] == '\'':
		case wordLength(sql[i:]) > 0:
			n = wordLength(sql[i:])
		case sql[i] == ':' && wordLength(sql[i+1:]) > 0:
			n = 1 + wordLength(sql[i+1:])
		case strings.IndexByte(" \t\r\n", sql[i]) >= 0:
			i++
			continue
		case i+1 < len(sql) && comparison(sql[i:i+2]):
			n = 2
		default:
			n = 1
		}
		all = append(all, sql[i:i+n])
		i += n
	}
	return all
}

// wordLength is the length of a name, a number or a word, with the names before its dots.
func wordLength(s string) int {
	i := 0
	for i < len(s) {
		if s[i] == '"' {
			i += opaque(s[i:])
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r != '_' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		i += n
	}
	return i
}
