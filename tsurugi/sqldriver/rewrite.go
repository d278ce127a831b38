package sqldriver

import (
	"strconv"
	"strings"
)

// rewrite gives the question marks of a statement names, p1 and so on, and tells how many there are. What stands in
// quotes and comments is left alone.
func rewrite(sql string) (string, int) {
	if !strings.Contains(sql, "?") {
		return sql, 0
	}
	var b strings.Builder
	n := 0
	for i := 0; i < len(sql); {
		if size := opaque(sql[i:]); size > 0 {
			b.WriteString(sql[i : i+size])
			i += size
			continue
		}
		if sql[i] == '?' {
			n++
			b.WriteString(":" + placeholder(n))
		} else {
			b.WriteByte(sql[i])
		}
		i++
	}
	return b.String(), n
}

func placeholder(n int) string { return "p" + strconv.Itoa(n) }

// opaque is the length of a text, a name in quotes or a comment that s begins with; 0 if it begins with none.
func opaque(s string) int {
	until := func(from int, mark string) int {
		if n := strings.Index(s[from:], mark); n >= 0 {
			return from + n + len(mark)
		}
		return len(s)
	}
	switch {
	case s[0] == '\'' || s[0] == '"':
		return until(1, s[:1]) // a quote written twice begins another text at once
	case strings.HasPrefix(s, "--"):
		return until(2, "\n")
	case strings.HasPrefix(s, "/*"):
		return until(2, "*/")
	default:
		return 0
	}
}
