package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/macro/record"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/evdev"
	"github.com/hikyaku/hikyaku/pace"
)

// Record says what is recorded, and how.
type Record struct {
	Device string   // the file of a pad; "": the pads are listed
	Map    []string // as evdev.ParseMapping reads it
	Dead   int      // how far a stick or trigger has to move, from 1 to 99
	Pause  time.Duration
	Rate   pace.Rate
	To     string // the file that the macro is written to; "": Out

	Out  io.Writer // for the macro and the list
	Told io.Writer // for people
}

// DefaultDead and DefaultPause are what a Record has as a rule.
const (
	DefaultDead  = 50
	DefaultPause = 10 * time.Second
)

// ErrRecord is wrapped by errors about what a Record says.
var ErrRecord = errors.New("cannot be recorded so")

// ErrNoPad is returned when pads are to be listed and there are none.
var ErrNoPad = errors.New("there is no game pad below /dev/input; plug one in")

// Check looks whether a Record can be meant.
func (r *Record) Check() error {
	switch {
	case r.Dead < 1 || r.Dead > 99:
		return fmt.Errorf("%w: a dead zone of %d is not from 1 to 99", ErrRecord, r.Dead)
	case r.Pause < 0:
		return fmt.Errorf("%w: a pause of %s", ErrRecord, r.Pause)
	}
	_, err := evdev.ParseMapping(r.Map)
	return err
}

// Run records until ctx ends, nothing was pressed for a pause, or the pad has gone, and writes a macro.
func (r *Record) Run(ctx context.Context) (err error) {
	if err := r.Check(); err != nil {
		return err
	}
	if r.Device == "" {
		return r.list()
	}
	mapping, _ := evdev.ParseMapping(r.Map)
	source, err := evdev.Open(r.Device, mapping)
	if err != nil {
		return err
	}
	defer source.Close()
	to, done, err := r.open()
	if err != nil {
		return err
	}
	about := source.About()
	fmt.Fprintf(r.Told, "Recording %q from its first press to Ctrl-C%s.\n", about.Name, r.orPause())
	if n := source.Unused(); n > 0 && source.Live() {
		fmt.Fprintf(r.Told, "Buttons without a place in a macro: %d; --map gives them one.\n", n)
	}
	recording := record.New(r.Rate)
	end, why := r.follow(ctx, source, recording)
	text, err := recording.Text(end)
	if err == nil {
		name := strings.Join(strings.Fields(about.Name), " ")
		text = append(fmt.Appendf(nil, "# recorded from %s at %s\n", name, r.Rate), text...)
		_, err = to.Write(text)
	}
	if err = errors.Join(err, done(err)); err == nil {
		fmt.Fprintf(r.Told, "%s\n", recordedText(recording, why))
	}
	return err
}

func recordedText(r *record.Recording, why error) string {
	text := fmt.Sprintf("Recorded: %d frames, %d lines.", r.Frames(), r.Steps())
	if why != nil {
		text += fmt.Sprintf(" It ended early: %v.", why)
	}
	return text
}

func (r *Record) orPause() string {
	if r.Pause == 0 {
		return ""
	}
	return fmt.Sprintf(", or until nothing is pressed for %s", r.Pause)
}

// follow reads the pad until something ends it: why, if that was not what was asked for.
func (r *Record) follow(ctx context.Context, source *evdev.Source, recording *record.Recording) (end time.Duration,
	why error) {
	defer context.AfterFunc(ctx, func() { _ = source.WaitUntil(time.Unix(1, 0)) })()
	var state macro.State
	for {
		changes, err := source.Read()
		for i := range changes {
			c := &changes[i]
			end = c.At
			s := c.Digital(r.Dead)
			if err := recording.Add(c.At, s); err != nil {
				return c.At, err
			}
			if s == state || ctx.Err() != nil {
				continue
			}
			state = s
			if err := r.await(ctx, source, recording); err != nil {
				return c.At, err
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded):
			return now(source, end), nil
		case errors.Is(err, io.EOF):
			return end, nil
		case errors.Is(err, device.ErrGone):
			return now(source, end), err
		default:
			return end, err
		}
	}
}

// now is the time of a pad's clock; a file's has stood since its last change.
func now(source *evdev.Source, last time.Duration) time.Duration {
	if !source.Live() {
		return last
	}
	return evdev.Clock()
}

// await has the source end when nothing happens for a pause from now on.
func (r *Record) await(ctx context.Context, source *evdev.Source, recording *record.Recording) error {
	var until time.Time
	if r.Pause > 0 && recording.Begun() && !recording.Held() {
		until = time.Now().Add(r.Pause)
	}
	err := source.WaitUntil(until)
	if ctx.Err() != nil { // what ended it may have been overwritten
		err = errors.Join(err, source.WaitUntil(time.Unix(1, 0)))
	}
	return err
}

// open opens the file that the macro goes to before anything is pressed: what cannot be written is told at once. An
// older one keeps its text until there is another. done ends it, with the error that there was.
func (r *Record) open() (to io.Writer, done func(error) error, err error) {
	if r.To == "" || r.To == "-" {
		return r.Out, func(error) error { return nil }, nil
	}
	_, missing := os.Stat(r.To)
	f, err := os.OpenFile(r.To, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return nil, nil, err
	}
	return &emptied{File: f}, func(failed error) error {
		err := f.Close()
		if failed != nil && missing != nil {
			err = errors.Join(err, os.Remove(r.To))
		}
		return err
	}, nil
}

// emptied is a file that loses what it had with the first write.
type emptied struct {
	*os.File
	begun bool
}

func (e *emptied) Write(b []byte) (int, error) {
	if !e.begun {
		e.begun = true
		if info, err := e.Stat(); err == nil && info.Mode().IsRegular() {
			if err := e.Truncate(0); err != nil {
				return 0, err
			}
		}
	}
	return e.File.Write(b)
}

// list says which pads there are.
func (r *Record) list() error {
	pads, err := evdev.List()
	if err != nil {
		return err
	}
	if len(pads) == 0 {
		return ErrNoPad
	}
	for _, p := range pads {
		line := p.Path + "\t" + p.Name
		if p.Refused != "" {
			line += "\t(may not be read: " + p.Refused + ")"
		}
		if _, err := fmt.Fprintln(r.Out, line); err != nil {
			return err
		}
	}
	fmt.Fprintf(r.Told, "Record one with: hikyaku macro record --device %s -o FILE\n", pads[0].Path)
	return nil
}
