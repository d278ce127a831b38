package short

import "strings"

// insert reads what follows INSERT.
func (c *cursor) insert() (Statement, bool) {
	s := Statement{Verb: Insert}
	c.blanks()
	if !c.word("into") || !c.table(&s) {
		return Statement{}, false
	}
	c.blanks()
	if c.punct('(') && !c.columns(&s) {
		return Statement{}, false
	}
	c.blanks()
	if !c.word("values") && !c.word("value") {
		return Statement{}, false
	}
	for {
		c.blanks()
		if !c.row(&s) {
			return Statement{}, false
		}
		c.blanks()
		if !c.punct(',') {
			break
		}
	}
	if !c.done() {
		return Statement{}, false
	}
	return s, true
}

// columns reads the columns that an INSERT names, and the closing parenthesis. A column named twice is an error that
// the long way reports.
func (c *cursor) columns(s *Statement) bool {
	c.blanks()
	var ok bool
	if s.Columns, ok = c.names(); !ok || !c.punct(')') {
		return false
	}
	for i, a := range s.Columns {
		for _, b := range s.Columns[:i] {
			if strings.EqualFold(a, b) {
				return false
			}
		}
	}
	return true
}

// row reads one row of values with its parentheses. All rows are as wide as the first, and that as wide as the list of
// columns.
func (c *cursor) row(s *Statement) bool {
	if !c.punct('(') {
		return false
	}
	most := s.width
	if most == 0 {
		most = maxColumns
		if s.Columns != nil {
			most = len(s.Columns)
		}
		s.values = make([]Value, 0, min(most, 8))
	}
	if len(s.values)+most > maxValues {
		return false
	}
	for n := 1; n <= most; n++ {
		c.blanks()
		v, ok := c.literal(s)
		if !ok {
			return false
		}
		s.values = append(s.values, v)
		c.blanks()
		if c.punct(',') {
			continue
		}
		if !c.punct(')') || n != most && (s.width != 0 || s.Columns != nil) {
			return false
		}
		s.width = n
		return true
	}
	return false
}
