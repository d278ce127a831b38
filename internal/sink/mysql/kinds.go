package mysql

import (
	"strings"

	"github.com/hikyaku/hikyaku/internal/rows"
)

// code is rows.Column.Code: what a column has beyond what package rows has to know.
type code struct {
	bits   bool // of type BIT: LOAD DATA takes a number for it in no other way than by an expression
	others bool // the table has other unique keys than the one to go by
}

// integerBits are the sizes of the integer types.
var integerBits = map[string]int{"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}

// facts are what the server says of a column.
type facts struct {
	kind      string // DATA_TYPE: "int"
	whole     string // COLUMN_TYPE: "int(10) unsigned"
	length    int    // of texts, in characters; of types without a bound of their own, in bytes
	bytes     int    // of texts
	precision int    // of numbers
	scale     int
	fraction  int // digits of a second
}

// describe fills in what the type tells of a column. What is of no type that is known is written as text.
func describe(c *rows.Column, f facts) {
	c.Code = &code{}
	if bits, ok := integerBits[f.kind]; ok {
		c.Kind, c.Bits = rows.Int, bits
		if strings.Contains(f.whole, "unsigned") {
			c.Kind = rows.Uint
		}
		return
	}
	switch f.kind {
	case "bit":
		c.Kind, c.Bits, c.Code = rows.Uint, f.precision, &code{bits: true}
	case "year":
		c.Kind, c.Bits = rows.Uint, 16
	case "float":
		c.Kind, c.Bits, c.NoNaN, c.NoInf = rows.Float, 32, true, true
	case "double":
		c.Kind, c.Bits, c.NoNaN, c.NoInf = rows.Float, 64, true, true
	case "decimal":
		c.Kind, c.Precision, c.Scale = rows.Decimal, f.precision, f.scale
	case "char", "varchar":
		c.Kind, c.Length, c.Runes = rows.Text, f.length, true
	case "tinytext", "text", "mediumtext", "longtext":
		c.Kind, c.Length = rows.Text, f.bytes
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
		c.Kind, c.Length = rows.Bytes, f.bytes
	case "date":
		c.Kind = rows.Date
	case "time":
		c.Kind, c.Scale = rows.TimeOfDay, f.fraction
	case "datetime":
		c.Kind, c.Scale = rows.Timestamp, f.fraction
	case "timestamp":
		c.Kind, c.Scale = rows.TimestampTZ, f.fraction
	case "json":
		c.Kind = rows.JSON
	case "uuid":
		c.Kind = rows.UUID // MariaDB's, since 10.7
	default: // enum, set, inet6, geometry and what is yet to come
		c.Kind = rows.Text
	}
}

// native is the type for a column that is to be made.
func native(c rows.Column) string {
	if c.Native != "" {
		return c.Native
	}
	switch c.Kind {
	case rows.Bool:
		return "tinyint(1)"
	case rows.Int, rows.Uint:
		return integer(c)
	case rows.Float:
		if c.Bits == 32 {
			return "float"
		}
		return "double"
	case rows.Decimal:
		if c.Precision > 0 {
			return "decimal(" + number(c.Precision) + "," + number(c.Scale) + ")"
		}
		return "decimal(65,30)" // the widest
	case rows.Bytes:
		return sized(c, "varbinary", "longblob")
	case rows.Date:
		return "date"
	case rows.TimeOfDay:
		return "time(6)"
	case rows.Timestamp, rows.TimestampTZ:
		return "datetime(6)" // timestamp ends in 2038; instants are written as UTC
	case rows.UUID:
		return "char(36)"
	case rows.JSON:
		return "json"
	}
	return sized(c, "varchar", "longtext")
}

func integer(c rows.Column) string {
	name := "bigint"
	for _, of := range []struct {
		name string
		bits int
	}{{"tinyint", 8}, {"smallint", 16}, {"mediumint", 24}, {"int", 32}} {
		if c.Bits > 0 && c.Bits <= of.bits {
			name = of.name
			break
		}
	}
	if c.Kind == rows.Uint {
		name += " unsigned"
	}
	return name
}

// The longest that a key of texts may be, in characters of four bytes, and the longest text that need not be outside of
// the row.
const (
	keyLength  = 255
	mostInside = 4096
)

// sized is a type with a bound where the column has one, or has to have one because it is a key.
func sized(c rows.Column, bounded, unbounded string) string {
	switch {
	case c.Length > 0 && c.Length <= mostInside:
		return bounded + "(" + number(c.Length) + ")"
	case c.Key || c.Unique:
		return bounded + "(" + number(keyLength) + ")"
	}
	return unbounded
}
