package codec

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/message"
)

// logfmtFormat reads key=value pairs with white space between them. A value in double quotes may hold anything, with
// JSON's escapes; another ends at white space. A key alone is true, key= is the empty string. Of a key that is
// there twice the last value counts, at the place of the first.
type logfmtFormat struct{ wanted }

type logfmtPair struct {
	key    string
	value  string
	offset int // of the value; of the key when there is none
	alone  bool
}

func (f *logfmtFormat) decode(body []byte) ([]byte, []message.Attribute, error) {
	if i := invalidUTF8(body); i >= 0 {
		return nil, nil, utf8Error("logfmt", body, i)
	}
	reader := logfmtReader{src: body}
	var pairs logfmtPairs
	for {
		p, ok, err := reader.next()
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			break
		}
		if pairs.put(p); len(pairs.list) > MaxFields {
			return nil, nil, reader.errorf(p.offset, "", "", fmt.Sprintf("the line has more than %d keys", MaxFields))
		}
	}
	r := newRecord("logfmt", body, len(pairs.list))
	for _, p := range pairs.list {
		field := f.field(p.key)
		if p.alone {
			if t := field.fieldType.name; t != "" && t != "bool" {
				return nil, nil, reader.errorf(p.offset, p.key, "write "+p.key+"=…",
					"the key stands alone, a value of type "+t+" is wanted")
			}
			r.literal(&field, "true", message.Bool(true))
			continue
		}
		if err := r.add(&field, p.value, p.offset); err != nil {
			return nil, nil, err
		}
	}
	return r.done()
}

// logfmtPairs are pairs in the order of their keys' first appearance.
type logfmtPairs struct {
	list   []logfmtPair
	places map[string]int // of keys in list; nil while the list is short enough to be searched
}

// searchedPairs is how many pairs are searched faster than a map is made.
const searchedPairs = 24

func (ps *logfmtPairs) put(p logfmtPair) {
	if i := ps.find(p.key); i >= 0 {
		ps.list[i] = p
		return
	}
	if ps.places != nil {
		ps.places[p.key] = len(ps.list)
	}
	ps.list = append(ps.list, p)
	if len(ps.list) == searchedPairs {
		ps.places = make(map[string]int, 2*searchedPairs)
		for i, q := range ps.list {
			ps.places[q.key] = i
		}
	}
}

// find returns the place of a key, -1 when it is new.
func (ps *logfmtPairs) find(key string) int {
	if ps.places != nil {
		if i, ok := ps.places[key]; ok {
			return i
		}
		return -1
	}
	return slices.IndexFunc(ps.list, func(p logfmtPair) bool { return p.key == key })
}

type logfmtReader struct {
	src []byte
	pos int
}

func (r *logfmtReader) errorf(offset int, key, hint, message string) *Error {
	return (&Error{Codec: "logfmt", Field: key, Offset: offset, Message: message, Hint: hint}).at(r.src)
}

// next reads a pair; ok is false at the end.
func (r *logfmtReader) next() (p logfmtPair, ok bool, e *Error) {
	for r.pos < len(r.src) && isLogfmtSpace(r.src[r.pos]) {
		r.pos++
	}
	start := r.pos
	if start == len(r.src) {
		return p, false, nil
	}
	for r.pos < len(r.src) && !isLogfmtSpace(r.src[r.pos]) && r.src[r.pos] != '=' {
		if r.src[r.pos] == '"' {
			return p, false, r.errorf(r.pos, "", `write key="a text"; the codec text takes lines that are no pairs`,
				"a quote stands where a key is wanted")
		}
		r.pos++
	}
	p.key, p.offset = string(r.src[start:r.pos]), start
	switch {
	case p.key == "":
		return p, false, r.errorf(start, "", "put a name before it", `an "=" stands where a key is wanted`)
	case r.pos == len(r.src) || r.src[r.pos] != '=':
		p.alone = true
		return p, true, nil
	}
	r.pos++
	p.offset = r.pos
	if r.pos < len(r.src) && r.src[r.pos] == '"' {
		p.value, e = r.quoted(p.key)
		return p, e == nil, e
	}
	start = r.pos
	for r.pos < len(r.src) && !isLogfmtSpace(r.src[r.pos]) {
		if r.src[r.pos] == '"' {
			return p, false, r.errorf(r.pos, p.key, `put the whole value in quotes and write the one inside as \"`,
				"a quote stands inside a value without quotes")
		}
		r.pos++
	}
	p.value = string(r.src[start:r.pos])
	return p, true, nil
}

// quoted reads a value in quotes. The escapes are JSON's, so that JSON's scanner reads it.
func (r *logfmtReader) quoted(key string) (string, *Error) {
	start := r.pos
	for end := start + 1; end < len(r.src); end++ {
		switch r.src[end] {
		case '\\':
			s := scanner{src: r.src, pos: end}
			if s.escape() != nil {
				return "", r.errorf(end, key, `write a backslash as \\`, "a backslash starts no escape here")
			}
			end = s.pos - 1
		case '"':
			r.pos = end + 1
			if r.pos < len(r.src) && !isLogfmtSpace(r.src[r.pos]) {
				_, n := utf8.DecodeRune(r.src[r.pos:])
				return "", r.errorf(r.pos, key, "put a space between pairs",
					quote(r.src[r.pos:r.pos+n])+" follows the closing quote")
			}
			return unquote(r.src[start:r.pos]), nil
		}
	}
	return "", r.errorf(start, key, `close it, or write the quotes inside as \"`, "the quoted value does not end")
}

// isLogfmtSpace tells whether c separates pairs: a space or any control character.
func isLogfmtSpace(c byte) bool { return c <= ' ' }
