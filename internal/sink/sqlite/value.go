package sqlite

import (
	"database/sql/driver"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/hikyaku/hikyaku/internal/rows"
)

// exactDigits is how many digits of a decimal SQLite keeps: it makes a float of the text.
const exactDigits = 15

var errDigits = errors.New("the number has more than the 15 digits that SQLite keeps of a decimal; declare the " +
	"column as text to keep all")

// bind makes of a value what SQLite stores.
func bind(v rows.Value, c *rows.Column) (driver.Value, error) {
	switch v.Kind() {
	case rows.Null:
		return nil, nil
	case rows.Bool:
		if v.Bool() {
			return int64(1), nil
		}
		return int64(0), nil
	case rows.Int:
		return v.Int(), nil
	case rows.Float:
		return v.Float(), nil
	case rows.Decimal:
		if len(strings.Trim(strings.ReplaceAll(v.Text(), ".", ""), "-0")) > exactDigits {
			return nil, errDigits
		}
		return v.Text(), nil
	case rows.Bytes:
		return []byte(v.Text()), nil
	case rows.Date:
		return time.Unix(v.Int()*24*60*60, 0).UTC().Format(time.DateOnly), nil
	case rows.TimeOfDay:
		return time.Unix(0, v.Int()).UTC().Format("15:04:05.999999999"), nil
	case rows.Timestamp:
		return v.Time().Format("2006-01-02 15:04:05.999999999"), nil
	case rows.TimestampTZ:
		return v.Time().Format("2006-01-02 15:04:05.999999999Z"), nil
	case rows.UUID:
		return uuid.UUID([]byte(v.Text())).String(), nil
	}
	return v.Text(), nil
}

// column reads a declared type. SQLite takes any text for a type and goes by words in it; ours goes by the same words,
// and by those for what SQLite has no types of its own for.
func column(declared string) rows.Column {
	t := strings.ToUpper(declared)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(t, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("JSON"):
		return rows.Column{Kind: rows.JSON}
	case has("UUID"):
		return rows.Column{Kind: rows.UUID}
	case has("BOOL"):
		return rows.Column{Kind: rows.Bool}
	case has("DATETIME", "TIMESTAMP") && has("TZ", "ZONE") && !has("WITHOUT"):
		return rows.Column{Kind: rows.TimestampTZ, Scale: 9}
	case has("DATETIME", "TIMESTAMP"):
		return rows.Column{Kind: rows.Timestamp, Scale: 9}
	case has("INT"):
		return rows.Column{Kind: rows.Int, Bits: 64}
	case has("CHAR", "CLOB", "TEXT"):
		return rows.Column{Kind: rows.Text}
	case has("BLOB", "BINARY", "BYTE"):
		return rows.Column{Kind: rows.Bytes}
	case has("REAL", "FLOA", "DOUB"):
		return rows.Column{Kind: rows.Float, Bits: 64, NoNaN: true}
	case has("DATE"):
		return rows.Column{Kind: rows.Date}
	case has("TIME"):
		return rows.Column{Kind: rows.TimeOfDay, Scale: 9}
	case has("DEC", "NUM"):
		c := rows.Column{Kind: rows.Decimal}
		c.Precision, c.Scale = precision(t)
		return c
	}
	return rows.Column{Kind: rows.Text}
}

// precision reads the numbers in parentheses; without them nothing is bounded.
func precision(t string) (digits, scale int) {
	_, inside, ok := strings.Cut(t, "(")
	if !ok {
		return 0, 0
	}
	inside, _, _ = strings.Cut(inside, ")")
	first, second, _ := strings.Cut(inside, ",")
	return atoi(first), atoi(second)
}

func atoi(s string) int {
	n := 0
	for _, c := range strings.TrimSpace(s) {
		if c < '0' || c > '9' || n > 1000 {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// typeOf is the declared type for a column that follows from messages.
func typeOf(c *rows.Column) string {
	switch c.Kind {
	case rows.Bool:
		return "boolean"
	case rows.Int, rows.Uint:
		return "integer"
	case rows.Float:
		return "real"
	case rows.Decimal:
		return "numeric"
	case rows.Bytes:
		return "blob"
	case rows.Date:
		return "date"
	case rows.TimeOfDay:
		return "time"
	case rows.Timestamp:
		return "timestamp"
	case rows.TimestampTZ:
		return "timestamp with time zone"
	case rows.UUID:
		return "uuid"
	case rows.JSON:
		return "json text" // as text alone it stays what it is, also if it is a number
	}
	return "text"
}
