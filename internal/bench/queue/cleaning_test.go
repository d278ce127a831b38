package queue

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/benchtest"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func testTraffic(t *testing.T, writers int) *traffic {
	t.Helper()
	r := testRig(t, queue.Definition{})
	if _, err := r.Store.CreateQueue(t.Context(), harness.Stuck, queue.Definition{}); err != nil {
		t.Fatal(err)
	}
	return &traffic{rig: r, writers: writers, body: harness.MakeBody(100)}
}

func TestTrafficLosesNothingAndLeavesATwentieth(t *testing.T) {
	tr := testTraffic(t, 8)
	calls := int64(0)
	for range 2 {
		s, err := tr.Run(t.Context(), 20*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		if s.N == 0 || int64(len(s.Calls)) != s.N || s.Elapsed < 20*time.Millisecond {
			t.Errorf("%d messages in %d calls within %v", s.N, len(s.Calls), s.Elapsed)
		}
		calls += s.N
	}
	if err := tr.check(t.Context()); err != nil {
		t.Error(err)
	}
	if tr.puts.Load() != calls || tr.stuck.Load() != calls/harness.StuckEach || tr.log.n != calls {
		t.Errorf("%d calls: %d puts, %d stuck, %d logged", calls, tr.puts.Load(), tr.stuck.Load(), tr.log.n)
	}
	st, err := tr.rig.Store.Stats(t.Context(), harness.Measured)
	if err != nil {
		t.Fatal(err)
	}
	if st.TotalPut != st.TotalDone || int64(st.TotalDone) != tr.settled.Load() {
		t.Errorf("%d put, %d settled, %d counted", st.TotalPut, st.TotalDone, tr.settled.Load())
	}
}

func TestTrafficThatLostAMessageIsNoFinding(t *testing.T) {
	tr := testTraffic(t, 1)
	if _, err := tr.Run(t.Context(), 20*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	tr.stuck.Add(1)
	if err := tr.check(t.Context()); err == nil || !strings.Contains(err.Error(), "stuck") {
		t.Errorf("one message too few waits: %v", err)
	}
}

func TestDrainerTakesEachMessageOnce(t *testing.T) {
	tr := testTraffic(t, 8)
	for tr.stuck.Load() < 4*drainReaders {
		if _, err := tr.Run(t.Context(), 10*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	waiting := tr.stuck.Load()
	d := &drainer{rig: tr.rig, part: drainReaders * 2}
	for i := int64(1); i <= 2; i++ {
		s, err := d.Run(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		st, err := tr.rig.Store.Stats(t.Context(), harness.Stuck)
		if err != nil {
			t.Fatal(err)
		}
		if s.N != int64(d.part) || st.Messages() != waiting-i*s.N || int64(st.TotalDone) != i*s.N || st.Claimed != 0 {
			t.Errorf("part %d: %d counted, %d settled, %d of %d left", i, s.N, st.TotalDone, st.Messages(), waiting)
		}
	}
	d.part = int(waiting) * drainReaders
	if _, err := d.Run(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "nothing is left") {
		t.Errorf("more than there is: %v", err)
	}
}

func TestCopierWritesAsMuchAsItsModelEvenly(t *testing.T) {
	log := benchtest.OpenRaw(t)
	synctest.Test(t, func(t *testing.T) {
		model := int64(10 * copyChunk)
		c := &copier{log: log, model: func() int64 { return model }}
		for _, step := range []struct {
			slice time.Duration // that it works for, of ten seconds
			adds  int64
			want  int64
		}{
			{5*time.Second + time.Millisecond, 0, 5},    // half of the time, half of the bytes
			{10*time.Second + time.Millisecond, 0, 10},  // the rest
			{10*time.Second + time.Millisecond, 0, 10},  // nothing is left
			{10*time.Second + time.Millisecond, 30, 40}, // more came
		} {
			model += step.adds * copyChunk
			ctx, cancel := context.WithTimeout(t.Context(), step.slice)
			if err := c.Run(ctx, 10*time.Second); err != nil {
				t.Error(err)
			}
			cancel()
			if c.wrote != step.want*copyChunk {
				t.Errorf("%d chunks of %d after another %v", c.wrote/copyChunk, model/copyChunk, step.slice)
			}
		}
	})
}

func TestWriterBesideACopierCountsOnlyItsOwn(t *testing.T) {
	log := benchtest.OpenRaw(t)
	c, remove, err := newCopier(t.Context(), t.TempDir(), func() int64 { return 1 << 20 })
	if err != nil {
		t.Fatal(err)
	}
	w, err := log.Writer(3, 100)
	if err != nil {
		t.Fatal(err)
	}
	s, err := (&besideCopier{w, c}).Run(t.Context(), 5*time.Millisecond)
	if err != nil || s.N != 3*int64(len(s.Calls)) || log.At != 100*s.N {
		t.Errorf("%d messages in %d calls, %d bytes: %v", s.N, len(s.Calls), log.At, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&besideCopier{w, c}).Run(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
}

func TestTrafficKnowsWhatAPutTakesInTheLog(t *testing.T) {
	tr := testTraffic(t, 1)
	n, err := tr.putBytes(t.Context())
	if err != nil || n <= len(tr.body) || n > 3*len(tr.body) {
		t.Errorf("a put of %d bytes takes %d: %v", len(tr.body), n, err)
	}
	if st, err := tr.rig.Store.Stats(t.Context(), harness.Stuck); err != nil || st.Messages() != tr.stuck.Load() {
		t.Errorf("%d messages wait, %d are counted: %v", st.Messages(), tr.stuck.Load(), err)
	}
}

func TestCleanedTrafficEndsAtRestAndCountsWhatWasWrittenBesidesTheLog(t *testing.T) {
	tr := testTraffic(t, 4)
	c := &cleaned{traffic: tr}
	before := tr.besides()
	s, err := c.Run(t.Context(), 20*time.Millisecond)
	if err != nil || s.N != tr.puts.Load() {
		t.Errorf("%d of %d messages: %v", s.N, tr.puts.Load(), err)
	}
	if c.copied < 0 || c.copied > tr.besides()-before {
		t.Errorf("%d bytes are counted, %d were written besides the log", c.copied, tr.besides()-before)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Run(ctx, time.Millisecond); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
}
