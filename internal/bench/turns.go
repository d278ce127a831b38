package bench

import (
	"context"
	"errors"
	"time"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// turn is how much one side does before it is another's turn: so many calls, or as many as it can in a time, whichever
// ends first.
type turn struct {
	calls int           // 0: as many as there is time for
	time  time.Duration // 0: no end
}

// contender is one side of a comparison.
type contender struct {
	name   string // its case
	client string
	worker interface {
		work(ctx context.Context, t turn) (sample, error)
		close() error
	}
	got []sample // a slice each
}

// inTurns lets all sides do so many slices. Which of them is first changes from round to round.
func inTurns(ctx context.Context, rounds int, t turn, sides []*contender, tick func()) error {
	for round := range rounds {
		for i := range sides {
			s := sides[(round+i)%len(sides)]
			got, err := s.worker.work(ctx, t)
			if err != nil {
				return err
			}
			if got.n == 0 {
				return errors.New("nothing was done in a slice: the machine is too slow for so short a slice")
			}
			s.got = append(s.got, got)
		}
		tick()
	}
	return nil
}

// sum is all slices.
func (c *contender) sum() total {
	t := total{calls: measure.NewHistogram()}
	for _, s := range c.got {
		t.add(s)
	}
	return t
}

// series is how long each call took, in order.
func (c *contender) series() (calls []time.Duration) {
	for _, s := range c.got {
		calls = append(calls, s.calls...)
	}
	return calls
}

func closeAll(sides []*contender) error {
	var errs []error
	for _, c := range sides {
		errs = append(errs, c.worker.close())
	}
	return errors.Join(errs...)
}

// ratios of neighbouring slices, rising.
func ratios(ours, peer *contender, by compare) (rising []float64) {
	for i := range ours.got {
		rising = append(rising, by(ours.got[i], peer.got[i]))
	}
	return sorted(rising)
}
