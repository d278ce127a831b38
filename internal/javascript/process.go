package javascript

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// patience is how much longer than the time of a message a process may be silent: the engine ends a function in time
// where it can.
const patience = 2 * time.Second

// startPatience is how long it may take to its first answer.
const startPatience = 20 * time.Second

// child is a process that runs functions.
type child struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	said tail
	used bool // it has answered something

	ended  sync.Once
	exited error
}

// start starts a process.
func start() (*child, error) {
	c := &child{cmd: exec.Command(self)}
	c.cmd.Args[0] = "hikyaku-javascript"
	c.cmd.Dir = "/"
	c.cmd.Env = []string{childVariable + "=1", "GOMAXPROCS=2", "GOTRACEBACK=none"}
	c.cmd.Stderr = &c.said
	apart(c.cmd)
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReaderSize(out, 64<<10)
	return c, c.cmd.Start()
}

var (
	// errUnused: it ended before it got the request.
	errUnused = errors.New("it had ended before")
	errSilent = errors.New("it said nothing for too long")
)

// ask sends a request and reads so many answers. With an error the process is of no use any more; done are those that
// came.
func (c *child) ask(ctx context.Context, body []byte, n int, patience time.Duration) (done []*answer, err error) {
	silent := make(chan struct{})
	first := startPatience
	if c.used {
		first = patience
	}
	watch := time.AfterFunc(first, func() {
		close(silent)
		c.kill()
	})
	defer watch.Stop()
	defer context.AfterFunc(ctx, c.kill)()
	why := func(err error) error {
		select {
		case <-silent:
			return errSilent
		default:
			return err
		}
	}
	if err := writeFrame(c.in, body); err != nil {
		if c.used {
			err = errUnused
		}
		return nil, why(err)
	}
	size := 0
	for len(done) < n {
		b, err := readFrame(c.out)
		if err != nil {
			return done, why(err)
		}
		if size += len(b); size > 2*maxFrame {
			return done, fmt.Errorf("%w: the answers have more than %d bytes", ErrTooLarge, 2*maxFrame)
		}
		a, err := readAnswer(b)
		if err != nil {
			return done, why(err)
		}
		c.used = true
		done = append(done, a)
		watch.Reset(patience)
	}
	return done, nil
}

// kill ends the process; end has to be called all the same.
func (c *child) kill() { _ = c.cmd.Process.Kill() }

// end ends the process and waits until it is gone.
func (c *child) end() {
	c.ended.Do(func() {
		c.kill()
		_ = c.in.Close()
		c.exited = c.cmd.Wait()
	})
}

// how says why a process ended, for who wrote the function.
func (c *child) how(err error, most time.Duration) string {
	said := c.said.String()
	switch {
	case errors.Is(err, errSilent):
		return fmt.Sprintf("it took longer than %v", most)
	case errors.Is(err, ErrTooLarge):
		return "it made messages that are too large together"
	case strings.Contains(said, "stack"):
		return "its code is nested too deeply"
	case strings.Contains(said, "memory"):
		return "it took more memory than it may have"
	case said != "":
		return "its process ended: " + said
	}
	return fmt.Sprintf("its process ended: %v", c.exited)
}

// tail keeps the first line of what a process says.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const maxTail = 300

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b[:min(len(b), maxTail-len(t.text))]...)
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text, _, _ := strings.Cut(strings.TrimSpace(string(t.text)), "\n")
	return strings.ToValidUTF8(text, "\ufffd")
}
