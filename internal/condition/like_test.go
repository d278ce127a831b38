package condition

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/message"
)

// TestLikeIsWhatARegularExpressionSays: patterns are cut from the texts that they are held against, so that half of
// them fit.
func TestLikeIsWhatARegularExpressionSays(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	letters := []rune("aab飛")
	fits := 0
	const n = 3000
	for range n {
		text := make([]rune, random.IntN(300))
		for i := range text {
			text[i] = letters[random.IntN(len(letters))]
		}
		var pattern strings.Builder
		for at := 0; at < len(text); {
			if random.IntN(2) == 0 {
				pattern.WriteByte('%')
				at += random.IntN(40)
			}
			wild := random.IntN(2) == 0
			for range random.IntN(150) {
				if at >= len(text) {
					break
				}
				switch {
				case wild && random.IntN(8) == 0:
					pattern.WriteByte('_')
				case random.IntN(200) == 0:
					pattern.WriteRune(letters[random.IntN(len(letters))])
				default:
					pattern.WriteRune(text[at])
				}
				at++
			}
		}
		if random.IntN(2) == 0 {
			pattern.WriteByte('%')
		}
		got := compilePattern(pattern.String(), `\`).match(string(text))
		if want := naiveLike(message.String(string(text)), message.String(pattern.String()),
			`\`).AsBool(); got != want {
			t.Fatalf("%q like %q: %v", string(text), pattern.String(), got)
		}
		if got {
			fits++
		}
	}
	if fits < n/5 || fits > n*4/5 {
		t.Errorf("%d of %d fit", fits, n)
	}
}

// TestAPatternThatTakesTooLongIsRefused, and so is one that is computed: then it is not known whether a text fits.
func TestAPatternThatTakesTooLongIsRefused(t *testing.T) {
	for pieces, fits := range map[string]bool{
		"%" + strings.Repeat("_a", MaxWild/2) + "%":                        true,
		"%" + strings.Repeat("_a", MaxWild/2) + "_%":                       false,
		"%" + strings.Repeat("a", MaxWild) + "%":                           true,
		"%" + strings.Repeat("a", 20*MaxWild) + "%":                        true, // there is no _
		strings.Repeat("_a", MaxWild) + "%":                                true, // it has one place
		"%" + strings.Repeat("_a", MaxWild):                                true,
		"%" + strings.Repeat(strings.Repeat("_a", MaxWild/2)+"%", 10):      true,
		"%" + strings.Repeat(`\_`, 2*MaxWild) + "%":                        true,
		"a%" + strings.Repeat("b%", 100) + strings.Repeat("_", 2000) + "%": false,
	} {
		_, err := Parse("a like '" + pieces + "'")
		if (err == nil) != fits {
			t.Errorf("%.20s… of %d bytes: %v", pieces, len(pieces), err)
		}
		var e *Error
		if err != nil && (!errors.As(err, &e) || e.Offset != len("a like ") ||
			!strings.Contains(e.Message, "1000 characters")) {
			t.Errorf("the error is %v", err)
		}
		computed := parse(t, "a like b").Eval(env{"a": message.String("x"), "b": message.String(pieces)})
		if known := letter(computed) != "N"; known != fits {
			t.Errorf("%.20s… of %d bytes, computed: %s", pieces, len(pieces), letter(computed))
		}
	}
}

func BenchmarkLikeOfAMillionCharacters(b *testing.B) {
	text := strings.Repeat("a", 1_000_000)
	for name, pattern := range map[string]string{
		"literal": "%" + strings.Repeat("a", MaxWild) + "b%",
		"wild":    "%" + strings.Repeat("_a", MaxWild/2-1) + "b%",
		"few":     "%a_b%",
	} {
		b.Run(name, func(b *testing.B) {
			p := compilePattern(pattern, `\`)
			for b.Loop() {
				p.match(text)
			}
		})
	}
}
