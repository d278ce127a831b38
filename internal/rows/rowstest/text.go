package rowstest

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/rows"
)

// layouts are how databases write a timestamp.
var layouts = []string{"2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999Z07",
	"2006-01-02 15:04:05.999999999", time.RFC3339Nano, "2006-01-02T15:04:05.999999999"}

// Text writes a cell in the one way in which cases have it, whatever the database or its library gave: bytes as
// hexadecimal digits, times without zeros at their ends, instants in UTC with a Z, JSON with its keys in order. NULL is
// "NULL".
func Text(c rows.Column, cell any) string {
	switch v := cell.(type) {
	case nil:
		return "NULL"
	case []byte:
		if c.Kind == rows.Bytes {
			return hex.EncodeToString(v)
		}
		return fromText(c, string(v))
	case string:
		if c.Kind == rows.Bytes {
			return hex.EncodeToString([]byte(v))
		}
		return fromText(c, v)
	case [16]byte:
		return fromText(c, hex.EncodeToString(v[:]))
	case time.Time:
		return fromTime(c, v)
	case float32:
		return fromText(c, strconv.FormatFloat(float64(v), 'g', -1, 32))
	case float64:
		if c.Kind == rows.Decimal {
			return fromText(c, strconv.FormatFloat(v, 'f', -1, 64))
		}
		return fromText(c, strconv.FormatFloat(v, 'g', -1, 64))
	}
	return fromText(c, fmt.Sprint(cell))
}

func fromTime(c rows.Column, t time.Time) string {
	switch c.Kind {
	case rows.Date:
		return t.Format(time.DateOnly)
	case rows.TimeOfDay:
		return t.Format("15:04:05.999999999")
	case rows.TimestampTZ:
		return t.UTC().Format("2006-01-02 15:04:05.999999999") + "Z"
	}
	return t.Format("2006-01-02 15:04:05.999999999")
}

func fromText(c rows.Column, s string) string {
	switch c.Kind {
	case rows.Bool:
		switch strings.ToLower(s) {
		case "t", "true", "1":
			return "true"
		case "f", "false", "0":
			return "false"
		}
	case rows.Float:
		bits := max(c.Bits, 32)
		if f, err := strconv.ParseFloat(s, bits); err == nil {
			return strconv.FormatFloat(f, 'g', -1, bits)
		}
	case rows.Decimal:
		if strings.Contains(s, ".") && !strings.ContainsAny(s, "eE") {
			s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
		}
		return s
	case rows.Date:
		if len(s) > 10 {
			return s[:10]
		}
	case rows.TimeOfDay:
		if strings.Contains(s, ".") {
			return strings.TrimRight(strings.TrimRight(s, "0"), ".")
		}
	case rows.Timestamp, rows.TimestampTZ:
		for _, l := range layouts {
			if t, err := time.Parse(l, s); err == nil {
				return fromTime(c, t)
			}
		}
	case rows.UUID:
		return strings.ToLower(strings.ReplaceAll(s, "-", ""))
	case rows.JSON:
		d := json.NewDecoder(bytes.NewReader([]byte(s)))
		d.UseNumber()
		var v any
		if d.Decode(&v) == nil {
			if text, err := json.Marshal(v); err == nil {
				return string(text)
			}
		}
	}
	return s
}
