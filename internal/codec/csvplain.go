package codec

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// plain is the short way for CSV records without quotes, of which all fields are texts. It is no other reading of them:
// what it does not take, the long way does, or refuses.
type plain struct {
	delimiter byte
	opens     [][]byte // what stands before each field in JSON; nil: there is no short way
	fixed     int      // bytes of all opens
}

func newPlain(f *csvFormat) (p plain) {
	if len(f.delimiter) != 1 || f.rest != nil || len(f.columns) == 0 {
		return p
	}
	var opens [][]byte
	before := `{`
	for i := range f.columns {
		c := &f.columns[i]
		if c.attribute || c.fieldType.name != "" && c.fieldType.name != "string" {
			return p
		}
		open := append([]byte(before), c.quoted...)
		opens = append(opens, append(open, '"'))
		p.fixed += len(open) + 1
		before = `",`
	}
	p.delimiter, p.opens = f.delimiter[0], opens
	return p
}

// append appends a record's JSON. ok is false, and dst is as it was, where the record needs more care.
func (p *plain) append(dst, record []byte) (_ []byte, ok bool) {
	if p.opens == nil {
		return dst, false
	}
	record = trimLineEnd(record)
	if !isPlain(record) {
		return dst, false
	}
	start, last := len(dst), len(p.opens)-1
	for _, open := range p.opens[:last] {
		end := bytes.IndexByte(record, p.delimiter)
		if end < 0 {
			return dst[:start], false
		}
		dst = append(dst, open...)
		dst = append(dst, record[:end]...)
		record = record[end+1:]
	}
	if bytes.IndexByte(record, p.delimiter) >= 0 {
		return dst[:start], false
	}
	dst = append(dst, p.opens[last]...)
	dst = append(dst, record...)
	return append(dst, '"', '}'), true
}

// isPlain tells whether a text is UTF-8 that stands in a JSON string, and in a CSV field, as it is.
func isPlain(text []byte) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	suspect, high := uint64(0), uint64(0)
	rest := text
	for ; len(rest) >= 8; rest = rest[8:] {
		x := binary.LittleEndian.Uint64(rest)
		quote, slash := x^ones*'"', x^ones*'\\'
		// A byte below n, if there is any, sets the top bit of one here; with n = 1 it is zero.
		suspect |= (x-ones*' ')&^x | (quote-ones)&^quote | (slash-ones)&^slash
		high |= x
	}
	for _, c := range rest {
		if c < ' ' || c == '"' || c == '\\' {
			return false
		}
		high |= uint64(c)
	}
	return suspect&tops == 0 && (high&tops == 0 || utf8.Valid(text))
}
