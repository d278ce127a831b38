package codec

import (
	"strconv"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/message/jsontext"
)

// rest names the fields of a CSV record that stand behind its columns: a name and a number from 1 on.
type rest struct {
	like  field // but for its name
	name  string
	first []field // so many are made beforehand
}

// madeRest is how many.
const madeRest = 1024

func newRest(c *Config, w wanted, columns map[string]bool) (*rest, error) {
	if !utf8.ValidString(c.Rest) {
		return nil, wrong("rest", utf8Hint, "the name %s is not valid UTF-8", quote(c.Rest))
	}
	for name := range columns {
		if number, ok := numbered(name, c.Rest); ok && number <= MaxFields-len(c.Columns) {
			return nil, wrong("rest", "choose another name",
				"the column %s has a name that a field of the rest can have", quote(name))
		}
	}
	r := &rest{like: w.field(c.Rest), name: c.Rest}
	for n := range min(madeRest, MaxFields-len(c.Columns)) {
		r.first = append(r.first, *r.make(n))
	}
	return r, nil
}

// numbered tells whether a name is that of a rest with a number behind it.
func numbered(name, rest string) (number int, ok bool) {
	if len(name) <= len(rest) || name[:len(rest)] != rest || name[len(rest)] < '1' || name[len(rest)] > '9' {
		return 0, false
	}
	number, err := strconv.Atoi(name[len(rest):])
	return number, err == nil && number > 0
}

// field is the n-th field behind the columns, from 0.
func (r *rest) field(n int) *field {
	if n < len(r.first) {
		return &r.first[n]
	}
	return r.make(n)
}

func (r *rest) make(n int) *field {
	f := r.like
	f.name = r.name + strconv.Itoa(n+1)
	f.quoted = append(jsontext.AppendQuoted(nil, f.name), ':')
	return &f
}
