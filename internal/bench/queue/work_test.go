package queue

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/benchtest"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func testRig(t *testing.T, d queue.Definition) *harness.Rig {
	t.Helper()
	r, err := harness.NewRig(t.Context(), t.TempDir(), d, harness.Setting{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Remove(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(r.Dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the store's files are still there: %v", err)
		}
	})
	return r
}

func TestPutterCountsEveryMessageAndLeavesNone(t *testing.T) {
	r := testRig(t, queue.Definition{})
	p := &putter{rig: r, writers: 3, group: 4, body: harness.MakeBody(harness.BodyBytes)}
	s, err := p.Run(t.Context(), time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	stats, err := r.Store.Stats(t.Context(), harness.Measured)
	if err != nil {
		t.Fatal(err)
	}
	if s.N < 12 || uint64(s.N) != stats.TotalPut || len(s.Calls)*4 != int(s.N) {
		t.Errorf("%d messages in %d calls are counted, %d were put", s.N, len(s.Calls), stats.TotalPut)
	}
	if stats.Messages() != 0 {
		t.Errorf("%d messages are left for the next slice", stats.Messages())
	}
	if each := p.log.bytesEach(); p.log.n != s.N || each <= harness.BodyBytes || each > 3*harness.BodyBytes {
		t.Errorf("%d messages of %d bytes took %v bytes each in the log", p.log.n, harness.BodyBytes, each)
	}
}

func TestClaimerTakesWhatItCountsAndKeepsTheDepth(t *testing.T) {
	columns, err := message.ParseColumns([]string{"n BIGINT"})
	if err != nil {
		t.Fatal(err)
	}
	r := testRig(t, queue.Definition{Columns: columns})
	n := int64(0)
	next := func() message.Message {
		n++
		return message.Message{Row: []message.Value{message.Int(n % 2)}}
	}
	if err := r.Fill(t.Context(), harness.Measured, 2500, next); err != nil {
		t.Fatal(err)
	}
	where, err := r.Store.Parse(t.Context(), harness.Measured, "n = 1")
	if err != nil {
		t.Fatal(err)
	}
	c := &claimer{rig: r, readers: 4, burst: 20, claims: measure.NewHistogram(),
		where: func() (*condition.Expr, error) { return where, nil }}
	s, err := c.Run(t.Context(), 5*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	stats, err := r.Store.Stats(t.Context(), harness.Measured)
	if err != nil {
		t.Fatal(err)
	}
	if s.N == 0 || uint64(s.N) != stats.TotalDone || int64(len(s.Calls)) != s.N || c.claims.Count() != s.N ||
		c.log.n != s.N {
		t.Errorf("%d messages in %d calls are counted, %d were settled", s.N, len(s.Calls), stats.TotalDone)
	}
	if stats.Messages() != 2500 || stats.Claimed != 0 {
		t.Errorf("%d messages wait, %d of them claimed, after a slice that began with 2500", stats.Messages(),
			stats.Claimed)
	}
	odd, err := r.Store.Peek(t.Context(), harness.Measured, queue.PeekRequest{Where: where, Max: 2500})
	if err != nil || len(odd) != 1250 {
		t.Errorf("%d messages match as 1250 did before (%v)", len(odd), err)
	}
}

func TestClaimerSaysWhenNothingMatches(t *testing.T) {
	r := testRig(t, queue.Definition{})
	c := &claimer{rig: r, readers: 1, burst: 1, where: every, claims: measure.NewHistogram()}
	if _, err := c.Run(t.Context(), time.Second); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("a claim from an empty queue: %v", err)
	}
}

func TestWorkStopsWithItsContext(t *testing.T) {
	r := testRig(t, queue.Definition{})
	if err := r.Fill(t.Context(), harness.Measured, 10,
		func() message.Message { return message.Message{} }); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	sides := map[string]harness.Side{
		"putter":     &putter{rig: r, writers: 2, group: 1},
		"claimer":    &claimer{rig: r, readers: 2, burst: 5, where: every, claims: measure.NewHistogram()},
		"opener":     &opener{home: filepath.Dir(r.Dir), copies: true},
		"sequential": &sequential{name: filepath.Join(r.Dir, "lock")},
		"traffic":    &traffic{rig: r, writers: 2},
		"drainer":    &drainer{rig: r, part: drainReaders},
		"hall":       &hall{rig: r},
	}
	for name, s := range sides {
		if _, err := s.Run(ctx, time.Hour); !errors.Is(err, context.Canceled) && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s with an ended context: %v", name, err)
		}
	}
}

