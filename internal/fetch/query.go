package fetch

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// Params are the values of a question's parameters by name: one each, or for "keys" any number.
type Params map[string][]message.Value

// Keys is the name of the parameter that stands for any number of values.
const Keys = "keys"

// question is a text that was taken apart at its parameters: texts[0], then names[0], texts[1], and so on.
type question struct {
	texts []string
	names []string
	at    []int // where each name stands
}

// uses tells whether the question has a parameter of that name.
func (q *question) uses(name string) bool {
	for _, n := range q.names {
		if n == name {
			return true
		}
	}
	return false
}

func isNameStart(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isName(c byte) bool      { return isNameStart(c) || c >= '0' && c <= '9' || c == '.' }

// nameAt returns the name that begins at i, "" if none does. It does not end with a dot.
func nameAt(text string, i int) string {
	if i >= len(text) || !isNameStart(text[i]) {
		return ""
	}
	end := i
	for end < len(text) && isName(text[end]) {
		end++
	}
	return strings.TrimRight(text[i:end], ".")
}

// parseSQL finds ":name" outside of strings, quoted names and comments. "::type", as PostgreSQL writes a cast, is none.
// Errors are *component.SettingError of the setting with the byte.
func parseSQL(setting, text string) (*question, error) {
	wrong := func(at int, format string, a ...any) error {
		return &component.SettingError{Setting: setting, Offset: at, Err: fmt.Errorf(format, a...)}
	}
	q := &question{}
	from := 0
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '\'' || c == '"' || c == '`':
			end := closing(text, i)
			if end < 0 {
				return nil, wrong(i, "this %c is not closed", c)
			}
			i = end
		case strings.HasPrefix(text[i:], "--"):
			if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
				i += n
			} else {
				i = len(text)
			}
		case strings.HasPrefix(text[i:], "/*"):
			n := strings.Index(text[i:], "*/")
			if n < 0 {
				return nil, wrong(i, "this comment is not closed")
			}
			i += n + 2
		case strings.HasPrefix(text[i:], "::"):
			i += 2
		case c == '$' && i+1 < len(text) && text[i+1] >= '0' && text[i+1] <= '9' && (i == 0 || !isName(text[i-1])),
			c == '?' && (i+1 == len(text) || !strings.ContainsRune("|&", rune(text[i+1]))):
			return nil, &component.SettingError{Setting: setting, Offset: i,
				Err:  errors.New("parameters have names here"),
				Hint: "write :name for an attribute or field of the message"}
		case c == ':':
			name := nameAt(text, i+1)
			if name == "" {
				i++
				continue
			}
			q.texts, q.names, q.at = append(q.texts, text[from:i]), append(q.names, name), append(q.at, i)
			i += 1 + len(name)
			from = i
		default:
			i++
		}
	}
	q.texts = append(q.texts, text[from:])
	return q, nil
}

// closing returns the offset behind the quoted text that begins at i, -1 when it does not end. A doubled quote does not
// end it.
func closing(text string, i int) int {
	quote := text[i]
	for j := i + 1; j < len(text); j++ {
		if text[j] != quote {
			continue
		}
		if j+1 < len(text) && text[j+1] == quote {
			j++
			continue
		}
		return j + 1
	}
	return -1
}

// listSize is how many placeholders stand for n keys: a power of two, so that a database sees few different texts and
// can keep them prepared.
func listSize(n int) int {
	size := 1
	for size < n {
		size *= 2
	}
	return size
}

// build makes the text for a database and its arguments. The places that are left in a list of keys are filled with the
// last one.
func (q *question) build(d dialect, p Params) (text string, args []any, err error) {
	var b strings.Builder
	for i, name := range q.names {
		b.WriteString(q.texts[i])
		values, ok := p[name]
		switch {
		case !ok:
			return "", nil, fmt.Errorf("the parameter :%s has no value", name)
		case name == Keys && d.array != nil && q.inArray(i):
			args = append(args, d.array(values))
			b.WriteString(d.place(len(args)))
		case name == Keys:
			if len(values) == 0 {
				return "", nil, errors.New("there are no keys to ask for")
			}
			for k := range listSize(len(values)) {
				if k > 0 {
					b.WriteByte(',')
				}
				args = append(args, d.bind(values[min(k, len(values)-1)]))
				b.WriteString(d.place(len(args)))
			}
		default:
			args = append(args, d.bind(values[0]))
			b.WriteString(d.place(len(args)))
		}
	}
	b.WriteString(q.texts[len(q.texts)-1])
	return b.String(), args, nil
}

// inArray tells whether the i-th parameter is the argument of any(…) or unnest(…), which take an array.
func (q *question) inArray(i int) bool {
	before := strings.ToLower(strings.TrimRight(q.texts[i], " \t\r\n"))
	if !strings.HasSuffix(before, "(") {
		return false
	}
	before = strings.TrimRight(before[:len(before)-1], " \t\r\n")
	return strings.HasSuffix(before, "any") || strings.HasSuffix(before, "unnest")
}

func dollar(n int) string { return "$" + strconv.Itoa(n) }
func mark(int) string     { return "?" }
