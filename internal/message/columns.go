package message

import (
	"fmt"
	"strconv"
	"strings"
)

// ColumnType is the type of a column. Types that MySQL has several names for are one here: int and integer, bool and
// tinyint, decimal and numeric.
type ColumnType uint8

// The types a column may have.
const (
	TypeTinyInt ColumnType = iota + 1
	TypeSmallInt
	TypeMediumInt
	TypeInt
	TypeBigInt
	TypeDecimal
	TypeFloat
	TypeDouble
	TypeBit
	TypeDate
	TypeDateTime
	TypeTimestamp
	TypeTime // a time of day, or a span of time, up to 838 hours: kept as text
	TypeYear
	TypeChar
	TypeVarchar
	TypeBinary
	TypeVarbinary
	TypeTinyText
	TypeText
	TypeMediumText
	TypeLongText
	TypeTinyBlob
	TypeBlob
	TypeMediumBlob
	TypeLongBlob
	TypeJSON
	TypeEnum
	TypeSet
)

// typeInfo describes a type: its canonical name, and what may stand in parentheses after it.
type typeInfo struct {
	name          string
	length        int // the default; for text, blobs and integers the limit that the type sets
	longest       int // the largest length that may be given; 0: none may
	scaled        bool
	unsigned      bool
	text          bool // counts in characters and takes CHARACTER SET and COLLATE
	bytes         bool
	mustGiveWidth bool
}

var typeInfos = [...]typeInfo{
	TypeTinyInt:    {name: "tinyint", longest: 255, unsigned: true},
	TypeSmallInt:   {name: "smallint", longest: 255, unsigned: true},
	TypeMediumInt:  {name: "mediumint", longest: 255, unsigned: true},
	TypeInt:        {name: "int", longest: 255, unsigned: true},
	TypeBigInt:     {name: "bigint", longest: 255, unsigned: true},
	TypeDecimal:    {name: "decimal", length: 10, longest: 65, scaled: true, unsigned: true},
	TypeFloat:      {name: "float", longest: 255, scaled: true, unsigned: true},
	TypeDouble:     {name: "double", longest: 255, scaled: true, unsigned: true},
	TypeBit:        {name: "bit", length: 1, longest: 64},
	TypeDate:       {name: "date"},
	TypeDateTime:   {name: "datetime", longest: 6},
	TypeTimestamp:  {name: "timestamp", longest: 6},
	TypeTime:       {name: "time", longest: 6},
	TypeYear:       {name: "year", longest: 4},
	TypeChar:       {name: "char", length: 1, longest: 255, text: true},
	TypeVarchar:    {name: "varchar", longest: 65535, text: true, mustGiveWidth: true},
	TypeBinary:     {name: "binary", length: 1, longest: 255, bytes: true},
	TypeVarbinary:  {name: "varbinary", longest: 65535, bytes: true, mustGiveWidth: true},
	TypeTinyText:   {name: "tinytext", length: 1<<8 - 1, text: true},
	TypeText:       {name: "text", length: 1<<16 - 1, text: true},
	TypeMediumText: {name: "mediumtext", length: 1<<24 - 1, text: true},
	TypeLongText:   {name: "longtext", length: 1<<32 - 1, text: true},
	TypeTinyBlob:   {name: "tinyblob", length: 1<<8 - 1, bytes: true},
	TypeBlob:       {name: "blob", length: 1<<16 - 1, bytes: true},
	TypeMediumBlob: {name: "mediumblob", length: 1<<24 - 1, bytes: true},
	TypeLongBlob:   {name: "longblob", length: 1<<32 - 1, bytes: true},
	TypeJSON:       {name: "json", length: 1<<32 - 1},
	TypeEnum:       {name: "enum"},
	TypeSet:        {name: "set"},
}

func (t ColumnType) info() *typeInfo {
	if int(t) < len(typeInfos) {
		return &typeInfos[t]
	}
	return &typeInfos[0]
}

// String is the type's canonical name in SQL, in lower case.
func (t ColumnType) String() string {
	if name := t.info().name; name != "" {
		return name
	}
	return "type " + strconv.Itoa(int(t))
}

// IsInteger tells whether values of the type are Int or Uint (bit and year are: they are numbers).
func (t ColumnType) IsInteger() bool {
	return t >= TypeTinyInt && t <= TypeBigInt || t == TypeBit || t == TypeYear
}

