package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/play"
	"github.com/hikyaku/hikyaku/pace"
)

// calibrationRounds is how often a button is pressed and let go: at 60 frames a second for about ten seconds.
const calibrationRounds = 300

// Calibrate presses a button again and again, each frame something else, and says how long the device took for each write and how late the frames were. rounds of 0 is as many as
// it takes for a figure to trust.
func Calibrate(ctx context.Context, rounds int, o Options) error {
	if rounds == 0 {
		rounds = calibrationRounds
	}
	script, err := macro.Read(fmt.Appendf(nil, "<loop %d>\nlp 1\n5 1\n</loop>\n", rounds), o.Macro)
	if err != nil {
		return err
	}
	pads, err := play.Keep(o.Devices, script.Players())
	if err != nil {
		return err
	}
	defer pads.Close()
	if o.Rate.IsZero() {
		o.Rate = pace.NTSC()
	}
	report, err := o.play(ctx, pads, script, o.Rate)
	if err != nil {
		return err
	}
	t := &report.Took
	fmt.Fprintf(o.Out, "%d writes to %s\n", report.Played, strings.Join(o.Devices, " and "))
	fmt.Fprintf(o.Out, "a write took: median %s, 99 of 100 within %s, longest %s\n", t.Quantile(0.5), t.Quantile(0.99), t.Max())
	fmt.Fprintln(o.Out, Summary(&report, script.Frames(), o.Rate))
	return nil
}
