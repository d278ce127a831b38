package codec

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// regexFormat takes the named groups of a regular expression; a group that took no part in the match is null.
type regexFormat struct {
	pattern *regexp.Regexp
	groups  []int // numbers of the named groups
	fields  []field
}

const groupHint = `name a group as in (?P<level>\w+)`

func newRegex(c *Config, w wanted) (format, error) {
	if c.Pattern == "" {
		return nil, wrong("pattern", groupHint, "regex has no pattern")
	}
	re, err := regexp.Compile(c.Pattern)
	if err != nil {
		return nil, patternError(c.Pattern, err)
	}
	f := &regexFormat{pattern: re}
	var names []string
	for i, name := range re.SubexpNames() {
		if name != "" {
			f.groups = append(f.groups, i)
			f.fields = append(f.fields, w.column(name))
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, wrong("pattern", groupHint, "the pattern has no named group, so there would be no field")
	}
	if err := c.known(names, "group"); err != nil {
		return nil, err
	}
	return f, nil
}

// patternError shows the piece that the compiler complains of in its place.
func patternError(pattern string, err error) error {
	out := &component.SettingError{Setting: "pattern", Offset: -1, Err: err,
		Hint: "the syntax is RE2's: no look-around, no back-references"}
	var bad *syntax.Error
	if errors.As(err, &bad) && bad.Expr != "" {
		out.Offset = strings.Index(pattern, bad.Expr)
	}
	return out
}

func (f *regexFormat) decode(body []byte) ([]byte, []message.Attribute, error) {
	if i := invalidUTF8(body); i >= 0 {
		return nil, nil, utf8Error("regex", body, i)
	}
	match := f.pattern.FindSubmatchIndex(body)
	if match == nil {
		return nil, nil, &Error{Codec: "regex", Offset: -1, Message: quote(body) + " does not match the pattern",
			Hint: "widen the pattern, or let a filter or route before this step take other lines away"}
	}
	r := newRecord("regex", body, len(f.fields))
	for i, group := range f.groups {
		start, end := match[2*group], match[2*group+1]
		if start < 0 {
			r.literal(&f.fields[i], "null", message.Null())
			continue
		}
		if err := r.add(&f.fields[i], string(body[start:end]), start); err != nil {
			return nil, nil, err
		}
	}
	return r.done()
}
