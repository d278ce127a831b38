// Package cluster measures a cluster of three nodes that share this machine, beside what it stands on. Run says what is
// measured; it is hikyaku bench cluster. It is no test: no speed is right or wrong here.
package cluster

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// The works of the cluster bench.
const (
	workPut      = "put"
	workForward  = "forward"
	workHandOff  = "hand-off"
	workCrowd    = "crowd"
	workMove     = "move"
	workTakeover = "takeover"
	workCheck    = "check" // of the two before it
)

// Run measures a cluster of three nodes, all of them on this machine's processors and its disk, which each of them
// syncs:
//
//   - put: durable puts of one message by each of some writers, into a store over a log on three nodes, in this
//     process. Its peers are raw appends to such a log, of as many records of as many bytes at once (appends), of one
//     after the other (lone); the same store over files on this machine alone (alone); and one write and fdatasync of a
//     record (sync). For one writer the ratios are of the p50, and less is better. For more they are of rates: of
//     messages and of groups, which are the same, as each put is a group of its own. The syncs of the store over files
//     are counted, and a run with fewer than its puts need fails; those of a log on three nodes are not: any two of
//     them may have synced a put.
//
// The rest is of three processes, each hikyaku serve, with messages of 1,000 bytes that wait in one queue, and clients
// of their HTTP doors:
//
//   - forward: requests, one after the other, at a node that does not own the shard, which passes them on; a durable
//     put, and a claim of a queue with nothing in it. Its peer is the owner's own door (local), and the figure is how
//     much longer they take, at the p50.
//   - hand-off: a message is put at the owner while a claim waits at another node: the time from the putting until the
//     claim has it; beyond is what is left of that after the putter has its answer, which is when the message is on
//     most nodes. Its peer is a claim that waits at the owner (local).
//   - crowd: many claims wait at the two other nodes, each on a connection of its own, and a message is put for each.
//     The memory is that of the owner's process and of the others' for each claim. Local is the same at the owner.
//   - move: the shard is given from one node to another, as hikyaku cluster move does. The time is the longest between
//     two acknowledgements to a lone writer at one of the nodes meanwhile; still is that of the same writer, as long,
//     while nothing is moved.
//   - takeover: the owner is killed, as kill -9 does: the time from then until a put at another node is acknowledged,
//     and until a claim there is handed a message. Election is that until another node owns the log, of the same kills.
//   - check: in the end all messages are claimed, and what was acknowledged has to be there.
//
// Where a number is asked for, the row says which, in asked, and whether it was met. The error is that of a message
// that was acknowledged and is missing, too.
func Run(ctx context.Context, o harness.Options) error {
	s := &session{Session: harness.New("cluster", o, view()), extent: whole}
	if o.Quick {
		s.extent = quick
	}
	s.Session.Works = Works()
	s.Wants = func(work string) bool {
		if work == workCheck {
			return s.Wants(workMove) || s.Wants(workTakeover)
		}
		return len(o.Only) == 0 || slices.Contains(o.Only, work)
	}
	return s.Measure(ctx, s.experiments(), nil, s.close)
}

// extent says how much is measured.
type extent struct {
	harness.Pacing
	warmUp  time.Duration // before each comparison, uncounted
	writers []int         // who put at once
	handed  int           // messages, in a slice, to a claim that waits
	crowds  []int         // claims that wait at once
	moves   int           // of the shard
	killed  int           // owners, if Options.Kills does not say
	waits   int           // messages, if Options.Waiting does not say
}

// The whole takes some ten minutes, the quick one some seconds.
var (
	whole = extent{
		Pacing: harness.Pacing{Pairs: 15, Slice: 500 * time.Millisecond}, warmUp: 300 * time.Millisecond,
		writers: []int{1, 16, 64}, handed: 100, crowds: []int{1000}, moves: 20, killed: 20, waits: 10_000,
	}
	quick = extent{
		Pacing: harness.Pacing{Pairs: 2, Slice: 30 * time.Millisecond}, warmUp: 20 * time.Millisecond,
		writers: []int{1, 64}, handed: 10, crowds: []int{100}, moves: 2, killed: 2, waits: 500,
	}
)

// session is one run.
type session struct {
	harness.Session
	extent
	sides   *putSides // nil before the first of the puts
	nodes   *nodes    // nil before the first work that needs them
	book    ledger
	cleanup []func() error
}

// later has something closed when the session ends, the last first.
func (s *session) later(closing func() error) { s.cleanup = append(s.cleanup, closing) }

func (s *session) close(context.Context) error {
	var errs []error
	for _, closing := range slices.Backward(s.cleanup) {
		errs = append(errs, closing())
	}
	return errors.Join(errs...)
}

// kills is how often an owner is killed.
func (s *session) kills() int { return or(s.Kills, s.killed) }

// waiting is how many messages wait meanwhile.
func (s *session) waiting() int { return or(s.Waiting, s.waits) }

// or is n, or instead where that is not set.
func or(n, instead int) int {
	if n > 0 {
		return n
	}
	return instead
}

// deepCrowd is how many claims wait where that is asked for: their connections need files and memory.
const deepCrowd = 10_000

// opening is how long it takes, about, until a log has an owner.
const opening = 3 * time.Second

// experiments lists what can be measured, in the order of the report.
func (s *session) experiments() (es []harness.Experiment) {
	add := func(work string, steps int, takes time.Duration, disk int64, run func(ctx context.Context) error) {
		es = append(es, harness.Experiment{Work: work, Steps: steps, Takes: takes, Disk: disk, Run: run})
	}
	for i, writers := range s.writers {
		takes := time.Duration(5*s.Pairs) * s.Slice
		if i == 0 {
			takes += opening
		}
		add(workPut, s.Pairs, takes, 4*harness.Slack,
			func(ctx context.Context) error { return s.put(ctx, writers) })
	}
	add(workForward, 2*s.Pairs, opening+time.Duration(4*s.Pairs)*s.Slice, 4*harness.Slack, s.forwarded)
	add(workHandOff, s.Pairs+1, time.Duration(2*s.Pairs*s.handed)*5*time.Millisecond, 0, s.handOffs)
	crowds := s.crowds
	if s.Deep && !s.Quick {
		crowds = append(slices.Clone(crowds), deepCrowd)
	}
	for _, n := range crowds {
		add(workCrowd, 2, 2*time.Second+time.Duration(n)*2*time.Millisecond, 0,
			func(ctx context.Context) error { return s.crowded(ctx, n) })
	}
	// Each node has what waits, and checkpoints.
	disk := 4 * (int64(s.waiting())*harness.BytesLogged + harness.Slack)
	fills := 10 * harness.Filling(s.waiting())
	add(workMove, s.moves, opening+fills+time.Duration(s.moves)*time.Second, disk, s.shifts)
	add(workTakeover, s.kills(), fills+time.Duration(s.kills())*2*opening, disk, s.takeovers)
	add(workCheck, 1, fills, 0, s.check)
	return es
}

// Works lists the names of the works that can be asked for.
func Works() []string {
	return []string{workPut, workForward, workHandOff, workCrowd, workMove, workTakeover}
}
