package sqldriver

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A place is the column that a placeholder is a value of, or is compared with.
type place struct {
	column string // as the statement writes it, without the table
	index  int    // of the table's columns, where an INSERT names none; -1: column says it
}

// places finds the tables of a statement and the columns of its placeholders, as far as their neighbours tell: VALUES
// (:a, …), c = :a, c IN (:a, …), c BETWEEN :a AND :b. It knows no more SQL, and says nothing of what it does not
// understand.
func places(sql string) (tables []string, found map[string]place) {
	p := &finder{tokens: tokens(sql), found: make(map[string]place)}
	for p.at < len(p.tokens) {
		p.step()
	}
	return p.tables, p.found
}

type finder struct {
	tokens []string
	at     int
	tables []string
	found  map[string]place
}

func (p *finder) peek(ahead int) string {
	if i := p.at + ahead; i >= 0 && i < len(p.tokens) {
		return p.tokens[i]
	}
	return ""
}

func (p *finder) is(ahead int, word string) bool { return strings.EqualFold(p.peek(ahead), word) }

// step looks at one token, or at what it begins.
func (p *finder) step() {
	switch {
	case p.is(0, "INTO"):
		p.table()
		p.insert()
	case p.is(0, "FROM"), p.is(0, "JOIN"), p.is(0, "UPDATE"):
		p.table()
	case comparison(p.peek(0)):
		p.note(p.peek(1), p.peek(-1))
		p.note(p.peek(-1), p.peek(1))
		p.at++
	case p.is(0, "BETWEEN"):
		column := p.before()
		p.note(p.peek(1), column)
		if p.is(2, "AND") {
			p.note(p.peek(3), column)
		}
		p.at += 2 // its AND is none that the next step should see as another's
	case p.is(0, "IN") && p.peek(1) == "(":
		column := p.before()
		for p.at += 2; p.at < len(p.tokens) && p.peek(0) != ")"; p.at++ {
			p.note(p.peek(0), column)
		}
	default:
		p.at++
	}
}

// before is the column before BETWEEN or IN, which may be negated.
func (p *finder) before() string {
	if p.is(-1, "NOT") {
		return p.peek(-2)
	}
	return p.peek(-1)
}

// table notes the name behind the word that is next.
func (p *finder) table() {
	p.at++
	if name, ok := plain(p.peek(0)); ok {
		p.tables = append(p.tables, name)
		p.at++
	}
}

// insert reads the columns and the rows of an INSERT.
func (p *finder) insert() {
	var columns []string
	if p.peek(0) == "(" {
		for p.at++; p.at < len(p.tokens) && p.peek(0) != ")"; p.at++ {
			if p.peek(0) != "," {
				columns = append(columns, p.peek(0))
			}
		}
		p.at++
	}
	if !p.is(0, "VALUES") {
		return
	}
	p.at++
	for p.peek(0) == "(" {
		p.row(columns)
		if p.peek(0) != "," {
			return
		}
		p.at++
	}
}

// row reads the values of a row up to its end.
func (p *finder) row(columns []string) {
	depth, index := 0, 0
	for ; p.at < len(p.tokens); p.at++ {
		switch p.peek(0) {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				p.at++
				return
			}
		case ",":
			if depth == 1 {
				index++
			}
		default:
			alone := depth == 1 && (p.peek(-1) == "(" || p.peek(-1) == ",") && (p.peek(1) == ")" || p.peek(1) == ",")
			switch {
			case !alone:
			case columns == nil:
				p.add(p.peek(0), place{index: index})
			case index < len(columns):
				p.note(p.peek(0), columns[index])
			}
		}
	}
}

// note keeps that a placeholder has to do with a column, if they are such.
func (p *finder) note(holder, column string) {
	if name, ok := plain(column); ok {
		p.add(holder, place{column: name, index: -1})
	}
}

func (p *finder) add(holder string, at place) {
	if len(holder) > 1 && holder[0] == ':' {
		if _, ok := p.found[holder[1:]]; !ok {
			p.found[holder[1:]] = at
		}
	}
}

// plain is a name without its table and its quotes; ok is false for what is none.
func plain(token string) (name string, ok bool) {
	if i := strings.LastIndexByte(token, '.'); i >= 0 && !strings.HasSuffix(token, `"`) {
		token = token[i+1:]
	} else if i := strings.LastIndex(token, `."`); i >= 0 {
		token = token[i+1:]
	}
	if len(token) > 2 && token[0] == '"' {
		return strings.ReplaceAll(token[1:len(token)-1], `""`, `"`), true
	}
	r, _ := utf8.DecodeRuneInString(token)
	return token, r == '_' || unicode.IsLetter(r)
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
