package macro_test

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/macro"
)

var (
	// besides is what may be wrong at a place with the right name: what is missing elsewhere, and what is too much to
	// be told.
	besides = regexp.MustCompile(`^the number of frames is missing|^the value of .* is missing|is never closed$|` +
		`closes nothing$|, which closes line |^and [0-9]+ more`)
	guessed = regexp.MustCompile(`^did you mean (\S.*?)(?:, with a value as in (\S+))?\?$`)
	told    = regexp.MustCompile(`^(?:write|put a blank before the frames:|` +
		`what is pressed comes first, the frames last:) ` +
		`([^ ,]+ ?[0-9]*)(?:,? (?:which|to|for a|for).*)?$`)
)

// holdGuesses puts each name that a mistake is guessed to mean in the place of the mistake, and wants that there is
// nothing wrong with that name there.
func holdGuesses(t *testing.T, text string, mistakes macro.Mistakes) {
	t.Helper()
	for _, m := range mistakes {
		found := guessed.FindStringSubmatch(m.Hint)
		if found == nil {
			continue
		}
		guess := found[1]
		if found[2] != "" {
			guess = found[2]
		}
		var left macro.Mistakes
		if _, err := macro.Parse([]byte(replaced(text, m, guess))); err == nil || !errors.As(err, &left) {
			continue
		}
		for _, l := range left {
			if l.Line == m.Line && l.Column == m.Column && !besides.MatchString(l.Text) {
				t.Fatalf("%q: %s\n%s there: %s", text, m, guess, l)
			}
		}
	}
}

// replaced is a text with something else at the place of a mistake.
func replaced(text string, m macro.Mistake, by string) string {
	text = strings.TrimPrefix(text, "\ufeff")
	lines := strings.Split(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"), "\n")
	line := []rune(lines[m.Line-1])
	lines[m.Line-1] = string(line[:m.Column-1]) + by + string(line[min(len(line), m.Column-1+m.Length):])
	return strings.Join(lines, "\n")
}

func TestWhatIsGuessedIsAllowedThere(t *testing.T) {
	for _, file := range []string{"testdata/mistakes.txt", "testdata/players-mistakes.txt",
		"testdata/tag-mistakes.txt"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var mistakes macro.Mistakes
		// Line by line, since only so many mistakes of a text are told.
		for _, line := range strings.Split(string(text), "\n") {
			if _, err := macro.Parse([]byte(line)); errors.As(err, &mistakes) {
				holdGuesses(t, line, mistakes)
			}
		}
		if _, err := macro.Parse(text); errors.As(err, &mistakes) {
			holdGuesses(t, string(text), mistakes)
		}
	}
	for _, line := range []string{"lx 2", "x 2", "lx,ly 2", "pq 2", "sz 2", "p,pq 2", "pp,lq 2", "236up 2", "236uo 2",
		"36,uo 2", "touchz 2", "touchz=1 2", "hp,hz=3 2", "01= 2"} {
		var mistakes macro.Mistakes
		if _, err := macro.Parse([]byte(line)); !errors.As(err, &mistakes) {
			t.Errorf("%s is no mistake", line)
		}
		holdGuesses(t, line, mistakes)
	}
}

// TestLinesThatAreToldToBeWrittenAreRight takes hints at their word: a whole line that is told is one without a
// mistake.
func TestLinesThatAreToldToBeWrittenAreRight(t *testing.T) {
	taken := 0
	for _, line := range []string{"5", "0", "10", "20", "236", "2000000", "236236236236236", "12345678901234567890",
		"大P2", "236p2", "20 大P", "7", "n"} {
		var mistakes macro.Mistakes
		if _, err := macro.Parse([]byte(line)); !errors.As(err, &mistakes) {
			t.Errorf("%s is no mistake", line)
			continue
		}
		for _, m := range mistakes {
			found := told.FindStringSubmatch(m.Hint)
			if found == nil {
				continue
			}
			taken++
			if _, err := macro.Parse([]byte(strings.TrimSpace(found[1]))); err != nil {
				t.Errorf("%s: told to write %q: %v", line, found[1], err)
			}
		}
	}
	if taken < 8 {
		t.Errorf("%d hints tell a line", taken)
	}
}

// TestPlayersNotationMeansTheNumberPads holds the notation of players to the same in ASCII.
func TestPlayersNotationMeansTheNumberPads(t *testing.T) {
	for players, plain := range map[string]string{
		"↓↘→+中P 2": "236mp 2", "→↓↘+大K 1 3": "623hk 1 3", "↓↙←弱K 2": "214lk 2", "⇒⇘⇓⇙⇐+PP 1": "63214pp 1",
		"２３６Ｐ　２": "236p 2", "↖ 3": "7 3", "→N→ 2": "656 2", "N 4": "5 4", "n,小P 4": "5,lp 4", "小P+中K 2": "lp,mk 2",
		"強キック 2": "hk 2", "弱ﾊﾟﾝﾁ 2": "lp 2", "P+K 2": "p,k 2", "↓+大K 8": "2,hk 8", "236+k 2": "236k 2",
		"⬇️⬊➡️+大P 2": "236hp 2", "小P、大P 1": "lp,hp 1", "lx=+50+hp 1": "lx=50,hp 1",
	} {
		one, err := macro.Format([]byte(players))
		other, otherErr := macro.Format([]byte(plain))
		if err != nil || otherErr != nil || string(one) != string(other) {
			t.Errorf("%s is formatted as %q, %v; %s as %q, %v", players, one, err, plain, other, otherErr)
		}
		script, err := macro.Read([]byte(players), macro.Options{})
		same, sameErr := macro.Read([]byte(plain), macro.Options{})
		if err != nil || sameErr != nil {
			t.Errorf("%s: %v, %v", players, err, sameErr)
			continue
		}
		a, _ := script.AppendBinary(nil)
		b, _ := same.AppendBinary(nil)
		if string(a) != string(b) {
			t.Errorf("%s is not %s", players, plain)
		}
	}
}
