package access

import (
	"fmt"
	"strings"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// everything is the pattern that matches every name of every namespace.
const everything = "*"

// pattern is a parsed pattern of a Grant.
type pattern struct {
	all             bool
	namespace, name string // each with * for any run of characters
}

func parsePattern(text string) pattern {
	if text == everything {
		return pattern{all: true}
	}
	namespace, name, ok := strings.Cut(text, "/")
	if !ok {
		return pattern{namespace: queue.DefaultNamespace, name: text}
	}
	return pattern{namespace: namespace, name: name}
}

// checkPattern refuses what could never match: with a letter for each star, a pattern has to be a name.
func checkPattern(text string) error {
	if text == everything {
		return nil
	}
	if _, err := queue.ParseName(strings.ReplaceAll(text, "*", "x")); err != nil {
		return fmt.Errorf("%q is no pattern of names (namespace/name, with * for any run of characters): %w", text, err)
	}
	return nil
}

func (p pattern) matches(n queue.Name) bool {
	return p.all || glob(p.namespace, n.Namespace) && glob(p.name, n.Name)
}

// glob matches text against a pattern in which * stands for any run of characters. It takes at most
// len(pattern) × len(text) steps: only the last star is ever tried again.
func glob(pattern, text string) bool {
	p, t := 0, 0
	star, mark := -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, t
			p++
		case p < len(pattern) && pattern[p] == text[t]:
			p++
			t++
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
