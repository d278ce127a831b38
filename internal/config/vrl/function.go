package vrl

import "strings"

// functions are those whose answer is jq's of their arguments: $1 is the first.
var functions = map[string]string{
	"to_float": "($1 | tonumber)", "to_int": "($1 | tonumber | trunc)", "parse_int": "($1 | tonumber)",
	"parse_float": "($1 | tonumber)", "to_string": "($1 | tostring)",
	"string": "$1", "int": "$1", "float": "$1", "bool": "$1", "object": "$1", "array": "$1", "timestamp": "$1",
	"to_timestamp": "$1",
	"downcase":     "($1 | ascii_downcase)", "upcase": "($1 | ascii_upcase)",
	"strip_whitespace": `($1 | gsub("^\\s+|\\s+$"; ""))`, "trim": `($1 | gsub("^\\s+|\\s+$"; ""))`,
	"length": "($1 | length)", "strlen": "($1 | length)", "keys": "($1 | keys)", "values": "[$1[]]",
	"join":     "($1 | join($2))",
	"contains": "($1 | contains($2))", "starts_with": "($1 | startswith($2))", "ends_with": "($1 | endswith($2))",
	"includes": "any($1[]; . == $2)",
	"round":    "($1 | round)", "floor": "($1 | floor)", "ceil": "($1 | ceil)", "abs": "($1 | fabs)",
	"mod":        "($1 % $2)",
	"parse_json": "($1 | fromjson)", "encode_json": "($1 | tojson)", "exists": "($1 != null)",
	"is_null": "($1 == null)", "is_nullish": `($1 == null or $1 == "" or $1 == "-")`,
	"is_string": `(($1 | type) == "string")`, "is_integer": `(($1 | type) == "number")`,
	"is_float": `(($1 | type) == "number")`, "is_object": `(($1 | type) == "object")`,
	"is_array": `(($1 | type) == "array")`,
	"merge":    "($1 + $2)", "push": "($1 + [$2])", "append": "($1 + $2)", "flatten": "($1 | flatten)",
	"unique": "($1 | unique)", "compact": "($1 | map(values))",
	"now": "$time", "uuid_v4": "$id", "uuid_v7": "$id", "encode_base64": "($1 | @base64)",
	"decode_base64": "($1 | @base64d)", "type_def": "($1 | type)",
	"from_unix_timestamp": "($1 | todate)", "to_unix_timestamp": "($1 | fromdate)",
}

// parameters are the names that VRL's functions have for their first and second argument, where these are not value.
var parameters = map[string][2]string{
	"join": {"value", "separator"}, "contains": {"value", "substring"}, "starts_with": {"value", "substring"},
	"ends_with": {"value", "substring"}, "includes": {"value", "item"},
	"push": {"value", "item"}, "append": {"value", "items"}, "merge": {"to", "from"}, "mod": {"value", "modulus"},
	"exists": {"field", ""},
}

// call is a function's answer.
func (w *writer) call(c call) string {
	switch c.name {
	case "del":
		return w.cannot("del within an expression")
	case "split":
		x := w.value(c.value(0, "value"))
		if r, ok := c.value(1, "pattern").(regex); ok {
			return "[" + x + " | splits(" + quote(r.text) + ")]"
		}
		return "(" + x + " | split(" + w.value(c.value(1, "pattern")) + "))"
	case "replace":
		x, with := w.value(c.value(0, "value")), w.value(c.value(2, "with"))
		if r, ok := c.value(1, "pattern").(regex); ok {
			return "(" + x + " | gsub(" + quote(r.text) + "; " + with + "))"
		}
		return "(" + x + " | split(" + w.value(c.value(1, "pattern")) + ") | join(" + with + "))"
	case "match":
		if r, ok := c.value(1, "pattern").(regex); ok {
			return "(" + w.value(c.value(0, "value")) + " | test(" + quote(r.text) + "))"
		}
	case "parse_timestamp":
		if f, ok := c.value(1, "format").(str); ok && strings.ContainsAny(f.text, "%") &&
			!strings.Contains(f.text, "f") && f.text != "%+" {
			return "(" + w.value(c.value(0, "value")) + " | strptime(" + quote(f.text) + ") | todate)"
		}
		return w.value(c.value(0, "value")) // as the text that it is
	case "get":
		if a, ok := c.value(1, "path").(array); ok {
			return "(" + w.value(c.value(0, "value")) + " | getpath(" + w.value(a) + "))"
		}
	case "set":
		if a, ok := c.value(1, "path").(array); ok {
			return "(" + w.value(c.value(0, "value")) + " | setpath(" + w.value(a) + "; " +
				w.value(c.value(2, "data")) + "))"
		}
	}
	jq, ok := functions[c.name]
	if !ok || c.closure != nil {
		return w.cannot(c.name)
	}
	names, ok := parameters[c.name]
	if !ok {
		names = [2]string{"value", ""}
	}
	for i, name := range names {
		place := "$" + string(rune('1'+i))
		if !strings.Contains(jq, place) {
			continue
		}
		x := c.value(i, name)
		if x == nil {
			return w.cannot(c.name)
		}
		value := w.value(x)
		if strings.Contains(jq, place+"[") || strings.Contains(jq, place+" |") {
			value = bracket(value)
		}
		jq = strings.ReplaceAll(jq, place, value)
	}
	return jq
}

// conversions are functions that a decoder does while it reads: the type of the field.
var conversions = map[string]string{"to_float": "float", "to_int": "int", "to_bool": "bool", "parse_int": "int",
	"parse_float": "float", "parse_timestamp": "timestamp", "to_timestamp": "timestamp", "string": "", "to_string": ""}

// directives are what times are written with, and how Go's layouts have them.
var directives = strings.NewReplacer(
	"%Y", "2006", "%m", "01", "%d", "02", "%H", "15", "%M", "04", "%S", "05", "%T", "15:04:05", "%F", "2006-01-02",
	"%y", "06", "%b", "Jan", "%B", "January", "%e", "_2", "%a", "Mon", "%A", "Monday",
	"%I", "03", "%p", "PM", "%:z", "-07:00", "%z", "-0700", "%Z", "MST", "%.3f", ".000", "%.6f", ".000000", "%.9f",
	".000000000", "%.f", ".999999999", "%3f", "000", "%6f", "000000", "%9f", "000000000", "%R", "15:04", "%D",
	"01/02/06",
)

// conversion is the type of a field that a function makes of it.
func conversion(c call) (typ string, ok bool) {
	typ, ok = conversions[c.name]
	if c.name != "parse_timestamp" || !ok {
		return typ, ok
	}
	format, ok := c.value(1, "format").(str)
	switch {
	case !ok:
		return "", false
	case format.text == "%+" || format.text == "%Y-%m-%dT%H:%M:%S%.fZ" || format.text == "%Y-%m-%dT%H:%M:%SZ":
		return "timestamp", true
	case format.text == "%s":
		return "timestamp(unix)", true
	}
	layout := directives.Replace(format.text)
	return "timestamp(" + layout + ")", !strings.Contains(layout, "%")
}
