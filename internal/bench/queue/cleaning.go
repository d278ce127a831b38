package queue

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// loaders is how many write at once until there is something to clean.
const loaders = 64

// measureCleaning measures puts while the store is being cleaned, what that writes, and the reading of what was left
// behind.
func (s *session) measureCleaning(ctx context.Context, writers int) (err error) {
	e := s.cleaning
	r, err := harness.NewRig(ctx, s.Temp, queue.Definition{},
		harness.Setting{SegmentBytes: e.segmentBytes, CheckpointBytes: e.checkpointBytes})
	if err != nil {
		return err
	}
	defer func() { err = harness.JoinCleanup(err, r.Remove()) }()
	if _, err := r.Store.CreateQueue(ctx, harness.Stuck, queue.Definition{}); err != nil {
		return err
	}
	t := &traffic{rig: r, writers: loaders, body: harness.MakeBody(harness.BodyBytes)}
	for r.Store.JournalStats().Bytes < e.load {
		if _, err := t.Run(ctx, e.Slice); err != nil {
			return err
		}
	}
	t.writers, t.log = writers, logged{}
	since := r.Store.JournalStats()
	if _, err := t.Run(ctx, e.Slice); err != nil { // tells what a message takes
		return err
	}
	if err := s.cleaningPuts(ctx, t, since); err != nil {
		return err
	}
	if err := t.check(ctx); err != nil {
		return err
	}
	s.copies(t, writers)
	return s.drains(ctx, t)
}

// cleaningPuts compares the slowest puts with those of raw writers who share a log beside a copier.
func (s *session) cleaningPuts(ctx context.Context, t *traffic, since journal.Stats) error {
	put, err := t.putBytes(ctx)
	if err != nil {
		return err
	}
	ours := &cleaned{traffic: t}
	log := newSharedLog(s.Raw)
	raw := &appenders{log: log, writers: t.writers, put: put, settle: max(1, int(t.log.bytesEach())-put)}
	c, remove, err := newCopier(ctx, s.Temp, func() int64 { return ours.copied })
	if err != nil {
		return err
	}
	result, err := s.cleaning.Alternate(ctx, s.Step, harness.ByTime(0.999), ours, &besideCopier{raw, c})
	if err = harness.JoinCleanup(err, remove()); err != nil {
		return err
	}
	peers := []peer{{name: harness.CaseCopier, perSync: result.Peers[0].N / max(1, log.round)}}
	peers[0].more = func(r *measure.Row) {
		r.Set("p999_ms", measure.Milliseconds(result.Peers[0].Calls.Quantile(0.999))).Set("copied_mb",
			harness.Megabytes(c.wrote))
	}
	now := t.rig.Store.JournalStats()
	s.rows(result, about{
		work: "cleaning", writers: t.writers, log: &t.log, peers: peers,
		goals: []harness.Goal{harness.AtMost("ratio", 2)},
		more: func(r *measure.Row) {
			r.Set("p999_ms", measure.Milliseconds(result.Ours.Calls.Quantile(0.999))).
				Set("copied_mb", harness.Megabytes(int64(now.CopiedBytes-since.CopiedBytes))).
				Set("checkpoint_mb", harness.Megabytes(int64(now.CheckpointBytes-since.CheckpointBytes)))
		},
	})
	return nil
}

// cleaned is traffic that counts what the store wrote besides its log meanwhile, and does not end before the store is
// at rest: what it has still to do would fall on the next one.
type cleaned struct {
	traffic *traffic
	copied  int64
}

// A store is at rest when so many looks in a row saw nothing written.
const (
	restLook  = 50 * time.Millisecond
	restLooks = 4
	restMost  = 100 * restLook
)

func (c *cleaned) Run(ctx context.Context, d time.Duration) (harness.Sample, error) {
	before := c.traffic.besides()
	s, err := c.traffic.Run(ctx, d)
	if err != nil {
		return harness.Sample{}, err
	}
	last := c.traffic.besides()
	c.copied += last - before
	look := time.NewTicker(restLook)
	defer look.Stop()
	calm := 0
	for waited := time.Duration(0); calm < restLooks && waited < restMost; waited += restLook {
		select {
		case <-ctx.Done():
			return harness.Sample{}, ctx.Err()
		case <-look.C:
		}
		now := c.traffic.besides()
		if calm++; now != last {
			last, calm = now, 0
		}
	}
	return s, nil
}

