package harness

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// Sample is what one side did in one slice.
type Sample struct {
	N       int64 // messages
	Elapsed time.Duration
	Calls   []time.Duration // how long each call took
}

func (s Sample) rate() float64 { return float64(s.N) / s.Elapsed.Seconds() }

// quantile is the time that a share q of the calls does not exceed, in seconds.
func (s Sample) quantile(q float64) float64 {
	rising := make([]float64, len(s.Calls))
	for i, d := range s.Calls {
		rising[i] = d.Seconds()
	}
	return Quantile(Sorted(rising), q)
}

// Sorted sorts values in their place.
func Sorted(values []float64) []float64 {
	slices.Sort(values)
	return values
}

// Side is one of the things that are compared. run works for about d; it returns early, with ctx's error, when ctx
// ends.
type Side interface {
	Run(ctx context.Context, d time.Duration) (Sample, error)
}

// Compare is the ratio of two neighbouring slices.
type Compare func(ours, peer Sample) float64

// ByRate compares what was done in the same time.
func ByRate(ours, peer Sample) float64 { return ours.rate() / peer.rate() }

// ByCost compares what a message took.
func ByCost(ours, peer Sample) float64 { return peer.rate() / ours.rate() }

// ByTime compares the time that a share q of the calls does not exceed.
func ByTime(q float64) Compare {
	return func(ours, peer Sample) float64 { return ours.quantile(q) / peer.quantile(q) }
}

// ByExcess compares by how many milliseconds more the time is that a share q of the calls does not exceed.
func ByExcess(q float64) Compare {
	return func(ours, peer Sample) float64 { return 1000 * (ours.quantile(q) - peer.quantile(q)) }
}

// Total is all slices of one side.
type Total struct {
	N       int64
	Elapsed time.Duration
	Calls   *measure.Histogram
}

// Add counts one more slice.
func (t *Total) Add(s Sample) {
	t.N += s.N
	t.Elapsed += s.Elapsed
	for _, d := range s.Calls {
		t.Calls.Record(d)
	}
}

// Rival is a side that ours was compared with.
type Rival struct {
	Total
	Ratios []float64 // of ours to this one's, a pair of neighbouring slices each, rising
}

// Contest is what came of comparing a side with its peers.
type Contest struct {
	Ours  Total
	Peers []Rival
}

// Pacing says how much is measured.
type Pacing struct {
	Pairs int           // of slices, or as many more as there are peers
	Slice time.Duration // length of one
}

// Alternate lets all sides take turns. Which of them is first changes from round to round, so that a disk that becomes
// slower and slower favours none. tick is called after each round.
func (p Pacing) Alternate(ctx context.Context, tick func(), by Compare, ours Side, peers ...Side) (Contest, error) {
	c := Contest{Ours: Total{Calls: measure.NewHistogram()}, Peers: make([]Rival, len(peers))}
	for i := range c.Peers {
		c.Peers[i].Calls = measure.NewHistogram()
	}
	sides := append([]Side{ours}, peers...)
	got := make([]Sample, len(sides))
	for round := range p.Pairs {
		for turn := range sides {
			i := (round + turn) % len(sides)
			s, err := sides[i].Run(ctx, p.Slice)
			if err != nil {
				return Contest{}, err
			}
			if s.N == 0 || s.Elapsed <= 0 {
				return Contest{}, fmt.Errorf("nothing was done in a slice of %v: the machine is too slow for so "+
					"short a slice", p.Slice)
			}
			got[i] = s
		}
		c.Ours.Add(got[0])
		for i := range c.Peers {
			c.Peers[i].Add(got[i+1])
			c.Peers[i].Ratios = append(c.Peers[i].Ratios, by(got[0], got[i+1]))
		}
		tick()
	}
	for i := range c.Peers {
		slices.Sort(c.Peers[i].Ratios)
	}
	return c, nil
}

// Quantile of rising values, between the two nearest where it falls between. Without values it is 0.
func Quantile(rising []float64, q float64) float64 {
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
