package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	pad "github.com/hikyaku/hikyaku/internal/sink/gamepad/command"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/evdev"
	"github.com/hikyaku/hikyaku/pace"
)

func newMacroPass(host *pace.Host) *cobra.Command {
	var m macroFlags
	var p pad.Pass
	cmd := &cobra.Command{
		Use:   "pass",
		Short: "Pass a player's pad on, with macros on its buttons",
		Long: `Reads a game pad of this machine (Linux), keeps it from games, and hands what is pressed on it to a device at once.
A button begins a macro: what the macro touches is its own until it ends, all else stays the player's. The button once more
ends it, and so does one of another macro, which takes its place. Ctrl-C lets go of everything and gives the pad back.`,
		Example: `  hikyaku macro pass --pad /dev/input/event7 --device uinput --on l3=combo.txt --on r3=jab.txt`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := m.options(host)
			if err != nil {
				return err
			}
			err = p.Check(o)
			switch {
			case errors.Is(err, evdev.ErrMapping):
				return &usageError{fmt.Errorf("--map: %w", err), "write --map BTN_WEST=lp"}
			case err != nil:
				return &usageError{err, "write --pad /dev/input/event7 --on l3=combo.txt; hikyaku macro record lists " +
					"the pads"}
			}
			return mistaken(p.Run(cmd.Context(), o))
		},
	}
	m.registerDevice(cmd)
	m.player = 1
	cmd.Flags().BoolVar(&m.mirror, "mirror", false, "change left and right in macros, for someone who faces left")
	cmd.Flags().StringVar(&p.Pad, "pad", "", "the `FILE` of the player's pad, as /dev/input/event7")
	cmd.Flags().StringArrayVar(&p.On, "on", nil, "a button of the pad and the macro that it begins, `BUTTON=FILE`; "+
		"may be repeated")
	cmd.Flags().StringArrayVar(&p.Map, "map", nil, "what a button or axis of the kernel is, as `BTN_WEST=lp`; may be "+
		"repeated")
	return cmd
}
