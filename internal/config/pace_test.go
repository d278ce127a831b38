package config

import (
	"testing"

	"github.com/hikyaku/hikyaku/pace"
)

func TestAPaceIsExactAndSendsOneByOne(t *testing.T) {
	for text, want := range map[string]func() (pace.Rate, error){
		"60000/1001/s": func() (pace.Rate, error) { return pace.NTSC(), nil },
		"59.94/s":      func() (pace.Rate, error) { return pace.PerSecond(5994, 100) },
		"100/min":      func() (pace.Rate, error) { return pace.PerSecond(5, 3) },
	} {
		f := parse(t, "a.yaml", "sources: { a: { type: stdin } }\nsinks: { b: { type: stdout, inputs: a, pace: "+text+
			" } }\n")
		rate, err := want()
		if s := f.parts[1].common.settings(); err != nil || s.Request.Pace != rate || s.Batch.MaxEvents != 1 {
			t.Errorf("%s: %+v, want %v", text, s, rate)
		}
	}
}
