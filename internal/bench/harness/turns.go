package harness

import (
	"context"
	"errors"
	"time"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// Turn is how much one side does before it is another's turn: so many calls, or as many as it can in a time, whichever
// ends first.
type Turn struct {
	Calls int           // 0: as many as there is time for
	Time  time.Duration // 0: no end
}

// Contender is one side of a comparison.
type Contender struct {
	Name   string // its case
	Client string
	Worker interface {
		Work(ctx context.Context, t Turn) (Sample, error)
		Close() error
	}
	Got []Sample // a slice each
}

// InTurns lets all sides do so many slices. Which of them is first changes from round to round.
func InTurns(ctx context.Context, rounds int, t Turn, sides []*Contender, tick func()) error {
	for round := range rounds {
		for i := range sides {
			s := sides[(round+i)%len(sides)]
			got, err := s.Worker.Work(ctx, t)
			if err != nil {
				return err
			}
			if got.N == 0 {
				return errors.New("nothing was done in a slice: the machine is too slow for so short a slice")
			}
			s.Got = append(s.Got, got)
		}
		tick()
	}
	return nil
}

// Sum is all slices.
func (c *Contender) Sum() Total {
	t := Total{Calls: measure.NewHistogram()}
	for _, s := range c.Got {
		t.Add(s)
	}
	return t
}

// Series is how long each call took, in order.
func (c *Contender) Series() (calls []time.Duration) {
	for _, s := range c.Got {
		calls = append(calls, s.Calls...)
	}
	return calls
}

// CloseAll closes the workers of all sides.
func CloseAll(sides []*Contender) error {
	var errs []error
	for _, c := range sides {
		errs = append(errs, c.Worker.Close())
	}
	return errors.Join(errs...)
}

// Ratios of neighbouring slices, rising.
func Ratios(ours, peer *Contender, by Compare) (rising []float64) {
	for i := range ours.Got {
		rising = append(rising, by(ours.Got[i], peer.Got[i]))
	}
	return Sorted(rising)
}
