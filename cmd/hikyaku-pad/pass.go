package main

import (
	"context"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/sink/gamepad/command"
	"github.com/hikyaku/hikyaku/pace"
)

// passPad passes a pad on, with macros on its buttons.
func passPad(ctx context.Context, host *pace.Host, args []string) error {
	f := newFlags("pass")
	f.played()
	f.BoolVar(&f.macro.Mirror, "mirror", false, "change left and right in macros")
	var p command.Pass
	f.StringVar(&p.Pad, "pad", "", "the `FILE` of the player's pad, as /dev/input/event7")
	for _, many := range []struct {
		name, usage string
		list        *[]string
	}{
		{"on", "a button of the pad and the macro that it begins, `BUTTON=FILE`; may be repeated", &p.On},
		{"map", "what a button or axis of the kernel is, as `BTN_WEST=lp`; may be repeated", &p.Map},
	} {
		f.Func(many.name, many.usage, func(part string) error {
			*many.list = append(*many.list, part)
			return nil
		})
	}
	rest, err := f.parse(args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usageError{fmt.Errorf("pass takes no argument %q", rest[0])}
	}
	o, err := f.options(host)
	if err != nil {
		return err
	}
	if err := p.Check(o); err != nil {
		return usageError{err}
	}
	return p.Run(ctx, o)
}
