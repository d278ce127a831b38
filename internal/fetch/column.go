package fetch

import (
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/message"
)

// nothing stands for the values of parameters while a question is only looked at.
var nothing = []message.Value{message.Null()}

// valueError is about a value that JSON has no form for.
type valueError struct {
	column string
	value  any
}

func (e *valueError) Error() string {
	return fmt.Sprintf("column %s: %v cannot be written as JSON", e.column, e.value)
}

// columns are what a query answers with.
type columns struct {
	names []string
	kinds []columnKind
	into  []any // pointers to values
	have  []any
}

// columnKind says how the bytes and texts of a column are meant.
type columnKind uint8

const (
	kindText columnKind = iota
	kindNumber
	kindJSON
	kindBytes
	kindDate
)

func newColumns(rows *sql.Rows) (*columns, error) {
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	c := &columns{have: make([]any, len(types)), into: make([]any, len(types))}
	for i, t := range types {
		c.names = append(c.names, t.Name())
		c.kinds = append(c.kinds, kindOf(t.DatabaseTypeName()))
		c.into[i] = &c.have[i]
	}
	return c, nil
}

// kindOf reads what a database calls a type.
func kindOf(name string) columnKind {
	name = strings.TrimPrefix(strings.ToUpper(name), "UNSIGNED ")
	if i := strings.IndexByte(name, '('); i >= 0 {
		name = name[:i]
	}
	switch name {
	case "JSON", "JSONB":
		return kindJSON
	case "NUMERIC", "DECIMAL", "INT", "TINYINT", "SMALLINT", "MEDIUMINT", "INTEGER", "BIGINT", "INT2", "INT4", "INT8",
		"FLOAT", "DOUBLE", "FLOAT4", "FLOAT8", "YEAR":
		return kindNumber
	case "BLOB", "TINYBLOB", "MEDIUMBLOB", "LONGBLOB", "BINARY", "VARBINARY", "BYTEA", "BIT", "GEOMETRY":
		return kindBytes
	case "DATE":
		return kindDate
	}
	return kindText
}

// scan reads one row. It shares nothing with the next.
func (c *columns) scan(rows *sql.Rows) (Row, error) {
	if err := rows.Scan(c.into...); err != nil {
		return nil, err
	}
	r := make(Row, len(c.names))
	for i, v := range c.have {
		text, ok := c.kinds[i].json(v)
		if !ok {
			return nil, &valueError{c.names[i], v}
		}
		r[i] = Field{c.names[i], text}
	}
	return r, nil
}

func (k columnKind) json(v any) (json.RawMessage, bool) {
	switch v := v.(type) {
	case nil:
		return json.RawMessage("null"), true
	case bool:
		return strconv.AppendBool(nil, v), true
	case int64:
		return strconv.AppendInt(nil, v, 10), true
	case uint64:
		return strconv.AppendUint(nil, v, 10), true
	case float32:
		return float(float64(v), 32)
	case float64:
		return float(v, 64)
	case time.Time:
		if k == kindDate {
			return json.RawMessage(`"` + v.Format(time.DateOnly) + `"`), true
		}
		return json.RawMessage(`"` + v.UTC().Format(message.TimeFormat) + `"`), true
	case string:
		return k.text([]byte(v)), true
	case []byte:
		return k.text(v), true
	}
	return nil, false
}

func float(f float64, bits int) (json.RawMessage, bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, false
	}
	return strconv.AppendFloat(nil, f, 'g', -1, bits), true
}

// text is the JSON of a text, by what its column says of it.
func (k columnKind) text(b []byte) json.RawMessage {
	switch {
	case k == kindJSON && json.Valid(b):
		return Compact(append(json.RawMessage(nil), b...))
	case k == kindNumber && json.Valid(b):
		return append(json.RawMessage(nil), b...)
	case k == kindBytes || !utf8.Valid(b):
		return strconv.AppendQuote(nil, base64.StdEncoding.EncodeToString(b))
	}
	return appendQuoted(nil, string(b))
}