// copies reports what the store has written besides its log.
func (s *session) copies(t *traffic, writers int) {
	st := t.rig.Store.JournalStats()
	r := s.Report.Row(harness.CaseOurs, "cleaning-copies").Set("writers", writers).Set("bytes", harness.BodyBytes)
	r.Set("log_mb", harness.Megabytes(int64(st.Bytes))).Set("copied_mb", harness.Megabytes(int64(st.CopiedBytes))).
		Set("checkpoint_mb", harness.Megabytes(int64(st.CheckpointBytes))).Set("live_mb",
		harness.Megabytes(int64(st.LiveBytes))).
		Set("total_mb", harness.Megabytes(int64(st.TotalBytes))).
		Set("amplification", harness.Hundredths(float64(st.Bytes+st.CopiedBytes+st.CheckpointBytes)/float64(st.Bytes)))
	harness.Judge(r, s.Quick, harness.AtMost("amplification", 1.3))
}

// drainReaders is how many read what was left behind.
const drainReaders = 4

// drainer reads a part of what waits, with nothing of it in the system's cache; each run is one part.
type drainer struct {
	rig  *harness.Rig
	part int // messages, a multiple of those that a reader claims at once
}

func (d *drainer) Run(ctx context.Context, _ time.Duration) (s harness.Sample, err error) {
	if err := evictFolder(d.rig.Dir); err != nil {
		return harness.Sample{}, err
	}
	began := time.Now()
	each := d.part / drainReaders
	err = harness.Crowd(ctx, drainReaders, func(ctx context.Context, _ int) error {
		for left := each; left > 0; {
			n, err := harness.Drain(ctx, d.rig, harness.Stuck, min(left, harness.FillGroup), 0)
			if err != nil {
				return err
			}
			if n == 0 {
				return fmt.Errorf("nothing is left to be read, though %d messages should wait", left)
			}
			left -= n
		}
		return nil
	})
	if err != nil {
		return harness.Sample{}, err
	}
	s.Elapsed = time.Since(began)
	s.Calls = []time.Duration{s.Elapsed}
	s.N = int64(each * drainReaders)
	return s, nil
}

// drains compares reading what was left behind, and what is put behind it to have enough, with reading as many bytes in
// order.
func (s *session) drains(ctx context.Context, t *traffic) (err error) {
	if evicts, err := s.evicts(); err != nil || !evicts {
		return err
	}
	p := s.cleaning.drains
	// shorter parts would tell of their beginnings and ends
	if more := s.cleaning.part*p.Pairs - int(t.stuck.Load()); more > 0 {
		if err := t.rig.Fill(ctx, harness.Stuck, more,
			func() message.Message { return message.Message{Body: t.body} }); err != nil {
			return err
		}
		t.stuck.Add(int64(more))
	}
	d := &drainer{rig: t.rig, part: int(t.stuck.Load()) / p.Pairs / drainReaders * drainReaders}
	limit := &sequential{name: filepath.Join(s.Temp, "drain-limit"), bytes: int64(d.part) * harness.BodyBytes,
		messages: int64(d.part), cold: true}
	if err := writeDurably(limit.name, harness.MakeBody(int(limit.bytes))); err != nil {
		return err
	}
	defer func() { err = harness.JoinCleanup(err, os.Remove(limit.name)) }()
	c, err := p.Alternate(ctx, func() {}, harness.ByRate, d, limit)
	if err != nil {
		return err
	}
	rate := func(t *harness.Total) func(r *measure.Row) {
		return func(r *measure.Row) {
			r.Set("mb_per_s", harness.Hundredths(float64(t.N*harness.BodyBytes)/1e6/t.Elapsed.Seconds()))
		}
	}
	s.rows(c, about{
		work: "cleaning-drain", writers: drainReaders,
		peers: []peer{{name: harness.CaseLimit, read: limit.bytes, more: rate(&c.Peers[0].Total)}},
		goals: []harness.Goal{harness.AtLeast("ratio", 0.5)}, more: rate(&c.Ours),
	})
	return nil
}
