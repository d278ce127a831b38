package mysql

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// regexps is REGEXP and its functions. go-mysql-server's count bytes where MySQL counts characters, know no groups in a
// replacement, have no numbers for their errors, and compile the expression of a REGEXP_REPLACE again for each row.
type regexps struct {
	name string           // of the function: regexp_like is REGEXP, too
	args []gms.Expression // all that there may be, but for the last, which says how to match
	how  gms.Expression   // nil: as the collation says
	last *atomic.Pointer[compiledRegexp]
}

var _ gms.FunctionExpression = (*regexps)(nil)
var _ gms.CollationCoercible = (*regexps)(nil)

// regexpsOf is go-mysql-server's function as ours.
func regexpsOf(ctx *gms.Context, e gms.Expression) (*regexps, bool) {
	r := &regexps{last: new(atomic.Pointer[compiledRegexp])}
	all := slices.Clone(e.Children())
	own := 2
	switch e := e.(type) {
	case *function.RegexpLike:
		r.name = e.FunctionName()
	case *function.RegexpSubstr:
		r.name, own = e.FunctionName(), 4
	case *function.RegexpInstr:
		r.name, own = e.FunctionName(), 5
	case *function.RegexpReplace:
		r.name, own = e.FunctionName(), 5
	default:
		return nil, false
	}
	if len(all) > own {
		r.how = all[own]
	}
	r.args = spelt(ctx, all[:own])
	return r, true
}

// FunctionName implements gms.FunctionExpression.
func (r *regexps) FunctionName() string { return r.name }

// Description is for go-mysql-server's lists of functions.
func (r *regexps) Description() string { return r.name }

// Type is that of what the function answers.
func (r *regexps) Type(*gms.Context) gms.Type {
	switch r.name {
	case "regexp_like":
		return types.Boolean
	case "regexp_instr":
		return types.Int32
	}
	return types.LongText
}

// IsNullable tells that NULL may be answered.
func (r *regexps) IsNullable(*gms.Context) bool { return true }

// Resolved tells whether all arguments are.
func (r *regexps) Resolved() bool {
	return !slices.ContainsFunc(r.Children(), func(e gms.Expression) bool { return !e.Resolved() })
}

// String is the call.
func (r *regexps) String() string {
	var texts []string
	for _, e := range r.Children() {
		texts = append(texts, e.String())
	}
	return r.name + "(" + strings.Join(texts, ",") + ")"
}

// Children are the arguments.
func (r *regexps) Children() []gms.Expression {
	if r.how == nil {
		return r.args
	}
	return append(slices.Clip(r.args), r.how)
}

// WithChildren implements gms.Expression. What is compiled stays so.
func (r *regexps) WithChildren(_ *gms.Context, children ...gms.Expression) (gms.Expression, error) {
	own := len(r.args)
	if n := len(r.Children()); len(children) != n {
		return nil, gms.ErrInvalidChildrenNumber.New(r, len(children), n)
	}
	other := *r
	other.args = children[:own:own]
	if r.how != nil {
		other.how = children[own]
	}
	return &other, nil
}

// CollationCoercibility is that of the text and the expression together.
func (r *regexps) CollationCoercibility(ctx *gms.Context) (gms.CollationID, byte) {
	text, c := gms.GetCoercibility(ctx, r.args[0])
	pattern, also := gms.GetCoercibility(ctx, r.args[1])
	return gms.ResolveCoercibility(text, c, pattern, also)
}

// compiledRegexp is a regular expression, and what a byte of a text costs it.
type compiledRegexp struct {
	text, flags string
	re          *regexp.Regexp
	cost        int64
}

