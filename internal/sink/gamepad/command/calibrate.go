package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/sink/gamepad/play"
	"github.com/hikyaku/hikyaku/pace"
)

// calibrationRounds is how often a button is pressed and let go: at 60 frames a second for about ten seconds.
const calibrationRounds = 300

// MostRounds is how often a button can be pressed to calibrate.
const MostRounds = play.MostRounds

// Calibrate presses a button again and again, each frame something else, on one device after the other, and says how
// long each took for a write, and until the device itself told that it had what was written. rounds of 0 is as many as
// it takes for a figure to trust.
func Calibrate(ctx context.Context, rounds int, o Options) error {
	if rounds == 0 {
		rounds = calibrationRounds
	}
	if o.Rate.IsZero() {
		o.Rate = pace.NTSC()
	}
	for _, d := range o.Devices {
		if err := o.calibrate(ctx, d, rounds); err != nil {
			return err
		}
	}
	return nil
}

func (o *Options) calibrate(ctx context.Context, name string, rounds int) error {
	pads, err := play.Keep([]string{name}, []int{1})
	if err != nil {
		return err
	}
	var progress func(pace.Progress)
	if o.overwrites() {
		progress = func(p pace.Progress) {
			fmt.Fprintf(o.Out, "\r%-*s", progressWidth, fmt.Sprintf("%d of %d writes to %s", p.Played, 2*rounds, name))
		}
	}
	c, err := pads.Calibrate(ctx, o.Host, rounds, o.Rate, progress)
	if o.overwrites() {
		fmt.Fprintf(o.Out, "\r%*s\r", progressWidth, "")
	}
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		err = fmt.Errorf("after %d of %d writes: %w", len(c.Writes), 2*rounds, ErrStopped)
	}
	err = errors.Join(err, pads.Close())
	if len(c.Writes) > 0 {
		fmt.Fprint(o.Out, Findings(name, &c))
	}
	return err
}

// Findings says what was found out about a device: a table, a picture of what its answers took, and what to do with it.
// It ends a line.
func Findings(name string, c *play.Calibration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d writes\n", name, len(c.Writes))
	row := func(what, n, p50, p99, longest, jitter string) {
		b.WriteString(strings.TrimRight(fmt.Sprintf("  %-16s %8s %10s %10s %10s %10s", what, n, p50, p99, longest,
			jitter), " ") + "\n")
	}
	row("", "n", "p50", "p99", "longest", "jitter")
	times := func(what string, all play.Times, jitter string) {
		row(what, fmt.Sprint(len(all)), brief(all.Quantile(0.5)), brief(all.Quantile(0.99)), brief(all.Quantile(1)),
			jitter)
	}
	times("a write", c.Writes, "")
	switch {
	case c.Reading == play.NoReading:
		b.WriteString("The device cannot be asked what it has, so its own delay is not known: only the writes were " +
			"measured.\n")
	case c.Reading == play.Silent:
		b.WriteString("The device tells nothing that follows what is written to it, so its own delay is not known: " +
			"only the writes were measured.\n")
	case len(c.Answers) == 0:
		fmt.Fprintf(&b, "The device told nothing of %d writes within %s each, so its own delay is not known.\n", c.Lost,
			play.Patience)
	default:
		times("until it has it", c.Answers, brief(c.Jitter()))
		b.WriteString(picture(c.Answers))
		if c.Lost > 0 {
			fmt.Fprintf(&b, "Of %d writes it told nothing within %s.\n", c.Lost, play.Patience)
		}
		fmt.Fprintf(&b, "What is written to it has its effect %s later, and sometimes %s sooner or later than at "+
			"other times. To have it at a moment:\n  macro play FILE --device %s --at 15:04:05 --lead %s\n",
			brief(c.Lead()), brief(c.Jitter()), name, c.Lead())
	}
	fmt.Fprintf(&b, "on: %s\n", c.Footing)
	return b.String()
}

// brief is a duration with three figures.
func brief(d time.Duration) string {
	switch {
	case d < time.Microsecond:
		return d.String()
	case d < time.Millisecond:
		return figures(d, time.Microsecond) + " µs"
	case d < time.Second:
		return figures(d, time.Millisecond) + " ms"
	}
	return figures(d, time.Second) + " s"
}

func figures(d, unit time.Duration) string {
	v := float64(d) / float64(unit)
	switch {
	case v < 9.995:
		return fmt.Sprintf("%.2f", v)
	case v < 99.95:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// The picture's size.
const (
	pictureRows  = 10
	pictureWidth = 40 // of the longest bar
)

// picture draws how many took how long: equal parts of the time between the shortest and the 99th of a hundred, and the
// rest in the last one.
func picture(all play.Times) string {
	least, most := all.Quantile(0), all.Quantile(0.99)
	step := (most - least) / pictureRows
	if step <= 0 {
		return ""
	}
	var rows [pictureRows + 1]int
	for _, d := range all {
		rows[min(pictureRows, int((d-least)/step))]++
	}
	longest := slices.Max(rows[:])
	var b strings.Builder
	for i, n := range rows {
		if i == pictureRows && n == 0 {
			break
		}
		bar := (n*pictureWidth + longest - 1) / longest
		b.WriteString(strings.TrimRight(fmt.Sprintf("  from %10s  %5d %s", brief(least+time.Duration(i)*step), n,
			strings.Repeat("█", bar)), " ") + "\n")
	}
	return b.String()
}
