package vrl

import (
	"maps"
	"slices"
	"strconv"
)

// Decode is the decode that a program needs first; its fields are those of the settings.
type Decode struct {
	Codec     string
	Columns   []string
	Rest      string
	Delimiter string
	Pattern   string
	Types     map[string]string
}

// Translation is what does the same as a program.
type Translation struct {
	Decode  *Decode  // nil: none is needed
	Program string   // of jq; "": none is needed
	Unknown []string // what was not understood: it is null in Program, or not there
	Parsed  bool     // false: the program as a whole was not understood
}

// maxProgram is how many bytes of a program are looked at.
const maxProgram = 64 << 10

// textPattern makes a field of a line, for programs that take it apart themselves.
const textPattern = "(?s)^(?P<message>.*)$"

// Translate says what does the same as a program of remap.
func Translate(program string) Translation {
	if len(program) > maxProgram {
		return Translation{}
	}
	list, err := parse(program)
	if err != nil {
		return Translation{}
	}
	t := &translator{decode: &Decode{Types: map[string]string{}}, columns: map[int]string{}}
	left := t.take(list)
	w := &writer{mapped: t.mapped}
	w.declare(t.failed, false)
	text := w.program(left)
	d := t.finish(&text)
	if d != nil && d.Codec == "csv" && len(d.Columns) == 0 && d.Rest == "" {
		d.Rest = "column"
		w.cannot("the names of the columns")
	}
	if d == nil && t.message {
		d = &Decode{Codec: "regex", Pattern: textPattern}
	}
	return Translation{Decode: d, Program: text, Unknown: w.unknown, Parsed: true}
}

// translator finds out what a decoder can do of a program.
type translator struct {
	decode  *Decode
	parsed  string         // the variable that holds what was parsed; "": the event itself
	columns map[int]string // of csv: which field takes which
	spare   []string       // names given to columns that no field takes alone
	whole   bool           // what was parsed is all that the event is
	failed  string         // the variable that says what went wrong
	message bool           // the program reads .message, as it came
}

// vectors are fields that Vector adds to each event.
var vectors = []string{"message", "host", "timestamp", "source_type", "file"}

// take gives back the statements that are left for jq.
func (t *translator) take(list []expr) (left []expr) {
	for _, x := range list {
		switch {
		case t.source(x) || t.loop(x) || t.column(x) || t.own(x) || len(left) == 0 && t.typed(x):
		default:
			left = append(left, x)
		}
	}
	return left
}

// isMessage tells whether an expression is the line as it came.
func isMessage(x expr) bool {
	if c, ok := x.(call); ok && (c.name == "string" || c.name == "to_string") {
		x = c.value(0, "value")
	}
	p, ok := x.(path)
	name, field := p.field()
	return ok && field && name == "message"
}

// source takes a statement that parses the line.
func (t *translator) source(x expr) bool {
	a, ok := x.(assign)
	if !ok || t.decode.Codec != "" {
		return false
	}
	value, merged := a.value, false
	if c, ok := value.(call); ok && c.name == "merge" && a.target.event() { // . = merge(., parse…)
		value, merged = c.value(1, "from"), true
	}
	if c, ok := value.(call); ok && c.name == "object" {
		value = c.value(0, "value")
	}
	c, ok := value.(call)
	if !ok || !isMessage(c.value(0, "value")) || !a.target.event() && !a.target.variable() {
		return false
	}
	codec := map[string]string{"parse_csv": "csv", "parse_json": "json", "parse_logfmt": "logfmt",
		"parse_key_value": "logfmt", "parse_regex": "regex"}[c.name]
	switch codec {
	case "":
		return false
	case "csv":
		if !a.target.variable() {
			return false
		}
		if d, ok := c.value(1, "delimiter").(str); ok && d.text != "," {
			t.decode.Delimiter = d.text
		}
	case "regex":
		r, ok := c.value(1, "pattern").(regex)
		if !ok {
			return false
		}
		t.decode.Pattern = r.text
	}
	t.decode.Codec, t.parsed, t.whole = codec, a.target.root, a.target.event() && !a.merge && !merged
	if a.failed != nil {
		t.failed = a.failed.root
	}
	return true
}

