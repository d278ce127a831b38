// Command hikyaku-pad is `hikyaku macro` as a program of its own: small, and without what does not compile everywhere. It is there for Windows with 32 bits, whose programs alone can
// load the library of the Titan One:
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

	"github.com/hikyaku/hikyaku/internal/macro"
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
		return usageError{errors.New("there are the commands macro play and macro serve")}
	}
	switch args[1] {
	case "play":
		return playFile(ctx, host, args[2:])
	case "serve":
		return serve(ctx, host, args[2:])
	}
	return usageError{fmt.Errorf("there is no command macro %s", args[1])}
}

func playFile(ctx context.Context, host *pace.Host, args []string) error {
	f := newFlags("play")
	f.meaning()
	files, err := f.parse(args)
	if err != nil {
		return err
	}
	o, err := f.options(host)
	if err != nil {
		return err
	}
	if len(files) != 1 {
		return usageError{errors.New("play needs one FILE")}
	}
	text, err := command.ReadFile(files[0], os.Stdin)
	if err != nil {
		return err
	}
	return command.Play(ctx, files[0], text, o)
}

func serve(ctx context.Context, host *pace.Host, args []string) error {
	f := newFlags("serve")
	var p command.Page
	f.StringVar(&p.Listen, "listen", command.DefaultListen, "`ADDRESS` to listen on")
	f.Func("host", "a `NAME` that browsers may call this machine by", func(name string) error {
		p.Hosts = append(p.Hosts, name)
		return nil
	})
	file := f.String("text", "", "a `FILE` with the macro that stands in the box at first")
	rest, err := f.parse(args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usageError{fmt.Errorf("serve takes no argument %q", rest[0])}
	}
	o, err := f.options(host)
	if err != nil {
		return err
	}
	p.Text = command.Welcome
	if *file != "" {
		text, err := command.ReadFile(*file, os.Stdin)
		if err != nil {
			return err
		}
		p.Text = string(text)
	}
	return command.Serve(ctx, p, o)
}

// flags are what the commands take.
type flags struct {
	*flag.FlagSet
	devices []string
	rate    string
	macro   macro.Options
}

func newFlags(name string) *flags {
	f := &flags{FlagSet: flag.NewFlagSet("hikyaku-pad macro "+name, flag.ContinueOnError), macro: macro.Options{Player: 1}}
	f.Func("device", "what is played on, `NAME` or NAME:WHERE; once more for player 2, if that is another one", func(device string) error {
		f.devices = append(f.devices, device)
		return play.Check([]string{device})
	})
	f.StringVar(&f.rate, "rate", pace.NTSC().String(), "frames a second, `RATE`")
	return f
}

func (f *flags) meaning() {
	f.IntVar(&f.macro.Player, "player", 1, "whose lines those are that stand in no player's block, `1 or 2`")
	f.BoolVar(&f.macro.Mirror, "mirror", false, "change left and right, for someone who faces left")
}

// parse parses flags before and behind arguments, as hikyaku does.
func (f *flags) parse(args []string) (rest []string, err error) {
	f.SetOutput(io.Discard)
	for {
		if err := f.FlagSet.Parse(args); errors.Is(err, flag.ErrHelp) {
			f.SetOutput(os.Stdout)
			f.Usage()
			return nil, err
		} else if err != nil {
			return nil, usageError{err}
		}
		if args = f.Args(); len(args) == 0 {
			return rest, nil
		}
		rest, args = append(rest, args[0]), args[1:]
	}
}

func (f *flags) options(host *pace.Host) (o command.Options, err error) {
	o = command.Options{Host: host, Devices: f.devices, Macro: f.macro, Out: os.Stderr, Terminal: isTerminal(os.Stderr)}
	if f.macro.Player < 1 || f.macro.Player > macro.Players {
		return o, usageError{fmt.Errorf("--player %d: there are players 1 and %d", f.macro.Player, macro.Players)}
	}
	if o.Rate, err = command.ParseRate(f.rate); err != nil {
		return o, usageError{fmt.Errorf("--rate: %w", err)}
	}
	if len(f.devices) == 0 {
		return o, usageError{errors.New("--device is missing")}
	}
	return o, nil
}

// isTerminal tells whether lines may be written over: a file or a pipe keeps them all.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
