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

// quantile is the time that a share q of the calls does not exceed, in seconds.
func (s sample) quantile(q float64) float64 {
	rising := make([]float64, len(s.calls))
	for i, d := range s.calls {
		rising[i] = d.Seconds()
	}
	return quantile(sorted(rising), q)
}

// sorted sorts values in their place.
func sorted(values []float64) []float64 {
	slices.Sort(values)
	return values
}

// side is one of the things that are compared. run works for about d; it returns early, with ctx's error, when ctx
// ends.
type side interface {
	run(ctx context.Context, d time.Duration) (sample, error)
}

// compare is the ratio of two neighbouring slices.
type compare func(ours, peer sample) float64

// byRate compares what was done in the same time.
func byRate(ours, peer sample) float64 { return ours.rate() / peer.rate() }

// byCost compares what a message took.
func byCost(ours, peer sample) float64 { return peer.rate() / ours.rate() }

// byTime compares the time that a share q of the calls does not exceed.
func byTime(q float64) compare {
	return func(ours, peer sample) float64 { return ours.quantile(q) / peer.quantile(q) }
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

// rival is a side that ours was compared with.
type rival struct {
	total
	ratios []float64 // of ours to this one's, a pair of neighbouring slices each, rising
}

// contest is what came of comparing a side with its peers.
type contest struct {
	ours  total
	peers []rival
}

// pacing says how much is measured.
type pacing struct {
	pairs int           // of slices, or as many more as there are peers
	slice time.Duration // length of one
}

// alternate lets all sides take turns. Which of them is first changes from round to round, so that a disk that becomes
// slower and slower favours none. tick is called after each round.
func (p pacing) alternate(ctx context.Context, tick func(), by compare, ours side, peers ...side) (contest, error) {
	c := contest{ours: total{calls: measure.NewHistogram()}, peers: make([]rival, len(peers))}
	for i := range c.peers {
		c.peers[i].calls = measure.NewHistogram()
	}
	sides := append([]side{ours}, peers...)
	got := make([]sample, len(sides))
	for round := range p.pairs {
		for turn := range sides {
			i := (round + turn) % len(sides)
			s, err := sides[i].run(ctx, p.slice)
			if err != nil {
				return contest{}, err
			}
			if s.n == 0 || s.elapsed <= 0 {
				return contest{}, fmt.Errorf("nothing was done in a slice of %v: the machine is too slow for so "+
					"short a slice", p.slice)
			}
			got[i] = s
		}
		c.ours.add(got[0])
		for i := range c.peers {
			c.peers[i].add(got[i+1])
			c.peers[i].ratios = append(c.peers[i].ratios, by(got[0], got[i+1]))
		}
		tick()
	}
	for i := range c.peers {
		slices.Sort(c.peers[i].ratios)
	}
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
