package pace

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// childVariable is set in the environment of pacing processes.
const childVariable = "HIKYAKU_PACE_CHILD"

// Host starts runs of what a program can play. It may be used by any number of goroutines, and several runs go on side
// by side, each in a process of its own. The zero value plays nothing.
type Host struct {
	players Players
	own     bool
}

// Child makes the host of a program that may start itself again for its runs. It has to be called first in main (in
// tests: in TestMain), with the same players each time: in a pacing process it plays and does not return. In others it
// only returns the host.
func Child(players Players) *Host {
	if os.Getenv(childVariable) == "" {
		return &Host{players, true}
	}
	_ = os.Unsetenv(childVariable) // what a player starts is no pacing process
	in, out := os.Stdin, os.Stdout
	os.Stdout = os.Stderr // what a player prints is no answer
	// Ctrl-C reaches all of a terminal's processes: the one that asked decides, and its death is a stop
	deaf()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	os.Exit(serve(players, in, out, stop))
	return nil
}

// Plain makes a host whose runs are all in this process, with Go's timers.
func Plain(players Players) *Host { return &Host{players, false} }

// Start makes the player and begins to play, and returns when the player is made: when Job.Start is zero, frame 0 is
// due then. The run ends as the job says, by Run.Stop, or when ctx does; the caller has to Wait for it.
//
// It is played in a process of its own if the host is one of Child and the job does not say otherwise; when such a
// process cannot be started, in this one, and the footing says why. An error of the maker is a *PlayerError, one about
// the job wraps ErrJob.
func (h *Host) Start(ctx context.Context, j Job) (*Run, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := j.check(h.players); err != nil {
		return nil, err
	}
	if !h.own || j.Plain {
		return startPlain(ctx, j, h.players[j.Player], nil)
	}
	c, err := spawn(&j)
	if err != nil {
		return startPlain(ctx, j, h.players[j.Player], []string{fmt.Sprintf("a process of its own: %v", err)})
	}
	return startOwn(ctx, j, h.players[j.Player], c)
}
