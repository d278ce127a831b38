package message

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// typeNames are the names of types in MySQL's syntax, in lower case.
var typeNames = map[string]ColumnType{
	"tinyint": TypeTinyInt, "bool": TypeTinyInt, "boolean": TypeTinyInt, "smallint": TypeSmallInt,
	"mediumint": TypeMediumInt, "int": TypeInt, "integer": TypeInt, "bigint": TypeBigInt,
	"decimal": TypeDecimal, "numeric": TypeDecimal, "dec": TypeDecimal, "fixed": TypeDecimal,
	"float": TypeFloat, "double": TypeDouble, "real": TypeDouble, "bit": TypeBit,
	"date": TypeDate, "datetime": TypeDateTime, "timestamp": TypeTimestamp, "time": TypeTime, "year": TypeYear,
	"char": TypeChar, "character": TypeChar, "varchar": TypeVarchar, "binary": TypeBinary, "varbinary": TypeVarbinary,
	"tinytext": TypeTinyText, "text": TypeText, "mediumtext": TypeMediumText, "longtext": TypeLongText,
	"tinyblob": TypeTinyBlob, "blob": TypeBlob, "mediumblob": TypeMediumBlob, "longblob": TypeLongBlob,
	"json": TypeJSON, "enum": TypeEnum, "set": TypeSet,
}

// ParseColumn reads a column definition in MySQL's syntax: a name, bare or between backquotes, a type and its options.
//
//	enqueued_at int(10) unsigned not null default 5
//
// Options that say how a table keeps or numbers rows (keys, auto_increment, generated columns) are refused: a queue has
// none of them.
func ParseColumn(definition string) (Column, error) {
	p := &columnParser{text: definition}
	c, err := p.column()
	if err != nil {
		return Column{}, fmt.Errorf("column definition %q, character %d: %w",
			shorten(definition), utf8.RuneCountInString(definition[:min(p.start, len(definition))])+1, err)
	}
	return c, nil
}

// columnParser reads one definition word by word. start is where the present word begins.
type columnParser struct {
	text       string
	pos, start int
}

func (p *columnParser) column() (Column, error) {
	var c Column
	name, err := p.name()
	if err != nil {
		return c, err
	}
	c.Name = name
	if err := p.columnType(&c); err != nil {
		return c, err
	}
	var literal *columnLiteral
	for {
		word := p.word()
		switch word {
		case "":
			if p.start < len(p.text) {
				return c, fmt.Errorf("%q is not understood", shorten(p.text[p.start:]))
			}
			return c, p.setDefault(&c, literal)
		case "default":
			if literal != nil || c.Now {
				return c, fmt.Errorf("default stands twice")
			}
			if now, err := p.now(&c); now || err != nil {
				c.Now = now
				if err != nil {
					return c, err
				}
				continue
			}
			l, err := p.literal()
			if err != nil {
				return c, err
			}
			literal = &l
		default:
			if err := p.option(&c, word); err != nil {
				return c, err
			}
		}
	}
}

// now reads current_timestamp as a default, which is that of a column with a date and a time.
func (p *columnParser) now(c *Column) (bool, error) {
	before := *p
	if p.word() != "current_timestamp" {
		*p = before
		return false, nil
	}
	if c.Type != TypeDateTime && c.Type != TypeTimestamp {
		return false, fmt.Errorf("%s cannot have current_timestamp as its default", c.Type)
	}
	return true, nil
}

func (p *columnParser) option(c *Column, word string) error {
	info := c.Type.info()
	switch word {
	case "null":
		c.NotNull = false
	case "not":
		if p.word() != "null" {
			return fmt.Errorf("null is wanted after not")
		}
		c.NotNull = true
	case "unsigned", "signed":
		if !info.unsigned {
			return fmt.Errorf("%s cannot be %s", c.Type, word)
		}
		c.Unsigned = word == "unsigned"
	case "character", "charset":
		if word == "character" && p.word() != "set" {
			return fmt.Errorf("set is wanted after character")
		}
		return p.textOption(c, &c.Charset)
	case "collate":
		return p.textOption(c, &c.Collation)
	case "comment":
		l, err := p.literal()
		if err == nil && !l.quoted {
			err = fmt.Errorf("a comment stands in quotes")
		}
		return err
	default:
		return fmt.Errorf("the option %q is not understood; a column may have unsigned, not null, default, character "+
			"set and collate", shorten(word))
	}
	return nil
}

// textOption reads the name of a character set or collation.
func (p *columnParser) textOption(c *Column, into *string) error {
	p.symbol('=')
	name := p.word()
	if name == "" {
		if l, err := p.literal(); err == nil && l.quoted && nameBytes(l.text) == len(l.text) {
			name = strings.ToLower(l.text)
		}
	}
	if name == "" {
		return fmt.Errorf("the name of a character set or collation is wanted")
	}
	if !c.Type.IsText() && !c.Type.IsChoice() {
		return fmt.Errorf("%s has no character set", c.Type)
	}
	*into = name
	return nil
}

