package rows

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// definitions reads the setting create: definitions of columns, or whether they follow from the messages.
func definitions(setting any) (columns []Column, infer bool, err error) {
	var texts []string
	switch c := setting.(type) {
	case nil:
		return nil, false, nil
	case bool:
		return nil, c, nil
	case string:
		texts = splitDefinitions(c)
	case []string:
		texts = c
	case []any:
		for _, item := range c {
			text, ok := item.(string)
			if !ok {
				return nil, false, fmt.Errorf("has %v among its definitions, where a text such as %q is wanted", item,
					"id bigint primary key")
			}
			texts = append(texts, text)
		}
	default:
		return nil, false, fmt.Errorf("is %v; write definitions of columns, or true", setting)
	}
	seen := map[string]bool{}
	for _, text := range texts {
		c, err := parseDefinition(text)
		if err != nil {
			return nil, false, err
		}
		if seen[c.Name] {
			return nil, false, fmt.Errorf("defines the column %s twice", c.Name)
		}
		seen[c.Name] = true
		columns = append(columns, c)
	}
	if len(columns) == 0 {
		return nil, false, errors.New("has no column")
	}
	return columns, false, nil
}

// parseDefinition takes the name from the rest, which is for the database to understand.
func parseDefinition(text string) (Column, error) {
	text = strings.TrimSpace(text)
	name, rest := "", ""
	switch {
	case strings.HasPrefix(text, `"`):
		var ok bool
		if name, rest, ok = unquoteName(text); !ok {
			return Column{}, fmt.Errorf("has a name whose double quote is not closed: %s", shorten(text))
		}
	default:
		if at := strings.IndexAny(text, " \t\r\n"); at >= 0 {
			name, rest = text[:at], text[at:]
		} else {
			name = text
		}
	}
	rest = strings.TrimSpace(rest)
	if err := checkName(name); err != nil {
		return Column{}, fmt.Errorf("has a definition without a column's name: %q", shorten(text))
	}
	if rest == "" {
		return Column{}, fmt.Errorf("does not say the type of %s, as in %s varchar(100)", name, name)
	}
	switch strings.ToLower(name) {
	case "primary", "constraint", "unique", "foreign", "check":
		return Column{}, fmt.Errorf("takes columns only, not %q: write primary key behind the column's type; a name "+
			"like this stands in double quotes", shorten(text))
	}
	return Column{Name: name, Native: rest}, nil
}

// splitDefinitions divides a text at the commas that stand neither in parentheses nor in quotes.
func splitDefinitions(text string) []string {
	var parts []string
	depth, quote, from := 0, byte(0), 0
	for i := range len(text) {
		c := text[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth <= 0:
			parts = append(parts, text[from:i])
			from = i + 1
		}
	}
	return append(parts, text[from:])
}

// checkCreated looks for what columns names in the definitions of the table that may have to be made.
func (s *settings) checkCreated() error {
	if s.create == nil {
		return nil
	}
	for _, m := range s.columns {
		if !slices.ContainsFunc(s.create, func(c Column) bool { return c.Name == m.Column }) {
			return errors.New("does not define the column " + m.Column + ", which columns names")
		}
	}
	return nil
}
