package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// experiment is the measuring of one work in one setting.
type experiment struct {
	work  string // as Options.Only names it
	steps int    // pairs of slices
	takes time.Duration
	disk  int64 // bytes it needs there at most
	run   func(ctx context.Context) error
}

// What filling takes, about, for estimates.
const (
	fillsASecond = 150_000
	bytesLogged  = bodyBytes + 200 // by a message that waits
	slack        = 512 << 20       // what any store may have set aside or not yet reclaimed
)

// filling is how long it takes, about, to put n messages.
func filling(n int) time.Duration { return time.Duration(n) * time.Second / fillsASecond }

// experiments lists what can be measured, in the order of the report.
func (s *session) experiments() (es []experiment) {
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
func (s *session) addStarts(add func(string, pacing, int, int, func(context.Context) error)) {
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
func queueWorks() (names []string) {
	for _, e := range (&session{extent: quick}).experiments() {
		if !slices.Contains(names, e.work) {
			names = append(names, e.work)
		}
	}
	return names
}

// choose leaves the experiments that are wanted.
func choose(es []experiment, only []string) ([]experiment, error) {
	for _, name := range only {
		if !slices.ContainsFunc(es, func(e experiment) bool { return e.work == name }) {
			return nil, fmt.Errorf("there is no work %q: choose from %s", name, strings.Join(queueWorks(), ", "))
		}
	}
	if len(only) == 0 {
		return es, nil
	}
	return slices.DeleteFunc(es, func(e experiment) bool { return !slices.Contains(only, e.work) }), nil
}
