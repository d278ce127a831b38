package tsurugidb

import (
	"fmt"
	"slices"

	"github.com/hikyaku/hikyaku/internal/rows"
	"github.com/hikyaku/hikyaku/tsurugi"
)

// fraction is how many digits of a second the server keeps.
const fraction = 9

// describe makes a table of what the server tells of it.
//
// Whether a column has a default is not told. One that is left out takes it, or else null; if that will not do, the
// server says so. Who wants to be strict about missing fields takes a column that may be null for one without.
func describe(name rows.Name, t *tsurugi.Table, strict bool) *rows.Table {
	r := &rows.Table{Name: name, Columns: make([]rows.Column, len(t.Columns))}
	for i := range t.Columns {
		key := slices.Contains(t.PrimaryKey, t.Columns[i].Name)
		r.Columns[i] = column(&t.Columns[i], key)
		r.Columns[i].Unique = key && len(t.PrimaryKey) == 1
		r.Columns[i].Default = !key && !(strict && r.Columns[i].Nullable)
	}
	return r
}

func column(c *tsurugi.Column, key bool) rows.Column {
	r := rows.Column{Name: c.Name, Key: key, Nullable: !key && (c.Nullable || !c.HasNullable), Native: native(c),
		Code: c.Type}
	switch c.Type {
	case tsurugi.BooleanType:
		r.Kind = rows.Bool
	case tsurugi.Int4Type:
		r.Kind, r.Bits = rows.Int, 32
	case tsurugi.Int8Type:
		r.Kind, r.Bits = rows.Int, 64
	case tsurugi.Float4Type:
		r.Kind, r.Bits = rows.Float, 32
	case tsurugi.Float8Type:
		r.Kind, r.Bits = rows.Float, 64
	case tsurugi.DecimalType:
		r.Kind, r.Precision, r.Scale = rows.Decimal, int(c.Precision), int(c.Scale)
	case tsurugi.CharacterType:
		r.Kind, r.Length, r.NoNUL = rows.Text, most(c), true
	case tsurugi.OctetType:
		r.Kind, r.Length = rows.Bytes, most(c)
	case tsurugi.DateType:
		r.Kind = rows.Date
	case tsurugi.TimeOfDayType, tsurugi.TimeOfDayWithTimeZoneType:
		r.Kind, r.Scale = rows.TimeOfDay, fraction
	case tsurugi.TimePointType:
		r.Kind, r.Scale = rows.Timestamp, fraction
	case tsurugi.TimePointWithTimeZoneType:
		r.Kind, r.Scale = rows.TimestampTZ, fraction
	default: // BLOB, CLOB: what they hold is a file of the server's
		r.Kind = rows.Null
	}
	return r
}

// longest is how many bytes a text or bytes have at most in a column without a length of its own.
const longest = 2_097_132

// most is how many a column's values have at most.
func most(c *tsurugi.Column) int {
	if c.Length == 0 {
		return longest
	}
	return int(c.Length)
}

// native is a column's type as SQL has it.
func native(c *tsurugi.Column) string {
	switch c.Type {
	case tsurugi.BooleanType:
		return "BOOLEAN"
	case tsurugi.Int4Type:
		return "INT"
	case tsurugi.Int8Type:
		return "BIGINT"
	case tsurugi.Float4Type:
		return "REAL"
	case tsurugi.Float8Type:
		return "DOUBLE"
	case tsurugi.DecimalType:
		if c.Precision == 0 {
			return "DECIMAL"
		}
		return fmt.Sprintf("DECIMAL(%d, %d)", c.Precision, c.Scale)
	case tsurugi.CharacterType:
		return sized("CHAR", c)
	case tsurugi.OctetType:
		return sized("BINARY", c)
	case tsurugi.DateType:
		return "DATE"
	case tsurugi.TimeOfDayType:
		return "TIME"
	case tsurugi.TimeOfDayWithTimeZoneType:
		return "TIME WITH TIME ZONE"
	case tsurugi.TimePointType:
		return "TIMESTAMP"
	case tsurugi.TimePointWithTimeZoneType:
		return "TIMESTAMP WITH TIME ZONE"
	case tsurugi.BlobType:
		return "BLOB"
	case tsurugi.ClobType:
		return "CLOB"
	default:
		return c.Type.String()
	}
}

func sized(name string, c *tsurugi.Column) string {
	if c.Varying || !c.HasVarying {
		name = "VAR" + name
	}
	if c.Length == 0 {
		return name + "(*)"
	}
	return fmt.Sprintf("%s(%d)", name, c.Length)
}

// definition is the statement that makes a table. What a person wrote of a column stays as it is.
func definition(t *rows.Table) string {
	return "CREATE TABLE IF NOT EXISTS " + tsurugi.QuoteName(tableName(t.Name)) + " " +
		t.Definition('"', func(c rows.Column) string {
			if c.Native == "" && (!c.Nullable || c.Key) {
				return typeOf(&c) + " NOT NULL"
			}
			return typeOf(&c)
		})
}

const (
	textBytes = 2_097_132 // the longest VARCHAR and VARBINARY
	keyBytes  = 1_024     // of a VARCHAR in a key, whose sum the server bounds
	maxDigits = 38
)

// typeOf is the type that a column gets which is to be made: as the user wrote it, or what comes nearest to its kind.
// There is no BOOLEAN, SMALLINT, JSON or UUID.
func typeOf(c *rows.Column) string {
	if c.Native != "" {
		return c.Native
	}
	switch c.Kind {
	case rows.Bool:
		return "INT"
	case rows.Int:
		if c.Bits > 0 && c.Bits <= 32 {
			return "INT"
		}
		return "BIGINT"
	case rows.Uint:
		switch {
		case c.Bits > 0 && c.Bits < 32:
			return "INT"
		case c.Bits == 32:
			return "BIGINT"
		}
		return "DECIMAL(20, 0)"
	case rows.Float:
		if c.Bits == 32 {
			return "REAL"
		}
		return "DOUBLE"
	case rows.Decimal:
		if c.Precision == 0 || c.Precision > maxDigits {
			return fmt.Sprintf("DECIMAL(%d, %d)", maxDigits, min(c.Scale, maxDigits))
		}
		return fmt.Sprintf("DECIMAL(%d, %d)", c.Precision, c.Scale)
	case rows.Bytes:
		return "VARBINARY(" + length(c) + ")"
	case rows.Date:
		return "DATE"
	case rows.TimeOfDay:
		return "TIME"
	case rows.Timestamp:
		return "TIMESTAMP"
	case rows.TimestampTZ:
		return "TIMESTAMP WITH TIME ZONE"
	case rows.UUID:
		return "VARCHAR(36)"
	default:
		return "VARCHAR(" + length(c) + ")"
	}
}

// length is that of text or bytes, in bytes.
func length(c *rows.Column) string {
	n := c.Length
	if c.Runes {
		n *= 4
	}
	switch {
	case c.Key && (n == 0 || n > keyBytes):
		n = keyBytes
	case n == 0 || n > textBytes:
		return "*"
	}
	return fmt.Sprint(n)
}
