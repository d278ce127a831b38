// Package mask takes secrets out of texts that others have made: errors that quote a setting, answers that repeat a
// header.
//
//	m := mask.New(mask.Secret{Text: "prod", Shown: "********"}, mask.Secret{Text: "s3cret/key", Shown: "${KEY}"})
//	m.Mask("user producer: prod is wrong for s3cret/key") // user producer: ******** is wrong for ${KEY}
//
// A secret that could be a word, being short and made of letters alone, is taken for one only where it stands alone: a
// user with the secret prod does not make the word producer unreadable. Every other secret is taken out wherever it
// stands, also in the middle of something else.
//
// It is the last net. What is known to be secret should not be put into a text at all.
package mask

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Least is the number of bytes from which a text is looked for: taking out every "1" would only make messages
// unreadable.
const Least = 4

// longestWord is the number of characters up to which letters alone could be an ordinary word.
const longestWord = 15

// Secret is a text that must not be shown, and what to show for it.
type Secret struct {
	Text, Shown string
	Always      bool // look for it even if it is shorter than Least, where it stands alone
}

// Masker takes secrets out of texts. The zero value takes out none. It does not change; its methods may be called from
// any goroutine.
type Masker struct {
	forms []form // the longest first
}

// form is how a secret may be written.
type form struct {
	text, shown string
	word        bool // it counts only where it stands alone
}

// New makes a masker of these secrets. Those shorter than Least are not looked for. Of several with one text the first
// counts.
func New(secrets ...Secret) Masker {
	var m Masker
	seen := map[string]bool{}
	for _, s := range secrets {
		quoted := strconv.Quote(s.Text)
		for _, text := range []string{s.Text, quoted[1 : len(quoted)-1]} {
			if s.Text == "" || len(s.Text) < Least && !s.Always || seen[text] {
				continue
			}
			seen[text] = true
			m.forms = append(m.forms, form{text, s.Shown, isWord(s.Text) || len(s.Text) < Least})
		}
	}
	slices.SortStableFunc(m.forms, func(a, b form) int { return cmp.Compare(len(b.text), len(a.text)) })
	return m
}

// isWord tells whether a text could be an ordinary word.
func isWord(text string) bool {
	return utf8.RuneCountInString(text) <= longestWord &&
		!strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
}

// Mask is text with what is shown in place of each secret. A secret within a longer one is taken out with it.
func (m Masker) Mask(text string) string {
	var out strings.Builder
	from := 0
	for _, f := range m.Find(text) {
		out.WriteString(text[from:f.From])
		out.WriteString(f.Shown)
		from = f.To
	}
	if from == 0 {
		return text
	}
	out.WriteString(text[from:])
	return out.String()
}

// Place is where a secret stands in a text, in bytes, and what to show there.
type Place struct {
	From, To int
	Shown    string
}

// Find tells where secrets stand in a text, from its beginning. Places do not overlap: secrets that do become one
// place.
func (m Masker) Find(text string) []Place {
	var found []Place
	for _, f := range m.forms {
		for at := 0; ; {
			i := strings.Index(text[at:], f.text)
			if i < 0 {
				break
			}
			i += at
			at = i + 1
			if !f.word || alone(text, i, i+len(f.text)) {
				found = append(found, Place{i, i + len(f.text), f.shown})
			}
		}
	}
	slices.SortStableFunc(found,
		func(a, b Place) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.To, a.To)) })
	var apart []Place
	for _, p := range found {
		if n := len(apart); n > 0 && p.From < apart[n-1].To {
			apart[n-1].To = max(apart[n-1].To, p.To)
			continue
		}
		apart = append(apart, p)
	}
	return apart
}

// alone tells whether text[from:to] is no part of a longer word.
func alone(text string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	after, _ := utf8.DecodeRuneInString(text[to:])
	return !inWord(before) && !inWord(after)
}

// inWord tells whether a character may stand within a word or a name.
func inWord(r rune) bool {
	return r != utf8.RuneError && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
}

// Around is the word or name within text that text[from:to] is a part of.
func Around(text string, from, to int) string {
	for from > 0 {
		r, n := utf8.DecodeLastRuneInString(text[:from])
		if !inWord(r) {
			break
		}
		from -= n
	}
	for to < len(text) {
		r, n := utf8.DecodeRuneInString(text[to:])
		if !inWord(r) {
			break
		}
		to += n
	}
	return text[from:to]
}
