package codec

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/message"
)

// csvFormat reads one RFC 4180 record a message. Line ends inside quotes belong to the field; one at the end of the
// message is not part of the record.
type csvFormat struct {
	delimiter string
	columns   []field
	rest      *rest // nil: a record has no more fields than columns
	plain     plain // for records that need no care
}

// newCSV returns nil while the columns are still to come from a header.
func newCSV(c *Config, w wanted) (format, error) {
	delimiter, err := c.delimiter()
	if err != nil {
		return nil, err
	}
	switch {
	case c.Header && len(c.Columns) > 0:
		return nil, wrong("header", "leave one of them out", "columns and header both name the columns")
	case c.Header && c.Rest != "":
		return nil, wrong("rest", "leave one of them out", "the header names all columns, and there is no rest")
	case c.Header:
		return nil, nil
	case len(c.Columns) == 0 && c.Rest == "":
		return nil, wrong("columns", "list their names, or set header: true when the first record has them",
			"csv does not know its columns")
	case len(c.Columns) > MaxFields:
		return nil, wrong("columns", "", "there are %d columns, the most are %d", len(c.Columns), MaxFields)
	}
	seen := make(map[string]bool, len(c.Columns))
	f := &csvFormat{delimiter: delimiter}
	for i, name := range c.Columns {
		setting := "columns[" + strconv.Itoa(i) + "]"
		switch {
		case name == "":
			return nil, wrong(setting, "", "a column has no name")
		case !utf8.ValidString(name):
			return nil, wrong(setting, utf8Hint, "the name %s is not valid UTF-8", quote(name))
		case seen[name]:
			return nil, wrong(setting, "", "the column %s is there twice", quote(name))
		}
		seen[name] = true
		f.columns = append(f.columns, w.column(name))
	}
	names := c.Columns
	if c.Rest != "" {
		var err error
		if f.rest, err = newRest(c, w, seen); err != nil {
			return nil, err
		}
		names = append(slices.Clone(names), c.Rest)
	}
	if err := c.known(names, "column"); err != nil {
		return nil, err
	}
	f.plain = newPlain(f)
	return f, nil
}

func (c *Config) delimiter() (string, error) {
	switch c.Delimiter {
	case "":
		return ",", nil
	case "tab", `\t`:
		return "\t", nil
	case `"`, "\n", "\r":
		return "", wrong("delimiter", "", "%q cannot stand between fields", c.Delimiter)
	}
	if !utf8.ValidString(c.Delimiter) || utf8.RuneCountInString(c.Delimiter) != 1 {
		return "", wrong("delimiter", `"tab" is a tab`, "%q is not one character", c.Delimiter)
	}
	return c.Delimiter, nil
}

// withHeader is c with the columns that a header record names.
func (c *Config) withHeader(line []byte) (Config, error) {
	delimiter, err := c.delimiter()
	if err != nil {
		return *c, err
	}
	line = bytes.TrimPrefix(line, []byte("\ufeff"))
	if i := invalidUTF8(line); i >= 0 {
		return *c, utf8Error("csv header", line, i)
	}
	reader := newCSVReader(line, delimiter)
	with := *c
	with.Header, with.Columns = false, nil
	for !reader.done {
		offset := reader.pos
		text, err := reader.next()
		if err != nil {
			err.Codec = "csv header"
			return *c, err
		}
		name := strings.TrimSpace(text)
		if len(with.Columns) == MaxFields {
			return *c, (&Error{Codec: "csv header", Offset: offset,
				Message: fmt.Sprintf("more than %d columns", MaxFields)}).at(line)
		}
		with.Columns = append(with.Columns, name)
	}
	return with, nil
}

func trimLineEnd(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r"))
}

func (f *csvFormat) decode(body []byte) ([]byte, []message.Attribute, error) {
	return f.appendDecoded(make([]byte, 0, f.room(body)), body)
}

func (f *csvFormat) room(body []byte) int {
	if f.plain.opens != nil {
		return f.plain.fixed + len(body) + 2
	}
	return roomFor(body, len(f.columns))
}

