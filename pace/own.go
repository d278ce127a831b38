package pace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// own is a pacing process, as the asking one sees it.
type own struct {
	cmd       *exec.Cmd
	out       io.ReadCloser
	complaint opening
	last      atomic.Pointer[Progress]

	mu    sync.Mutex // of what sends
	in    io.WriteCloser
	stuck *time.Timer // kills the process some time after a stop; nil: there was none
}

// spawn starts the process. What it is to do is sent later, so that an error means that nothing has begun.
func spawn(j *Job) (*own, error) {
	self, err := program()
	if err != nil {
		return nil, err
	}
	c := &own{cmd: exec.Command(self)}
	c.last.Store(&Progress{Frame: -1})
	c.cmd.Args = []string{os.Args[0], "pace:", j.Player} // for those who look at the list of processes
	c.cmd.Env = append(os.Environ(), childVariable+"=1", "GOMAXPROCS="+childOfCPUs, godebug(os.Getenv("GODEBUG")))
	c.cmd.Stderr = &c.complaint
	c.cmd.WaitDelay = time.Second // for what the player started and left behind
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if c.out, err = c.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	return c, c.cmd.Start()
}

// godebug is a setting of the environment that keeps signals from the pacing process: by them the runtime wants to take
// the place of goroutines that have had it for 10 ms, and there each of these wakes a thread for nothing.
func godebug(before string) string {
	if before != "" {
		before += ","
	}
	return "GODEBUG=" + before + "asyncpreemptoff=1"
}

// startOwn gives the process its job and waits until the player is made.
func startOwn(ctx context.Context, j Job, maker Maker, c *own) (*Run, error) {
	giveUp := context.AfterFunc(ctx, c.kill)
	footing, err := c.begin(&j)
	if !giveUp() && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, c.notBegun(ctx, err, maker, j.Setup)
	}
	r := &Run{footing: footing, command: c.send, done: make(chan struct{})}
	r.progress = func() Progress { return *c.last.Load() }
	go func() {
		stop := context.AfterFunc(ctx, func() { c.send(commandStop) })
		report, err := c.hear(j.Progress)
		died := c.cmd.Wait()
		stop()
		c.close()
		if err != nil && !isPlayers(err) {
			p := c.last.Load()
			report = Report{Footing: footing, Played: p.Played, Skipped: p.Skipped, Stopped: true}
			err = errors.Join(c.failed(err, died), release(maker, j.Setup))
		}
		r.end(ctx, report, err)
	}()
	return r, nil
}

// begin sends the job and hears that the player is made.
func (c *own) begin(j *Job) (f Footing, err error) {
	if err := writeJSON(c.in, kindHead, headOf(j)); err != nil {
		return f, err
	}
	if err := writeMessage(c.in, kindSetup, j.Setup); err != nil {
		return f, err
	}
	kind, body, err := readMessage(c.out, maxMessage)
	if err != nil {
		return f, err
	}
	switch kind {
	case kindReady:
		return f, json.Unmarshal(body, &f)
	case kindFailed:
		var wrong failing
		if err := json.Unmarshal(body, &wrong); err != nil {
			return f, err
		}
		return f, wrong.err()
	}
	return f, fmt.Errorf("it answered with %q", kind)
}

// notBegun ends the process of a run that did not begin.
func (c *own) notBegun(ctx context.Context, err error, maker Maker, setup []byte) error {
	if isPlayers(err) {
		c.close()
		_ = c.cmd.Wait()
		return err
	}
	c.kill()
	died := c.cmd.Wait()
	c.close()
	if ctx.Err() == nil {
		err = c.failed(err, died)
	}
	return errors.Join(err, release(maker, setup)) // who knows how far it came
}

// hear reads what the process tells until the run has ended.
func (c *own) hear(progress func(Progress)) (Report, error) {
	for {
		kind, body, err := readMessage(c.out, maxMessage)
		if err != nil {
			return Report{}, err
		}
		switch kind {
		case kindProgress:
			var p Progress
			if err := json.Unmarshal(body, &p); err != nil {
				return Report{}, err
			}
			c.last.Store(&p)
			if progress != nil {
				progress(p)
			}
		case kindEnd:
			var e ended
			if err := json.Unmarshal(body, &e); err != nil {
				return Report{}, err
			}
			return e.outcome()
		}
	}
}

// send sends a command. A process that is not there any more is noticed elsewhere.
func (c *own) send(command byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stuck != nil {
		return
	}
	_, _ = c.in.Write([]byte{command})
	if command == commandStop {
		c.stuck = time.AfterFunc(patience+2*time.Second, c.kill) // the last resort: the process ends itself before
		_ = c.in.Close()
	}
}

// close is for when the process has ended.
func (c *own) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.in.Close()
	if c.stuck == nil {
		c.stuck = time.NewTimer(0)
	}
	c.stuck.Stop()
}

func (c *own) kill() { _ = c.cmd.Process.Kill() }

// failed says that the process failed and what is known of that.
func (c *own) failed(err, died error) error {
	text := "it ended in the middle of the run"
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, os.ErrClosed) {
		text = err.Error()
	}
	var exit *exec.ExitError
	switch {
	case errors.As(died, &exit) && exit.ExitCode() == exitStuck:
		text = "the player did not come back after a stop"
	case died != nil:
		text += ": " + died.Error()
	}
	if said := c.complaint.String(); said != "" {
		text += ": " + said
	}
	return fmt.Errorf("%w: %s", ErrProcess, text)
}

// release lets a player of the same setup let go of what a dead process held.
func release(maker Maker, setup []byte) error {
	var p Player
	err := guard("make", -1, func() (err error) {
		p, err = maker(setup)
		return err
	})
	if err == nil {
		err = guard("stop", -1, p.Stop)
	}
	if err != nil {
		return fmt.Errorf("let go of what it held: %w", err)
	}
	return nil
}

func isPlayers(err error) bool {
	var p *PlayerError
	return errors.As(err, &p)
}

// opening keeps the beginning of what is written, for an error: of a panic, that is where the reason stands. All of it
// goes on to this process's standard error, where a player's words belong wherever it plays.
type opening struct {
	mu   sync.Mutex
	text []byte
}

const openingBytes = 2000

func (t *opening) Write(b []byte) (int, error) {
	t.mu.Lock()
	t.text = append(t.text, b[:min(len(b), openingBytes-len(t.text))]...)
	t.mu.Unlock()
	_, _ = os.Stderr.Write(b) // unlocked: it may have to wait. A program without one loses only this
	return len(b), nil
}

func (t *opening) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.text))
}