func TestOpenerFindsAllThatWaitsAfterEitherEnd(t *testing.T) {
	for _, how := range []string{startClean, startKilled} {
		t.Run(how, func(t *testing.T) {
			s := &session{Session: harness.Session{Temp: t.TempDir()}}
			home, err := s.leave(t.Context(), 1500, how)
			if err != nil {
				t.Fatal(err)
			}
			o := &opener{home: home, copies: how == startKilled, depth: 1500}
			for range 2 { // the second start finds what the first one did
				got, err := o.Run(t.Context(), 0)
				if err != nil {
					t.Fatal(err)
				}
				if got.N != 1500 || got.Elapsed <= 0 || o.rss <= 0 {
					t.Errorf("a start with 1500 messages: %+v, %d bytes resident", got, o.rss)
				}
			}
			if _, err := os.Stat(home + "-copy"); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a copy is left behind: %v", err)
			}
			o.depth = 1501
			if _, err := o.Run(t.Context(), 0); err == nil {
				t.Error("a start that lost a message was measured")
			}
		})
	}
}

func TestPlotsShowEveryWorkOnce(t *testing.T) {
	s := invented()
	dir := filepath.Join(t.TempDir(), "made", "here")
	if err := s.View.WritePlots(dir, s.Report); err != nil {
		t.Fatal(err)
	}
	for name, wants := range map[string][]string{
		"queue-rates.svg": {">put 16<", ">hikyaku", ">limit<",
			">put 16: asked ratio &gt;= 0.7; measured ratio 0.750; met: yes<"},
		"queue-claims.svg":    {">same 100,000<", ">hikyaku<", ">limit<"},
		"queue-latencies.svg": {">put 16<", ">limit p50<"},
		"queue-restart.svg":   {">hikyaku", ">limit, clean<"},
	} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if n := strings.Count(string(b), want); n != 1 {
				t.Errorf("%s says %q %d times", name, want, n)
			}
		}
	}
	if err := s.View.WritePlots(filepath.Join(dir, "queue-rates.svg"), s.Report); err == nil {
		t.Error("plots were written into a file")
	}
}

func TestPeersOfAPutWriteWhatTheirNamesSay(t *testing.T) {
	log := benchtest.OpenRaw(t)
	s := &session{Session: harness.Session{Raw: log}}
	for name, want := range map[string]struct{ carries, bytes int64 }{
		harness.CaseLimit:     {64, 64_000},
		harness.CaseLone:      {1, 1000},
		harness.CaseBandwidth: {harness.BandwidthPiece / 1000, harness.BandwidthPiece / 1000 * 1000},
	} {
		w, err := s.rawPeer(name, 64, 1000)
		if err != nil || w.Carries != want.carries || int64(len(w.Piece)) != want.bytes {
			t.Errorf("%s: %d messages in %d bytes, %v", name, w.Carries, len(w.Piece), err)
		}
	}
}

func TestColdStartFindsAllAndTellsWhatItRead(t *testing.T) {
	s := &session{Session: harness.Session{Temp: t.TempDir()}}
	home, err := s.leave(t.Context(), 1500, startClean)
	if err != nil {
		t.Fatal(err)
	}
	o := &opener{home: home, depth: 1500, cold: true}
	for range 2 {
		if _, err := o.Run(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
	}
	if o.read < 0 || o.heap <= 0 || o.rss <= 0 {
		t.Errorf("a start read %d bytes, takes %d of heap, %d are resident", o.read, o.heap, o.rss)
	}
}
