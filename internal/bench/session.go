package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// The cases of the queue bench.
const (
	caseOurs  = "hikyaku"
	caseLimit = "limit"
	caseLone  = "lone" // one message written and synced after the other

	caseBandwidth = "bandwidth" // so much written between syncs that these do not count
	caseCopier    = "copier"    // raw writers beside a copier
	casePeer      = "peer"      // the same work elsewhere
)

// session is one run of a bench.
type session struct {
	Options
	report *measure.BenchReport
	view   view
	bar    bar
	dir    string                 // for temporary files, while it runs
	works  []string               // that Only may name; nil: those of the experiments
	wants  func(work string) bool // nil: the works of Only, or all
	raw    *rawLog
}

// newSession is the run of the bench of that name.
func newSession(name string, o Options, v view) session {
	return session{Options: o, report: measure.NewBenchReport(name), view: v}
}

// measure makes a folder with room for those of the experiments that are wanted, opens what they need, measures, closes,
// and writes what was found. closing is called whatever open returned. Either may be nil.
func (s *session) measure(ctx context.Context, es []experiment, open, closing func(context.Context) error) error {
	if err := s.all(ctx, es, open, closing); err != nil {
		return fmt.Errorf("bench %s: %w", s.report.Bench, err)
	}
	return nil
}

func (s *session) all(ctx context.Context, es []experiment, open, closing func(context.Context) error) error {
	es, err := s.choose(es)
	if err != nil {
		return err
	}
	made, err := os.MkdirTemp(s.Dir, "hikyaku-bench-")
	if err != nil {
		return fmt.Errorf("make a folder for temporary files: %w", err)
	}
	s.dir, err = filepath.Abs(made) // functions run in folders of their own
	if err == nil {
		err = roomFor(s.dir, es)
	}
	if err == nil && open != nil {
		err = open(ctx)
	}
	if err == nil {
		err = s.measureAll(ctx, es)
	}
	if closing != nil {
		err = joinCleanup(err, closing(ctx))
	}
	err = joinCleanup(err, os.RemoveAll(made))
	if cause := context.Cause(ctx); cause != nil {
		return cause // what else went wrong went wrong with it
	}
	if err != nil {
		return err
	}
	return s.publish()
}

// openRaw opens the machine's own log, which closeRaw closes.
func (s *session) openRaw(ctx context.Context) (err error) {
	s.raw, err = newRawLog(ctx, s.dir)
	return err
}

func (s *session) closeRaw(context.Context) error {
	if s.raw == nil {
		return nil
	}
	return s.raw.close()
}

// joinCleanup adds the error of cleaning up to that of the work, which comes first.
func joinCleanup(err, cleanup error) error {
	if cleanup != nil {
		cleanup = fmt.Errorf("clean up: %w", cleanup)
	}
	if err == nil {
		return cleanup
	}
	return errors.Join(err, cleanup)
}

func (s *session) measureAll(ctx context.Context, es []experiment) error {
	s.bar.begin(s.Options, s.report.Bench, es)
	defer s.bar.end()
	for _, e := range es {
		s.bar.next(e)
		settleMemory()
		if err := e.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// step says that one more pair of slices is done.
func (s *session) step() { s.bar.step() }

// publish writes what was found.
func (s *session) publish() error {
	if s.Plots != "" {
		if err := s.view.writePlots(s.Plots, s.report); err != nil {
			return err
		}
	}
	out := s.Out
	if out == nil {
		out = io.Discard
	}
	if s.JSON {
		return s.report.WriteJSON(out)
	}
	return s.view.writeTables(out, s.report)
}
