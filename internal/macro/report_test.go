package macro_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hikyaku/hikyaku/internal/macro"
)

// TestTheReportsMacrosAreWhatItsConverterIsSent holds the three macros of the field report to what its program hands to
// the converter: which of the 36 values is 100, by its place in the vendor's list, and for how many frames.
func TestTheReportsMacrosAreWhatItsConverterIsSent(t *testing.T) {
	const up, down, right, r1, circle, square = 13, 14, 16, 3, 18, 20
	type sent struct {
		frames  uint32
		pressed []int
	}
	for name, want := range map[string][]sent{
		"combo.txt": { // jump and heavy punch, low kick, dragon punch
			{34, []int{up, right}}, {20, []int{r1}}, {8, []int{down, circle}}, {1, []int{right}}, {1, []int{down}},
			{1, []int{down, right, r1}},
		},
		"low-kick-fireball.txt": {{8, []int{down, circle}}, {1, []int{down, right}}, {1, []int{right, square}}},
		"jab.txt":               {{2, []int{square}}}, // what its page sends when LP is pressed
	} {
		text, err := os.ReadFile(filepath.Join("../../examples", name))
		if err != nil {
			t.Fatal(err)
		}
		script, err := macro.Read(text, macro.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var steps []macro.Step
		for _, w := range want {
			s := macro.Step{Frames: w.frames}
			for _, place := range w.pressed {
				s.State[place] = 100
			}
			steps = append(steps, s)
		}
		if got := script.Tracks[0]; len(got) != len(steps) || len(script.Tracks[1]) > 0 {
			t.Errorf("%s becomes %v, not %v", name, got, steps)
		} else {
			for i := range steps {
				if got[i] != steps[i] {
					t.Errorf("step %d of %s is %v, not %v", i, name, got[i], steps[i])
				}
			}
		}
	}
}
