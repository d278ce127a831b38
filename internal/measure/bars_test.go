package measure_test

import (
	"math"
	"testing"

	"github.com/hikyaku/hikyaku/internal/measure"
)

func TestBarsShowTheMostOfEachColumnAndGaps(t *testing.T) {
	no := math.NaN()
	for _, c := range []struct {
		values  []float64
		columns int
		want    string
	}{
		{nil, 10, ""},
		{[]float64{1}, 0, ""},
		{[]float64{1}, -1, ""},
		{[]float64{0, 0}, 10, "▁▁"},
		{[]float64{no, 0, 4, 8, no}, 5, " ▁▅█ "},
		{[]float64{0, 8, 1, 2, no, 1, no, no}, 4, "█▃▂ "},
		{[]float64{math.Inf(1), 1, -1}, 3, "██▁"},
	} {
		if got := measure.Bars(c.values, c.columns); got != c.want {
			t.Errorf("%v in %d columns: %q, not %q", c.values, c.columns, got, c.want)
		}
	}
}
