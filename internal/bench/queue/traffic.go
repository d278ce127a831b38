package queue

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// traffic is writers that put one message at a time, while readers claim and settle all of them but those for the stuck
// queue. Calls are the puts'.
type traffic struct {
	rig     *harness.Rig
	writers int
	body    []byte

	puts    atomic.Int64 // also counts whose turn the stuck queue is
	stuck   atomic.Int64 // waiting there
	settled atomic.Int64
	log     logged
}

func (t *traffic) Run(ctx context.Context, d time.Duration) (s harness.Sample, err error) {
	calls := make([][]time.Duration, t.writers)
	before := t.rig.Store.JournalStats()
	first := t.puts.Load()
	began := time.Now()
	var writing atomic.Int64
	writing.Store(int64(t.writers))
	err = harness.Crowd(ctx, t.writers+harness.TrafficReaders, func(ctx context.Context, i int) (err error) {
		if i >= t.writers {
			return t.read(ctx, &writing)
		}
		calls[i], err = t.write(ctx, began, d)
		if writing.Add(-1) == 0 {
			s.Elapsed = time.Since(began) // what the readers still have to do is off the clock
		}
		return err
	})
	if err != nil {
		return harness.Sample{}, err
	}
	for _, c := range calls {
		s.Calls = append(s.Calls, c...)
	}
	s.N = t.puts.Load() - first
	return s, t.log.add(s.N, len(s.Calls), t.writers, before, t.rig.Store.JournalStats())
}

func (t *traffic) write(ctx context.Context, began time.Time, d time.Duration) (calls []time.Duration, err error) {
	msgs := []message.Message{{Body: t.body}}
	for last := began; last.Sub(began) < d; {
		if err := ctx.Err(); err != nil { // a put that waits for nobody may not look at it
			return nil, err
		}
		to := harness.Measured
		if t.puts.Add(1)%harness.StuckEach == 0 {
			to = harness.Stuck
			t.stuck.Add(1)
		}
		if _, err := t.rig.Store.Put(ctx, to, msgs); err != nil {
			return nil, fmt.Errorf("put: %w", err)
		}
		now := time.Now()
		calls = append(calls, now.Sub(last))
		last = now
	}
	return calls, nil
}

// read claims and settles until the writers have ended and nothing is left.
func (t *traffic) read(ctx context.Context, writing *atomic.Int64) error {
	for {
		last := writing.Load() == 0
		n, err := harness.Drain(ctx, t.rig, harness.Measured, harness.TrafficGroup, time.Millisecond)
		if err != nil {
			return err
		}
		t.settled.Add(int64(n))
		if last && n == 0 {
			return nil
		}
	}
}

// besides is how many bytes the store has written besides its log: what cleaning moved and what checkpoints took.
func (t *traffic) besides() int64 {
	now := t.rig.Store.JournalStats()
	return int64(now.CopiedBytes + now.CheckpointBytes)
}

// putBytes is what the put of one message takes in the log. The store's own records may come between: so it is the
// least of a few.
func (t *traffic) putBytes(ctx context.Context) (int, error) {
	least := uint64(0)
	for range 3 {
		before := t.rig.Store.JournalStats().Bytes
		if _, err := t.rig.Store.Put(ctx, harness.Stuck, []message.Message{{Body: t.body}}); err != nil {
			return 0, fmt.Errorf("put: %w", err)
		}
		t.puts.Add(1)
		t.stuck.Add(1)
		if n := t.rig.Store.JournalStats().Bytes - before; least == 0 || n < least {
			least = n
		}
	}
	return int(least), nil
}

// check tells whether the store has what it should: everything that went to the stuck queue, and nothing else.
func (t *traffic) check(ctx context.Context) error {
	for name, want := range map[queue.Name]int64{harness.Measured: 0, harness.Stuck: t.stuck.Load()} {
		st, err := t.rig.Store.Stats(ctx, name)
		if err != nil {
			return err
		}
		if st.Messages() != want {
			return fmt.Errorf("%d messages are in queue %s, there should be %d", st.Messages(), name.Short(), want)
		}
	}
	if put, gone := t.puts.Load(), t.settled.Load()+t.stuck.Load(); put != gone {
		return fmt.Errorf("%d messages were put, %d are settled or wait", put, gone)
	}
	return nil
}
