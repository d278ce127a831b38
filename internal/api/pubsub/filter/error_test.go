package filter_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/filter"
)

// refused checks that a filter is refused at a byte, with the words in what the error says.
func refused(t *testing.T, text string, offset int, words ...string) {
	t.Helper()
	f, err := filter.Parse(text)
	var wrong *filter.Error
	if !errors.As(err, &wrong) {
		t.Errorf("%s: %+v, %v", text, f, err)
		return
	}
	if wrong.Offset != offset || wrong.Text != text {
		t.Errorf("%s: the error is at byte %d, wanted %d: %v", text, wrong.Offset, offset, err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s: %q is not in: %v", text, w, err)
		}
	}
}

func TestAWrongFilterIsRefusedAtItsPlace(t *testing.T) {
	const expression = `attributes, hasPrefix, NOT or "("`
	for _, c := range []struct {
		filter string
		offset int
		words  []string
	}{
		{` `, 1, []string{"ends here", expression}},
		{`"com" = attributes.key`, 0, []string{`unexpected "\""`, expression}},
		{`name = "x"`, 0, []string{`unexpected "name"`, "attributes.KEY"}},
		{`Attributes:x`, 0, []string{"write attributes"}},
		{`hasprefix(attributes.a, "x")`, 0, []string{"write hasPrefix"}},
		{`hasSuffix(attributes.a, "x")`, 0, []string{`unexpected "hasSuffix"`, expression}},
		{`not attributes:x`, 0, []string{"write NOT"}},
		{`attributes`, 10, []string{"ends here", `":" or "."`}},
		{`attributes["a"]`, 10, []string{`unexpected "["`, `":" or "."`}},
		{`attributes  "a"`, 12, []string{`":" or "."`}},
		{`attributes:`, 11, []string{"a key"}},
		{`attributes:みんな`, 11, []string{`unexpected "み"`, "a key", "string in double quotes"}},
		{`attributes:""`, 11, []string{"the key is empty"}},
		{`attributes.key`, 14, []string{"ends here", `"=" or "!="`, "attributes:KEY"}},
		{`attributes.key:"x"`, 14, []string{`"=" or "!="`, "attributes:KEY"}},
		{`attributes.iana.org = "x"`, 15, []string{`unexpected "."`, `attributes."a.b"`}},
		{`attributes.a == "x"`, 14, []string{`unexpected "="`, "a string in double quotes"}},
		{`attributes.a < "x"`, 13, []string{`unexpected "<"`, `"=" or "!="`}},
		{`attributes.a = attributes.b`, 15, []string{"two attributes"}},
		{`attributes.a = x`, 15, []string{`unexpected "x"`, "double quotes"}},
		{`attributes.a = 5`, 15, []string{"double quotes"}},
		{`attributes.a = 'x'`, 15, []string{"double quotes"}},
		{`attributes.a = ("x" OR "y")`, 15, []string{"a string in double quotes"}},
		{`attributes.a = -"x"`, 15, []string{"a string in double quotes"}},
		{`attributes.a =`, 14, []string{"ends here", "a string in double quotes"}},
		{`attributes.a = "x`, 15, []string{"no end", `a closing "`}},
		{`attributes.a = "x" "y"`, 19, []string{"AND, OR or the end of the filter"}},
		{`attributes:a attributes:b`, 13, []string{`unexpected "attributes"`, "AND, OR or the end of the filter"}},
		{`attributes:a and attributes:b`, 13, []string{`unexpected "and"`, "capitals"}},
		{`attributes:a && attributes:b`, 13, []string{"write AND"}},
		{`attributes:a || attributes:b`, 13, []string{"write OR"}},
		{`attributes:a)`, 12, []string{"no parenthesis is open"}},
		{`attributes:a AND`, 16, []string{"ends here", expression}},
		{`attributes:a AND "net"`, 17, []string{expression}},
		{`attributes:a AND OR attributes:b`, 17, []string{`unexpected "OR"`, expression}},
		{`attributes:a AND attributes:b OR attributes:c`, 30,
			[]string{"AND and OR", "expected AND or the end", "parentheses"}},
		{`attributes:a OR attributes:b AND attributes:c`, 29,
			[]string{"OR and AND", "expected OR or the end", "parentheses"}},
		{`(attributes:a OR attributes:b AND attributes:c)`, 30, []string{`expected OR or ")"`}},
		{`(attributes:a`, 13, []string{`AND, OR or ")"`}},
		{`()`, 1, []string{`unexpected ")"`, expression}},
		{`NOT`, 3, []string{"ends here", expression}},
		{`-`, 1, []string{"ends here"}},
		{`hasPrefix`, 9, []string{`"("`}},
		{`hasPrefix("a", "b")`, 10, []string{"attributes", "first argument"}},
		{`hasPrefix(attributes:a, "b")`, 20, []string{`":" or "."`}},
		{`hasPrefix(attributes.a)`, 22, []string{`","`}},
		{`hasPrefix(attributes.a, b)`, 24, []string{"a string in double quotes"}},
		{`hasPrefix(attributes.a, "b"`, 27, []string{`")"`}},
		{`hasPrefix(attributes.a, "b", "c")`, 27, []string{`unexpected ","`, `")"`}},
		{`attributes.a = "\q"`, 16, []string{`unknown escape sequence \q`, `\uhhhh`}},
		{`attributes.a = "\8"`, 16, []string{`unknown escape sequence \8`}},
		{`attributes.a = "\777"`, 16, []string{`unknown escape sequence \7`}},
		{`attributes.a = "\u30"`, 20, []string{"hexadecimal digits, 4 in all"}},
		{`attributes.a = "\u30`, 20, []string{"ends here", "hexadecimal digits"}},
		{`attributes.a = "\12"`, 19, []string{"octal digits, 3 in all"}},
		{`attributes.a = "\ud800"`, 16, []string{`\ud800 is no character`}},
		{`attributes.a = "\U00110000"`, 16, []string{`\U00110000 is no character`}},
		{`attributes.a = "\xff"`, 15, []string{"not valid UTF-8"}},
		{`attributes.a = "\`, 17, []string{"ends here"}},
		{"attributes.a = \"\xff\"", 16, []string{"the filter is not valid UTF-8"}},
		{`attributes:a AND ` + strings.Repeat("x", 60), 17, []string{`…`}},
		{`attributes:a AND !attributes:b`, 17, []string{`unexpected "!"`}},
	} {
		refused(t, c.filter, c.offset, c.words...)
	}
}
