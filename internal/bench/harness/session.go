// Package harness is what experiments share: the session, which runs their parts and writes what was found (Session,
// Experiment, View), sides that take turns (Pacing, InTurns), numbers that are asked for (Goal), tables and pictures,
// and what is measured and what it is measured with: a store (Rig), a door over it (DoorServer), processes (Child,
// Talker) and the raw disk (RawLog). What only one experiment needs stands in its folder.
package harness

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
	CaseOurs  = "hikyaku"
	CaseLimit = "limit"
	CaseLone  = "lone" // one message written and synced after the other

	CaseBandwidth = "bandwidth" // so much written between syncs that these do not count
	CaseCopier    = "copier"    // raw writers beside a copier
	CasePeer      = "peer"      // the same work elsewhere
)

// Session is one run of a bench.
type Session struct {
	Options
	Report *measure.BenchReport
	View   View
	bar    bar
	Temp   string                 // for temporary files, while it runs
	Works  []string               // that Only may name; nil: those of the experiments
	Wants  func(work string) bool // nil: the works of Only, or all
	Raw    *RawLog
}

// New is the run of the bench of that name.
func New(name string, o Options, v View) Session {
	return Session{Options: o, Report: measure.NewBenchReport(name), View: v}
}

// Measure makes a folder with room for those of the experiments that are wanted, opens what they need, measures,
// closes,
// and writes what was found. closing is called whatever open returned. Either may be nil.
func (s *Session) Measure(ctx context.Context, es []Experiment, open, closing func(context.Context) error) error {
	if err := s.all(ctx, es, open, closing); err != nil {
		return fmt.Errorf("bench %s: %w", s.Report.Bench, err)
	}
	return nil
}

func (s *Session) all(ctx context.Context, es []Experiment, open, closing func(context.Context) error) error {
	es, err := s.choose(es)
	if err != nil {
		return err
	}
	made, err := os.MkdirTemp(s.Dir, "hikyaku-bench-")
	if err != nil {
		return fmt.Errorf("make a folder for temporary files: %w", err)
	}
	s.Temp, err = filepath.Abs(made) // functions run in folders of their own
	if err == nil {
		err = roomFor(s.Temp, es)
	}
	if err == nil && open != nil {
		err = open(ctx)
	}
	if err == nil {
		err = s.measureAll(ctx, es)
	}
	if closing != nil {
		err = JoinCleanup(err, closing(ctx))
	}
	err = JoinCleanup(err, os.RemoveAll(made))
	if cause := context.Cause(ctx); cause != nil {
		return cause // what else went wrong went wrong with it
	}
	if err != nil {
		return err
	}
	return s.Publish()
}

// OpenRaw opens the machine's own log, which closeRaw closes.
func (s *Session) OpenRaw(ctx context.Context) (err error) {
	s.Raw, err = NewRawLog(ctx, s.Temp)
	return err
}

// CloseRaw closes the machine's own log, if it was opened.
func (s *Session) CloseRaw(context.Context) error {
	if s.Raw == nil {
		return nil
	}
	return s.Raw.Close()
}

// JoinCleanup adds the error of cleaning up to that of the work, which comes first.
func JoinCleanup(err, cleanup error) error {
	if cleanup != nil {
		cleanup = fmt.Errorf("clean up: %w", cleanup)
	}
	if err == nil {
		return cleanup
	}
	return errors.Join(err, cleanup)
}

func (s *Session) measureAll(ctx context.Context, es []Experiment) error {
	s.bar.begin(s.Options, s.Report.Bench, es)
	defer s.bar.end()
	for _, e := range es {
		s.bar.next(e)
		SettleMemory()
		if err := e.Run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Step says that one more pair of slices is done.
func (s *Session) Step() { s.bar.step() }

// Publish writes what was found.
func (s *Session) Publish() error {
	if s.Plots != "" {
		if err := s.View.WritePlots(s.Plots, s.Report); err != nil {
			return err
		}
	}
	out := s.Out
	if out == nil {
		out = io.Discard
	}
	if s.JSON {
		return s.Report.WriteJSON(out)
	}
	if s.Markdown {
		return s.View.WriteMarkdown(out, s.Report)
	}
	return s.View.WriteTables(out, s.Report)
}
