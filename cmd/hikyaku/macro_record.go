package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	pad "github.com/hikyaku/hikyaku/internal/sink/gamepad/command"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/evdev"
	"github.com/hikyaku/hikyaku/pace"
)

func newMacroRecord() *cobra.Command {
	var r pad.Record
	var rate string
	cmd := &cobra.Command{
		Use:   "record",
		Short: "Make a macro of what is pressed on a game pad",
		Long: `Reads a game pad of this machine (Linux), and writes what is pressed on it as a macro, with the frames of each state.
Without a device it lists the pads.

It begins with the first press, and ends with Ctrl-C, or when nothing was pressed for a pause. The left stick becomes
directions; what a stick or trigger moves by less than the dead zone is nothing.`,
		Example: `  hikyaku macro record
  hikyaku macro record --device /dev/input/event7 -o combo.txt
  hikyaku macro record --device /dev/input/event7 --map BTN_TL2=lp --map 0x2c1=touch > combo.txt`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if r.Rate, err = pad.ParseRate(rate); err != nil {
				return &usageError{fmt.Errorf("--rate: %w", err), "write --rate 60000/1001 or --rate 50"}
			}
			r.Out, r.Told = cmd.OutOrStdout(), os.Stderr
			err = r.Check()
			switch {
			case errors.Is(err, evdev.ErrMapping):
				return &usageError{fmt.Errorf("--map: %w", err), "write --map BTN_WEST=lp"}
			case err != nil:
				return &usageError{err, "write --dead-zone 50 --pause 10s"}
			}
			return r.Run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&r.Device, "device", "", "the `FILE` of the pad, as /dev/input/event7")
	cmd.Flags().StringVarP(&r.To, "output", "o", "", "the `FILE` that the macro is written to; the standard output "+
		"without it")
	cmd.Flags().StringArrayVar(&r.Map, "map", nil, "what a button or axis of the kernel is in the macro, as "+
		"`BTN_WEST=lp`; may be repeated")
	cmd.Flags().IntVar(&r.Dead, "dead-zone", pad.DefaultDead,
		"how far a stick or trigger has to move to count, `PERCENT`")
	cmd.Flags().DurationVar(&r.Pause, "pause", pad.DefaultPause,
		"end when nothing was pressed for so long; 0: only Ctrl-C does")
	cmd.Flags().StringVar(&rate, "rate", pace.NTSC().String(), "frames a second, `RATE`: 60000/1001, 50, 59.94/s")
	return cmd
}