// Eval is what the function answers for a row.
func (r *regexps) Eval(ctx *gms.Context, row gms.Row) (any, error) {
	text, ok, err := collated(ctx, r.args[0], row)
	if !ok || err != nil {
		return nil, err
	}
	c, err := r.compile(ctx, row)
	if c == nil || err != nil {
		return nil, err
	}
	if times(c.cost, int64(len(text))) > maxMatching {
		return nil, sqlError(erRegexpCapacity, "HY000", "The regular expression pattern exceeds limits on size or "+
			"complexity: %d steps (those that capture or choose count more) for each of %d bytes, together at most %d",
			c.cost, len(text), maxMatching)
	}
	if r.name == "regexp_like" {
		if c.re.MatchString(text) {
			return int8(1), nil
		}
		return int8(0), nil
	}
	from, with, numbers := 2, "", [3]int64{}
	if r.name == "regexp_replace" {
		if with, ok, err = collated(ctx, r.args[2], row); !ok || err != nil {
			return nil, err
		}
		from = 3
	}
	for i, e := range r.args[from:] {
		v, err := e.Eval(ctx, row)
		if v == nil || err != nil {
			return nil, err
		}
		whole, _, err := types.Int64.Convert(ctx, v)
		if err != nil {
			return nil, err
		}
		numbers[i], _ = whole.(int64)
	}
	begin, ok := byteOf(text, numbers[0])
	if !ok {
		return nil, sqlError(erRegexpIndex, "HY000", "Index out of bounds in regular expression search.")
	}
	return r.answer(ctx, c, text, begin, with, numbers[1], numbers[2])
}

// answer is what the function makes of what it finds from a byte of the text on.
func (r *regexps) answer(ctx *gms.Context, c *compiledRegexp, text string, begin int, with string, nth, end int64,
) (any, error) {
	if r.name == "regexp_replace" {
		return c.replace(ctx, text, begin, with, nth)
	}
	nth = max(nth, 1)
	if end != 0 && end != 1 {
		return nil, sqlError(erWrongArguments, "HY000", "Incorrect arguments to regexp_instr: return_option must be "+
			"1 or 0.")
	}
	found, err := c.find(ctx, text[begin:], nth)
	if err != nil {
		return nil, err
	}
	switch {
	case r.name == "regexp_substr" && int64(len(found)) < nth:
		return nil, nil
	case int64(len(found)) < nth:
		return int32(0), nil
	}
	at := found[nth-1]
	if r.name == "regexp_substr" {
		return text[begin+at[0] : begin+at[1]], nil
	}
	return int32(units(text[:begin+at[end]]) + 1), nil
}

// find finds the first places that match, at most so many; 0: all. What the library needs for them is counted.
func (c *compiledRegexp) find(ctx *gms.Context, text string, most int64) ([][]int, error) {
	places := int64(len(text) + 1)
	if most > 0 {
		places = min(places, most)
	} else {
		most = -1
	}
	if m := meterOf(ctx); m != nil {
		if err := m.make(times(places, int64(24+16*(1+c.re.NumSubexp())))); err != nil {
			return nil, err
		}
	}
	return c.re.FindAllStringSubmatchIndex(text, int(max(min(most, maxCount), -1))), nil
}

