package q4m

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// crew is the workers of a shop, a connection each, who all do the same.
type crew struct {
	shop  shop
	hands []hand
	takes kind // "": they insert
	// stock is how many rows of the kind are there when a slice begins. If keep is set, what was taken is put in again
	// off the clock, when half of it is gone; else it becomes less and less, as in the field report.
	stock int
	keep  bool

	gone   int // taken since the last refill
	serial atomic.Int64
	calls  int64 // that were made
	kept   *harness.Kept
	total  int64 // rows put less those taken, by this crew and its refills
}

// newCrew connects n workers.
func newCrew(ctx context.Context, s shop, n int, takes kind, stock int, keep bool) (*crew, error) {
	c := &crew{shop: s, takes: takes, stock: stock, keep: keep, kept: s.keeping()}
	for range n {
		h, err := s.connect(ctx, n > 1)
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		c.hands = append(c.hands, h)
	}
	return c, nil
}

func (c *crew) Close() error {
	var errs []error
	for _, h := range c.hands {
		errs = append(errs, h.Close())
	}
	return errors.Join(errs...)
}

// Work is one slice.
func (c *crew) Work(ctx context.Context, t harness.Turn) (s harness.Sample, err error) {
	for (t.Calls == 0 || len(s.Calls) < t.Calls) && (t.Time == 0 || s.Elapsed < t.Time) {
		now := harness.Turn{Calls: t.Calls - len(s.Calls), Time: t.Time - s.Elapsed}
		if t.Calls == 0 {
			now.Calls = 1 << 30
		}
		if c.takes != "" && c.keep {
			if c.gone >= c.stock/2 {
				if err := c.shop.add(ctx, c.gone, c.takes.at()); err != nil {
					return s, err
				}
				c.total += int64(c.gone)
				c.gone = 0
			}
			now.Calls = min(now.Calls, c.stock/2-c.gone)
		}
		if err := c.burst(ctx, now, t.Time > 0, &s); err != nil {
			return s, err
		}
	}
	s.N = int64(len(s.Calls))
	return s, nil
}

// burst lets all hands work at once. The times of their calls are added in the order of the hands.
func (c *crew) burst(ctx context.Context, t harness.Turn, timed bool, s *harness.Sample) error {
	calls := make([][]time.Duration, len(c.hands))
	var begun atomic.Int64
	err := c.kept.During(func() error {
		began := time.Now()
		defer func() { s.Elapsed += time.Since(began) }()
		return harness.Crowd(ctx, len(c.hands), func(ctx context.Context, i int) error {
			for last := began; begun.Add(1) <= int64(t.Calls) && (!timed || last.Sub(began) < t.Time); {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := c.one(c.hands[i]); err != nil {
					return err
				}
				now := time.Now()
				calls[i] = append(calls[i], now.Sub(last))
				last = now
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	done := 0
	for _, d := range calls {
		s.Calls = append(s.Calls, d...)
		done += len(d)
	}
	c.calls += int64(done)
	if c.takes != "" {
		c.gone += done
		c.total -= int64(done)
	} else {
		c.total += int64(done)
	}
	return nil
}

func (c *crew) one(h hand) error {
	if c.takes != "" {
		return h.take(c.takes)
	}
	return h.insert(strconv.FormatInt(c.serial.Add(1), 10)+"-0123456789abcdef0123456789abcdef", atSince)
}

// floor is what a call cannot do without: as many round trips as it has, in which nothing is done, and one sync of as
// many bytes as it writes.
type floor struct {
	hand  hand
	trips int
	disk  *harness.RawWriter
}

func (f *floor) Work(ctx context.Context, t harness.Turn) (s harness.Sample, err error) {
	began := time.Now()
	for last := began; (t.Calls == 0 || len(s.Calls) < t.Calls) && (t.Time == 0 || last.Sub(began) < t.Time); {
		if err := ctx.Err(); err != nil {
			return s, err
		}
		for range f.trips {
			if err := f.hand.ping(); err != nil {
				return s, err
			}
		}
		if err := errors.Join(f.disk.Log.Write(f.disk.Piece), f.disk.Log.Sync()); err != nil {
			return s, err
		}
		now := time.Now()
		s.Calls = append(s.Calls, now.Sub(last))
		last = now
	}
	s.N, s.Elapsed = int64(len(s.Calls)), time.Since(began)
	return s, nil
}

func (f *floor) Close() error { return f.hand.Close() }

// disk is the raw disk alone.
type disk struct{ writer *harness.RawWriter }

func (d disk) Work(ctx context.Context, t harness.Turn) (harness.Sample, error) {
	return d.writer.Run(ctx, t.Time)
}
func (disk) Close() error { return nil }
