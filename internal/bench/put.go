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
			if err := ctx.Err(); err != nil { // a put that waits for nobody may not look at it
				return err
			}
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

// put compares puts of one message by each of some writers with the disk: with what they could have in one sync,
// written by one writer at once, and with a lone writer of single messages, which shows what sharing a sync is worth.
func (s *queueSession) put(ctx context.Context, writers int) error {
	peers := []string{caseLimit, caseLone}
	if writers == 1 {
		peers = []string{caseLimit} // they are the same
	}
	return s.puts(ctx, about{work: "put", writers: writers, goals: putGoals(writers)}, 1, peers)
}

// putGoals are what is asked of so many writers of single messages.
func putGoals(writers int) []goal {
	enough := atLeast("per_s", 200_000)
	switch writers {
	case 1:
		return []goal{atLeast("ratio", 0.85)}
	case 64:
		return []goal{atLeast("ratio_lone", 16).orElse(enough)}
	case 256:
		return []goal{atLeast("ratio_lone", 30).orElse(enough)}
	}
	return nil
}

// putGroup compares puts of a hundred messages with the disk.
func (s *queueSession) putGroup(ctx context.Context) error {
	return s.puts(ctx, about{work: "put-group", writers: 1}, groupMessages, []string{caseLimit})
}

// putPipelined compares puts of a hundred messages, of which several are under way at once, with the disk's bandwidth.
func (s *queueSession) putPipelined(ctx context.Context) error {
	a := about{work: "put-pipelined", writers: 16,
		goals: []goal{atLeast("ratio", 0.5).orElse(atLeast("per_s", 250_000))}}
	return s.puts(ctx, a, groupMessages, []string{caseBandwidth})
}

// groupMessages is how many messages a group has.
const groupMessages = 100

// puts measures writers of groups against the named peers.
func (s *queueSession) puts(ctx context.Context, a about, group int, peers []string) (err error) {
	r, err := newRig(ctx, s.dir, queue.Definition{}, setting{})
	if err != nil {
		return err
	}
	defer func() { err = joinCleanup(err, r.remove()) }()
	p := &putter{rig: r, writers: a.writers, group: group, body: makeBody(bodyBytes)}
	if _, err := p.run(ctx, s.warmUp); err != nil {
		return err
	}
	sides := make([]side, len(peers))
	for i, name := range peers {
		w, err := s.rawPeer(name, int64(a.writers*group), p.log.bytesEach())
		if err != nil {
			return err
		}
		sides[i] = w
		a.peers = append(a.peers, peer{name: name, perSync: w.carries})
	}
	p.log = logged{}
	c, err := s.alternate(ctx, s.step, byRate, p, sides...)
	if err != nil {
		return err
	}
	a.log = &p.log
	s.rows(c, a)
	return nil
}

// rawPeer returns the writer of a case, for n messages at once of so many bytes each.
func (s *queueSession) rawPeer(name string, n int64, bytesEach float64) (*rawWriter, error) {
	switch name {
	case caseLone:
		return s.raw.writer(1, bytesEach)
	case caseBandwidth:
		return s.raw.bandwidth(bytesEach)
	default:
		return s.raw.writer(n, bytesEach)
	}
}
