// Package start measures how long this program takes until it does something, and what it takes at rest. Run says what
// is measured; it is hikyaku bench start.
package start

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// The works of the start bench.
const (
	workCommand = "command"
	workServe   = "serve"
)

// The cases of the start bench, besides ours.
const (
	caseNothing = "true"  // a program that does nothing
	caseAgain   = "again" // a server over the folder of one that was stopped
)

// Run measures the program of Options.Program from outside:
//
//   - command: from before it is started until it has ended, of a command that only says its version, in turns with a
//     program of the system that does nothing. The rest is what loading and initializing ours takes.
//   - serve: from before it is started until the answer to a put, which is durable by then, with all doors and every
//     default: in an empty folder, and again in that of a server that was stopped. Then it has a moment to itself, and
//     what it has in memory is looked at: its own pages, and with those of the program's file, which the system takes
//     back when it needs them.
func Run(ctx context.Context, o harness.Options) error {
	s := &session{Session: harness.New("start", o, view()), extent: whole}
	if o.Quick {
		s.extent = quick
	}
	return s.Measure(ctx, s.experiments(), s.find, nil)
}

// extent says how much is measured.
type extent struct {
	commands, serves int
	rest             time.Duration // of a server, before its memory is looked at
}

var (
	whole = extent{commands: 50, serves: 20, rest: 2 * time.Second}
	quick = extent{commands: 2, serves: 1, rest: 50 * time.Millisecond}
)

// session is one run.
type session struct {
	harness.Session
	extent
	size int64 // of the program's file
}

// experiments lists what can be measured, in the order of the report.
func (s *session) experiments() []harness.Experiment {
	return []harness.Experiment{
		{Work: workCommand, Steps: s.commands, Takes: time.Duration(s.commands) * 100 * time.Millisecond,
			Run: s.command},
		{Work: workServe, Steps: s.serves, Takes: time.Duration(2*s.serves) * (s.rest + 200*time.Millisecond),
			Disk: harness.Slack, Run: s.serve},
	}
}

// find looks at the program.
func (s *session) find(context.Context) error {
	if len(s.Program) == 0 {
		return errors.New("no command was given that is this program")
	}
	info, err := os.Stat(s.Program[0])
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	s.size = info.Size()
	return nil
}

// spent is what runs of a program took.
type spent struct {
	wall *measure.Histogram
	cpu  time.Duration
	n    int
}

func newSpent() *spent { return &spent{wall: measure.NewHistogram()} }

// row is times and the processor's of a run.
func (s *spent) row(r *measure.Row) *measure.Row {
	return r.Times(s.wall).Set("cpu_ms", harness.Hundredths(measure.Milliseconds(s.cpu)/float64(max(s.n, 1))))
}

// run starts a command and waits for its end.
func (s *spent) run(ctx context.Context, command ...string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("run %s: %w: %s", filepath.Base(command[0]), err, out)
	}
	s.wall.Record(time.Since(began))
	s.cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	s.n++
	return nil
}

// command measures one that ends at once.
func (s *session) command(ctx context.Context) error {
	ours, nothing := newSpent(), newSpent()
	for range s.commands {
		if err := ours.run(ctx, append(s.Program[:len(s.Program):len(s.Program)], "version")...); err != nil {
			return err
		}
		if err := nothing.run(ctx, "true"); err != nil {
			return err
		}
		s.Step()
	}
	ours.row(s.Report.Row(harness.CaseOurs, workCommand)).Set("program_mb", harness.Megabytes(s.size))
	nothing.row(s.Report.Row(caseNothing, workCommand))
	return nil
}

// serve measures servers, each pair in a folder of its own.
func (s *session) serve(ctx context.Context) error {
	empty, again := newServed(), newServed()
	for i := range s.serves {
		home := filepath.Join(s.Temp, fmt.Sprint("home", i))
		for _, found := range []*served{empty, again} {
			if err := found.once(ctx, s.Program, home, s.rest); err != nil {
				return err
			}
		}
		if err := os.RemoveAll(home); err != nil {
			return fmt.Errorf("remove the folder of a server: %w", err)
		}
		s.Step()
	}
	r := empty.row(s.Report.Row(harness.CaseOurs, workServe)).Set("program_mb", harness.Megabytes(s.size))
	harness.Judge(r, s.Quick, harness.AtMost("p50_ms", 60), harness.AtMost("rss_mb", 25),
		harness.AtMost("program_mb", mostMegabytes))
	again.row(s.Report.Row(caseAgain, workServe))
	return nil
}

// Works lists the names of the works.
func Works() []string { return []string{workCommand, workServe} }

// view shows the rows of the start bench.
func view() harness.View {
	hides := []string{"per_s"}
	return harness.View{Label: harness.CaseLabel, Sections: []harness.Section{
		{Title: "From the start of a command to its end", Works: []string{workCommand}, Hides: hides},
		{Title: "From the start of a server to the answer of a durable put, and what it has in memory at rest",
			Works: []string{workServe}, Hides: hides},
	}}
}
