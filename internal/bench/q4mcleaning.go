package bench

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// compacted is inserts, of which one in twenty goes to a table that nobody reads, while the server takes the others
// away as fast as they come: so the journal has to be cleaned all the time.
type compacted struct {
	shop         *queueShop
	hands, stuck []hand // a pair of connections for each worker
	serial       atomic.Int64
}

func newCompacted(ctx context.Context, s *queueShop, n int) (c *compacted, err error) {
	c = &compacted{shop: s}
	for _, to := range []struct {
		table string
		hands *[]hand
	}{{queueTable, &c.hands}, {stuckTable, &c.stuck}} {
		for range n {
			h, err := s.connectTo(ctx, true, to.table)
			if err != nil {
				return nil, errors.Join(err, c.close())
			}
			*to.hands = append(*to.hands, h)
		}
	}
	return c, nil
}

func (c *compacted) close() error {
	var errs []error
	for _, h := range append(append([]hand{}, c.hands...), c.stuck...) {
		errs = append(errs, h.close())
	}
	return errors.Join(errs...)
}

func (c *compacted) work(ctx context.Context, t turn) (s sample, err error) {
	calls := make([][]time.Duration, len(c.hands))
	began := time.Now()
	err = crowd(ctx, len(c.hands), func(ctx context.Context, i int) error {
		for last := began; last.Sub(began) < t.time; {
			if err := ctx.Err(); err != nil {
				return err
			}
			n := c.serial.Add(1)
			h := c.hands[i]
			if n%stuckEach == 0 {
				h = c.stuck[i]
			}
			if err := h.insert(strconv.FormatInt(n, 10), atSince); err != nil {
				return err
			}
			now := time.Now()
			calls[i] = append(calls[i], now.Sub(last))
			last = now
		}
		return nil
	})
	s.elapsed = time.Since(began)
	for _, d := range calls {
		s.calls = append(s.calls, d...)
	}
	s.n = int64(len(s.calls))
	return s, err
}

// whileCleaning compares the slowest inserts with the slowest syncs of the raw disk.
func (s *q4mSession) whileCleaning(ctx context.Context, connections int) (err error) {
	e := s.compacting
	shop, err := s.openOurs(ctx, e.setting)
	if err != nil {
		return err
	}
	defer func() { err = joinCleanup(err, shop.close()) }()
	if _, err := shop.child.say(sayTake); err != nil {
		return err
	}
	if err := s.load(ctx, shop); err != nil {
		return err
	}
	c, err := newCompacted(ctx, shop, connections)
	if err != nil {
		return err
	}
	sides := []*contender{{name: caseOurs, client: clientLight, worker: c}}
	defer func() { err = joinCleanup(err, closeAll(sides)) }()
	first, err := shop.child.say(sayStats)
	if err != nil {
		return err
	}
	warm, err := c.work(ctx, turn{time: e.slice / 2})
	if err != nil {
		return err
	}
	next, err := shop.child.say(sayStats)
	if err != nil {
		return err
	}
	each := float64(next.Journal.Bytes-first.Journal.Bytes) / float64(max(warm.n, 1))
	writer, err := s.raw.writer(int64(connections), each)
	if err != nil {
		return err
	}
	sides = append(sides, &contender{name: caseLimit, worker: disk{writer}})
	if err := inTurns(ctx, e.pairs, turn{time: e.slice}, sides, s.step); err != nil {
		return err
	}
	last, err := shop.child.say(sayStats)
	if err != nil {
		return err
	}
	r := s.row(workCompacting, connections, 0, sides[0])
	setRatio(r, "ratio_p999", ratios(sides[0], sides[1], byTime(0.999)))
	written := func(st journal.Stats) int64 { return int64(st.CopiedBytes + st.CheckpointBytes) }
	r.Set("log_mb", megabytes(int64(last.Journal.Bytes-next.Journal.Bytes))).
		Set("copied_mb", megabytes(int64(last.Journal.CopiedBytes-next.Journal.CopiedBytes))).
		Set("checkpoint_mb",
			megabytes(written(last.Journal)-written(next.Journal)-int64(
				last.Journal.CopiedBytes-next.Journal.CopiedBytes)))
	judge(r, s.Quick, atMost("ratio_p999", 5))
	s.row(workCompacting, connections, 0, sides[1])
	return nil
}

// load fills the journal until there is something to clean.
func (s *q4mSession) load(ctx context.Context, shop *queueShop) error {
	for {
		st, err := shop.child.say(sayStats)
		if err != nil || st.Journal.Bytes >= s.compacting.load {
			return err
		}
		if err := addMany(ctx, shop.desk, queueTable, sqlGroup*(stuckEach-1), atSince, shop.payload); err != nil {
			return err
		}
		if err := addMany(ctx, shop.desk, stuckTable, sqlGroup, atSince, shop.payload); err != nil {
			return err
		}
	}
}
