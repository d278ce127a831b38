package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// loaders is how many write at once until there is something to clean.
const loaders = 64

// measureCleaning measures puts while the store is being cleaned, what that writes, and the reading of what was left
// behind.
func (s *queueSession) measureCleaning(ctx context.Context, writers int) (err error) {
	e := s.cleaning
	r, err := newRig(ctx, s.dir, queue.Definition{},
		setting{segmentBytes: e.segmentBytes, checkpointBytes: e.checkpointBytes})
	if err != nil {
		return err
	}
	defer func() { err = joinCleanup(err, r.remove()) }()
	if _, err := r.store.CreateQueue(ctx, stuck, queue.Definition{}); err != nil {
		return err
	}
	t := &traffic{rig: r, writers: loaders, body: makeBody(bodyBytes)}
	for r.store.JournalStats().Bytes < e.load {
		if _, err := t.run(ctx, e.slice); err != nil {
			return err
		}
	}
	t.writers, t.log = writers, logged{}
	since := r.store.JournalStats()
	if _, err := t.run(ctx, e.slice); err != nil { // tells what a message takes
		return err
	}
	if err := s.cleaningPuts(ctx, t, since); err != nil {
		return err
	}
	if err := t.check(); err != nil {
		return err
	}
	s.copies(t, writers)
	return s.drains(ctx, t)
}

// cleaningPuts compares the slowest puts with those of raw writers who share a log beside a copier.
func (s *queueSession) cleaningPuts(ctx context.Context, t *traffic, since journal.Stats) error {
	put, err := t.putBytes(ctx)
	if err != nil {
		return err
	}
	ours := &cleaned{traffic: t}
	log := newSharedLog(s.raw)
	raw := &appenders{log: log, writers: t.writers, put: put, settle: max(1, int(t.log.bytesEach())-put)}
	c, remove, err := newCopier(ctx, s.dir, func() int64 { return ours.copied })
	if err != nil {
		return err
	}
	result, err := s.cleaning.alternate(ctx, s.step, byTime(0.999), ours, &besideCopier{raw, c})
	if err = joinCleanup(err, remove()); err != nil {
		return err
	}
	peers := []peer{{name: caseCopier, perSync: result.peers[0].n / max(1, log.round)}}
	peers[0].more = func(r *measure.Row) {
		r.Set("p999_ms", measure.Milliseconds(result.peers[0].calls.Quantile(0.999))).Set("copied_mb",
			megabytes(c.wrote))
	}
	now := t.rig.store.JournalStats()
	s.rows(result, about{
		work: "cleaning", writers: t.writers, log: &t.log, peers: peers, goals: []goal{atMost("ratio", 2)},
		more: func(r *measure.Row) {
			r.Set("p999_ms", measure.Milliseconds(result.ours.calls.Quantile(0.999))).
				Set("copied_mb", megabytes(int64(now.CopiedBytes-since.CopiedBytes))).
				Set("checkpoint_mb", megabytes(int64(now.CheckpointBytes-since.CheckpointBytes)))
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

func (c *cleaned) run(ctx context.Context, d time.Duration) (sample, error) {
	before := c.traffic.besides()
	s, err := c.traffic.run(ctx, d)
	if err != nil {
		return sample{}, err
	}
	last := c.traffic.besides()
	c.copied += last - before
	look := time.NewTicker(restLook)
	defer look.Stop()
	calm := 0
	for waited := time.Duration(0); calm < restLooks && waited < restMost; waited += restLook {
		select {
		case <-ctx.Done():
			return sample{}, ctx.Err()
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
func (s *queueSession) copies(t *traffic, writers int) {
	st := t.rig.store.JournalStats()
	r := s.report.Row(caseOurs, "cleaning-copies").Set("writers", writers).Set("bytes", bodyBytes)
	r.Set("log_mb", megabytes(int64(st.Bytes))).Set("copied_mb", megabytes(int64(st.CopiedBytes))).
		Set("checkpoint_mb", megabytes(int64(st.CheckpointBytes))).Set("live_mb", megabytes(int64(st.LiveBytes))).
		Set("total_mb", megabytes(int64(st.TotalBytes))).
		Set("amplification", hundredths(float64(st.Bytes+st.CopiedBytes+st.CheckpointBytes)/float64(st.Bytes)))
	judge(r, s.Quick, atMost("amplification", 1.3))
}

// drainReaders is how many read what was left behind.
const drainReaders = 4

// drainer reads a part of what waits, with nothing of it in the system's cache; each run is one part.
type drainer struct {
	rig  *rig
	part int // messages, a multiple of those that a reader claims at once
}

func (d *drainer) run(ctx context.Context, _ time.Duration) (s sample, err error) {
	if err := evictFolder(d.rig.dir); err != nil {
		return sample{}, err
	}
	began := time.Now()
	each := d.part / drainReaders
	err = crowd(ctx, drainReaders, func(ctx context.Context, _ int) error {
		for left := each; left > 0; {
			n, err := drain(ctx, d.rig, stuck, min(left, fillGroup), 0)
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
		return sample{}, err
	}
	s.elapsed = time.Since(began)
	s.calls = []time.Duration{s.elapsed}
	s.n = int64(each * drainReaders)
	return s, nil
}

// drains compares reading what was left behind, and what is put behind it to have enough, with reading as many bytes in
// order.
func (s *queueSession) drains(ctx context.Context, t *traffic) (err error) {
	if evicts, err := s.evicts(); err != nil || !evicts {
		return err
	}
	p := s.cleaning.drains
	// shorter parts would tell of their beginnings and ends
	if more := s.cleaning.part*p.pairs - int(t.stuck.Load()); more > 0 {
		if err := t.rig.fill(ctx, stuck, more,
			func() message.Message { return message.Message{Body: t.body} }); err != nil {
			return err
		}
		t.stuck.Add(int64(more))
	}
	d := &drainer{rig: t.rig, part: int(t.stuck.Load()) / p.pairs / drainReaders * drainReaders}
	limit := &sequential{name: filepath.Join(s.dir, "drain-limit"), bytes: int64(d.part) * bodyBytes,
		messages: int64(d.part), cold: true}
	if err := writeDurably(limit.name, makeBody(int(limit.bytes))); err != nil {
		return err
	}
	defer func() { err = joinCleanup(err, os.Remove(limit.name)) }()
	c, err := p.alternate(ctx, func() {}, byRate, d, limit)
	if err != nil {
		return err
	}
	rate := func(t *total) func(r *measure.Row) {
		return func(r *measure.Row) {
			r.Set("mb_per_s", hundredths(float64(t.n*bodyBytes)/1e6/t.elapsed.Seconds()))
		}
	}
	s.rows(c, about{
		work: "cleaning-drain", writers: drainReaders,
		peers: []peer{{name: caseLimit, read: limit.bytes, more: rate(&c.peers[0].total)}},
		goals: []goal{atLeast("ratio", 0.5)}, more: rate(&c.ours),
	})
	return nil
}
