package queue

import (
	"context"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// experiments lists what can be measured, in the order of the report.
func (s *session) experiments() (es []harness.Experiment) {
	// add plans work that compares so many sides in turns, over a store with so many messages.
	add := func(work string, p harness.Pacing, sides, depth int, run func(ctx context.Context) error) {
		takes := time.Duration(p.Pairs*sides)*p.Slice + harness.Filling(depth)
		es = append(es, harness.Experiment{Work: work, Steps: p.Pairs, Takes: takes,
			Disk: int64(depth)*harness.BytesLogged + harness.Slack, Run: run})
	}
	for _, writers := range s.writers {
		add("put", s.Pacing, 3, 0, func(ctx context.Context) error { return s.put(ctx, writers) })
	}
	add("put-group", s.Pacing, 2, 0, s.putGroup)
	add("put-pipelined", s.Pacing, 2, 0, s.putPipelined)
	for _, readers := range []int{1, 16} {
		add("claim", s.Pacing, 2, s.claimDepth, func(ctx context.Context) error { return s.claim(ctx, readers) })
	}
	for _, kind := range []string{conditionSame, conditionNew} {
		for _, depth := range s.depths {
			add("claim-where", s.Pacing, 2, depth,
				func(ctx context.Context) error { return s.claimWhere(ctx, depth, kind) })
		}
	}
	for _, share := range shares {
		add("claim-deep", s.Pacing, 2, s.deep, func(ctx context.Context) error { return s.claimDeep(ctx, share) })
	}
	add("hand-over", s.Pacing, 2, s.waiters, s.handOver)
	for _, call := range besideCalls() {
		add(workBeside, s.Pacing, 2, s.beyond, func(ctx context.Context) error { return s.beside(ctx, call) })
	}
	for _, takes := range []bool{false, true} {
		add(workShards, s.Pacing, 2, 0, func(ctx context.Context) error { return s.shards(ctx, takes) })
	}
	add(workRelay, s.Pacing, 2, 0, s.relayed)
	s.addStarts(add)
	for _, indexed := range []bool{false, true} {
		add("memory", harness.Pacing{Pairs: 1}, 1, s.remembered,
			func(ctx context.Context) error { return s.memory(ctx, indexed) })
	}
	for _, writers := range []int{1, 16} {
		loads := int(s.cleaning.load / harness.BytesLogged)
		add("cleaning", s.cleaning.Pacing, 2, 4*loads+s.cleaning.part*s.cleaning.drains.Pairs,
			func(ctx context.Context) error { return s.measureCleaning(ctx, writers) })
	}
	return es
}

// addStarts plans the starts. A copy of what they read lies beside each store.
func (s *session) addStarts(add func(string, harness.Pacing, int, int, func(context.Context) error)) {
	depths := s.restarts
	if s.Deep && !s.Quick {
		depths = append(slices.Clone(depths), deepRestart)
	}
	for _, depth := range depths {
		p := harness.Pacing{Pairs: 2 * s.starts, Slice: harness.Filling(depth) / 10}
		add("restart", p, 1, depth*5/4, func(ctx context.Context) error { return s.restart(ctx, depth) })
	}
	p := harness.Pacing{Pairs: s.starts, Slice: harness.Filling(s.killed)}
	add("restart", p, 1, 3*s.killed, func(ctx context.Context) error { return s.restartKilled(ctx, s.killed) })
}

// Works lists the names of the works.
func Works() []string { return harness.WorksOf((&session{extent: quick}).experiments()) }
