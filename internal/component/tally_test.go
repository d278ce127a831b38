package component

import (
	"strings"
	"testing"
)

func TestATallyTellsOfTheFirstTheTenthAndTheHundredth(t *testing.T) {
	var tally Tally
	for range 250 {
		tally.Add("cut", "it was too long")
	}
	tally.Add("refused", "nobody wanted it")
	if c := tally.Counts(); c["cut"] != 250 || c["refused"] != 1 {
		t.Errorf("counted %v", c)
	}
	got := strings.Join(tally.Notices(), "\n")
	want := "it was too long (cut: 1 since the start)\nit was too long (cut: 10 since the start)\n" +
		"it was too long (cut: 100 since the start)\nnobody wanted it (refused: 1 since the start)"
	if got != want {
		t.Errorf("told\n%s", got)
	}
}
