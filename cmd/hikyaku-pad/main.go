// Command hikyaku-pad is `hikyaku macro` as a program of its own: small, and without what does not compile everywhere.
// It is there for Windows with 32 bits, whose programs alone can load the library of the Titan One:
//
//	GOOS=windows GOARCH=386 go build ./cmd/hikyaku-pad
//	hikyaku-pad macro play combo.txt --device titanone
//	hikyaku-pad macro serve --device titanone
//
// It takes the same flags as hikyaku.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/hikyaku/hikyaku/internal/sink/gamepad/command"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/play"
	"github.com/hikyaku/hikyaku/pace"
)

func main() {
	host := pace.Child(play.Players()) // first: of a process that only paces it does not return
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	err := run(ctx, host, os.Args[1:])
	stop()
	os.Exit(report(os.Stderr, err))
}

// usageError is a mistake on the command line.
type usageError struct{ error }

func report(w io.Writer, err error) int {
	var usage usageError
	var mistakes *command.MistakesError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(w, "hikyaku-pad: %v\n%s", usage.error, usageText())
		return 2
	case errors.As(err, &mistakes):
		fmt.Fprintln(w, err)
	default:
		fmt.Fprintln(w, "hikyaku-pad:", err)
	}
	return 1
}

func usageText() string {
	var b strings.Builder
	b.WriteString(`usage:
  hikyaku-pad macro play FILE --device NAME   plays a macro; - is the standard input
  hikyaku-pad macro serve --device NAME       serves a page to write and play macros on
  hikyaku-pad macro check FILE...             looks for mistakes in macros without playing them
  hikyaku-pad macro fmt FILE...               writes macros in the form that all have
  hikyaku-pad macro convert FILE              makes a macro of one in a GPC or GIMX script
  hikyaku-pad macro record --device FILE      makes a macro of what is pressed on a pad (Linux)
  hikyaku-pad macro pass --pad FILE --device NAME --on BUTTON=FILE
                                              passes a pad on, with macros on its buttons (Linux)
  hikyaku-pad macro calibrate --device NAME   measures how long a device takes for what is written to it
devices:
`)
	for _, d := range play.Drivers() {
		name := d.Name
		if d.Target {
			name += ":FILE"
		}
		fmt.Fprintf(&b, "  %-14s %s\n", name, d.Summary)
	}
	b.WriteString("--help behind a command tells its flags\n")
	return b.String()
}

func run(ctx context.Context, host *pace.Host, args []string) error {
	if len(args) == 1 && (args[0] == "-h" || args[0] == "--help" || args[0] == "help") {
		fmt.Print(usageText())
		return nil
	}
	if len(args) < 2 || args[0] != "macro" {
		return usageError{errors.New("there are the commands macro play, serve, check, fmt, convert, record, pass " +
			"and calibrate")}
	}
	switch args[1] {
	case "play":
		return playFile(ctx, host, args[2:])
	case "serve":
		return serve(ctx, host, args[2:])
	case "check":
		return check(args[2:])
	case "fmt":
		return format(args[2:])
	case "convert":
		return convert(args[2:])
	case "record":
		return recordPad(ctx, args[2:])
	case "pass":
		return passPad(ctx, host, args[2:])
	case "calibrate":
		return calibrate(ctx, host, args[2:])
	}
	return usageError{fmt.Errorf("there is no command macro %s", args[1])}
}
