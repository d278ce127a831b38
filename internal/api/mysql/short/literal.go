package short

import "strings"

// literal reads a literal or a placeholder. The caller takes nothing behind it but a comma or a closing parenthesis,
// with blanks before them, and so refuses what would make something else of it: an operator, a second string to join,
// the letters of 1e3.
func (c *cursor) literal(s *Statement) (Value, bool) {
	if c.at == len(c.text) {
		return Value{}, false
	}
	switch b := c.text[c.at]; b {
	case '\'':
		return c.str(b)
	case '"':
		if c.mode.ANSIQuotes {
			return Value{}, false
		}
		return c.str(b)
	case '?':
		return c.placeholder(s)
	case 'n', 'N':
		return Value{}, c.word("null")
	case 'x', 'X':
		return c.hexString()
	case '0':
		if c.at+1 < len(c.text) && c.text[c.at+1] == 'x' {
			return c.hexNumber()
		}
	}
	return c.number()
}

// str reads a string literal. Each byte is looked at once for a quote and once for a backslash.
func (c *cursor) str(quote byte) (Value, bool) {
	v := Value{Kind: String}
	start := c.at + 1
	from := start // up to here everything is understood
	for {
		n := strings.IndexByte(c.text[from:], quote)
		if n < 0 {
			return Value{}, false
		}
		end := from + n
		for from <= end {
			n := strings.IndexByte(c.text[from:end], '\\')
			if n < 0 {
				break
			}
			if c.mode.NoBackslashEscapes || !c.escape(from+n+1) {
				return Value{}, false
			}
			v.quote = quote
			from += n + 2
		}
		if from > end {
			continue // the quote was escaped
		}
		from = end + 1
		if from == len(c.text) || c.text[from] != quote {
			v.raw = c.text[start:end]
			c.at = from
			return v, true
		}
		v.quote = quote // doubled
		from++
	}
}

// escape tells whether the byte at i may follow a backslash. MySQL keeps the backslash before % and _, which are meant
// for LIKE; the full parser does not.
func (c *cursor) escape(i int) bool {
	return c.text[i] != '%' && c.text[i] != '_'
}

func (c *cursor) placeholder(s *Statement) (Value, bool) {
	if s.Placeholders == maxParams {
		return Value{}, false
	}
	v := Value{Kind: Placeholder, index: uint16(s.Placeholders)}
	s.Placeholders++
	c.at++
	return v, true
}

// hexString reads x'4A'. An odd number of digits is an error.
func (c *cursor) hexString() (Value, bool) {
	c.at++
	if !c.punct('\'') {
		return Value{}, false
	}
	digits := c.hexDigits()
	return Value{Kind: Hex, raw: digits}, len(digits)%2 == 0 && c.punct('\'')
}

// hexNumber reads 0x4A. MySQL knows no 0X.
func (c *cursor) hexNumber() (Value, bool) {
	c.at += 2
	digits := c.hexDigits()
	return Value{Kind: Hex, raw: digits}, digits != ""
}

func (c *cursor) hexDigits() string {
	start := c.at
	for c.at < len(c.text) && hexDigit(c.text[c.at]) < 16 {
		c.at++
	}
	return c.text[start:c.at]
}

// number reads an integer or a decimal: a minus right before the digits, and digits on both sides of a point. What else
// MySQL takes for a number, such as 1e3, is not recognized.
func (c *cursor) number() (Value, bool) {
	start := c.at
	c.punct('-')
	whole := c.digits()
	v := Value{Kind: Integer}
	ok := 0 < whole && whole <= maxInteger
	if whole > 0 && c.punct('.') {
		v.Kind = Decimal
		part := c.digits()
		ok = part > 0 && whole+part <= maxDecimal
	}
	v.raw = c.text[start:c.at]
	return v, ok
}

// digits reads decimal digits and says how many.
func (c *cursor) digits() int {
	start := c.at
	for c.at < len(c.text) && '0' <= c.text[c.at] && c.text[c.at] <= '9' {
		c.at++
	}
	return c.at - start
}
