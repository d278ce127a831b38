package measure

import (
	"math"
	"strconv"
)

// scale maps the values of one axis to a length of the picture.
type scale struct {
	log      bool
	low, end float64 // of the values; as logarithms if log
	from, to float64 // of the picture
}

// tick is a place on an axis. A minor one has no text.
type tick struct {
	value float64
	text  string
}

// newScale covers all values. On a linear axis that starts near zero, zero is shown: heights are compared by eye.
func newScale(values []float64, log bool, from, to float64) scale {
	s := scale{log: log, low: math.Inf(1), end: math.Inf(-1), from: from, to: to}
	for _, v := range values {
		if s.takes(v) {
			s.low, s.end = min(s.low, s.of(v)), max(s.end, s.of(v))
		}
	}
	switch {
	case s.low > s.end: // nothing to show
		s.low, s.end = 0, 1
	case log && s.end-s.low < 1e-9:
		s.low, s.end = s.low-0.5, s.end+0.5
	case s.end-s.low <= 1e-12*max(math.Abs(s.low), math.Abs(s.end), 1e-280):
		d := max(math.Abs(s.low)/2, 0.5)
		s.low, s.end = s.low-d, s.end+d
	}
	return s
}

// takes says whether a value has a place: not a number, infinity, and on a logarithmic axis zero and less have none.
// Nor do values at the very ends of what a number can be, because the ticks beyond them could not be written down.
func (s scale) takes(v float64) bool {
	return math.Abs(v) <= 1e300 && (!s.log || v >= 1e-300)
}

func (s scale) of(v float64) float64 {
	if s.log {
		return math.Log10(v)
	}
	return v
}

func (s scale) at(v float64) float64 {
	// Halves keep the difference of two very large values finite.
	share := (s.of(v)/2 - s.low/2) / (s.end/2 - s.low/2)
	return s.from + share*(s.to-s.from)
}

// fitZero lets a linear axis of positive values begin at zero if that costs at most two thirds of it.
func (s scale) fitZero() scale {
	if !s.log && s.low > 0 && s.low <= 2*s.end/3 {
		s.low = 0
	}
	return s
}

// widen moves the ends out to whole ticks, for about n ticks.
func (s scale) widen(n int) scale {
	if s.log {
		// To the next 1, 2 or 5.
		s.low, s.end = math.Log10(nice(math.Pow(10, s.low+1e-9), false)),
			math.Log10(nice(math.Pow(10, s.end-1e-9), true))
		return s
	}
	step := s.step(n)
	low, end := math.Floor(s.low/step+1e-9)*step, math.Ceil(s.end/step-1e-9)*step
	if low < end && !math.IsInf(low, 0) && !math.IsInf(end, 0) {
		s.low, s.end = low, end
	}
	return s
}

// nice returns the nearest of 1, 2 and 5 times a power of ten, at least v if up, else at most v.
func nice(v float64, up bool) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	steps := []float64{1, 2, 5, 10}
	if up {
		for _, m := range steps {
			if m*power >= v*(1-1e-9) {
				return m * power
			}
		}
		return 10 * power
	}
	for i := len(steps) - 1; i >= 0; i-- {
		if steps[i]*power <= v*(1+1e-9) {
			return steps[i] * power
		}
	}
	return power
}

func (s scale) step(n int) float64 {
	step := nice((s.end/float64(n) - s.low/float64(n)), true)
	if !(step > 0) || math.IsInf(step, 0) {
		return max(math.Abs(s.end), 1)
	}
	return step
}

// ticks returns about n places with a text, written by format if there is one.
func (s scale) ticks(n int, format func(float64) string) []tick {
	if s.log {
		return s.logTicks(n, format)
	}
	step := s.step(n)
	first := math.Ceil(s.low/step - 1e-9)
	last := math.Floor(s.end/step + 1e-9)
	if !(last-first < 100) { // the values are too close together for their size to be told apart
		first, last = 0, -1
	}
	decimals := max(0, int(-math.Floor(math.Log10(step)+1e-9)))
	if format == nil {
		format = func(v float64) string {
			switch {
			case decimals > 9 || math.Abs(v) >= 1e15:
				return strconv.FormatFloat(v, 'g', 4, 64)
			case decimals == 0:
				return Count(int64(math.Round(v)))
			}
			return strconv.FormatFloat(v, 'f', decimals, 64)
		}
	}
	var ticks []tick
	for i := first; i <= last; i++ {
		v := i * step
		if i == 0 {
			v = 0 // never -0
		}
		ticks = append(ticks, tick{v, format(v)})
	}
	return ticks
}

func (s scale) logTicks(n int, format func(float64) string) []tick {
	if format == nil {
		format = func(v float64) string {
			if v >= 1e-4 && v < 1e15 {
				if v < 1 {
					return strconv.FormatFloat(v, 'f', -1, 64)
				}
				return Count(int64(math.Round(v)))
			}
			return strconv.FormatFloat(v, 'g', 3, 64)
		}
	}
	from, to := int(math.Floor(s.low+1e-9)), int(math.Ceil(s.end-1e-9))
	each := 1 // write every so many decades
	for (to-from)/each > n+2 {
		each++
	}
	var ticks []tick
	for e := from; e <= to; e++ {
		for _, m := range []float64{1, 2, 5} {
			v, err := strconv.ParseFloat(strconv.Itoa(int(m))+"e"+strconv.Itoa(e), 64) // exact, unlike a power
			if l := math.Log10(v); err != nil || l < s.low-1e-9 || l > s.end+1e-9 {
				continue
			}
			switch {
			case to-from <= 3, m == 1 && (e-from)%each == 0:
				ticks = append(ticks, tick{v, format(v)})
			case each == 1:
				ticks = append(ticks, tick{value: v})
			}
		}
	}
	return ticks
}
