package bench

import (
	"context"
	"slices"
	"time"
)

// experiments lists what can be measured, in the order of the report.
func (s *queueSession) experiments() (es []experiment) {
	// add plans work that compares so many sides in turns, over a store with so many messages.
	add := func(work string, p pacing, sides, depth int, run func(ctx context.Context) error) {
		takes := time.Duration(p.pairs*sides)*p.slice + filling(depth)
		es = append(es, experiment{work, p.pairs, takes, int64(depth)*bytesLogged + slack, run})
	}
	for _, writers := range s.writers {
		add("put", s.pacing, 3, 0, func(ctx context.Context) error { return s.put(ctx, writers) })
	}
	add("put-group", s.pacing, 2, 0, s.putGroup)
	add("put-pipelined", s.pacing, 2, 0, s.putPipelined)
	for _, readers := range []int{1, 16} {
		add("claim", s.pacing, 2, s.claimDepth, func(ctx context.Context) error { return s.claim(ctx, readers) })
	}
	for _, kind := range []string{conditionSame, conditionNew} {
		for _, depth := range s.depths {
			add("claim-where", s.pacing, 2, depth,
				func(ctx context.Context) error { return s.claimWhere(ctx, depth, kind) })
		}
	}
	for _, share := range shares {
		add("claim-deep", s.pacing, 2, s.deep, func(ctx context.Context) error { return s.claimDeep(ctx, share) })
	}
	add("hand-over", s.pacing, 2, s.waiters, s.handOver)
	for _, call := range besideCalls() {
		add(workBeside, s.pacing, 2, s.beyond, func(ctx context.Context) error { return s.beside(ctx, call) })
	}
	s.addStarts(add)
	for _, indexed := range []bool{false, true} {
		add("memory", pacing{pairs: 1}, 1, s.remembered,
			func(ctx context.Context) error { return s.memory(ctx, indexed) })
	}
	for _, writers := range []int{1, 16} {
		loads := int(s.cleaning.load / bytesLogged)
		add("cleaning", s.cleaning.pacing, 2, 4*loads+s.cleaning.part*s.cleaning.drains.pairs,
			func(ctx context.Context) error { return s.measureCleaning(ctx, writers) })
	}
	return es
}

// addStarts plans the starts. A copy of what they read lies beside each store.
func (s *queueSession) addStarts(add func(string, pacing, int, int, func(context.Context) error)) {
	depths := s.restarts
	if s.Deep && !s.Quick {
		depths = append(slices.Clone(depths), deepRestart)
	}
	for _, depth := range depths {
		p := pacing{2 * s.starts, filling(depth) / 10}
		add("restart", p, 1, depth*5/4, func(ctx context.Context) error { return s.restart(ctx, depth) })
	}
	p := pacing{s.starts, filling(s.killed)}
	add("restart", p, 1, 3*s.killed, func(ctx context.Context) error { return s.restartKilled(ctx, s.killed) })
}

// queueWorks lists the names of the works.
func queueWorks() []string { return worksOf((&queueSession{extent: quick}).experiments()) }