func (f *csvFormat) appendDecoded(dst, body []byte) ([]byte, []message.Attribute, error) {
	if decoded, ok := f.plain.append(dst, body); ok {
		return decoded, nil, nil
	}
	if i := invalidUTF8(body); i >= 0 {
		return nil, nil, utf8Error("csv", body, i)
	}
	r := newRecordIn(dst, "csv", body)
	reader := newCSVReader(body, f.delimiter)
	n := 0
	for ; !reader.done; n++ {
		offset := reader.pos
		text, err := reader.next()
		if err != nil {
			if n < len(f.columns) {
				err.Field = f.columns[n].name
			}
			return nil, nil, err
		}
		column := f.column(n)
		if column == nil {
			return nil, nil, f.surplus(&reader, body, offset, n+1)
		}
		if err := r.add(column, text, offset); err != nil {
			return nil, nil, err
		}
	}
	if n < len(f.columns) {
		return nil, nil, (&Error{Codec: "csv", Field: f.columns[n].name, Offset: len(reader.src),
			Message: fmt.Sprintf("the record ends after %s, %s wanted", count(n, "field"),
				count(len(f.columns), "column")),
			Hint: "mend the record, or take the missing columns out of columns"}).at(body)
	}
	return r.done()
}

// column is the n-th, nil if there is none.
func (f *csvFormat) column(n int) *field {
	switch {
	case n < len(f.columns):
		return &f.columns[n]
	case f.rest == nil || n >= MaxFields:
		return nil
	default:
		return f.rest.field(n - len(f.columns))
	}
}

// surplus is the error for a field too many, the n-th, at offset; it reads on to tell how many there are.
func (f *csvFormat) surplus(reader *csvReader, body []byte, offset, n int) *Error {
	for ; !reader.done; n++ {
		if _, err := reader.next(); err != nil {
			break
		}
	}
	if f.rest != nil {
		return (&Error{Codec: "csv", Offset: offset, Message: fmt.Sprintf("the record has %s, the most are %d",
			count(n, "field"), MaxFields)}).at(body)
	}
	return (&Error{Codec: "csv", Offset: offset,
		Message: fmt.Sprintf("the record has %s, but there %s", count(n, "field"), countIs(len(f.columns), "column")),
		Hint:    "name the others in columns, or put a field that holds the delimiter in quotes"}).at(body)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func countIs(n int, what string) string {
	if n == 1 {
		return "is " + count(n, what)
	}
	return "are " + count(n, what)
}

// csvReader reads one record field by field.
type csvReader struct {
	src       []byte
	text      string // src: the fields are parts of it, so that a record costs one string
	plain     bool   // there is no quote in it and no line end
	delimiter string
	pos       int
	done      bool // the last field was read
}

func newCSVReader(record []byte, delimiter string) csvReader {
	src := trimLineEnd(record)
	text := string(src)
	plain := true
	for _, c := range []byte{'"', '\r', '\n'} { // quicker than looking for all of them in each field
		plain = plain && strings.IndexByte(text, c) < 0
	}
	return csvReader{src: src, text: text, plain: plain, delimiter: delimiter}
}

func (r *csvReader) errorf(offset int, hint, message string) *Error {
	return (&Error{Codec: "csv", Offset: offset, Message: message, Hint: hint}).at(r.src)
}

// next reads one field and steps over the delimiter behind it.
func (r *csvReader) next() (string, *Error) {
	rest := r.text[r.pos:]
	if !r.plain && strings.HasPrefix(rest, `"`) {
		return r.quotedField()
	}
	end := strings.Index(rest, r.delimiter)
	if end < 0 {
		end, r.done = len(rest), true
	}
	text := rest[:end]
	if !r.plain {
		if i := strings.IndexAny(text, "\"\r\n"); i >= 0 {
			if text[i] == '"' {
				return "", r.errorf(r.pos+i, `put the whole field in quotes and double the one inside: "say ""hi"""`,
					"a quote stands inside a field without quotes")
			}
			return "", r.errorf(r.pos+i, "one message holds one record; a field with a line end stands in quotes",
				"a second line begins")
		}
	}
	r.pos = min(r.pos+end+len(r.delimiter), len(r.text))
	return text, nil
}

func (r *csvReader) quotedField() (string, *Error) {
	start, doubled := r.pos, false
	for r.pos++; ; r.pos++ {
		i := strings.IndexByte(r.text[r.pos:], '"')
		if i < 0 {
			return "", r.errorf(start, "close it, or double the quotes inside", "the quoted field does not end")
		}
		r.pos += i + 1
		if !strings.HasPrefix(r.text[r.pos:], `"`) {
			break
		}
		doubled = true
	}
	text := r.text[start+1 : r.pos-1]
	if doubled {
		text = strings.ReplaceAll(text, `""`, `"`)
	}
	switch rest := r.text[r.pos:]; {
	case len(rest) == 0:
		r.done = true
	case strings.HasPrefix(rest, r.delimiter):
		r.pos += len(r.delimiter)
	default:
		return "", r.errorf(r.pos, "a quote inside a quoted field is written twice",
			"text follows the closing quote of a field")
	}
	return text, nil
}
