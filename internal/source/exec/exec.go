// Package exec is a source that makes a message of each line that a command writes.
//
//	sources:
//	  disks: { type: exec, command: [df, -P], interval: 1m }
//	  kernel: { type: exec, command: [journalctl, -kf, -n0, -ojson] }
//
// With an interval the command runs again and again, and without one it is to run for good: when it ends, it is started
// again after a pause. No shell is between, unless the command is one. What was read and not delivered when the process
// is killed is lost; at a stop the command and all that it has started are asked to end, and what they still write is
// taken.
package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/lines"
	"github.com/hikyaku/hikyaku/internal/message"
)

// Config is the source's settings.
type Config struct {
	// Command is the program and its arguments.
	Command []string `yaml:"command" required:"true"`
	// Shell gives the one text of Command to /bin/sh -c.
	Shell bool `yaml:"shell"`
	// Interval is the time from one start to the next; a run that takes longer puts off the next. 0: the command is to
	// run for good.
	Interval time.Duration `yaml:"interval" min:"0"`
	// RestartDelay is the pause before a command is started again that was to run for good. 0: 1 s.
	RestartDelay time.Duration `yaml:"restart_delay" min:"0"`
	// Directory is where it runs. "": here.
	Directory string `yaml:"directory"`
	// Stderr makes messages of the lines of its standard error, too; without it they are ours. The attribute stream
	// tells them apart.
	Stderr bool `yaml:"stderr"`
	// MaxLineBytes bounds a line, without its end; longer ones are left out and counted. 0: 1 MiB.
	MaxLineBytes int `yaml:"max_line_bytes" min:"0"`
}

const (
	usualRestart = time.Second
	// partTime is how long a command may take to end when it is asked to; then it is killed.
	partTime = 2 * time.Second
)

// What the source counts.
const (
	ended   = "ended"   // runs that ended well
	failed  = "failed"  // runs that did not
	skipped = "skipped" // lines that were too long
)

// Source runs a command.
type Source struct {
	component.Tally
	Config
	courier *lines.Courier
}

// New checks the settings.
func New(c Config, _ component.Env) (component.Source, error) {
	switch {
	case len(c.Command) == 0 || c.Command[0] == "":
		return nil, component.Setting("command", errors.New("is empty: name a program, and its arguments"))
	case c.Shell && len(c.Command) != 1:
		return nil, component.Setting("command", errors.New("has to be one text where a shell reads it"))
	case c.Shell:
		c.Command = []string{"/bin/sh", "-c", c.Command[0]}
	}
	if c.RestartDelay == 0 {
		c.RestartDelay = usualRestart
	}
	return &Source{Config: c, courier: lines.NewCourier()}, nil
}

// Start looks for the program.
func (s *Source) Start(context.Context) error {
	_, err := osexec.LookPath(s.Command[0])
	return err
}

// Parts implements component.Parter.
func (s *Source) Parts() time.Duration { return partTime + time.Second }

// Close has nothing to do: when Run has returned, no command runs.
func (s *Source) Close() error { return nil }

// Run runs the command until ctx ends.
func (s *Source) Run(ctx context.Context, out component.Out) error {
	live, end := context.WithCancel(context.WithoutCancel(ctx))
	var serving sync.WaitGroup
	defer serving.Wait()
	defer end()
	serving.Go(func() { _ = s.courier.Serve(live) }) // it fails when the pipeline stops
	for ctx.Err() == nil {
		began := time.Now()
		err := s.once(ctx, live, out)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			s.Add(failed, fmt.Sprintf("%s has ended: %v", s.Command[0], err))
		case s.Interval == 0:
			s.Add(ended, fmt.Sprintf("%s has ended, and is started again", s.Command[0]))
		}
		pause := s.RestartDelay
		if s.Interval > 0 {
			pause = time.Until(began.Add(s.Interval))
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
	return ctx.Err()
}

// once runs the command once, and takes what it writes.
func (s *Source) once(ctx, live context.Context, out component.Out) error {
	cmd := osexec.Command(s.Command[0], s.Command[1:]...)
	cmd.Dir, cmd.Stderr = s.Directory, os.Stderr
	group(cmd)
	streams := map[string]*os.File{}
	open := func(name string) (*os.File, error) {
		r, w, err := os.Pipe()
		if err == nil {
			streams[name] = r
		}
		return w, err
	}
	stdout, err := open("stdout")
	if err != nil {
		return err
	}
	cmd.Stdout = stdout
	stderr := stdout
	if s.Stderr {
		if stderr, err = open("stderr"); err != nil {
			stdout.Close()
			streams["stdout"].Close()
			return err
		}
		cmd.Stderr = stderr
	}
	err = cmd.Start()
	stdout.Close()
	stderr.Close() // it may be the same
	defer func() {
		for _, r := range streams {
			r.Close()
		}
	}()
	if err != nil {
		return err
	}
	// A command that is asked to end may still write; what it has started may hold the pipes open. After a while they
	// are killed, and read no more.
	sending, over := context.WithCancel(live)
	defer over()
	asked := context.AfterFunc(ctx, func() {
		ask(cmd)
		kill := time.AfterFunc(partTime, over)
		context.AfterFunc(sending, func() { kill.Stop() })
	})
	defer asked()
	defer context.AfterFunc(sending, func() {
		end(cmd)
		for _, r := range streams {
			_ = r.SetReadDeadline(time.Now())
		}
	})()
	var reading sync.WaitGroup
	for name, r := range streams {
		reading.Go(func() {
			if s.read(sending, r, name, out) != nil {
				over() // nobody takes any more
			}
		})
	}
	err = cmd.Wait()
	if ctx.Err() == nil {
		// Its lines are all in the pipes. What it left behind is ended with it, so that the pipes end, too.
		end(cmd)
	}
	reading.Wait()
	end(cmd)
	return err
}

// read makes messages of the lines of a stream, to its end. An error is that of a send.
func (s *Source) read(ctx context.Context, in io.Reader, name string, out component.Out) error {
	r := lines.NewReader(in, lines.Options{Max: s.MaxLineBytes})
	for {
		l, err := r.Next()
		if long := (*lines.TooLongError)(nil); errors.As(err, &long) {
			s.Add(skipped, fmt.Sprintf("%s: %v, and is left out", s.Command[0], err))
			continue
		}
		last := err != nil
		if last {
			var ok bool
			if l, ok = r.Last(); !ok {
				return nil
			}
		}
		if err := s.send(ctx, l.Text, name, out); err != nil || last {
			return err
		}
	}
}

// send sends a line. What the pipeline gives back is sent again.
func (s *Source) send(ctx context.Context, text []byte, stream string, out component.Out) error {
	now := time.Now()
	m := &message.Message{ID: message.NewID(), Time: now, Body: append([]byte(nil), text...)}
	m.Hops.Mark(message.Accepted, now)
	m.Attributes.Set("stream", message.String(stream))
	return s.courier.Deliver(ctx, out, m)
}
