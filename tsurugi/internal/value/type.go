package value

import "strconv"

// A Type is the type of a value, a column or a placeholder. Its number is the one in the protocol.
type Type uint8

// The types. A comment says what SQL calls them; TsurugiDB 1.9 has no columns of the types Boolean and Bit.
const (
	Null                  Type = 0 // no value
	Boolean               Type = 1
	Int4                  Type = 4  // INT
	Int8                  Type = 5  // BIGINT
	Float4                Type = 6  // REAL
	Float8                Type = 7  // DOUBLE
	Decimal               Type = 8  // DECIMAL(p, s)
	Character             Type = 9  // CHAR(n), VARCHAR(n)
	Octet                 Type = 11 // BINARY(n), VARBINARY(n)
	Bit                   Type = 13
	Date                  Type = 15 // DATE
	TimeOfDay             Type = 16 // TIME
	TimePoint             Type = 17 // TIMESTAMP
	TimeOfDayWithTimeZone Type = 19 // TIME WITH TIME ZONE
	TimePointWithTimeZone Type = 20 // TIMESTAMP WITH TIME ZONE
	Clob                  Type = 21 // CLOB
	Blob                  Type = 22 // BLOB
	Unknown               Type = 31 // of an expression without a type, such as NULL
)

// String is the SQL name of the type, without its length.
func (t Type) String() string {
	switch t {
	case Null:
		return "NULL"
	case Boolean:
		return "BOOLEAN"
	case Int4:
		return "INT"
	case Int8:
		return "BIGINT"
	case Float4:
		return "REAL"
	case Float8:
		return "DOUBLE"
	case Decimal:
		return "DECIMAL"
	case Character:
		return "VARCHAR"
	case Octet:
		return "VARBINARY"
	case Bit:
		return "BIT"
	case Date:
		return "DATE"
	case TimeOfDay:
		return "TIME"
	case TimePoint:
		return "TIMESTAMP"
	case TimeOfDayWithTimeZone:
		return "TIME WITH TIME ZONE"
	case TimePointWithTimeZone:
		return "TIMESTAMP WITH TIME ZONE"
	case Clob:
		return "CLOB"
	case Blob:
		return "BLOB"
	case Unknown:
		return "UNKNOWN"
	default:
		return "TYPE" + strconv.Itoa(int(t))
	}
}
