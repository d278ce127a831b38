package queue

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// A store that takes nothing more ends the work of every side, and is no figure.
func TestClosedStoreIsAnErrorOfEverySide(t *testing.T) {
	r := testRig(t, queue.Definition{})
	if err := r.Fill(t.Context(), harness.Measured, 100, func() (m message.Message) { return m }); err != nil {
		t.Fatal(err)
	}
	if err := r.Store.Close(); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]harness.Side{
		"putter":  &putter{rig: r, writers: 2, group: 1},
		"claimer": &claimer{rig: r, readers: 2, burst: 5, where: every, claims: measure.NewHistogram()},
		"traffic": &traffic{rig: r, writers: 2},
		"drainer": &drainer{rig: r, part: drainReaders},
		"hall":    &hall{rig: r},
	} {
		if _, err := s.Run(t.Context(), time.Hour); !errors.Is(err, queue.ErrClosed) {
			t.Errorf("%s with a closed store: %v", name, err)
		}
	}
	if err := r.Fill(t.Context(), harness.Measured, 1, func() (m message.Message) { return m }); !errors.Is(err,
		queue.ErrClosed) {
		t.Errorf("filling a closed store: %v", err)
	}
}

// Every experiment cleans up behind itself, also when it is ended before it has begun to measure.
func TestExperimentsThatAreEndedLeaveNothing(t *testing.T) {
	s := quickSession(t)
	raw, err := harness.NewRawLog(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s.Raw = raw
	defer func() {
		if err := raw.Close(); err != nil {
			t.Error(err)
		}
	}()
	s.Occupant = []string{"sleep", "1000"}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, e := range s.experiments() {
		if err := e.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s with an ended context: %v", e.Work, err)
		}
		entries, err := os.ReadDir(s.Temp)
		if err != nil {
			t.Fatal(err)
		}
		for _, left := range entries {
			t.Errorf("%s left %s behind", e.Work, left.Name())
			if err := os.RemoveAll(filepath.Join(s.Temp, left.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(s.Report.Rows) != 0 {
		t.Errorf("%d rows of nothing", len(s.Report.Rows))
	}
}

func TestStartThatFailsSaysOfWhat(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	if err := os.WriteFile(home, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := (&opener{home: home, depth: 7}).Run(t.Context(), 0); err == nil ||
		!strings.Contains(err.Error(), "7 waiting messages") {
		t.Errorf("a start from a file: %v", err)
	}
	if _, err := (&opener{home: home + "-absent", cold: true}).Run(t.Context(), 0); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a cold start from nothing: %v", err)
	}
}

// quickSession is a run of the quick queue bench, in a folder of its own.
func quickSession(t *testing.T) *session {
	s := &session{Session: harness.New("queue", harness.Options{}, view()), extent: quick}
	s.Temp = t.TempDir()
	return s
}
