package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// A store that takes nothing more ends the work of every side, and is no figure.
func TestClosedStoreIsAnErrorOfEverySide(t *testing.T) {
	r := testRig(t, queue.Definition{})
	if err := r.fill(t.Context(), measured, 100, func() (m message.Message) { return m }); err != nil {
		t.Fatal(err)
	}
	if err := r.store.Close(); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]side{
		"putter":  &putter{rig: r, writers: 2, group: 1},
		"claimer": &claimer{rig: r, readers: 2, burst: 5, where: every, claims: measure.NewHistogram()},
		"traffic": &traffic{rig: r, writers: 2},
		"drainer": &drainer{rig: r, part: drainReaders},
		"hall":    &hall{rig: r},
	} {
		if _, err := s.run(t.Context(), time.Hour); !errors.Is(err, queue.ErrClosed) {
			t.Errorf("%s with a closed store: %v", name, err)
		}
	}
	if err := r.fill(t.Context(), measured, 1, func() (m message.Message) { return m }); !errors.Is(err,
		queue.ErrClosed) {
		t.Errorf("filling a closed store: %v", err)
	}
}

// Every experiment cleans up behind itself, also when it is ended before it has begun to measure.
func TestExperimentsThatAreEndedLeaveNothing(t *testing.T) {
	s := quickSession(t)
	raw, err := newRawLog(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s.raw = raw
	defer func() {
		if err := raw.close(); err != nil {
			t.Error(err)
		}
	}()
	s.Occupant = []string{"sleep", "1000"}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, e := range s.experiments() {
		if err := e.run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s with an ended context: %v", e.work, err)
		}
		entries, err := os.ReadDir(s.dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, left := range entries {
			t.Errorf("%s left %s behind", e.work, left.Name())
			if err := os.RemoveAll(filepath.Join(s.dir, left.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(s.report.Rows) != 0 {
		t.Errorf("%d rows of nothing", len(s.report.Rows))
	}
}

func TestStartThatFailsSaysOfWhat(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	if err := os.WriteFile(home, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := (&opener{home: home, depth: 7}).run(t.Context(), 0); err == nil ||
		!strings.Contains(err.Error(), "7 waiting messages") {
		t.Errorf("a start from a file: %v", err)
	}
	if _, err := (&opener{home: home + "-absent", cold: true}).run(t.Context(), 0); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a cold start from nothing: %v", err)
	}
}

// quickSession is a run of the quick queue bench, in a folder of its own.
func quickSession(t *testing.T) *queueSession {
	s := &queueSession{session: newSession("queue", Options{}, queueView()), extent: quick}
	s.dir = t.TempDir()
	return s
}