// own takes the removal of what only Vector's events have.
func (t *translator) own(x expr) bool {
	c, ok := x.(call)
	if !ok || c.name != "del" {
		return false
	}
	p, ok := c.value(0, "target").(path)
	name, field := p.field()
	return ok && field && slices.Contains(vectors, name) && t.decode.Codec != "" && !t.whole
}

// typed takes .n = to_int!(.n), which a decoder does by the type of a field.
func (t *translator) typed(x expr) bool {
	a, ok := x.(assign)
	if !ok || a.merge || t.parsed != "" || t.decode.Codec == "" || t.decode.Codec == "csv" {
		return false
	}
	name, ok := a.target.field()
	c, isCall := a.value.(call)
	if !ok || !isCall {
		return false
	}
	typ, ok := conversion(c)
	p, isPath := c.value(0, "value").(path)
	from, isField := p.field()
	if !ok || typ == "" || !isPath || !isField || from != name || t.decode.Types[name] != "" {
		return false
	}
	t.decode.Types[name] = typ
	return true
}

// indexed is the place in the parsed line that an expression is.
func (t *translator) indexed(x expr) (int, bool) {
	p, ok := x.(path)
	if !ok || t.parsed == "" || p.root != t.parsed || len(p.steps) != 1 || p.steps[0].at == nil {
		return 0, false
	}
	l, ok := p.steps[0].at.(literal)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(l.jq)
	return n, err == nil && n >= 0 && n < 10_000
}

// column takes .name = parsed[2], perhaps with a conversion.
func (t *translator) column(x expr) bool {
	a, ok := x.(assign)
	if !ok || t.decode.Codec != "csv" || a.merge {
		return false
	}
	name, ok := a.target.field()
	if !ok {
		return false
	}
	value, typ := a.value, ""
	if c, isCall := value.(call); isCall {
		if typ, ok = conversion(c); !ok {
			return false
		}
		value = c.value(0, "value")
	}
	n, ok := t.indexed(value)
	if _, taken := t.columns[n]; !ok || taken || slices.Contains(slices.Collect(maps.Values(t.columns)), name) {
		return false
	}
	t.columns[n] = name
	if typ != "" {
		t.decode.Types[name] = typ
	}
	return true
}

// mapped is the field that a part of the parsed line has become.
func (t *translator) mapped(p path) (string, bool) {
	if name, ok := p.field(); ok && name == "message" && t.decode.Codec == "" {
		t.message = true
		return "", false
	}
	if t.parsed == "" || p.root != t.parsed {
		return "", false
	}
	w := &writer{mapped: t.mapped}
	if t.decode.Codec != "csv" {
		return w.path(path{steps: p.steps}), true
	}
	n, ok := t.indexed(p)
	if !ok {
		return "", false
	}
	if t.columns[n] == "" {
		t.columns[n] = "column" + strconv.Itoa(n+1)
		t.spare = append(t.spare, t.columns[n])
	}
	return w.path(path{steps: []step{{name: t.columns[n]}}}), true
}

// finish makes the decode whole, and lets the program take away what only it needed.
func (t *translator) finish(program *string) *Decode {
	d := t.decode
	if d.Codec == "" {
		return nil
	}
	if d.Codec == "csv" {
		last := -1
		for n := range t.columns {
			last = max(last, n)
		}
		for n := range last + 1 {
			if t.columns[n] == "" {
				t.columns[n] = "column" + strconv.Itoa(n+1)
				t.spare = append(t.spare, t.columns[n])
			}
			d.Columns = append(d.Columns, t.columns[n])
		}
	}
	slices.Sort(t.spare)
	for _, name := range t.spare {
		if *program != "" {
			*program += " | "
		}
		*program += "del(." + name + ")"
	}
	return d
}
