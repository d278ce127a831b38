package condition

import (
	"errors"
	"testing"

	"github.com/hikyaku/hikyaku/internal/message"
)

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"enqueued_at >= 1501686146 and lang = 'ja'",
		"a in (1, 2.5, 'x', null) or not b between 1 and 2",
		"a like 'x!%' escape '!' and `b c` is not null", "~a ^ -1 << 2 <=> pow(2, 3) xor !b",
		"x'00ff' = \"it\\'s\" || a.b % 3 div 2",
		"timestamp '2026-01-02 03:04:05.123' > a and date '2026-01-02' < b", "1e308 * 010 / 0x1f - .5 != a",
		"((((a))))", "a = 'open", "飛脚 = '\\Z'"} {
		f.Add(seed, int64(1), "ja", 0.5)
	}
	f.Fuzz(func(t *testing.T, text string, i int64, s string, x float64) {
		e, err := Parse(text)
		if err != nil {
			var wrong *Error
			if !errors.As(err, &wrong) || wrong.Offset > len(text) || wrong.Pretty() == "" {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		kinds := []message.Value{message.Int(i), message.String(s), message.Float(x), message.Bytes([]byte(s)),
			message.Decimal(s), message.Bool(i > 0),
			message.Uint(uint64(i)), message.Null()}
		plan := e.Plan()
		for shift := range kinds {
			values := env{}
			for n, name := range e.Names() {
				values[name] = kinds[(n+shift)%len(kinds)]
			}
			want := e.Match(values)
			if got := planMatches(plan, values); got != want {
				t.Fatalf("%q with %#v: condition %v, plan %v", text, values, want, got)
			}
			slots := map[string]int{}
			var r row
			for _, name := range e.Names() {
				slots[name] = len(r)
				r = append(r, values[name])
			}
			if got := e.Bind(func(name string) (int, bool) {
				n, ok := slots[name]
				return n,
					ok
			}).Match(r); got != want {
				t.Fatalf("%q with %#v: unbound %v, bound %v", text, values, want, got)
			}
		}
		canonical := e.String()
		if len(canonical) > MaxText {
			return // escapes can make it longer than a text may be
		}
		again, err := Parse(canonical)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, canonical, err)
		}
		if again.String() != canonical || grouped(again.root) != grouped(e.root) {
			t.Fatalf("%q became %q, then %q", text, canonical, again)
		}
	})
}

func FuzzLike(f *testing.F) {
	f.Add("mississippi", "%iss%ip_", `\`)
	f.Add("100%", `100\%`, `\`)
	f.Add("飛脚", "飛_", "!")
	f.Fuzz(func(t *testing.T, text, pattern, escape string) {
		if len(escape) > 1 {
			escape = escape[:1]
		}
		p := compilePattern(pattern, escape)
		if p == nil {
			return
		}
		prefix, rest := p.prefix()
		matches := p.match(text)
		begins := len(text) >= len(prefix) && text[:len(prefix)] == prefix
		if matches && !begins || rest == restAnything && matches != begins || rest == restNothing &&
			matches != (text == prefix) {
			t.Fatalf("%q like %q: %v, prefix %q, rest %d", text, pattern, matches, prefix, rest)
		}
	})
}
