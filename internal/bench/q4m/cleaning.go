package q4m

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
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
				return nil, errors.Join(err, c.Close())
			}
			*to.hands = append(*to.hands, h)
		}
	}
	return c, nil
}

func (c *compacted) Close() error {
	var errs []error
	for _, h := range append(append([]hand{}, c.hands...), c.stuck...) {
		errs = append(errs, h.Close())
	}
	return errors.Join(errs...)
}

func (c *compacted) Work(ctx context.Context, t harness.Turn) (s harness.Sample, err error) {
	calls := make([][]time.Duration, len(c.hands))
	began := time.Now()
	err = harness.Crowd(ctx, len(c.hands), func(ctx context.Context, i int) error {
		for last := began; last.Sub(began) < t.Time; {
			if err := ctx.Err(); err != nil {
				return err
			}
			n := c.serial.Add(1)
			h := c.hands[i]
			if n%harness.StuckEach == 0 {
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
	s.Elapsed = time.Since(began)
	for _, d := range calls {
		s.Calls = append(s.Calls, d...)
	}
	s.N = int64(len(s.Calls))
	return s, err
}

// whileCleaning compares the slowest inserts with the slowest syncs of the raw disk.
func (s *session) whileCleaning(ctx context.Context, connections int) (err error) {
	e := s.compacting
	shop, err := s.openOurs(ctx, e.Setting)
	if err != nil {
		return err
	}
	defer func() { err = harness.JoinCleanup(err, shop.Close()) }()
	if _, err := shop.child.Say(harness.SayTake); err != nil {
		return err
	}
	if err := s.load(ctx, shop); err != nil {
		return err
	}
	c, err := newCompacted(ctx, shop, connections)
	if err != nil {
		return err
	}
	sides := []*harness.Contender{{Name: harness.CaseOurs, Client: clientLight, Worker: c}}
	defer func() { err = harness.JoinCleanup(err, harness.CloseAll(sides)) }()
	first, err := shop.child.Say(harness.SayStats)
	if err != nil {
		return err
	}
	warm, err := c.Work(ctx, harness.Turn{Time: e.Slice / 2})
	if err != nil {
		return err
	}
	next, err := shop.child.Say(harness.SayStats)
	if err != nil {
		return err
	}
	each := float64(next.Journal.Bytes-first.Journal.Bytes) / float64(max(warm.N, 1))
	writer, err := s.Raw.Writer(int64(connections), each)
	if err != nil {
		return err
	}
	sides = append(sides, &harness.Contender{Name: harness.CaseLimit, Worker: disk{writer}})
	if err := harness.InTurns(ctx, e.Pairs, harness.Turn{Time: e.Slice}, sides, s.Step); err != nil {
		return err
	}
	last, err := shop.child.Say(harness.SayStats)
	if err != nil {
		return err
	}
	r := s.row(workCompacting, connections, 0, sides[0])
	harness.SetRatio(r, "ratio_p999", harness.Ratios(sides[0], sides[1], harness.ByTime(0.999)))
	written := func(st journal.Stats) int64 { return int64(st.CopiedBytes + st.CheckpointBytes) }
	r.Set("log_mb", harness.Megabytes(int64(last.Journal.Bytes-next.Journal.Bytes))).
		Set("copied_mb", harness.Megabytes(int64(last.Journal.CopiedBytes-next.Journal.CopiedBytes))).
		Set("checkpoint_mb",
			harness.Megabytes(written(last.Journal)-written(next.Journal)-int64(
				last.Journal.CopiedBytes-next.Journal.CopiedBytes)))
	harness.Judge(r, s.Quick, harness.AtMost("ratio_p999", 5))
	s.row(workCompacting, connections, 0, sides[1])
	return nil
}

// load fills the journal until there is something to clean.
func (s *session) load(ctx context.Context, shop *queueShop) error {
	for {
		st, err := shop.child.Say(harness.SayStats)
		if err != nil || st.Journal.Bytes >= s.compacting.load {
			return err
		}
		if err := addMany(ctx, shop.desk, queueTable, sqlGroup*(harness.StuckEach-1), atSince,
			shop.payload); err != nil {
			return err
		}
		if err := addMany(ctx, shop.desk, stuckTable, sqlGroup, atSince, shop.payload); err != nil {
			return err
		}
	}
}
