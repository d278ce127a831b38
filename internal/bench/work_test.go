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
	r, err := newRig(t.Context(), t.TempDir(), d)
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
	if err := r.fill(t.Context(), 2500, next); err != nil {
		t.Fatal(err)
	}
	where, err := r.store.Parse(measured, "n = 1")
	if err != nil {
		t.Fatal(err)
	}
	c := &claimer{rig: r, readers: 4, burst: 20, claims: measure.NewHistogram(), where: func() (*condition.Expr, error) { return where, nil }}
	s, err := c.run(t.Context(), 5*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	stats, err := r.store.Stats(measured)
	if err != nil {
		t.Fatal(err)
	}
	if s.n == 0 || uint64(s.n) != stats.TotalDone || int64(len(s.calls)) != s.n || c.claims.Count() != s.n || c.log.n != s.n {
		t.Errorf("%d messages in %d calls are counted, %d were settled", s.n, len(s.calls), stats.TotalDone)
	}
	if stats.Messages() != 2500 || stats.Claimed != 0 {
		t.Errorf("%d messages wait, %d of them claimed, after a slice that began with 2500", stats.Messages(), stats.Claimed)
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
	if err := r.fill(t.Context(), 10, func() message.Message { return message.Message{} }); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	sides := map[string]side{
		"putter":     &putter{rig: r, writers: 2, group: 1},
		"claimer":    &claimer{rig: r, readers: 2, burst: 5, where: every, claims: measure.NewHistogram()},
		"opener":     &opener{home: filepath.Dir(r.dir), copies: true},
		"sequential": &sequential{files: []string{filepath.Join(r.dir, "manifest-0"), filepath.Join(r.dir, "manifest-1")}},
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
			s := &session{dir: t.TempDir()}
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

func TestCopyFolderTakesAllButSpareSpace(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	for name, text := range map[string]string{"0.log": "log", "manifest-0": "list", "spare-1": "zeros"} {
		if err := os.WriteFile(filepath.Join(from, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := copyFolder(t.Context(), to, from); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"0.log": "log", "manifest-0": "list"} {
		if b, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	if _, err := os.Stat(filepath.Join(to, "spare-1")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("spare space was copied: %v", err)
	}
	if err := copyFolder(t.Context(), to, filepath.Join(from, "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

func TestSequentialReadsAllItsFiles(t *testing.T) {
	dir := t.TempDir()
	q := &sequential{depth: 7}
	for _, name := range []string{"a", "b"} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, makeBody(3<<20+5), 0o644); err != nil {
			t.Fatal(err)
		}
		q.files = append(q.files, file)
	}
	s, err := q.run(t.Context(), 0)
	if err != nil || q.bytes != 2*(3<<20+5) || s.n != 7 || len(s.calls) != 1 {
		t.Errorf("%d bytes, %+v, %v", q.bytes, s, err)
	}
	q.files = append(q.files, filepath.Join(dir, "absent"))
	if _, err := q.run(t.Context(), 0); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestPlotsShowEveryWorkOnce(t *testing.T) {
	s := invented()
	dir := filepath.Join(t.TempDir(), "made", "here")
	if err := writePlots(dir, s.report); err != nil {
		t.Fatal(err)
	}
	for name, wants := range map[string][]string{
		"queue-rates.svg":     {">put 16<", ">same 100,000<", ">hikyaku", ">limit<"},
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
	if err := writePlots(filepath.Join(dir, "queue-rates.svg"), s.report); err == nil {
		t.Error("plots were written into a file")
	}
}

func TestMemoryIsMeasured(t *testing.T) {
	if residentBytes() <= 0 || heapBytes() <= 0 {
		t.Errorf("resident %d, heap %d bytes", residentBytes(), heapBytes())
	}
	if got := megabytes(1<<20 + 1<<19); got != 1.5 {
		t.Errorf("1.5 MiB are %v", got)
	}
}