// IsText tells whether values of the type are String and limited by a length.
func (t ColumnType) IsText() bool { return t.info().text }

// IsBytes tells whether values of the type are Bytes.
func (t ColumnType) IsBytes() bool { return t.info().bytes }

// IsInstant tells whether values of the type are Time.
func (t ColumnType) IsInstant() bool { return t >= TypeDate && t <= TypeTimestamp }

// MaxColumnName is how many characters a column's name may have.
const MaxColumnName = 64

// Column is one column that a queue declares.
type Column struct {
	Name string
	Type ColumnType
	// Length is the number in parentheses: characters of char and varchar, bytes of binary and varbinary, bits of bit,
	// digits of decimal, fractional digits of a second. For integers, float and double it is a display width without
	// effect; 0 is none given. Texts and blobs have their type's limit in bytes.
	Length int
	// Scale is how many of a decimal's digits stand after the point; for float and double without effect.
	Scale    int
	Unsigned bool
	NotNull  bool
	Default  *Value // already converted to the column's type; nil for none. Never changed.
	// Members are what an enum or set is made of, in their order; nil for other types. Never changed.
	Members []string
	Now     bool // the default is the time of the put: of datetime and timestamp alone, and without Default
	// Charset and Collation are kept for clients to see. Comparison is always by bytes.
	Charset, Collation string
}

// SQLType is the type with what belongs to it: "int(10) unsigned", "varchar(255)".
func (c Column) SQLType() string {
	var b strings.Builder
	b.WriteString(c.Type.String())
	info := c.Type.info()
	switch {
	case c.Type.IsChoice():
		b.WriteString(MemberList(c.Members))
	case info.longest == 0:
	case info.scaled && (c.Scale > 0 || c.Type == TypeDecimal):
		fmt.Fprintf(&b, "(%d,%d)", c.Length, c.Scale)
	case c.Length > 0 || info.length > 0 || info.mustGiveWidth:
		fmt.Fprintf(&b, "(%d)", c.Length)
	}
	if c.Unsigned {
		b.WriteString(" unsigned")
	}
	return b.String()
}

// String is the column's definition in SQL; ParseColumn reads it back to an equal Column.
func (c Column) String() string {
	var b strings.Builder
	b.WriteString("`" + strings.ReplaceAll(c.Name, "`", "``") + "` " + c.SQLType())
	if c.Charset != "" {
		b.WriteString(" character set " + c.Charset)
	}
	if c.Collation != "" {
		b.WriteString(" collate " + c.Collation)
	}
	if c.NotNull {
		b.WriteString(" not null")
	}
	if c.Default != nil {
		b.WriteString(" default " + c.Default.SQL())
	}
	if c.Now {
		b.WriteString(" default current_timestamp")
	}
	return b.String()
}

// Columns are the columns of a queue, in their order.
type Columns []Column

// ParseColumns reads a queue's column definitions. Names that differ only in case are the same name, which may stand
// once.
func ParseColumns(definitions []string) (Columns, error) {
	columns := make(Columns, 0, len(definitions))
	for _, d := range definitions {
		c, err := ParseColumn(d)
		if err != nil {
			return nil, err
		}
		if _, taken := columns.Lookup(c.Name); taken {
			return nil, &ColumnError{Column: c.Name,
				Reason: "is declared twice; names that differ only in case are the same"}
		}
		columns = append(columns, c)
	}
	return columns, nil
}

// Lookup finds a column by name, whatever its case, as SQL does.
func (cs Columns) Lookup(name string) (index int, ok bool) {
	for i := range cs {
		if strings.EqualFold(cs[i].Name, name) {
			return i, true
		}
	}
	return 0, false
}

// Names are the columns' names in their order.
func (cs Columns) Names() []string {
	names := make([]string, len(cs))
	for i := range cs {
		names[i] = cs[i].Name
	}
	return names
}

// ColumnError says which column a definition or a value does not fit, and why.
type ColumnError struct {
	Column string // the column's name as declared, or as given when there is no such column
	Reason string
	Member bool // the value is no member of an enum or set
}

func (e *ColumnError) Error() string { return fmt.Sprintf("column %q %s", shorten(e.Column), e.Reason) }
