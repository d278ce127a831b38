package sql

import (
	"fmt"
	"strconv"
	"strings"
)

type parser struct {
	tokens []token
	pos    int
	depth  int
}

// Parse reads one statement.
func Parse(src string) (s Statement, err error) {
	tokens, err := lex(src)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens}
	switch {
	case p.accept("CREATE"):
		s, err = p.create()
	case p.accept("DROP"):
		s, err = p.drop()
	case p.accept("INSERT"):
		s, err = p.insert()
	case p.accept("SELECT"):
		s, err = p.selects()
	case p.accept("UPDATE"):
		s, err = p.update()
	case p.accept("DELETE"):
		s, err = p.deletes()
	default:
		return nil, p.unexpected("a statement")
	}
	if err != nil {
		return nil, err
	}
	p.accept(";")
	if p.peek().kind != end {
		return nil, p.unexpected("the end")
	}
	return s, nil
}

func (p *parser) peek() token { return p.tokens[p.pos] }

func (p *parser) take() token {
	t := p.tokens[p.pos]
	if t.kind != end {
		p.pos++
	}
	return t
}

// accept takes the words or signs if they are next, all or none.
func (p *parser) accept(words ...string) bool {
	for i, w := range words {
		if p.pos+i >= len(p.tokens) || !p.tokens[p.pos+i].is(w) {
			return false
		}
	}
	p.pos += len(words)
	return true
}

func (p *parser) expect(words ...string) error {
	for _, w := range words {
		if !p.accept(w) {
			return p.unexpected(w)
		}
	}
	return nil
}

func (p *parser) unexpected(wanted string) error {
	t := p.peek()
	what := strconv.Quote(t.text)
	if t.kind == end {
		what = "the end"
	}
	return &SyntaxError{t.offset, fmt.Sprintf("%s where %s is expected", what, wanted)}
}

// name reads a table's or a column's; without quotes it is in lower case.
func (p *parser) name() (string, error) {
	t := p.peek()
	switch t.kind {
	case word:
		if isReserved(t.text) {
			return "", p.unexpected("a name, which this is only in quotes,")
		}
		p.pos++
		return strings.ToLower(t.text), nil
	case quoted:
		p.pos++
		return t.text, nil
	default:
		return "", p.unexpected("a name")
	}
}

// list reads one or more of something, with commas between.
func (p *parser) list(one func() error) error {
	for {
		if err := one(); err != nil {
			return err
		}
		if !p.accept(",") {
			return nil
		}
	}
}

// names reads names in parentheses.
func (p *parser) names() (names []string, err error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	err = p.list(func() error {
		n, err := p.name()
		names = append(names, n)
		return err
	})
	if err != nil {
		return nil, err
	}
	return names, p.expect(")")
}

func (p *parser) drop() (Statement, error) {
	if err := p.expect("TABLE"); err != nil {
		return nil, err
	}
	d := &DropTable{IfExists: p.accept("IF", "EXISTS")}
	var err error
	d.Name, err = p.name()
	return d, err
}

func (p *parser) insert() (Statement, error) {
	s := new(Insert)
	if p.accept("OR", "REPLACE") {
		s.Mode = Replace
	} else if p.accept("OR", "IGNORE") {
		s.Mode = Ignore
	}
	err := p.expect("INTO")
	if err != nil {
		return nil, err
	}
	if s.Table, err = p.name(); err != nil {
		return nil, err
	}
	if p.peek().is("(") {
		if s.Columns, err = p.names(); err != nil {
			return nil, err
		}
	}
	if err := p.expect("VALUES"); err != nil {
		return nil, err
	}
	return s, p.list(func() error {
		if err := p.expect("("); err != nil {
			return err
		}
		row := make([]Expr, 0, len(s.Columns))
		err := p.list(func() error {
			x, err := p.expression()
			row = append(row, x)
			return err
		})
		s.Rows = append(s.Rows, row)
		if err != nil {
			return err
		}
		return p.expect(")")
	})
}

func (p *parser) selects() (Statement, error) {
	s := &Select{Limit: -1}
	err := p.list(func() error {
		if p.accept("*") {
			s.Items = append(s.Items, Item{Star: true})
			return nil
		}
		x, err := p.expression()
		item := Item{Expr: x}
		if err == nil && p.accept("AS") {
			item.Name, err = p.name()
		}
		s.Items = append(s.Items, item)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := p.expect("FROM"); err != nil {
		return nil, err
	}
	if s.Table, err = p.name(); err != nil {
		return nil, err
	}
	if s.Where, err = p.where(); err != nil {
		return nil, err
	}
	if p.accept("ORDER", "BY") {
		err := p.list(func() error {
			name, err := p.name()
			o := Order{Column: name, Desc: p.accept("DESC")}
			p.accept("ASC")
			s.Order = append(s.Order, o)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if p.accept("LIMIT") {
		if s.Limit, err = p.whole(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (p *parser) where() (Expr, error) {
	if !p.accept("WHERE") {
		return nil, nil
	}
	return p.expression()
}

func (p *parser) update() (Statement, error) {
	s := new(Update)
	var err error
	if s.Table, err = p.name(); err != nil {
		return nil, err
	}
	if err := p.expect("SET"); err != nil {
		return nil, err
	}
	err = p.list(func() error {
		name, err := p.name()
		if err != nil {
			return err
		}
		if err := p.expect("="); err != nil {
			return err
		}
		x, err := p.expression()
		s.Sets = append(s.Sets, Set{name, x})
		return err
	})
	if err != nil {
		return nil, err
	}
	s.Where, err = p.where()
	return s, err
}

func (p *parser) deletes() (Statement, error) {
	s := new(Delete)
	err := p.expect("FROM")
	if err != nil {
		return nil, err
	}
	if s.Table, err = p.name(); err != nil {
		return nil, err
	}
	s.Where, err = p.where()
	return s, err
}

// whole reads a whole number that is not negative.
func (p *parser) whole() (int, error) {
	t := p.peek()
	n, err := strconv.ParseInt(t.text, 10, 32)
	if t.kind != number || err != nil {
		return 0, p.unexpected("a whole number")
	}
	p.pos++
	return int(n), nil
}
