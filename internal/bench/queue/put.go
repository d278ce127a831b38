package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// logged counts what measured work wrote to the journal.
type logged struct {
	n            int64 // messages
	bytes, syncs uint64
}

// add counts n messages of a slice, which so many clients put or settled in calls. It fails when there were fewer syncs
// than those calls need.
func (l *logged) add(n int64, calls, clients int, before, after journal.Stats) error {
	l.n += n
	l.bytes += after.Bytes - before.Bytes
	syncs := after.Syncs - before.Syncs
	l.syncs += syncs
	return harness.CheckSyncs(harness.CaseOurs, int64(calls), clients, syncs)
}

// bytesEach is what one message takes in the log.
func (l *logged) bytesEach() float64 { return float64(l.bytes) / float64(max(l.n, 1)) }

// perSync is how many messages shared a sync.
func (l *logged) perSync() float64 { return float64(l.n) / float64(max(l.syncs, 1)) }

// putter is writers that put groups of messages and wait for each to be durable.
type putter struct {
	rig     *harness.Rig
	writers int
	group   int
	body    []byte
	log     logged
}

func (p *putter) Run(ctx context.Context, d time.Duration) (harness.Sample, error) {
	calls := make([][]time.Duration, p.writers)
	before := p.rig.Store.JournalStats()
	began := time.Now()
	err := harness.Crowd(ctx, p.writers, func(ctx context.Context, w int) error {
		msgs := make([]message.Message, p.group)
		for i := range msgs {
			msgs[i].Body = p.body
		}
		for last := began; last.Sub(began) < d; {
			if err := ctx.Err(); err != nil { // a put that waits for nobody may not look at it
				return err
			}
			if _, err := p.rig.Store.Put(ctx, harness.Measured, msgs); err != nil {
				return fmt.Errorf("put: %w", err)
			}
			now := time.Now()
			calls[w] = append(calls[w], now.Sub(last))
			last = now
		}
		return nil
	})
	s := harness.Sample{Elapsed: time.Since(began)}
	if err != nil {
		return harness.Sample{}, err
	}
	for _, c := range calls {
		s.N += int64(len(c) * p.group)
		s.Calls = append(s.Calls, c...)
	}
	if err := p.log.add(s.N, len(s.Calls), p.writers, before, p.rig.Store.JournalStats()); err != nil {
		return harness.Sample{}, err
	}
	// What was put is taken away off the clock, so that each slice begins as the first one did.
	if _, err := p.rig.Store.Purge(ctx, harness.Measured); err != nil {
		return harness.Sample{}, fmt.Errorf("empty the queue between slices: %w", err)
	}
	return s, nil
}

// put compares puts of one message by each of some writers with the disk: with what they could have in one sync,
// written by one writer at once, and with a lone writer of single messages, which shows what sharing a sync is worth.
func (s *session) put(ctx context.Context, writers int) error {
	peers := []string{harness.CaseLimit, harness.CaseLone}
	if writers == 1 {
		peers = []string{harness.CaseLimit} // they are the same
	}
	return s.puts(ctx, about{work: "put", writers: writers, goals: putGoals(writers)}, 1, peers)
}

// putGoals are what is asked of so many writers of single messages.
func putGoals(writers int) []harness.Goal {
	enough := harness.AtLeast("per_s", 200_000)
	switch writers {
	case 1:
		return []harness.Goal{harness.AtLeast("ratio", 0.85)}
	case 64:
		return []harness.Goal{harness.AtLeast("ratio_lone", 16).OrElse(enough)}
	case 256:
		return []harness.Goal{harness.AtLeast("ratio_lone", 30).OrElse(enough)}
	}
	return nil
}

// putGroup compares puts of a hundred messages with the disk.
func (s *session) putGroup(ctx context.Context) error {
	return s.puts(ctx, about{work: "put-group", writers: 1}, groupMessages, []string{harness.CaseLimit})
}

// putPipelined compares puts of a hundred messages, of which several are under way at once, with the disk's bandwidth.
func (s *session) putPipelined(ctx context.Context) error {
	a := about{work: "put-pipelined", writers: 16,
		goals: []harness.Goal{harness.AtLeast("ratio", 0.5).OrElse(harness.AtLeast("per_s", 250_000))}}
	return s.puts(ctx, a, groupMessages, []string{harness.CaseBandwidth})
}

// groupMessages is how many messages a group has.
const groupMessages = 100

// puts measures writers of groups against the named peers.
func (s *session) puts(ctx context.Context, a about, group int, peers []string) (err error) {
	r, err := harness.NewRig(ctx, s.Temp, queue.Definition{}, harness.Setting{})
	if err != nil {
		return err
	}
	defer func() { err = harness.JoinCleanup(err, r.Remove()) }()
	p := &putter{rig: r, writers: a.writers, group: group, body: harness.MakeBody(harness.BodyBytes)}
	if _, err := p.Run(ctx, s.warmUp); err != nil {
		return err
	}
	sides := make([]harness.Side, len(peers))
	for i, name := range peers {
		w, err := s.rawPeer(name, int64(a.writers*group), p.log.bytesEach())
		if err != nil {
			return err
		}
		sides[i] = w
		a.peers = append(a.peers, peer{name: name, perSync: w.Carries})
	}
	p.log = logged{}
	c, err := s.Alternate(ctx, s.Step, harness.ByRate, p, sides...)
	if err != nil {
		return err
	}
	a.log = &p.log
	s.rows(c, a)
	return nil
}

// rawPeer returns the writer of a case, for n messages at once of so many bytes each.
func (s *session) rawPeer(name string, n int64, bytesEach float64) (*harness.RawWriter, error) {
	switch name {
	case harness.CaseLone:
		return s.Raw.Writer(1, bytesEach)
	case harness.CaseBandwidth:
		return s.Raw.Bandwidth(bytesEach)
	default:
		return s.Raw.Writer(n, bytesEach)
	}
}
