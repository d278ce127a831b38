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
	for name, list := range map[string]*[]string{"on": &p.On, "map": &p.Map} {
		f.Func(name, "`BUTTON=FILE` for a macro, BTN_WEST=lp for a button of the kernel", func(part string) error {
			*list = append(*list, part)
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