func (p *columnParser) columnType(c *Column) error {
	word := p.word()
	if word == "national" {
		word = p.word()
	}
	t, ok := typeNames[word]
	if !ok {
		if word == "" {
			return fmt.Errorf("a type is wanted, such as int or varchar(255)")
		}
		return fmt.Errorf("there is no type %q", shorten(word))
	}
	at := p.pos
	switch next := p.word(); {
	case word == "double" && next == "precision", word == "character" && next == "varying":
		if word == "character" {
			t = TypeVarchar
		}
	default:
		p.pos = at
	}
	c.Type, c.Length = t, t.info().length
	if word == "bool" || word == "boolean" {
		c.Length = 1
	}
	if t.IsChoice() {
		return p.members(c)
	}
	return p.typeLength(c)
}

// typeLength reads (length) or (digits, scale).
func (p *columnParser) typeLength(c *Column) error {
	info := c.Type.info()
	if !p.symbol('(') {
		if info.mustGiveWidth {
			return fmt.Errorf("%s needs a length, as in %s(255)", c.Type, c.Type)
		}
		return nil
	}
	// MySQL lets text and blob be given a length, from which it picks a size of type; here the type says it.
	if info.longest == 0 {
		return fmt.Errorf("%s takes no length", c.Type)
	}
	n, err := p.number()
	if err != nil {
		return err
	}
	if n > info.longest || n == 0 && (c.Type == TypeBit || c.Type == TypeDecimal) {
		return fmt.Errorf("%s(%d) is out of range: %d at most", c.Type, n, info.longest)
	}
	c.Length = n
	if p.symbol(',') {
		if !info.scaled {
			return fmt.Errorf("%s takes one number", c.Type)
		}
		if c.Scale, err = p.number(); err != nil {
			return err
		}
		if c.Scale > 30 || c.Scale > c.Length {
			return fmt.Errorf("%s(%d,%d) has more digits after the point than it may: 30, and no more than in all",
				c.Type, c.Length, c.Scale)
		}
	}
	if !p.symbol(')') {
		return fmt.Errorf("a closing parenthesis is wanted")
	}
	return nil
}

func (p *columnParser) setDefault(c *Column, l *columnLiteral) error {
	if l == nil || l.null && !c.NotNull {
		return nil
	}
	if l.null {
		return fmt.Errorf("a column that is not null cannot have null as its default")
	}
	v, err := c.Convert(l.value(c.Type))
	if err != nil {
		return fmt.Errorf("the default does not fit: %w", err)
	}
	c.Default = &v
	return nil
}

func (p *columnParser) skipBlanks() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
	p.start = p.pos
}

// symbol steps over c if it comes next.
func (p *columnParser) symbol(c byte) bool {
	p.skipBlanks()
	if p.pos < len(p.text) && p.text[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

// word reads letters, digits, _ and $, and returns them in lower case; "" if something else comes next.
func (p *columnParser) word() string {
	p.skipBlanks()
	n := nameBytes(p.text[p.pos:])
	p.pos += n
	return strings.ToLower(p.text[p.start:p.pos])
}

func (p *columnParser) number() (int, error) {
	p.skipBlanks()
	for p.pos < len(p.text) && p.text[p.pos] >= '0' && p.text[p.pos] <= '9' {
		p.pos++
	}
	n, err := strconv.Atoi(p.text[p.start:p.pos])
	if err != nil {
		return 0, fmt.Errorf("a number is wanted")
	}
	return n, nil
}

func (p *columnParser) name() (string, error) {
	p.skipBlanks()
	name := ""
	if p.pos < len(p.text) && p.text[p.pos] == '`' {
		s, n, ok := unquoteSQL(p.text[p.pos:])
		if !ok {
			return "", fmt.Errorf("the name has no closing backquote")
		}
		name = s
		p.pos += n
	} else {
		n := nameBytes(p.text[p.pos:])
		name = p.text[p.pos : p.pos+n]
		p.pos += n
	}
	switch {
	case name == "":
		return "", fmt.Errorf("a column's name is wanted")
	case !utf8.ValidString(name):
		return "", fmt.Errorf("the name is not valid UTF-8")
	case strings.TrimRight(name, " ") != name || strings.ContainsRune(name, 0):
		return "", fmt.Errorf("a name ends without blanks and holds no NUL")
	case utf8.RuneCountInString(name) > MaxColumnName:
		return "", fmt.Errorf("the name is longer than %d characters", MaxColumnName)
	}
	return name, nil
}

// nameBytes tells how many bytes of s are a bare name.
func nameBytes(s string) int {
	n := 0
	for n < len(s) {
		c := s[n]
		if c != '_' && c != '$' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') && c < utf8.RuneSelf {
			break
		}
		n++
	}
	return n
}
