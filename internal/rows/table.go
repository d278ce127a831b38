package rows

import "strings"

// Name is a table's name in its parts, outermost first: {"public", "readings"}. They are never quoted and are quoted
// whenever they are written.
type Name []string

// Table is a table as the database describes it.
type Table struct {
	Name    Name
	Columns []Column // in the table's order
}

// Definition is what stands behind the table's name where it is made: the columns, each with the type that native gives
// it, and the primary key of those that are Key, unless a column's own text has one. Names stand between quotes.
func (t *Table) Definition(quote byte, native func(c Column) string) string {
	var parts, keys []string
	said := false // that there is a primary key
	for _, c := range t.Columns {
		name := QuoteName(c.Name, quote)
		parts = append(parts, name+" "+native(c))
		if c.Key {
			keys = append(keys, name)
		}
		said = said || strings.Contains(strings.ToLower(c.Native), "primary key")
	}
	if len(keys) > 0 && !said {
		parts = append(parts, "PRIMARY KEY ("+strings.Join(keys, ", ")+")")
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// Column is a column of a table.
type Column struct {
	Name      string
	Kind      Kind
	Bits      int  // Int, Uint: 8, 16, 24, 32 or 64; Float: 32 or 64
	Length    int  // Text, Bytes: the most it holds, in bytes or characters; 0: no bound
	Runes     bool // Length counts characters, not bytes
	Precision int  // Decimal: digits in all; 0: no bound
	// Decimal: digits behind the point. Time of day, timestamps: digits of the second's fraction, up to 9
	Scale     int
	Nullable  bool // takes NULL
	Default   bool // has a value of its own where none is given: it may be left out
	NoNaN     bool // Float: does not take NaN
	NoInf     bool // Float: does not take infinities
	NoNUL     bool // Text: does not take the character U+0000
	Generated bool // is never written: the database computes it
	Key       bool // belongs to the primary key, or to the one unique key that Upsert and Once go by
	// alone it is a key: no two rows have the same value in it. A driver that cannot tell leaves it false
	Unique bool
	Native string // its type as the database writes it, for people
	Code   any    // the driver's own
}

// Kind is what a column holds.
type Kind uint8

// The kinds.
const (
	Null Kind = iota // of Values alone
	Bool
	Int         // an int64 within the column's Bits
	Uint        // an uint64 within the column's Bits
	Float       // a float64; NaN and infinities where the column takes them
	Decimal     // the text of a plain decimal number, rounded by nobody
	Text        // UTF-8
	Bytes       // any
	Date        // days since 1970-01-01
	TimeOfDay   // nanoseconds since midnight
	Timestamp   // a wall clock's reading, of no zone: seconds since 1970-01-01 00:00:00 of that clock, and nanoseconds
	TimestampTZ // an instant: seconds since 1970 UTC, and nanoseconds
	UUID        // 16 bytes
	JSON        // the text of a JSON value
)

func (k Kind) String() string {
	return [...]string{"null", "bool", "integer", "unsigned integer", "float", "decimal", "text", "bytes", "date",
		"time of day", "timestamp", "timestamp with time zone", "uuid", "json"}[k]
}
