package main

import (
	"context"
	"fmt"
	"os"

	"github.com/hikyaku/hikyaku/internal/sink/gamepad/command"
	"github.com/hikyaku/hikyaku/pace"
)

// recordPad makes a macro of what is pressed on a pad.
func recordPad(ctx context.Context, args []string) error {
	f := newFlags("record")
	r := command.Record{Out: os.Stdout, Told: os.Stderr}
	f.StringVar(&r.Device, "device", "", "the `FILE` of the pad, as /dev/input/event7; without it the pads are listed")
	for _, name := range []string{"o", "output"} {
		f.StringVar(&r.To, name, "", "the `FILE` that the macro is written to")
	}
	f.Func("map", "what a button or axis is in the macro, as `BTN_WEST=lp`", func(part string) error {
		r.Map = append(r.Map, part)
		return nil
	})
	f.IntVar(&r.Dead, "dead-zone", command.DefaultDead, "how far a stick or trigger has to move to count, `PERCENT`")
	f.DurationVar(&r.Pause, "pause", command.DefaultPause,
		"end when nothing was pressed for so long; 0: only Ctrl-C does")
	f.StringVar(&f.rate, "rate", pace.NTSC().String(), "frames a second, `RATE`")
	rest, err := f.parse(args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usageError{fmt.Errorf("record takes no argument %q", rest[0])}
	}
	if r.Rate, err = command.ParseRate(f.rate); err != nil {
		return usageError{fmt.Errorf("--rate: %w", err)}
	}
	if err := r.Check(); err != nil {
		return usageError{err}
	}
	return r.Run(ctx)
}
