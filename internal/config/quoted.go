package config

import (
	"regexp"
	"strings"
)

// likely finds keys of which the values are secrets, by their names. What cannot be read, or has no such setting, has
// no other sign of them.
var likely = regexp.MustCompile(`(?i)([\w-]*(?:secret|secrt|scret|passw|passphrase|credential|authorization|` +
	`api[_-]?key|access[_-]?key|private[_-]?key)[\w-]*)["']?\s*[:=]\s*`)

// fromOutside is what a value begins with that names the environment and no default, which says nothing.
var fromOutside = regexp.MustCompile(`^["']?\$\{\w+\}`)

// guarded shows the values of keys that are likely to be secret as asterisks. unread: the file cannot be read, and a
// value may go on to the end of the line.
func guarded(line string, unread bool) string {
	var b strings.Builder
	from := 0
	for _, m := range likely.FindAllStringSubmatchIndex(line, -1) {
		name := strings.ToLower(line[m[2]:m[3]])
		value := line[m[1]:]
		if m[0] < from || strings.HasSuffix(name, "_file") || fromOutside.MatchString(value) ||
			!unread && strings.HasPrefix(value, "{") { // its keys say which of them are
			continue
		}
		b.WriteString(line[from:m[1]])
		if unread {
			return b.String() + stars(value)
		}
		from = m[1] + valueEnd(value)
		b.WriteString(starWords(line[m[1]:from]))
	}
	return b.String() + line[from:]
}

// starWords is stars for a value whose quotes, brackets and commas are the file's.
func starWords(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("\"'[], \t", r) {
			return r
		}
		return '*'
	}, s)
}

// valueEnd is where a value ends that begins a text: one in quotes or in [ ] behind them, another at what follows
// it in a list or a mapping.
func valueEnd(text string) int {
	if text == "" {
		return 0
	}
	ends := map[byte]string{'"': `"`, '\'': "'", '[': "]"}[text[0]]
	if ends == "" {
		if i := strings.IndexAny(text, ",}]"); i >= 0 {
			return i
		}
		return len(text)
	}
	if i := strings.Index(text[1:], ends); i >= 0 {
		return i + 2
	}
	return len(text)
}

// unreadLine is a line of a file that cannot be read, with what may be secret as asterisks: also the items of a list
// below a key of which the values are.
func unreadLine(src []byte, number int, line string) string {
	if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "-") || strings.HasPrefix(trimmed, `"`) ||
		strings.HasPrefix(trimmed, "'") {
		indent := indentOf(line)
		for n := number - 1; n > 0; n-- {
			above, _ := lineOf(src, n)
			if strings.TrimSpace(above) == "" || indentOf(above) > indent ||
				strings.HasPrefix(strings.TrimSpace(above), "-") {
				continue
			}
			if likely.MatchString(above) {
				return line[:indent] + stars(line[indent:])
			}
			break
		}
	}
	return guarded(line, true)
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
