package mysql

import "strings"

// firstWords are a statement's first words, up to eight and at least one, in lower case; comments and parentheses
// before them are skipped. What is no word ends them.
func firstWords(query string) []string {
	words := make([]string, 0, 8)
	for len(words) < cap(words) {
		query = skipSpace(query)
		end := 0
		for end < len(query) && isWord(query[end]) {
			end++
		}
		if end == 0 {
			break
		}
		words = append(words, strings.ToLower(query[:end]))
		query = query[end:]
	}
	if len(words) == 0 {
		return []string{""}
	}
	return words
}

// afterWords is a statement without so many of its first words.
func afterWords(query string, n int) string {
	for range n {
		query = skipSpace(query)
		end := 0
		for end < len(query) && isWord(query[end]) {
			end++
		}
		query = query[end:]
	}
	return query
}

// firstWord is a statement's first word, in lower case.
func firstWord(query string) string { return firstWords(query)[0] }

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}

// skipSpace skips what a statement may begin with: blanks, comments, parentheses, semicolons.
func skipSpace(query string) string {
	for {
		query = strings.TrimLeft(query, " \t\r\n\f\v(;")
		switch {
		case strings.HasPrefix(query, "/*!"): // MySQL reads what is in it
			query = strings.TrimLeft(query[3:], "0123456789")
		case strings.HasPrefix(query, "*/"): // the end of what MySQL reads
			query = query[2:]
		case strings.HasPrefix(query, "/*"):
			_, rest, ok := strings.Cut(query[2:], "*/")
			if !ok {
				return ""
			}
			query = rest
		case strings.HasPrefix(query, "--"), strings.HasPrefix(query, "#"):
			_, rest, ok := strings.Cut(query, "\n")
			if !ok {
				return ""
			}
			query = rest
		default:
			return query
		}
	}
}

// blank tells whether there is no statement in a text.
func blank(query string) bool { return skipSpace(query) == "" }

// keepWildcards doubles the backslash before % and _ in literals: it stays there, for LIKE, and the parser would drop
// it. What stands in backquotes and in comments has no escapes.
func keepWildcards(query string) string {
	if !strings.Contains(query, `\%`) && !strings.Contains(query, `\_`) {
		return query
	}
	var b strings.Builder
	b.Grow(len(query) + 16)
	quote := byte(0) // that of the literal or name which i is in
	for i := 0; i < len(query); i++ {
		c := query[i]
		switch {
		case quote == 0:
			if n := len(query[i:]) - len(afterComment(query[i:])); n > 0 {
				b.WriteString(query[i : i+n])
				i += n - 1
				continue
			}
			if c == '\'' || c == '"' || c == '`' {
				quote = c
			}
		case c == quote: // a doubled one opens the literal again at once
			quote = 0
		case c == '\\' && quote != '`' && i+1 < len(query):
			i++
			if b.WriteByte(c); query[i] == '%' || query[i] == '_' {
				b.WriteByte(c)
			}
			c = query[i]
		}
		b.WriteByte(c)
	}
	return b.String()
}

// afterComment is what follows a comment that a text begins with; the text itself if it begins with none.
func afterComment(text string) string {
	end := ""
	switch {
	case strings.HasPrefix(text, "/*") && !strings.HasPrefix(text, "/*!"): // MySQL reads what is in those
		end = "*/"
	case strings.HasPrefix(text, "#"), strings.HasPrefix(text, "--") && (len(text) == 2 || text[2] <= ' '):
		end = "\n"
	default:
		return text
	}
	_, rest, _ := strings.Cut(text, end)
	return rest
}
