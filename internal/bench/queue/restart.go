package queue

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/machine"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// What was before a start.
const (
	startClean  = "clean"       // the process was stopped and saved a checkpoint
	startCold   = "clean, cold" // and the system has forgotten the files, as after it was started itself
	startKilled = "killed"      // the process died without a checkpoint: its log has to be read
)

// opener starts a store with waiting messages; each run is one start. Unless it is cold, the files are in the system's
// cache, as they are after a process was started again.
type opener struct {
	home   string // what the process before left behind
	copies bool   // start from a copy each time, since a start after a death repairs what it finds
	cold   bool
	depth  int

	rss, heap int64 // of the last start: resident, and heap that the store takes
	read      int64 // bytes that the last start read; 0 when that cannot be told
}

func (o *opener) Run(ctx context.Context, _ time.Duration) (s harness.Sample, err error) {
	dir := o.home
	if o.copies {
		dir = o.home + "-copy"
		if err := copyFolder(ctx, dir, o.home); err != nil {
			return harness.Sample{}, err
		}
		defer func() { err = harness.JoinCleanup(err, os.RemoveAll(dir)) }()
	}
	if o.cold {
		if err := evictFolder(dir); err != nil {
			return harness.Sample{}, err
		}
	}
	harness.SettleMemory()
	heap, read := harness.HeapBytes(), machine.BytesRead()
	began := time.Now()
	r, err := harness.OpenRig(ctx, dir, harness.Setting{})
	if err != nil {
		return harness.Sample{}, fmt.Errorf("start with %d waiting messages: %w", o.depth, err)
	}
	s.Elapsed = time.Since(began)
	s.Calls = []time.Duration{s.Elapsed}
	s.N = int64(o.depth)
	o.read = machine.BytesRead() - read
	o.heap = max(0, harness.HeapBytes()-heap)
	o.rss = machine.ResidentBytes()
	stats, err := r.Store.Stats(ctx, harness.Measured)
	if err == nil && stats.Ready != int64(o.depth) {
		err = fmt.Errorf("%d messages are ready after a start, %d were put", stats.Ready, o.depth)
	}
	return s, errors.Join(err, r.Close())
}

// restart measures how long a start takes when so many messages wait, after a clean stop: with the files in the
// system's cache, and without.
func (s *session) restart(ctx context.Context, depth int) (err error) {
	home, err := s.leave(ctx, depth, startClean)
	if err != nil {
		return err
	}
	defer func() { err = harness.JoinCleanup(err, os.RemoveAll(filepath.Dir(home))) }()
	if err := s.compareStarts(ctx, &opener{home: home, depth: depth}, about{start: startClean}); err != nil {
		return err
	}
	if evicts, err := s.evicts(); err != nil || !evicts {
		return err
	}
	return s.compareStarts(ctx, &opener{home: home, depth: depth, cold: true},
		about{start: startCold, goals: coldGoals(depth)})
}

// coldGoals are what is asked of a start with so many messages whose files are not in the system's cache.
func coldGoals(depth int) []harness.Goal {
	switch depth {
	case 1_000_000:
		return []harness.Goal{harness.AtMost("p50_ms", 800)}
	case deepRestart:
		return []harness.Goal{harness.AtMost("p50_ms", 6000)}
	}
	return nil
}

// restartKilled measures a start after a death.
func (s *session) restartKilled(ctx context.Context, depth int) (err error) {
	home, err := s.leave(ctx, depth, startKilled)
	if err != nil {
		return err
	}
	defer func() { err = harness.JoinCleanup(err, os.RemoveAll(filepath.Dir(home))) }()
	return s.compareStarts(ctx, &opener{home: home, depth: depth, copies: true}, about{start: startKilled})
}

// compareStarts compares starts with reading as many bytes, in order, of the files they read.
func (s *session) compareStarts(ctx context.Context, o *opener, a about) (err error) {
	if _, err := o.Run(ctx, 0); err != nil { // tells how much a start reads
		return err
	}
	limit := &sequential{name: o.home + "-limit", messages: int64(o.depth), cold: o.cold}
	if limit.bytes, err = concatenate(ctx, limit.name, o.home, o.read); err != nil {
		return err
	}
	defer func() { err = harness.JoinCleanup(err, os.Remove(limit.name)) }()
	c, err := harness.Pacing{Pairs: s.starts}.Alternate(ctx, s.Step, harness.ByRate, o, limit)
	if err != nil {
		return err
	}
	a.work, a.depth, a.peers = "restart", o.depth, []peer{{name: harness.CaseLimit, read: limit.bytes}}
	a.more = func(r *measure.Row) {
		r.Set("read_mb", harness.Megabytes(o.read)).Set("rss_mb", harness.Megabytes(o.rss)).Set("message_bytes",
			math.Round(float64(o.heap)/float64(o.depth)))
	}
	s.rows(c, a)
	return nil
}

// leave makes the folder that a store with so many messages leaves behind.
func (s *session) leave(ctx context.Context, depth int, how string) (home string, err error) {
	r, err := harness.NewRig(ctx, s.Temp, queue.Definition{}, harness.Setting{})
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			err = harness.JoinCleanup(err, os.RemoveAll(filepath.Dir(r.Dir)))
		}
	}()
	body := harness.MakeBody(harness.BodyBytes)
	err = r.Fill(ctx, harness.Measured, depth, func() message.Message { return message.Message{Body: body} })
	if how == startClean {
		return r.Dir, errors.Join(err, r.Close())
	}
	// What a killed process leaves is what its files hold while it lives: everything acknowledged, no last checkpoint.
	home = filepath.Join(filepath.Dir(r.Dir), "killed")
	if err == nil {
		err = copyFolder(ctx, home, r.Dir)
	}
	return home, errors.Join(err, r.Close(), os.RemoveAll(r.Dir))
}
