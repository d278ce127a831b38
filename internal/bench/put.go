package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// logged counts what measured work wrote to the journal.
type logged struct {
	n            int64 // messages
	bytes, syncs uint64
}

func (l *logged) add(n int64, before, after journal.Stats) {
	l.n += n
	l.bytes += after.Bytes - before.Bytes
	l.syncs += after.Syncs - before.Syncs
}

// bytesEach is what one message takes in the log.
func (l *logged) bytesEach() float64 { return float64(l.bytes) / float64(max(l.n, 1)) }

// perSync is how many messages shared a sync.
func (l *logged) perSync() float64 { return float64(l.n) / float64(max(l.syncs, 1)) }

// putter is writers that put groups of messages and wait for each to be durable.
type putter struct {
	rig     *rig
	writers int
	group   int
	body    []byte
	log     logged
}

func (p *putter) run(ctx context.Context, d time.Duration) (sample, error) {
	calls := make([][]time.Duration, p.writers)
	before := p.rig.store.JournalStats()
	began := time.Now()
	err := crowd(ctx, p.writers, func(ctx context.Context, w int) error {
		msgs := make([]message.Message, p.group)
		for i := range msgs {
			msgs[i].Body = p.body
		}
		for last := began; last.Sub(began) < d; {
			if _, err := p.rig.store.Put(ctx, measured, msgs); err != nil {
				return fmt.Errorf("put: %w", err)
			}
			now := time.Now()
			calls[w] = append(calls[w], now.Sub(last))
			last = now
		}
		return nil
	})
	s := sample{elapsed: time.Since(began)}
	if err != nil {
		return sample{}, err
	}
	for _, c := range calls {
		s.n += int64(len(c) * p.group)
		s.calls = append(s.calls, c...)
	}
	p.log.add(s.n, before, p.rig.store.JournalStats())
	// What was put is taken away off the clock, so that each slice begins as the first one did.
	if _, err := p.rig.store.Purge(ctx, measured); err != nil {
		return sample{}, fmt.Errorf("empty the queue between slices: %w", err)
	}
	return s, nil
}

// put compares puts with the disk: what the writers could have in one sync, written by one writer at once.
func (s *session) put(ctx context.Context, work string, writers, group int) (err error) {
	r, err := newRig(ctx, s.dir, queue.Definition{})
	if err != nil {
		return err
	}
	defer func() { err = joinCleanup(err, r.remove()) }()
	p := &putter{rig: r, writers: writers, group: group, body: makeBody(bodyBytes)}
	if _, err := p.run(ctx, s.warmUp); err != nil {
		return err
	}
	if err := s.raw.carry(int64(writers*group), p.log.bytesEach()); err != nil {
		return err
	}
	p.log = logged{}
	c, err := s.alternate(ctx, p, s.raw, s.step)
	if err != nil {
		return err
	}
	s.rows(c, about{work: work, writers: writers, depth: 0}, &p.log)
	return nil
}
