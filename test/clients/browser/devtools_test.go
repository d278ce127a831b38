package browser_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// patience is how long the browser may take for anything. It is there to end a test that hangs; none is judged by it.
const patience = 10 * time.Minute

// chromium is a running browser.
type chromium struct {
	ctx context.Context
	cmd *exec.Cmd
	to  io.WriteCloser

	mu      sync.Mutex
	next    int
	waiting map[int]chan reply
	broken  error
}

// reply is what the browser answers to a command.
type reply struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// open starts a browser, with these flags beside the usual ones, that ends with the test.
func open(t *testing.T, flags ...string) *chromium {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	toRead, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, fromWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := &chromium{ctx: ctx, to: to, waiting: map[int]chan reply{}}
	c.cmd = exec.Command(program.browser, append(flags, "--headless", "--no-sandbox", "--disable-gpu",
		"--disable-dev-shm-usage", "--hide-scrollbars", "--lang=en-US", "--no-first-run",
		"--disable-background-networking", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir())...)
	c.cmd.ExtraFiles = []*os.File{toRead, fromWrite} // its files 3 and 4
	var complaint bytes.Buffer
	c.cmd.Stderr = &complaint
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	toRead.Close()
	fromWrite.Close()
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		c.hear(from)
	}()
	t.Cleanup(func() {
		cancel()
		to.Close()
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
		<-heard
		if t.Failed() {
			t.Logf("the browser said:\n%s", complaint.String())
		}
	})
	return c
}

// hear hands replies to those who wait for them. Messages end with a zero byte.
func (c *chromium) hear(from io.ReadCloser) {
	defer from.Close()
	r := bufio.NewReader(from)
	for {
		b, err := r.ReadBytes(0)
		if err != nil {
			c.mu.Lock()
			c.broken = fmt.Errorf("the browser has gone: %w", err)
			for _, w := range c.waiting {
				close(w)
			}
			c.waiting = map[int]chan reply{}
			c.mu.Unlock()
			return
		}
		var got reply
		if json.Unmarshal(b[:len(b)-1], &got) != nil || got.ID == 0 {
			continue // an event
		}
		c.mu.Lock()
		if w := c.waiting[got.ID]; w != nil {
			delete(c.waiting, got.ID)
			w <- got
		}
		c.mu.Unlock()
	}
}

// do tells the browser something, or one of its pages.
func (c *chromium) do(session, method string, params, result any) error {
	answer := make(chan reply, 1)
	c.mu.Lock()
	if c.broken != nil {
		c.mu.Unlock()
		return c.broken
	}
	c.next++
	id := c.next
	c.waiting[id] = answer
	b, err := json.Marshal(map[string]any{"id": id, "method": method, "params": params, "sessionId": session})
	if session == "" {
		b, err = json.Marshal(map[string]any{"id": id, "method": method, "params": params})
	}
	if err == nil {
		_, err = c.to.Write(append(b, 0))
	}
	c.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case got, ok := <-answer:
		switch {
		case !ok:
			return errors.New("the browser has gone")
		case got.Error != nil:
			return fmt.Errorf("%s: %s", method, got.Error.Message)
		case result == nil:
			return nil
		}
		return json.Unmarshal(got.Result, result)
	case <-c.ctx.Done():
		return fmt.Errorf("%s: %w", method, context.Cause(c.ctx))
	}
}
