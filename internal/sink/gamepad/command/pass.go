package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/evdev"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/pass"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/play"
	"github.com/hikyaku/hikyaku/pace"
)

// Pass says what is handed on.
type Pass struct {
	Pad string   // the file of the player's pad
	On  []string // BUTTON=FILE: a macro that a button begins
	Map []string // as evdev.ParseMapping reads it
}

// ErrPass is wrapped by errors about what a Pass says.
var ErrPass = errors.New("cannot be passed through so")

// Check looks whether a Pass can be meant. It opens nothing.
func (p *Pass) Check(o Options) error {
	if p.Pad == "" {
		return fmt.Errorf("%w: it is not said which pad is the player's", ErrPass)
	}
	if len(o.Devices) > 1 {
		return fmt.Errorf("%w: one pad goes to one device", ErrPass)
	}
	if _, err := evdev.ParseMapping(p.Map); err != nil {
		return err
	}
	seen := map[macro.Input]bool{}
	for _, on := range p.On {
		in, _, err := splitOn(on)
		if err != nil {
			return err
		}
		if seen[in] {
			return fmt.Errorf("%w: %q: this button begins another macro", ErrPass, on)
		}
		seen[in] = true
	}
	return nil
}

// splitOn reads BUTTON=FILE.
func splitOn(text string) (in macro.Input, file string, err error) {
	name, file, ok := strings.Cut(text, "=")
	in, axis, known := macro.InputOf(strings.ToLower(strings.TrimSpace(name)))
	switch {
	case !ok || file == "":
		return 0, "", fmt.Errorf("%w: %q is not BUTTON=FILE", ErrPass, text)
	case !known || axis:
		return 0, "", fmt.Errorf("%w: %q: there is no button %q", ErrPass, text, name)
	}
	return in, file, nil
}

// macros reads the macros.
func (p *Pass) macros(o macro.Options) (all []pass.Macro, err error) {
	o.Player = 1
	for _, on := range p.On {
		in, file, err := splitOn(on)
		if err != nil {
			return nil, err
		}
		text, err := ReadFile(file, os.Stdin)
		if err != nil {
			return nil, err
		}
		script, err := Compile(file, text, o)
		if err != nil {
			return nil, err
		}
		if len(script.Tracks[0]) == 0 || len(script.Tracks[1]) > 0 {
			return nil, fmt.Errorf("%w: %s has lines for player 2, who has no pad here", ErrPass, file)
		}
		all = append(all, pass.Macro{Button: in, Name: file, Steps: script.Tracks[0]})
	}
	return all, nil
}

// Run hands the pad on until ctx ends.
func (p *Pass) Run(ctx context.Context, o Options) (err error) {
	if err := p.Check(o); err != nil {
		return err
	}
	if o.Rate.IsZero() {
		o.Rate = pace.NTSC()
	}
	macros, err := p.macros(o.Macro)
	if err != nil {
		return err
	}
	mapping, _ := evdev.ParseMapping(p.Map)
	source, err := evdev.Open(p.Pad, mapping)
	if err != nil {
		return err
	}
	defer source.Close()
	pads, err := play.Keep(o.Devices, []int{1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pads.Close()) }()
	to, repeat, err := pads.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if err := source.Grab(); err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "%q is passed on to %s, and macros begin with%s. Ctrl-C ends it.\n",
		source.About().Name, o.Devices[0], begins(macros))
	report := new(pass.Report)
	err = pass.Run(ctx, source, to, pass.NewMixer(o.Rate, macros), o.Rate.Deadline(repeat), report)
	fmt.Fprint(o.Out, passed(report))
	return err
}

func begins(macros []pass.Macro) string {
	if len(macros) == 0 {
		return " no button"
	}
	var b strings.Builder
	for i, m := range macros {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, " %s (%s)", macro.Name(m.Button), m.Name)
	}
	return b.String()
}

// passed says in a few lines what was done, and how long it took.
func passed(r *pass.Report) string {
	var b strings.Builder
	row := func(what string, h *pace.Histogram) {
		if h.Count() > 0 {
			fmt.Fprintf(&b, "%s: %d, median %s, 99 of 100 within %s, longest %s\n", what, h.Count(),
				brief(h.Quantile(0.5)), brief(h.Quantile(0.99)), brief(h.Max()))
		}
	}
	row("changes of the pad, from the kernel's time to the end of the write", &r.Passed)
	row("states of macros, from their frame to the end of the write", &r.Frames)
	fmt.Fprintf(&b, "macros begun: %d\non: %s\n", r.Started, r.On)
	return b.String()
}
