package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"syscall"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/machine"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// Exit codes, as design and documentation promise them.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
	exitDead   = 3 // everything was dealt with, but some messages became dead letters
)

// deadLetters says that a run ended well, but for messages that could not be delivered.
type deadLetters struct {
	count uint64
	steps []deadStep
}

// deadStep is a step of a pipeline that gave messages up.
type deadStep struct {
	name, queue string
	dead        uint64
	last        string // why, the last time
}

func (d *deadLetters) Error() string {
	if d.count == 1 {
		return "1 message became a dead letter"
	}
	return fmt.Sprintf("%d messages became dead letters", d.count)
}

// count is a number of things: "1 message", "2 messages".
func count(n int64, what string) string {
	if n != 1 {
		what += "s"
	}
	return measure.Count(n) + " " + what
}

// usageError is a mistake on the command line.
type usageError struct {
	err  error
	hint string
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// hinted is an error with advice for a person.
type hinted struct {
	err  error
	hint string
}

func (e *hinted) Error() string { return e.err.Error() }
func (e *hinted) Unwrap() error { return e.err }

// report tells a person what went wrong and what to do, and returns the exit code.
func report(w io.Writer, err error) int {
	var dead *deadLetters
	var usage *usageError
	switch {
	case err == nil:
		return exitOK
	case outputGone(err):
		return exitFailed // nobody is left to be told
	case errors.As(err, &dead):
		fmt.Fprintf(w, "hikyaku: %v\n", dead)
		for _, s := range dead.steps {
			fmt.Fprintf(w, "  %s gave up %d, now in the queue %s", s.name, s.dead, s.queue)
			if s.last != "" {
				fmt.Fprintf(w, ": %s", s.last)
			}
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, "  look at them with `hikyaku queue peek QUEUE`, send them again with `hikyaku queue replay "+
			"QUEUE` (what came from no queue, but stdin or a file, wants --to);"+
			" both need a `hikyaku serve` over the same data_dir")
		return exitDead
	case errors.As(err, &usage):
		fmt.Fprintf(w, "hikyaku: %v\n  %s\n", err, usage.hint)
		return exitUsage
	}
	fmt.Fprintln(w, explain(err))
	return exitFailed
}

// outputGone tells whether whoever read our output has gone. A connection that another broke off is no such thing,
// though the system has one word for both.
func outputGone(err error) bool {
	var at *fs.PathError
	return errors.Is(err, syscall.EPIPE) && errors.As(err, &at) &&
		(at.Path == os.Stdout.Name() || at.Path == os.Stderr.Name())
}

// explain is the text of an error with the hint that fits it.
func explain(err error) string {
	var mistakes *configMistakes
	if errors.As(err, &mistakes) {
		return strings.TrimRight(mistakes.errs.Pretty(mistakes.text), "\n")
	}
	text := "hikyaku: " + err.Error()
	var problem *httpdoor.Problem
	if errors.As(err, &problem) {
		if problem.Position != nil && problem.Position.Pretty != "" {
			return "hikyaku: " + strings.TrimRight(problem.Position.Pretty, "\n") // with the hint in it
		}
		switch {
		case problem.Detail != "":
			text = "hikyaku: " + problem.Detail
		case problem.Title != "":
			text = "hikyaku: " + problem.Title
		}
	}
	if hint := hintFor(err); hint != "" {
		text += "\n  " + hint
	}
	return text
}

func hintFor(err error) string {
	var h *hinted
	var problem *httpdoor.Problem
	var damage *journal.DamageError
	var format *journal.FormatError
	var cond *condition.Error
	switch {
	case errors.As(err, &h):
		return h.hint
	case errors.As(err, &problem):
		return commandHint(problem)
	case errors.As(err, &cond):
		return cond.Hint
	case errors.As(err, &format) && format.Found < format.Oldest:
		return "nothing is damaged, and nothing was changed; first start it once with a version that reads both formats"
	case errors.As(err, &format):
		return "nothing is damaged, and nothing was changed; use the version of hikyaku that wrote it, or a later one"
	case errors.As(err, &damage):
		return "nothing was changed; look at the journal with `hikyaku journal check`, and only then think of " +
			"`hikyaku journal repair`"
	case errors.Is(err, journal.ErrLocked):
		return "another hikyaku uses this data_dir: stop it, or set another data_dir"
	case errors.Is(err, journal.ErrFailed):
		return "since then nothing was acknowledged; look at the disk and at data_dir, then start hikyaku again"
	case errors.Is(err, journal.ErrLost):
		return "since then nothing was acknowledged; another hikyaku serves these queues"
	case errors.Is(err, journal.ErrFull):
		return "make room on the disk; nothing that was acknowledged is lost"
	case errors.Is(err, syscall.EMFILE):
		return moreFiles(machine.Files())
	case errors.Is(err, syscall.ENFILE):
		return "all programs of this machine together have as many files open as it lets them (fs.file-max)"
	case errors.Is(err, fs.ErrPermission):
		return "check the owner and the permissions of that path"
	case errors.Is(err, context.Canceled):
		return "interrupted; nothing that was acknowledged is lost"
	}
	return ""
}

// moreFiles is what to do for a process that may have only so many files open; 0: nobody says.
func moreFiles(now uint64) string {
	few := "few"
	if now > 0 {
		few = strconv.FormatUint(now, 10)
	}
	return "this process may have " + few + " files open: let it have more, with `ulimit -n 65536` before it starts, or " +
		"LimitNOFILE=65536 in its unit; the journal has each of its segments open, and each connection is a file"
}

// commandHint is a problem's hint in the words of the command instead of the door's.
func commandHint(p *httpdoor.Problem) string {
	switch p.Type {
	case "urn:hikyaku:unauthenticated":
		return "set HIKYAKU_SECRET, or name a file with a user's secret with --secret-file"
	case "urn:hikyaku:not-found":
		return "see what there is with `hikyaku queue ls` and `hikyaku topic ls`"
	case "urn:hikyaku:exists":
		return "change it with `hikyaku queue alter`, or delete it first"
	case "urn:hikyaku:no-such-campaign":
		return "see what there is with `hikyaku campaign ls`"
	case "urn:hikyaku:no-such-snapshot":
		return "see what there is with `hikyaku snapshot ls`"
	case "urn:hikyaku:snapshot-exists":
		return "choose another name, or delete that one with `hikyaku snapshot delete`"
	case "urn:hikyaku:no-such-path":
		return "--url is the address of the door alone, like http://" + httpdoor.DefaultListen
	}
	return p.Hint
}

// configMistakes are the mistakes of a configuration, with its text to show them in.
type configMistakes struct {
	errs config.Errors
	text []byte
}

func (e *configMistakes) Error() string { return e.errs.Error() }
func (e *configMistakes) Unwrap() error { return e.errs }

// newLogger logs to w as the configuration wants it, from a level on that can be changed.
func newLogger(w io.Writer, l config.Log, level *slog.LevelVar) *slog.Logger {
	level.Set(levelOf(l))
	o := &slog.HandlerOptions{Level: level}
	if l.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

// loadConfig reads a configuration and prints its warnings.
func loadConfig(path string, warn io.Writer) (*config.File, error) {
	f, err := config.Load(path, os.LookupEnv)
	if err != nil {
		return nil, withText(err, path)
	}
	for _, w := range f.Warnings {
		fmt.Fprintln(warn, "warning:", w.Error())
	}
	return f, nil
}

// withText gives configuration mistakes the text they stand in.
func withText(err error, path string) error {
	var errs config.Errors
	if !errors.As(err, &errs) {
		return err
	}
	text, readErr := os.ReadFile(path)
	if readErr != nil {
		text = nil
	}
	return &configMistakes{errs, text}
}
