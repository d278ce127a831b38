package short

import (
	"strings"
	"unicode/utf8"
)

// A cursor walks over a query. Its methods read one thing each and say whether it was there; what they do not name they
// leave. After a false that means "not recognized", the cursor may stand anywhere.
type cursor struct {
	text string
	at   int
	mode Mode
}

// blanks skips what both MySQL and the full parser take for blank. MySQL knows more; comments are not among them.
func (c *cursor) blanks() {
	for c.at < len(c.text) {
		switch c.text[c.at] {
		case ' ', '\t', '\n', '\r':
			c.at++
		default:
			return
		}
	}
}

// punct reads one character of punctuation.
func (c *cursor) punct(b byte) bool {
	if c.at == len(c.text) || c.text[c.at] != b {
		return false
	}
	c.at++
	return true
}

// ended tells whether the statement ends here: at the text's end or at a semicolon.
func (c *cursor) ended() bool {
	return c.at == len(c.text) || c.text[c.at] == ';'
}

// done reads the rest of the query, in which there may be nothing but blanks and one semicolon.
func (c *cursor) done() bool {
	c.blanks()
	c.punct(';')
	c.blanks()
	return c.at == len(c.text)
}

// identifier reads the longest run of letters, digits and underscores that does not begin with a digit. It is empty
// when there is none.
func (c *cursor) identifier() string {
	start := c.at
	if start == len(c.text) || '0' <= c.text[start] && c.text[start] <= '9' {
		return ""
	}
	for c.at < len(c.text) && wordByte(c.text[c.at]) {
		c.at++
	}
	return c.text[start:c.at]
}

// word reads a word of SQL, given in lower case and written in any.
func (c *cursor) word(lower string) bool {
	end := c.at + len(lower)
	if end > len(c.text) || !equalFold(c.text[c.at:end], lower) || end < len(c.text) && wordByte(c.text[end]) {
		return false
	}
	c.at = end
	return true
}

// name reads the name of a database, a table or a column, bare or in backquotes.
func (c *cursor) name() (string, bool) {
	if c.punct('`') {
		return c.quoted()
	}
	name := c.identifier()
	return name, name != "" && len(name) <= maxName && !reserved(name)
}

// quoted reads the rest of a name in backquotes. One that holds a backquote itself, doubled, ends too early here, and
// no caller goes on at its second half. One with what MySQL allows in no name is not recognized.
func (c *cursor) quoted() (string, bool) {
	n := strings.IndexByte(c.text[c.at:min(len(c.text), c.at+maxName+1)], '`')
	if n <= 0 {
		return "", false
	}
	name := c.text[c.at : c.at+n]
	c.at += n + 1
	if name[0] == ' ' || name[n-1] == ' ' || !utf8.ValidString(name) {
		return "", false
	}
	for i := range n {
		if name[i] < ' ' || name[i] == 0x7f {
			return "", false
		}
	}
	return name, true
}

// names reads names with commas between them.
func (c *cursor) names() ([]string, bool) {
	names := make([]string, 0, 8)
	for len(names) < maxColumns {
		c.blanks()
		name, ok := c.name()
		if !ok {
			return nil, false
		}
		names = append(names, name)
		c.blanks()
		if !c.punct(',') {
			return names, true
		}
	}
	return nil, false
}

// table reads a table's name, with its database's if that is given.
func (c *cursor) table(s *Statement) (ok bool) {
	c.blanks()
	if s.Table, ok = c.name(); !ok {
		return false
	}
	if c.punct('.') {
		s.Database = s.Table
		if s.Table, ok = c.name(); !ok || reservedInPath(s.Database) || reservedInPath(s.Table) {
			return false
		}
	}
	return !equalFold(s.Table, "dual") // a table that holds nothing and always exists
}

func wordByte(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_'
}

// equalFold compares with a text of lower case ASCII letters and underscores. Unlike strings.EqualFold it takes no
// other letter of Unicode (such as ſ) for one of them.
func equalFold(s, lower string) bool {
	if len(s) != len(lower) {
		return false
	}
	for i := range len(lower) {
		b := s[i]
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		if b != lower[i] {
			return false
		}
	}
	return true
}
