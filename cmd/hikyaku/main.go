// Command hikyaku is the courier: it takes messages from the clients programs already have, keeps them in a durable
// journal, picks them by condition, reshapes and delivers them, and shows where each millisecond went.
//
//	hikyaku demo             the main job on loopback, live
//	hikyaku -c FILE          run the pipelines of a configuration
//	hikyaku serve            doors and pipelines until Ctrl-C
//
// Every subcommand has a file of its own here; what they share is in house.go (the parts of a courier put together),
// remote.go (talking to a running one) and say.go (errors and exit codes).
package main

import (
	"context"
	"maps"
	"os"
	"os/signal"
	"syscall"

	pacebench "github.com/hikyaku/hikyaku/internal/bench/pace"
	"github.com/hikyaku/hikyaku/internal/javascript"
	_ "github.com/hikyaku/hikyaku/internal/machine/garbage" // so that a command begins at once
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/play"
	"github.com/hikyaku/hikyaku/pace"
)

func main() {
	javascript.Child()
	// first, like the line before: of a process that only paces, or runs functions, it does not return
	host := pace.Child(players())
	os.Exit(run(host))
}

// players are what this program can play in a process of its own.
func players() pace.Players {
	all := pacebench.Players()
	maps.Copy(all, play.Players())
	return all
}

func run(host *pace.Host) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, end := context.WithCancel(ctx)
	defer end()
	hups := watchHangups(end)
	defer hups.close()
	signal.Ignore(syscall.SIGPIPE) // a reader that goes away is an error of the write, not the end of the process
	context.AfterFunc(ctx, func() {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM) // another stop hurries nobody: SIGKILL is for that
		stop()                                                  // a second Ctrl-C ends the process at once
	})
	root := newRoot(host)
	err := root.ExecuteContext(withHangups(withPacer(ctx, host), hups))
	return hups.code(report(os.Stderr, err))
}
