package cluster

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// The cases of puts, besides ours.
const (
	caseAppends = "appends" // to the replicated log, without a store, by as many at once
	caseLone    = "lone"    // the same, one after the other
	caseAlone   = "alone"   // the same store over a journal in files, on one node
	caseSync    = "sync"    // one write and fdatasync of this disk
)

// putSides are what puts compare, for any number of writers.
type putSides struct {
	ours  *queue.Store    // over a log on three nodes
	bare  journal.Journal // such a log, of other nodes
	alone *queue.Store
	raw   *harness.RawLog
}

// openPuts opens what puts compare, once.
func (s *session) openPuts(ctx context.Context) error {
	if s.sides != nil {
		return nil
	}
	var trios [2]*trio
	err := harness.Crowd(ctx, len(trios), func(ctx context.Context, i int) (err error) {
		trios[i], err = openTrio(ctx, s.Temp)
		return err
	})
	for _, t := range trios {
		if t != nil {
			s.later(t.remove)
		}
	}
	if err != nil {
		return err
	}
	p := &putSides{bare: trios[1].owned}
	p.bare.Keep(func(func(journal.Address) bool) {})
	if p.ours, err = queue.Open(ctx, queue.Options{Journal: trios[0].owned}); err != nil {
		return err
	}
	s.later(p.ours.Close)
	if _, err := p.ours.CreateQueue(ctx, harness.Measured, queue.Definition{}); err != nil {
		return err
	}
	rig, err := harness.NewRig(ctx, s.Temp, queue.Definition{}, harness.Setting{})
	if err != nil {
		return err
	}
	s.later(rig.Remove)
	p.alone = rig.Store
	if err := s.OpenRaw(ctx); err != nil {
		return err
	}
	s.later(s.Raw.Close)
	p.raw, s.sides = s.Raw, p
	return nil
}

// putter is writers of single messages into a store, who wait for each to be durable.
type putter struct {
	store   *queue.Store
	writers int
	log     journal.Stats // what they have written, as far as its fields are used
	n       int64         // messages they have put
	kept    *harness.Kept // nil: nobody can count the syncs that a put needs
}

// keeping is a putter into a store over files of its own: each put waits for a sync of theirs. Of a log on three nodes
// any two may have synced a put, and one of them can be asked.
func keeping(store *queue.Store, writers int) *putter {
	return &putter{store: store, writers: writers, kept: harness.KeptBy(func() (uint64, error) {
		return store.JournalStats().Syncs, nil
	})}
}

// check fails when there were fewer syncs than the puts need.
func (p *putter) check(name string) error { return p.kept.Check(name, p.n, p.writers) }

// Run implements harness.Side.
func (p *putter) Run(ctx context.Context, d time.Duration) (harness.Sample, error) {
	msgs := []message.Message{{Body: harness.MakeBody(harness.BodyBytes)}}
	before := p.store.JournalStats()
	var got harness.Sample
	err := p.kept.During(func() (err error) {
		got, err = crowd(ctx, p.writers, d, func(ctx context.Context) error {
			_, err := p.store.Put(ctx, harness.Measured, msgs)
			return err
		})
		return err
	})
	if err != nil {
		return got, err
	}
	after := p.store.JournalStats()
	p.n += got.N
	p.log.Groups += after.Groups - before.Groups
	p.log.Bytes += after.Bytes - before.Bytes
	_, err = p.store.Purge(ctx, harness.Measured) // each slice begins with an empty queue
	return got, err
}

// bytesEach is what a message takes in the log.
func (p *putter) bytesEach() float64 { return float64(p.log.Bytes) / float64(max(p.n, 1)) }

// crowd has so many callers call one after the other for some time.
func crowd(ctx context.Context, callers int, d time.Duration,
	call func(context.Context) error) (harness.Sample, error) {
	calls := make([][]time.Duration, callers)
	began := time.Now()
	err := harness.Crowd(ctx, callers, func(ctx context.Context, i int) error {
		for last := began; last.Sub(began) < d; {
			if err := errors.Join(ctx.Err(), call(ctx)); err != nil {
				return err
			}
			now := time.Now()
			calls[i] = append(calls[i], now.Sub(last))
			last = now
		}
		return nil
	})
	s := harness.Sample{Elapsed: time.Since(began)}
	for _, own := range calls {
		s.N += int64(len(own))
		s.Calls = append(s.Calls, own...)
	}
	return s, err
}

