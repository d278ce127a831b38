package sql

import "github.com/hikyaku/hikyaku/tsurugi/internal/value"

func (p *parser) create() (Statement, error) {
	err := p.expect("TABLE")
	if err != nil {
		return nil, err
	}
	s := &CreateTable{IfNotExists: p.accept("IF", "NOT", "EXISTS")}
	if s.Name, err = p.name(); err != nil {
		return nil, err
	}
	if err := p.expect("("); err != nil {
		return nil, err
	}
	err = p.list(func() error {
		if p.accept("PRIMARY", "KEY") {
			s.Key, err = p.names()
			return err
		}
		c, err := p.column()
		s.Columns = append(s.Columns, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, c := range s.Columns {
		if c.Key {
			s.Key = append(s.Key, c.Name)
		}
	}
	return s, p.expect(")")
}

func (p *parser) column() (c ColumnDef, err error) {
	if c.Name, err = p.name(); err != nil {
		return c, err
	}
	if err := p.columnType(&c); err != nil {
		return c, err
	}
	for {
		switch {
		case p.accept("NOT", "NULL"):
			c.NotNull = true
		case p.accept("NULL"):
		case p.accept("PRIMARY", "KEY"):
			c.Key = true
		case p.accept("DEFAULT"):
			if c.Default, err = p.primary(); err != nil {
				return c, err
			}
			if _, ok := c.Default.(Literal); !ok {
				return c, p.unexpected("a literal before this")
			}
		default:
			return c, nil
		}
	}
}

// columnType reads a type. BOOLEAN, SMALLINT and what else 1.9 has not are refused like any other word.
func (p *parser) columnType(c *ColumnDef) error {
	switch {
	case p.accept("INT"), p.accept("INTEGER"):
		c.Type = value.Int4
	case p.accept("BIGINT"):
		c.Type = value.Int8
	case p.accept("REAL"):
		c.Type = value.Float4
	case p.accept("DOUBLE"):
		p.accept("PRECISION")
		c.Type = value.Float8
	case p.accept("FLOAT"):
		c.Type = value.Float8
	case p.accept("DECIMAL"), p.accept("NUMERIC"):
		c.Type = value.Decimal
		return p.decimal(c)
	case p.accept("VARCHAR"), p.accept("CHAR", "VARYING"), p.accept("CHARACTER", "VARYING"):
		c.Type, c.Varying = value.Character, true
		return p.length(c)
	case p.accept("CHAR"), p.accept("CHARACTER"):
		c.Type = value.Character
		return p.length(c)
	case p.accept("VARBINARY"), p.accept("BINARY", "VARYING"):
		c.Type, c.Varying = value.Octet, true
		return p.length(c)
	case p.accept("BINARY"):
		c.Type = value.Octet
		return p.length(c)
	case p.accept("DATE"):
		c.Type = value.Date
	case p.accept("TIMESTAMP"):
		c.Type = p.zoned(value.TimePoint, value.TimePointWithTimeZone)
	case p.accept("TIME"):
		c.Type = p.zoned(value.TimeOfDay, value.TimeOfDayWithTimeZone)
	case p.accept("BLOB"), p.accept("BINARY", "LARGE", "OBJECT"):
		c.Type = value.Blob
	case p.accept("CLOB"), p.accept("CHARACTER", "LARGE", "OBJECT"):
		c.Type = value.Clob
	default:
		return p.unexpected("a type")
	}
	return nil
}

func (p *parser) zoned(plain, zoned value.Type) value.Type {
	if p.accept("WITH", "TIME", "ZONE") {
		return zoned
	}
	p.accept("WITHOUT", "TIME", "ZONE")
	return plain
}

// MaxLength is how many bytes a value of text or bytes has at most, also where the column says (*).
const MaxLength = 2_097_132

// length reads that of text or bytes. Without one, CHAR and BINARY have one byte, the others any.
func (p *parser) length(c *ColumnDef) error {
	if !p.accept("(") {
		if !c.Varying {
			c.Length = 1
		}
		return nil
	}
	if !p.accept("*") {
		var err error
		if c.Length, err = p.whole(); err != nil {
			return err
		}
		if c.Length == 0 || c.Length > MaxLength {
			return p.unexpected("a length of 1 to 2097132 before this")
		}
	}
	return p.expect(")")
}

// maxPrecision is how many digits a decimal can have.
const maxPrecision = 38

func (p *parser) decimal(c *ColumnDef) error {
	c.Precision = maxPrecision
	if !p.accept("(") {
		return nil
	}
	if !p.accept("*") {
		var err error
		if c.Precision, err = p.whole(); err != nil {
			return err
		}
	}
	if c.Precision < 1 || c.Precision > maxPrecision {
		return p.unexpected("a precision of 1 to 38")
	}
	if p.accept(",") {
		var err error
		if c.Scale, err = p.whole(); err != nil {
			return err
		}
		if c.Scale > c.Precision {
			return p.unexpected("a scale that is at most the precision")
		}
	}
	return p.expect(")")
}
