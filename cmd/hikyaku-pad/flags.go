package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/command"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/play"
	"github.com/hikyaku/hikyaku/pace"
)

// flags are what the commands take.
type flags struct {
	*flag.FlagSet
	devices []string
	rate    string
	macro   macro.Options
}

func newFlags(name string) *flags {
	return &flags{FlagSet: flag.NewFlagSet("hikyaku-pad macro "+name, flag.ContinueOnError),
		macro: macro.Options{Player: 1}}
}

// played are the flags of commands that play.
func (f *flags) played() {
	f.Func("device", "what is played on, `NAME` or NAME:WHERE; once more for player 2, if that is another one",
		func(device string) error {
			f.devices = append(f.devices, device)
			return play.Check([]string{device})
		})
	f.StringVar(&f.rate, "rate", pace.NTSC().String(), "frames a second, `RATE`")
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
	if err := f.checkPlayer(); err != nil {
		return o, err
	}
	if o.Rate, err = command.ParseRate(f.rate); err != nil {
		return o, usageError{fmt.Errorf("--rate: %w", err)}
	}
	if len(f.devices) == 0 {
		return o, usageError{errors.New("--device is missing")}
	}
	return o, nil
}

func (f *flags) checkPlayer() error {
	if f.macro.Player < 1 || f.macro.Player > macro.Players {
		return usageError{fmt.Errorf("--player %d: there are players 1 and %d", f.macro.Player, macro.Players)}
	}
	return nil
}

// someFiles parses arguments of which at least one is a file.
func (f *flags) someFiles(args []string) ([]string, error) {
	files, err := f.parse(args)
	if err == nil && len(files) == 0 {
		err = usageError{fmt.Errorf("%s needs a FILE; - is the standard input", f.Name())}
	}
	return files, err
}

// isTerminal tells whether lines may be written over: a file or a pipe keeps them all.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
