package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// sample is what one side did in one slice.
type sample struct {
	n       int64 // messages
	elapsed time.Duration
	calls   []time.Duration // how long each call took
}

func (s sample) rate() float64 { return float64(s.n) / s.elapsed.Seconds() }

// side is one of two things that are compared. run works for about d; it returns early, with ctx's error, when ctx ends.
type side interface {
	run(ctx context.Context, d time.Duration) (sample, error)
}

// total is all slices of one side.
type total struct {
	n       int64
	elapsed time.Duration
	calls   *measure.Histogram
}

func (t *total) add(s sample) {
	t.n += s.n
	t.elapsed += s.elapsed
	for _, d := range s.calls {
		t.calls.Record(d)
	}
}

// contest is what came of comparing two sides.
type contest struct {
	ours, limit total
	ratios      []float64 // of our rate to the limit's, a pair of neighbouring slices each, rising
}

// pacing says how much is measured.
type pacing struct {
	pairs int           // of slices
	slice time.Duration // length of one
}

// alternate lets both sides take turns. Which of them is first changes from pair to pair, so that a disk that becomes slower and
// slower favours neither. tick is called after each pair.
func (p pacing) alternate(ctx context.Context, ours, limit side, tick func()) (contest, error) {
	c := contest{ours: total{calls: measure.NewHistogram()}, limit: total{calls: measure.NewHistogram()}}
	for pair := range p.pairs {
		turns := []struct {
			side side
			sum  *total
			got  sample
		}{{side: ours, sum: &c.ours}, {side: limit, sum: &c.limit}}
		order := []int{pair % 2, 1 - pair%2}
		for _, i := range order {
			s, err := turns[i].side.run(ctx, p.slice)
			if err != nil {
				return contest{}, err
			}
			if s.n == 0 || s.elapsed <= 0 {
				return contest{}, fmt.Errorf("nothing was done in a slice of %v: the machine is too slow for so short a slice", p.slice)
			}
			turns[i].got = s
			turns[i].sum.add(s)
		}
		c.ratios = append(c.ratios, turns[0].got.rate()/turns[1].got.rate())
		tick()
	}
	slices.Sort(c.ratios)
	return c, nil
}

// quantile of rising values, between the two nearest where it falls between. Without values it is 0.
func quantile(rising []float64, q float64) float64 {
	if len(rising) == 0 {
		return 0
	}
	at := q * float64(len(rising)-1)
	i := min(int(at), len(rising)-1)
	if i == len(rising)-1 {
		return rising[i]
	}
	return rising[i] + (rising[i+1]-rising[i])*(at-float64(i))
}
