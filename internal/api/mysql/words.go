package mysql

import "strings"

// firstWords are a statement's first words, up to eight and at least one, in lower case; comments and parentheses before them are skipped. What is no word
// ends them.
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
