package console

import (
	"math"
	"testing"
)

func TestCurvesHaveGapsAndAxesRoundEnds(t *testing.T) {
	no := math.NaN()
	for _, c := range []struct {
		values []float64
		want   string
	}{
		{nil, ""},
		{[]float64{no, no}, ""},
		{[]float64{0, 10, no, 5, no}, "M0 50L25 0M75 25h0"},
		{[]float64{no, no, no, no, 20}, "M100 0h0"}, // not above the picture
	} {
		if got := curve(c.values, 10, 0, 100, 0, 50); got != c.want {
			t.Errorf("%v: %q, not %q", c.values, got, c.want)
		}
	}
	for _, c := range []struct {
		id    string
		value float64
		top   float64
		want  string
	}{
		{"ready", 0, 1, "1"}, {"ready", 11, 20, "20"}, {"ready", 1201, 2000, "2,000"}, {"rates", 0.03, 0.05, "0.05/s"},
		{"rates", 3300, 5000, "5,000/s"}, {"oldest", 0, 0.001, "1 ms"}, {"oldest", 0.3, 0.5, "500 ms"},
		{"oldest", 61, 120, "2 min"}, {"oldest", 7000, 7200, "2 h"}, {"oldest", 3e6, 50 * 86400, "50 d"},
	} {
		if top, got := roundTop(c.id, c.value); math.Abs(top-c.top) > 1e-9 || got != c.want {
			t.Errorf("%s up to %v: %v %q, not %v %q", c.id, c.value, top, got, c.top, c.want)
		}
	}
}
