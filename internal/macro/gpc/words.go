package gpc

import (
	"strings"
	"unicode"

	"github.com/hikyaku/hikyaku/internal/macro"
)

// word is a name, a number or a sign of a script, with its place in characters from 1. The last one is empty.
type word struct {
	text         string
	line, column int
}

func (w word) mistake(text, hint string) macro.Mistake {
	return macro.Mistake{Line: w.line, Column: w.column, Length: max(1, len([]rune(w.text))), Text: text, Hint: hint}
}

// split cuts a script into its words. Remarks are left out.
func split(text string) []word {
	var all []word
	line, column := 1, 1
	runes := []rune(text)
	for i := 0; i < len(runes); {
		begin := i
		switch {
		case runes[i] == '\n', unicode.IsSpace(runes[i]):
			i++
		case starts(runes[i:], "//"):
			for i < len(runes) && runes[i] != '\n' {
				i++
			}
		case starts(runes[i:], "/*"):
			i += 2
			for i < len(runes) && !starts(runes[i:], "*/") {
				i++
			}
			i = min(i+2, len(runes))
		case inWord(runes[i]):
			for i < len(runes) && (inWord(runes[i]) || runes[i] == '.') {
				i++
			}
			all = append(all, word{string(runes[begin:i]), line, column})
		default:
			i++
			all = append(all, word{string(runes[begin:i]), line, column})
		}
		for _, r := range runes[begin:i] {
			if column++; r == '\n' {
				line, column = line+1, 1
			}
		}
	}
	return append(all, word{"", line, column})
}

func starts(runes []rune, with string) bool {
	return len(runes) >= len(with) && strings.HasPrefix(string(runes[:len(with)]), with)
}

func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
