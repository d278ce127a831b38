package macro_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/macro"
)

// TestWhatIsNothingIsNotWalkedAround would take hours, if each round of the loops looked at each remark.
func TestWhatIsNothingIsNotWalkedAround(t *testing.T) {
	nothing := strings.Repeat("#\n", 100_000) + strings.Repeat("<mirror>\n</mirror>\n<loop 9>\n# nothing\n</loop>\n",
		5_000)
	for name, around := range map[string]string{"a loop": "<loop 1000>\n%s<loop 1000>\n%slp 1\n</loop>\n</loop>\n",
		"a loop that meets": "<loop 1000>\n%s<loop 500>\n%slp 1\n<sync>\n</loop>\n</loop>\n"} {
		script, err := macro.Read([]byte(strings.ReplaceAll(around, "%s", nothing)), macro.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if len(script.Tracks[0]) != 1 {
			t.Errorf("%s: %d steps", name, len(script.Tracks[0]))
		}
	}
}

// TestLoopsMeanTheirRoundsOneAfterTheOther compares texts with loops to the same texts with each loop written out, line
// for line.
func TestLoopsMeanTheirRoundsOneAfterTheOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		looped, plain := drawText(t, 3)
		o := macro.Options{Player: rapid.IntRange(1, 2).Draw(t, "player"), Mirror: rapid.Bool().Draw(t, "mirror")}
		one, err := macro.Read([]byte(looped), o)
		other, otherErr := macro.Read([]byte(plain), o)
		if err != nil || otherErr != nil {
			if (err == nil) != (otherErr == nil) {
				t.Fatalf("%v, written out %v:\n%s", err, otherErr, looped)
			}
			return
		}
		if a, b := fmt.Sprint(one.Tracks), fmt.Sprint(other.Tracks); a != b {
			t.Fatalf("%s\nwritten out\n%s\n%s", a, b, looped)
		}
		for player, track := range one.Tracks {
			for i := range track {
				if i > 0 && track[i].State == track[i-1].State {
					t.Fatalf("player %d: steps %d and %d are the same", player+1, i-1, i)
				}
			}
		}
	})
}

// drawText makes up a text, and the same without loops. There are few states, so that the ends of rounds often are what
// the next one begins with.
func drawText(t *rapid.T, depth int) (looped, plain string) {
	for range rapid.IntRange(1, 4).Draw(t, "lines") {
		kind := rapid.IntRange(0, 7).Draw(t, "kind")
		if depth == 0 {
			kind = min(kind, 3)
		}
		one := fmt.Sprintf("%s %d\n", rapid.SampledFrom([]string{"lp", "4", "5"}).Draw(t, "state"),
			rapid.IntRange(1, 3).Draw(t, "frames"))
		same := one
		switch kind {
		case 2:
			one, same = "<sync>\n", "<sync>\n"
		case 3:
			one = "<player 2>\n" + one + "</player>\n"
			same = one
		case 4:
			inner, innerPlain := drawText(t, 0)
			if strings.Contains(inner, "player") {
				continue
			}
			one, same = "<player 2>\n"+inner+"</player>\n", "<player 2>\n"+innerPlain+"</player>\n"
		case 5:
			inner, innerPlain := drawText(t, depth-1)
			one, same = "<mirror>\n"+inner+"</mirror>\n", "<mirror>\n"+innerPlain+"</mirror>\n"
		case 6, 7:
			rounds := rapid.IntRange(1, 4).Draw(t, "rounds")
			inner, innerPlain := drawText(t, depth-1)
			one, same = fmt.Sprintf("<loop %d>\n%s</loop>\n", rounds, inner), strings.Repeat(innerPlain, rounds)
		}
		looped, plain = looped+one, plain+same
	}
	return looped, plain
}