// replace replaces what matches from a byte on: the nth, or all. What is too large is NULL with a warning, and is not
// made, not even in part.
func (c *compiledRegexp) replace(ctx *gms.Context, text string, begin int, with string, nth int64) (any, error) {
	m, limit := meterOf(ctx), int64(maxCount)
	if m != nil {
		limit = m.value
		pieces := 1 + 2*int64(strings.Count(with, "$")+strings.Count(with, `\`))
		if err := m.make(times(pieces, int64(unsafe.Sizeof(replacing{})))); err != nil {
			return nil, err
		}
	}
	r, wrong := newReplacement(with, 1+c.re.NumSubexp())
	most := max(nth, 0)
	if most == 0 && r.own > 0 {
		most = limit/r.own + 1 // with so many it is too large, whatever the rest may be
	}
	found, err := c.find(ctx, text[begin:], most)
	if err != nil {
		return nil, err
	}
	if nth > 0 {
		found = found[min(nth-1, int64(len(found))):]
	}
	if len(found) == 0 {
		return text, nil
	}
	if wrong != nil {
		return nil, wrong
	}
	size := int64(len(text))
	for _, at := range found {
		size += r.size(at) - int64(at[1]-at[0])
	}
	if m != nil {
		if size > limit {
			ctx.Warn(erTooBigResult, "Result of regexp_replace() was larger than max_allowed_packet (%d) - truncated",
				limit)
			return nil, nil
		}
		if err := m.make(size); err != nil {
			return nil, err
		}
	}
	var b strings.Builder
	b.Grow(int(size))
	last := 0
	for _, at := range found {
		b.WriteString(text[last : begin+at[0]])
		if err := r.write(&b, m, text[begin:], at); err != nil {
			return nil, err
		}
		last = begin + at[1]
	}
	b.WriteString(text[last:])
	return b.String(), nil
}

// replacement is what is written in the place of a match, read once: its pieces, the bytes of those that are always
// the same, and how often it has each group.
type replacement struct {
	pieces []replacing
	own    int64
	groups []int64
}

// replacing is a text, or the text of a group that matched when the text is empty.
type replacing struct {
	text  string
	group int
}

// newReplacement reads a replacement for an expression of so many groups, the whole match is one: $1 and ${1} are
// groups, and a backslash takes the next character as it is. As in ICU, a number has as many digits as there are groups
// for.
func newReplacement(with string, groups int) (*replacement, error) {
	r := &replacement{groups: make([]int64, groups)}
	for with != "" {
		i := strings.IndexAny(with, `$\`)
		if i < 0 {
			break
		}
		r.add(with[:i])
		sign := with[i]
		with = with[i+1:]
		if sign == '\\' {
			_, n := utf8.DecodeRuneInString(with)
			r.add(with[:n])
			with = with[n:]
			continue
		}
		braced := strings.HasPrefix(with, "{")
		with = strings.TrimPrefix(with, "{")
		group, n := 0, 0
		for n < len(with) && '0' <= with[n] && with[n] <= '9' && (n == 0 || group*10+int(with[n]-'0') < groups) {
			group = group*10 + int(with[n]-'0')
			n++
		}
		switch with = with[n:]; {
		case n == 0, braced && !strings.HasPrefix(with, "}"):
			return r, sqlError(3887, "HY000", "A capture group has an invalid name.")
		case group >= groups:
			return r, sqlError(erRegexpIndex, "HY000", "Index out of bounds in regular expression search.")
		case braced:
			with = with[1:]
		}
		r.pieces = append(r.pieces, replacing{group: group})
		r.groups[group]++
	}
	r.add(with)
	return r, nil
}

// add is a text that is always the same.
func (r *replacement) add(text string) {
	if text != "" {
		r.pieces = append(r.pieces, replacing{text: text})
		r.own += int64(len(text))
	}
}

// size is how many bytes a match is replaced by.
func (r *replacement) size(at []int) int64 {
	n := r.own
	for group, times := range r.groups {
		if times > 0 && at[2*group] >= 0 {
			n += times * int64(at[2*group+1]-at[2*group])
		}
	}
	return n
}

// write writes what replaces a match of a text. Groups may be many and empty: the time of the statement ends it.
func (r *replacement) write(b *strings.Builder, m *meter, text string, at []int) error {
	for i, p := range r.pieces {
		switch {
		case p.text != "":
			b.WriteString(p.text)
		case at[2*p.group] >= 0:
			b.WriteString(text[at[2*p.group]:at[2*p.group+1]])
		}
		if m != nil && i%1024 == 1023 {
			if err := m.alive(); err != nil {
				return err
			}
		}
	}
	return nil
}

// compile is the row's regular expression; nil: it is NULL.
func (r *regexps) compile(ctx *gms.Context, row gms.Row) (*compiledRegexp, error) {
	text, ok, err := collated(ctx, r.args[1], row)
	if !ok || err != nil {
		return nil, err
	}
	how := ""
	if r.how != nil {
		if how, ok, err = collated(ctx, r.how, row); !ok || err != nil {
			return nil, err
		}
	}
	flags := ""
	if collation, _ := r.CollationCoercibility(ctx); strings.HasSuffix(collation.String(), "_ci") {
		flags = "i"
	}
	for _, letter := range how {
		switch letter {
		case 'c':
			flags = strings.ReplaceAll(flags, "i", "")
		case 'i', 'm':
			flags += string(letter)
		case 'n':
			flags += "s"
		case 'u':
		default:
			return nil, sqlError(erWrongArguments, "HY000", "Incorrect arguments to %s", r.name)
		}
	}
	if c := r.last.Load(); c != nil && c.text == text && c.flags == flags {
		return c, nil
	}
	c, err := newRegexp(text, flags)
	if err != nil {
		return nil, err
	}
	r.last.Store(c)
	return c, nil
}

// newRegexp compiles a regular expression, unless it is too large.
func newRegexp(text, flags string) (*compiledRegexp, error) {
	if text == "" {
		return nil, sqlError(3685, "HY000", "Illegal argument to a regular expression.")
	}
	count, cost := patternSteps(text)
	if count > maxPattern {
		return nil, sqlError(erRegexpCapacity, "HY000", "The regular expression pattern exceeds limits on size or "+
			"complexity: it has at most %d steps, with what it repeats written out", maxPattern)
	}
	whole := text
	if flags != "" {
		whole = "(?" + flags + ")" + text
	}
	re, err := regexp.Compile(whole)
	if err != nil {
		return nil, regexpError(err)
	}
	return &compiledRegexp{text, flags, re, cost}, nil
}

// regexpError is MySQL's error for what is wrong with a regular expression.
func regexpError(err error) error {
	var known *syntax.Error
	if !errors.As(err, &known) {
		return err
	}
	number, text := 3688, "Syntax error in regular expression"
	switch known.Code {
	case syntax.ErrMissingParen, syntax.ErrUnexpectedParen:
		number, text = 3691, "Mismatched parenthesis in regular expression"
	case syntax.ErrMissingBracket:
		number, text = 3696, "The regular expression contains an unclosed bracket expression"
	case syntax.ErrInvalidRepeatSize:
		number, text = 3692, "Incorrect description of a {min,max} interval"
	case syntax.ErrInvalidEscape, syntax.ErrTrailingBackslash:
		number, text = 3689, "Unrecognized escape sequence in regular expression"
	case syntax.ErrInvalidPerlOp:
		number, text = 3690, "The regular expression contains a feature that is not implemented in this library version"
	case syntax.ErrInvalidCharRange:
		if number, text = 3685, "Illegal argument to a regular expression"; !strings.HasPrefix(known.Expr, "[") {
			number, text = 3697, "The regular expression contains an [x-y] character range where x comes after y"
		}
	case syntax.ErrLarge, syntax.ErrNestingDepth:
		number, text = erRegexpCapacity, "The regular expression pattern exceeds limits on size or complexity"
	}
	return sqlError(number, "HY000", "%s: %s", text, head(known.Expr, maxShown))
}

// byteOf is where a character begins, counted from 1 as units counts; false: it is outside of the text.
func byteOf(text string, position int64) (int, bool) {
	if position < 1 {
		return 0, false
	}
	n := int64(1)
	for i, r := range text {
		if n >= position {
			return i, true
		}
		n += int64(max(utf16.RuneLen(r), 1))
	}
	return len(text), n >= position
}

// units is how long a text is in the units in which MySQL's library counts.
func units(text string) (n int64) {
	for _, r := range text {
		n += int64(max(utf16.RuneLen(r), 1))
	}
	return n
}
