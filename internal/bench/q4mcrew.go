package bench

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"time"
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
	total  int64 // rows put less those taken, by this crew and its refills
}

// newCrew connects n workers.
func newCrew(ctx context.Context, s shop, n int, takes kind, stock int, keep bool) (*crew, error) {
	c := &crew{shop: s, takes: takes, stock: stock, keep: keep}
	for range n {
		h, err := s.connect(ctx, n > 1)
		if err != nil {
			return nil, errors.Join(err, c.close())
		}
		c.hands = append(c.hands, h)
	}
	return c, nil
}

func (c *crew) close() error {
	var errs []error
	for _, h := range c.hands {
		errs = append(errs, h.close())
	}
	return errors.Join(errs...)
}

// work is one slice.
func (c *crew) work(ctx context.Context, t turn) (s sample, err error) {
	for (t.calls == 0 || len(s.calls) < t.calls) && (t.time == 0 || s.elapsed < t.time) {
		now := turn{calls: t.calls - len(s.calls), time: t.time - s.elapsed}
		if t.calls == 0 {
			now.calls = 1 << 30
		}
		if c.takes != "" && c.keep {
			if c.gone >= c.stock/2 {
				if err := c.shop.add(ctx, c.gone, c.takes.at()); err != nil {
					return s, err
				}
				c.total += int64(c.gone)
				c.gone = 0
			}
			now.calls = min(now.calls, c.stock/2-c.gone)
		}
		if err := c.burst(ctx, now, t.time > 0, &s); err != nil {
			return s, err
		}
	}
	s.n = int64(len(s.calls))
	return s, nil
}

// burst lets all hands work at once. The times of their calls are added in the order of the hands.
func (c *crew) burst(ctx context.Context, t turn, timed bool, s *sample) error {
	calls := make([][]time.Duration, len(c.hands))
	var begun atomic.Int64
	began := time.Now()
	err := crowd(ctx, len(c.hands), func(ctx context.Context, i int) error {
		for last := began; begun.Add(1) <= int64(t.calls) && (!timed || last.Sub(began) < t.time); {
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
	s.elapsed += time.Since(began)
	if err != nil {
		return err
	}
	done := 0
	for _, d := range calls {
		s.calls = append(s.calls, d...)
		done += len(d)
	}
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
	disk  *rawWriter
}

func (f *floor) work(ctx context.Context, t turn) (s sample, err error) {
	began := time.Now()
	for last := began; (t.calls == 0 || len(s.calls) < t.calls) && (t.time == 0 || last.Sub(began) < t.time); {
		if err := ctx.Err(); err != nil {
			return s, err
		}
		for range f.trips {
			if err := f.hand.ping(); err != nil {
				return s, err
			}
		}
		if err := errors.Join(f.disk.log.write(f.disk.piece), f.disk.log.sync()); err != nil {
			return s, err
		}
		now := time.Now()
		s.calls = append(s.calls, now.Sub(last))
		last = now
	}
	s.n, s.elapsed = int64(len(s.calls)), time.Since(began)
	return s, nil
}

func (f *floor) close() error { return f.hand.close() }

// disk is the raw disk alone.
type disk struct{ writer *rawWriter }

func (d disk) work(ctx context.Context, t turn) (sample, error) { return d.writer.run(ctx, t.time) }
func (disk) close() error                                       { return nil }
