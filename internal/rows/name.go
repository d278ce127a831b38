package rows

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ParseName reads the setting of a table's name: one text whose parts stand between dots, perhaps in double quotes, or
// several parts as they are.
func ParseName(setting []string) (Name, error) {
	parts := Name(setting)
	if len(setting) == 1 {
		var err error
		if parts, err = splitName(setting[0]); err != nil {
			return nil, err
		}
	}
	if len(parts) == 0 {
		return nil, errors.New("is missing: which table do the rows go to?")
	}
	for _, p := range parts {
		if err := checkName(p); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// checkName refuses what no database takes as a name. Everything else is quoted.
func checkName(s string) error {
	switch {
	case s == "":
		return errors.New("a part of the name is empty")
	case !utf8.ValidString(s) || strings.ContainsRune(s, 0):
		return fmt.Errorf("%q is no name: it is not UTF-8, or has a NUL", s)
	}
	return nil
}

func splitName(text string) (Name, error) {
	var parts Name
	for rest := text; ; {
		part, after := "", ""
		if strings.HasPrefix(rest, `"`) {
			var ok bool
			if part, after, ok = unquoteName(rest); !ok || after != "" && after[0] != '.' {
				return nil, fmt.Errorf("%q has a double quote that is not closed, or something behind it", text)
			}
		} else if end := strings.IndexByte(rest, '.'); end >= 0 {
			part, after = rest[:end], rest[end:]
		} else {
			part = rest
		}
		parts = append(parts, part)
		if after == "" {
			return parts, nil
		}
		rest = after[1:]
	}
}

// unquoteName takes a name in double quotes from the beginning of s. A double quote in it is written twice.
func unquoteName(s string) (name, rest string, ok bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != '"' {
			b.WriteByte(s[i])
			continue
		}
		if i+1 == len(s) || s[i+1] != '"' {
			return b.String(), s[i+1:], true
		}
		b.WriteByte('"')
		i++
	}
	return "", "", false
}

// String is the name for people: its parts between dots, in double quotes where they would be misread. ParseName reads
// it back.
func (n Name) String() string {
	var b strings.Builder
	for i, p := range n {
		if i > 0 {
			b.WriteByte('.')
		}
		if strings.ContainsRune(p, '.') || strings.HasPrefix(p, `"`) || p == "" {
			p = QuoteName(p, '"')
		}
		b.WriteString(p)
	}
	return b.String()
}

// QuoteName puts a name between quotes, as SQL wants it: a quote in it is written twice.
func QuoteName(name string, quote byte) string {
	q := string(quote)
	return q + strings.ReplaceAll(name, q, q+q) + q
}

// Quoted is the whole name, each part between quotes.
func (n Name) Quoted(quote byte) string {
	parts := make([]string, len(n))
	for i, p := range n {
		parts[i] = QuoteName(p, quote)
	}
	return strings.Join(parts, ".")
}
