package mysql

import (
	"regexp"
	"sync"
)

// formBytes is how much of a statement's text its forms look at.
const formBytes = 64 << 10

// A form is a kind of statement, or a part of one, that go-mysql-server does not know or gets wrong. Regular
// expressions take up to a microsecond for a byte, nothing ends them, and a statement may have megabytes: what is found
// only in a whole text is looked for in short ones.
// It is compiled when it is first asked: few processes need any.
type form struct{ text func() *regexp.Regexp }

func newForm(text string) form {
	return form{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

// is says whether a short text has the form.
func (f form) is(text string) bool { return len(text) <= formBytes && f.text().MatchString(text) }

// begins says whether a text has the form in its first bytes.
func (f form) begins(text string) bool { return f.text().MatchString(text[:min(len(text), formBytes)]) }

// parts are the submatches of a short text; nil if it has not the form.
func (f form) parts(text string) []string {
	if len(text) > formBytes {
		return nil
	}
	return f.text().FindStringSubmatch(text)
}

// first are the submatches in the first bytes of a text.
func (f form) first(text string) []string {
	return f.text().FindStringSubmatch(text[:min(len(text), formBytes)])
}

// replace writes a short text otherwise.
func (f form) replace(text, with string) string {
	if len(text) > formBytes {
		return text
	}
	return f.text().ReplaceAllString(text, with)
}

// replaceFirst writes the first bytes of a text otherwise.
func (f form) replaceFirst(text, with string) string {
	n := min(len(text), formBytes)
	begin := f.text().ReplaceAllString(text[:n], with)
	if n == len(text) {
		return begin
	}
	return begin + text[n:]
}
