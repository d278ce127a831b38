package short

import "strings"

// Mode is what a connection's sql_mode says about how a text is read. The zero Mode is MySQL's default.
type Mode struct {
	ANSIQuotes         bool // "…" is a name, not a string
	NoBackslashEscapes bool // a backslash in a string is only a backslash
}

// Bounds on what is recognized. What goes beyond them goes the long way.
const (
	maxArgs    = 64      // of a call
	maxColumns = 256     // in a list of columns, and values in a row
	maxValues  = 1 << 20 // of an INSERT; each takes 24 bytes
	maxParams  = 1<<16 - 1
	maxName    = 64 // bytes of a name
	maxInteger = 20 // digits
	maxDecimal = 65 // digits
)

// Parse recognizes a query. False means that it is none of the statements that this package knows, or that there is the
// least doubt: the full parser has to read it, and to say what is wrong with it. A statement may end with one
// semicolon; a query of more than one statement is not recognized. It takes time in proportion to the query's length,
// and at most three allocations and what the growing list of an INSERT's values needs.
func Parse(query string, mode Mode) (Statement, bool) {
	c := cursor{text: query, mode: mode}
	c.blanks()
	switch {
	case c.word("select"):
		return c.selects()
	case c.word("insert"):
		return c.insert()
	}
	return Statement{}, false
}

// selects reads what follows SELECT.
func (c *cursor) selects() (Statement, bool) {
	before := c.at
	c.blanks()
	start := c.at
	if verb := c.function(); verb != 0 {
		s := Statement{Verb: verb}
		if !c.arguments(&s) {
			return Statement{}, false
		}
		end := c.at
		if !c.alias(&s) {
			return Statement{}, false
		}
		if s.Label == "" {
			s.Label = c.text[start:end]
			// The full parser leaves a carriage return beside the call in the column's name.
			if strings.Contains(c.text[before:start], "\r") || strings.Contains(c.text[end:c.at], "\r") {
				return Statement{}, false
			}
		}
		return s, c.done()
	}
	return c.rows()
}

// function reads the name of one of our functions and the parenthesis behind it. It reads nothing when something else
// stands there, such as a column of the same name.
func (c *cursor) function() Verb {
	start := c.at
	name := c.identifier()
	for v := Wait; v <= SetSource; v++ {
		if !equalFold(name, v.String()) {
			continue
		}
		c.blanks()
		if c.punct('(') {
			return v
		}
	}
	c.at = start
	return 0
}

// arguments reads the arguments of a call and the closing parenthesis.
func (c *cursor) arguments(s *Statement) bool {
	least, most := 0, 0
	switch s.Verb {
	case Wait:
		least, most = 1, maxArgs
	case SetSource:
		least, most = 3, 3
	}
	c.blanks()
	if most == 0 {
		return c.punct(')')
	}
	s.Args = make([]Value, 0, 4)
	for len(s.Args) < most {
		v, ok := c.literal(s)
		if !ok || v.Kind == Null || v.Kind == Hex {
			return false
		}
		s.Args = append(s.Args, v)
		c.blanks()
		if c.punct(')') {
			return len(s.Args) >= least
		}
		if !c.punct(',') {
			return false
		}
		c.blanks()
	}
	return false
}

// alias reads the name of the result's column, if one is given.
func (c *cursor) alias(s *Statement) (ok bool) {
	c.blanks()
	if c.word("as") {
		c.blanks()
	} else if c.ended() {
		return true
	}
	s.Label, ok = c.name()
	return ok
}

// rows reads what follows SELECT when it is columns of a table.
func (c *cursor) rows() (Statement, bool) {
	s := Statement{Verb: Select}
	if !c.punct('*') {
		var ok bool
		if s.Columns, ok = c.names(); !ok {
			return Statement{}, false
		}
	}
	c.blanks()
	if !c.word("from") || !c.table(&s) || !c.done() {
		return Statement{}, false
	}
	return s, true
}
