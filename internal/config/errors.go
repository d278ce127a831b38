package config

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/mask"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/message"
)

// MaxErrors is how many mistakes one reading of a file reports.
const MaxErrors = 50

// Error is one mistake in a configuration, or one warning about it.
type Error struct {
	File    string
	Line    int         // from 1
	Column  int         // in characters, from 1; one past the end of the line when something is missing there
	Message string      // what is wrong
	Hint    string      // what to do about it; "" when Message says it
	cause   error       // what a constructor returned, for errors.Is and errors.As
	hidden  mask.Masker // of the line
	unread  bool        // the file cannot be read, so that nobody knows what in it is secret
	whole   bool        // it is about the file, not a place in it: no line is quoted
}

// Error is "file:line:column: message (hint)".
func (e *Error) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Unwrap gives what a component's constructor returned, if the mistake came from one.
func (e *Error) Unwrap() error { return e.cause }

// Pretty is the form for a terminal: the place, the message, the source line, and a caret with the hint. src is the
// file's text. Secrets that stand in the line are shown as asterisks.
//
//	dpkg.yaml:7:5: unknown key "quee" in sources.waiting
//	    7 |     quee: news
//	      |     ^ did you mean "queue"?
func (e *Error) Pretty(src []byte) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
	line, ok := lineOf(src, e.Line)
	if !ok || e.whole {
		if e.Hint != "" {
			b.WriteString(" (" + e.Hint + ")")
		}
		return b.String()
	}
	line = starred(line, e.hidden)
	if e.unread {
		line = unreadLine(src, e.Line, line)
	} else {
		line = guarded(line, false)
	}
	line = maskUserinfo(line)
	split := len(line)
	for i, n := 0, 1; i < len(line); n++ {
		if n == e.Column {
			split = i
			break
		}
		_, size := utf8.DecodeRuneInString(line[i:])
		i += size
	}
	number := strconv.Itoa(e.Line)
	b.WriteString("\n" + measure.Pointed("    "+number+" | ", "    "+strings.Repeat(" ", len(number))+" | ",
		line[:split], line[split:]))
	if e.Hint != "" {
		b.WriteString(" " + e.Hint)
	}
	return b.String()
}

// starred shows secrets as asterisks, as many as they have characters: what stands behind them stays where it was.
func starred(line string, m mask.Masker) string {
	var b strings.Builder
	from := 0
	for _, p := range m.Find(line) {
		b.WriteString(line[from:p.From] + stars(line[p.From:p.To]))
		from = p.To
	}
	return b.String() + line[from:]
}

func stars(s string) string { return strings.Repeat("*", utf8.RuneCountInString(s)) }

// userinfo is what stands between the scheme and the host of a URL: often a name and a password.
var userinfo = regexp.MustCompile(`(://)([^/?#\s"'<>]+)@`)

// maskUserinfo shows the users and passwords of URLs as asterisks, as many as they have characters.
func maskUserinfo(text string) string {
	return userinfo.ReplaceAllStringFunc(text, func(found string) string {
		inside := strings.TrimSuffix(strings.TrimPrefix(found, "://"), "@")
		return "://" + stars(inside) + "@"
	})
}

// lineOf returns a line of src, numbered from 1, without its end.
func lineOf(src []byte, n int) (string, bool) {
	for line := range strings.SplitSeq(string(src), "\n") {
		if n--; n == 0 {
			return strings.TrimSuffix(line, "\r"), true
		}
	}
	return "", false
}

// Errors are all the mistakes of a file, in the order of their places. At most MaxErrors are kept; the last then says
// how many more there are.
type Errors []*Error

// Error lists the mistakes, one a line.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the single mistakes to errors.Is and errors.As.
func (es Errors) Unwrap() []error {
	all := make([]error, len(es))
	for i, e := range es {
		all[i] = e
	}
	return all
}

// Pretty shows every mistake with its source line, as Error.Pretty does.
func (es Errors) Pretty(src []byte) string {
	texts := make([]string, len(es))
	for i, e := range es {
		texts[i] = e.Pretty(src)
	}
	return strings.Join(texts, "\n")
}

// report gathers mistakes while a file is read.
type report struct {
	file    *source
	errors  Errors
	more    int // mistakes beyond maxNoted
	secrets secrets
	files   []namedFile // by settings with the tag file
}

// maxNoted bounds the mistakes that are kept to be sorted, and maxMessage the bytes that one may take.
const (
	maxNoted   = 4 * MaxErrors
	maxMessage = 2000
)

// at notes a mistake at a place.
func (r *report) at(p place, hint, format string, args ...any) *Error {
	if r.full() {
		r.more++
		return &Error{}
	}
	e := r.file.error(p, hint, format, args...)
	r.errors = append(r.errors, e)
	return e
}

// full tells whether there are so many mistakes that further ones are only counted.
func (r *report) full() bool { return len(r.errors) >= maxNoted }

// mistakes is how many there are so far.
func (r *report) mistakes() int { return len(r.errors) + r.more }

// failed tells whether there is a mistake.
func (r *report) failed() bool { return len(r.errors) > 0 }

// result sorts the mistakes, takes secrets out of them and cuts them at MaxErrors; nil when there is none.
func (r *report) result() Errors {
	if !r.failed() {
		return nil
	}
	for _, e := range r.errors {
		e.Message, e.Hint = cutText(maskUserinfo(r.secrets.redact(e.Message))),
			cutText(maskUserinfo(r.secrets.redact(e.Hint)))
		e.hidden = r.secrets.line(e.Line)
	}
	return sorted(r.errors, r.more)
}

func cutText(s string) string { return message.Shorten(s, maxMessage) }

// sorted puts mistakes into order. more counts those that are not among them.
func sorted(es Errors, more int) Errors {
	es = slices.Clone(es)
	slices.SortStableFunc(es, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Message, b.Message))
	})
	es = slices.CompactFunc(es, func(a, b *Error) bool {
		return a.Line == b.Line && a.Column == b.Column && a.Message == b.Message
	})
	if more += len(es) - MaxErrors; len(es) > MaxErrors {
		last := *es[MaxErrors]
		last.Message = fmt.Sprintf("%d more mistakes from here on", more)
		last.Hint = "mend those above first"
		last.cause = nil
		es = append(es[:MaxErrors], &last)
	}
	return es
}
