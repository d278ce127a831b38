package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/play"
	"github.com/hikyaku/hikyaku/pace"
)

// Options are what play and serve have in common.
type Options struct {
	Host    *pace.Host // of play.Players
	Devices []string
	Rate    pace.Rate // zero: pace.NTSC
	Macro   macro.Options
	At      time.Time     // when frame 0 is to have its effect; zero: as soon as it can have
	Lead    time.Duration // by how much earlier it is written

	Out      io.Writer // what is said
	Terminal bool      // Out is one: lines may be written over, unless a device writes there
}

// MistakesError is a macro's mistakes with the text that they are in.
type MistakesError struct {
	Mistakes macro.Mistakes
	Name     string
	Text     []byte
}

// Error shows each mistake below its line.
func (e *MistakesError) Error() string {
	return strings.TrimRight(e.Mistakes.Pretty(e.Name, e.Text), "\n")
}

func (e *MistakesError) Unwrap() error { return e.Mistakes }

// ErrStopped is wrapped by the error of a play that was stopped before its end.
var ErrStopped = errors.New("stopped before the end; everything was let go")

// ReadFile reads a file with a macro; - is in.
func ReadFile(name string, in io.Reader) ([]byte, error) {
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	return io.ReadAll(io.LimitReader(in, macro.MaxText+1)) // the parser complains about what is longer
}

// Compile compiles a text that is called name. Its mistakes are a *MistakesError.
func Compile(name string, text []byte, o macro.Options) (*macro.Script, error) {
	script, err := macro.Read(text, o)
	return script, Mistaken(name, text, err)
}

// Mistaken makes a *MistakesError of Mistakes, and leaves other errors alone.
func Mistaken(name string, text []byte, err error) error {
	var mistakes macro.Mistakes
	if errors.As(err, &mistakes) {
		if name == "-" {
			name = "stdin"
		}
		return &MistakesError{mistakes, name, text}
	}
	return err
}

// Play plays a text from its beginning to its end, shows how far it is, and says how late its frames were. When ctx
// ends everything is let go, and the error wraps ErrStopped.
func Play(ctx context.Context, name string, text []byte, o Options) error {
	script, err := Compile(name, text, o.Macro)
	if err != nil {
		return err
	}
	pads, err := play.Keep(o.Devices, script.Players())
	if err != nil {
		return err
	}
	rate := o.Rate
	if rate.IsZero() {
		rate = pace.NTSC()
	}
	if wait := time.Until(o.At); wait > 0 {
		fmt.Fprintf(o.Out, "The first frame is for %s, in %s.\n", o.At.Format(time.RFC3339), wait.Round(time.Second))
	}
	report, err := o.play(ctx, pads, script, rate)
	err = errors.Join(err, pads.Close())
	if report.Played > 0 {
		fmt.Fprintln(o.Out, Summary(&report, script.Frames(), rate))
	}
	return err
}

func (o *Options) play(ctx context.Context, pads *play.Pads, script *macro.Script, rate pace.Rate) (pace.Report,
	error) {
	job := play.Job{Script: script, Rate: rate, At: o.At, Lead: o.Lead}
	over := o.overwrites()
	if over {
		job.Progress = func(p pace.Progress) {
			fmt.Fprintf(o.Out, "\r%-*s", progressWidth, fmt.Sprintf("frame %d of %d, %s of %s, latest %s", p.Frame+1,
				script.Frames(),
				clock(rate.Deadline(p.Frame+1)), clock(rate.Deadline(script.Frames())), p.Max))
		}
	}
	run, err := pads.Start(ctx, o.Host, job)
	if err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
			err = fmt.Errorf("at the beginning: %w", ErrStopped)
		}
		return pace.Report{}, err
	}
	report, err := run.Wait()
	if over {
		fmt.Fprintf(o.Out, "\r%*s\r", progressWidth, "")
	}
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		err = fmt.Errorf("after %d of %d frames: %w", report.Played, script.Frames(), ErrStopped)
	}
	return report, err
}

// overwrites tells whether a line on Out may be written over.
func (o *Options) overwrites() bool { return o.Terminal && !slices.Contains(o.Devices, "trace:-") }

// progressWidth is how many columns the line that is written over has. Blanks clear it, since not every console of
// Windows knows better ways.
const progressWidth = 72

func clock(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// Summary says in a few lines what was played, how late it was, and what it stood on.
func Summary(r *pace.Report, frames int64, rate pace.Rate) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d frames at %s in %s\n", r.Played, frames, rate, clock(r.Elapsed))
	l := &r.Lateness
	fmt.Fprintf(&b, "lateness: median %s, 99 of 100 within %s, latest %s", l.Quantile(0.5), l.Quantile(0.99), l.Max())
	if r.Missed > 0 {
		fmt.Fprintf(&b, "; %d frames began after the next one was due", r.Missed)
	}
	fmt.Fprintf(&b, "\non: %s", r.Footing)
	return b.String()
}

// Welcome is what stands in the page's box when nothing else is asked for.
const Welcome = `# jump, heavy punch, low kick, dragon punch
9 34
hp 20
2,mk 8
6 1
2 1
3,hp 1
`

// ParseRate reads a rate; a number without a unit is so many frames a second.
func ParseRate(text string) (pace.Rate, error) {
	rate, err := pace.ParseRate(text)
	if err != nil {
		if perSecond, err := pace.ParseRate(text + "/s"); err == nil {
			return perSecond, nil
		}
	}
	return rate, err
}