// appender is writers that append a record each to a log, and wait for it to be durable.
type appender struct {
	journal journal.Journal
	writers int
	bytes   int // of a record
}

// Run implements harness.Side.
func (a *appender) Run(ctx context.Context, d time.Duration) (harness.Sample, error) {
	const head = 40
	record := []journal.Record{{Life: journal.Lasting, Head: make([]byte, head),
		Body: harness.MakeBody(max(a.bytes-head, 1))}}
	s, err := crowd(ctx, a.writers, d, func(context.Context) error {
		done := make(chan error, 1)
		err := a.journal.Append(record, func(_ journal.Position, err error, _ int) { done <- err })
		if err != nil {
			return err
		}
		return <-done
	})
	if err == nil {
		a.journal.ReleaseBefore(a.journal.End() + 1) // off the clock, as the store's messages are purged
	}
	return s, err
}

// put compares puts by so many writers with raw appends, with one node and with the disk.
func (s *session) put(ctx context.Context, writers int) error {
	if err := s.openPuts(ctx); err != nil {
		return err
	}
	ours, alone := &putter{store: s.sides.ours, writers: writers}, keeping(s.sides.alone, writers)
	for _, p := range []*putter{ours, alone} {
		if _, err := p.Run(ctx, s.warmUp); err != nil {
			return err
		}
	}
	bytes := int(ours.bytesEach())
	sync, err := s.sides.raw.Writer(1, float64(bytes))
	if err != nil {
		return err
	}
	peers := []struct {
		name, ratio string
		side        harness.Side
	}{
		{caseAppends, "ratio", &appender{s.sides.bare, writers, bytes}},
		{caseLone, "ratio_lone", &appender{s.sides.bare, 1, bytes}},
		{caseAlone, "ratio_alone", alone},
		{caseSync, "ratio_sync", sync},
	}
	by, goals := harness.ByRate, []harness.Goal{harness.AtLeast("ratio", 0.8)}
	switch writers {
	case 1:
		peers = append(peers[:1], peers[2:]...) // they are the same
		by, goals = harness.ByTime(0.5), []harness.Goal{harness.AtMost("ratio", 1.3)}
	case 64:
		goals = append(goals, harness.AtLeast("ratio_lone", 10))
	}
	var sides []harness.Side
	for _, p := range peers {
		sides = append(sides, p.side)
	}
	if _, err := peers[0].side.Run(ctx, s.warmUp); err != nil {
		return err
	}
	ours.n, ours.log = 0, journal.Stats{}
	c, err := s.Alternate(ctx, s.Step, by, ours, sides...)
	if err != nil {
		return err
	}
	if err := alone.check(caseAlone); err != nil {
		return err
	}
	r := s.Report.Row(harness.CaseOurs, workPut).Set("writers", writers).Set("bytes", harness.BodyBytes)
	r.Times(c.Ours.Calls).Rate(c.Ours.N, c.Ours.Elapsed)
	for i, p := range peers {
		harness.SetRatio(r, p.ratio, c.Peers[i].Ratios)
	}
	r.Set("per_group", harness.Hundredths(float64(ours.n)/float64(max(ours.log.Groups, 1))))
	r.Set("log_bytes", math.Round(ours.bytesEach()))
	harness.Judge(r, s.Quick, goals...)
	for i, p := range peers {
		t, at := c.Peers[i].Total, writers
		if p.name == caseLone || p.name == caseSync {
			at = 1
		}
		r := s.Report.Row(p.name, workPut).Set("writers", at).Set("bytes", harness.BodyBytes).Times(t.Calls).
			Rate(t.N, t.Elapsed)
		if p.name == caseAlone {
			alone.kept.Tell(r)
		}
	}
	return nil
}
