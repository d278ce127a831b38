package mysql

import (
	"encoding/json"
	"strconv"
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// exactDocument is the document of a text with a whole number of many digits, of which go-mysql-server would keep 53
// bits. Of every other text, and of what is no text, it is the value itself.
func exactDocument(v any) any {
	var text string
	switch v := v.(type) {
	case string:
		text = v
	case []byte:
		text = string(v)
	default:
		return v
	}
	if !hasLongNumber(text) {
		return v
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var read any
	if err := d.Decode(&read); err != nil || strings.Trim(text[d.InputOffset():], blanks) != "" {
		return v // whoever reads it says what is wrong
	}
	if read, fits := exactNumbers(read); fits {
		return types.JSONDocument{Val: read}
	}
	return v
}

// longNumber is how many digits a number has that a double may not have all of.
const longNumber = 16

// hasLongNumber tells whether a text has so many digits in a row.
func hasLongNumber(text string) bool {
	digits := 0
	for i := range len(text) {
		if c := text[i]; c < '0' || c > '9' {
			digits = 0
		} else if digits++; digits == longNumber {
			return true
		}
	}
	return false
}

// exactNumbers is a document whose numbers are those of go-mysql-server: int64 or uint64 where they are whole and fit,
// float64 otherwise, as MySQL has them. fits is false where a number is beyond that.
func exactNumbers(v any) (exact any, fits bool) {
	fits = true
	switch v := v.(type) {
	case json.Number:
		if n, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return n, true
		}
		if n, err := strconv.ParseUint(v.String(), 10, 64); err == nil {
			return n, true
		}
		f, err := v.Float64()
		return f, err == nil
	case []any:
		for i, e := range v {
			exact, ok := exactNumbers(e)
			v[i], fits = exact, fits && ok
		}
	case map[string]any:
		for k, e := range v {
			exact, ok := exactNumbers(e)
			v[k], fits = exact, fits && ok
		}
	}
	return v, fits
}

// documentArguments are how many of their first arguments functions read as documents.
var documentArguments = map[string]int{
	"json_array_append": 1, "json_array_insert": 1, "json_depth": 1,
	"json_extract": 1, "json_insert": 1, "json_keys": 1, "json_length": 1, "json_merge_patch": 1 << 10,
	"json_merge_preserve": 1 << 10, "json_pretty": 1, "json_remove": 1, "json_replace": 1,
	"json_search": 1, "json_set": 1, "json_type": 1,
}

// digitsKept is an argument that is read as a document.
type digitsKept struct{}

func (digitsKept) look(_ *gms.Context, v any) (any, error) { return exactDocument(v), nil }
