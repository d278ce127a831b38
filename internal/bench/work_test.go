package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func testRig(t *testing.T, d queue.Definition) *rig {
	t.Helper()
	r, err := newRig(t.Context(), t.TempDir(), d, setting{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.remove(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(r.dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the store's files are still there: %v", err)
		}
	})
	return r
}

func TestPutterCountsEveryMessageAndLeavesNone(t *testing.T) {
	r := testRig(t, queue.Definition{})
	p := &putter{rig: r, writers: 3, group: 4, body: makeBody(bodyBytes)}
	s, err := p.run(t.Context(), time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	stats, err := r.store.Stats(measured)
	if err != nil {
		t.Fatal(err)
	}
	if s.n < 12 || uint64(s.n) != stats.TotalPut || len(s.calls)*4 != int(s.n) {
		t.Errorf("%d messages in %d calls are counted, %d were put", s.n, len(s.calls), stats.TotalPut)
	}
	if stats.Messages() != 0 {
		t.Errorf("%d messages are left for the next slice", stats.Messages())
	}
	if each := p.log.bytesEach(); p.log.n != s.n || each <= bodyBytes || each > 3*bodyBytes {
		t.Errorf("%d messages of %d bytes took %v bytes each in the log", p.log.n, bodyBytes, each)
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
	if err := r.fill(t.Context(), measured, 2500, next); err != nil {
		t.Fatal(err)
	}
	where, err := r.store.Parse(measured, "n = 1")
	if err != nil {
		t.Fatal(err)
	}
	c := &claimer{rig: r, readers: 4, burst: 20, claims: measure.NewHistogram(),
		where: func() (*condition.Expr, error) { return where, nil }}
	s, err := c.run(t.Context(), 5*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	stats, err := r.store.Stats(measured)
	if err != nil {
		t.Fatal(err)
	}
	if s.n == 0 || uint64(s.n) != stats.TotalDone || int64(len(s.calls)) != s.n || c.claims.Count() != s.n ||
		c.log.n != s.n {
		t.Errorf("%d messages in %d calls are counted, %d were settled", s.n, len(s.calls), stats.TotalDone)
	}
	if stats.Messages() != 2500 || stats.Claimed != 0 {
		t.Errorf("%d messages wait, %d of them claimed, after a slice that began with 2500", stats.Messages(),
			stats.Claimed)
	}
	odd, err := r.store.Peek(t.Context(), measured, queue.PeekRequest{Where: where, Max: 2500})
	if err != nil || len(odd) != 1250 {
		t.Errorf("%d messages match as 1250 did before (%v)", len(odd), err)
	}
}

func TestClaimerSaysWhenNothingMatches(t *testing.T) {
	r := testRig(t, queue.Definition{})
	c := &claimer{rig: r, readers: 1, burst: 1, where: every, claims: measure.NewHistogram()}
	if _, err := c.run(t.Context(), time.Second); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("a claim from an empty queue: %v", err)
	}
}

func TestWorkStopsWithItsContext(t *testing.T) {
	r := testRig(t, queue.Definition{})
	if err := r.fill(t.Context(), measured, 10, func() message.Message { return message.Message{} }); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	sides := map[string]side{
		"putter":     &putter{rig: r, writers: 2, group: 1},
		"claimer":    &claimer{rig: r, readers: 2, burst: 5, where: every, claims: measure.NewHistogram()},
		"opener":     &opener{home: filepath.Dir(r.dir), copies: true},
		"sequential": &sequential{name: filepath.Join(r.dir, "lock")},
		"traffic":    &traffic{rig: r, writers: 2},
		"drainer":    &drainer{rig: r, part: drainReaders},
		"hall":       &hall{rig: r},
	}
	for name, s := range sides {
		if _, err := s.run(ctx, time.Hour); !errors.Is(err, context.Canceled) && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s with an ended context: %v", name, err)
		}
	}
}

func TestOpenerFindsAllThatWaitsAfterEitherEnd(t *testing.T) {
	for _, how := range []string{startClean, startKilled} {
		t.Run(how, func(t *testing.T) {
			s := &queueSession{session: session{dir: t.TempDir()}}
			home, err := s.leave(t.Context(), 1500, how)
			if err != nil {
				t.Fatal(err)
			}
			o := &opener{home: home, copies: how == startKilled, depth: 1500}
			for range 2 { // the second start finds what the first one did
				got, err := o.run(t.Context(), 0)
				if err != nil {
					t.Fatal(err)
				}
				if got.n != 1500 || got.elapsed <= 0 || o.rss <= 0 {
					t.Errorf("a start with 1500 messages: %+v, %d bytes resident", got, o.rss)
				}
			}
			if _, err := os.Stat(home + "-copy"); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a copy is left behind: %v", err)
			}
			o.depth = 1501
			if _, err := o.run(t.Context(), 0); err == nil {
				t.Error("a start that lost a message was measured")
			}
		})
	}
}

func TestPlotsShowEveryWorkOnce(t *testing.T) {
	s := invented()
	dir := filepath.Join(t.TempDir(), "made", "here")
	if err := s.view.writePlots(dir, s.report); err != nil {
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
	if err := s.view.writePlots(filepath.Join(dir, "queue-rates.svg"), s.report); err == nil {
		t.Error("plots were written into a file")
	}
}

func TestPeersOfAPutWriteWhatTheirNamesSay(t *testing.T) {
	log := openedRaw(t)
	s := &queueSession{session: session{raw: log}}
	for name, want := range map[string]struct{ carries, bytes int64 }{
		caseLimit:     {64, 64_000},
		caseLone:      {1, 1000},
		caseBandwidth: {bandwidthPiece / 1000, bandwidthPiece / 1000 * 1000},
	} {
		w, err := s.rawPeer(name, 64, 1000)
		if err != nil || w.carries != want.carries || int64(len(w.piece)) != want.bytes {
			t.Errorf("%s: %d messages in %d bytes, %v", name, w.carries, len(w.piece), err)
		}
	}
}

func TestColdStartFindsAllAndTellsWhatItRead(t *testing.T) {
	s := &queueSession{session: session{dir: t.TempDir()}}
	home, err := s.leave(t.Context(), 1500, startClean)
	if err != nil {
		t.Fatal(err)
	}
	o := &opener{home: home, depth: 1500, cold: true}
	for range 2 {
		if _, err := o.run(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
	}
	if o.read < 0 || o.heap <= 0 || o.rss <= 0 {
		t.Errorf("a start read %d bytes, takes %d of heap, %d are resident", o.read, o.heap, o.rss)
	}
}
