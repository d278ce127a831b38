package harness

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
)

// Child is a process that does ServeQ4M, or ServePublish. It is for one goroutine at a time.
type Child struct {
	cmd       *exec.Cmd
	in        io.WriteCloser
	Out       *bufio.Reader
	complaint bytes.Buffer
	Addr      string
}

// StartQ4M starts a server over a new store in dir. It is killed when ctx ends.
func StartQ4M(ctx context.Context, command []string, dir string, with Setting) (*Child, error) {
	return StartChild(ctx, command, "--dir", dir, "--segment-bytes", strconv.FormatInt(with.SegmentBytes, 10),
		"--checkpoint-bytes", strconv.FormatUint(with.CheckpointBytes, 10))
}

// StartChild runs a command, to which arguments are added, and hears where it listens. It is killed when ctx ends.
func StartChild(ctx context.Context, command []string, args ...string) (*Child, error) {
	if len(command) == 0 {
		return nil, errors.New("no command was given that serves in a process of its own")
	}
	args = append(command[1:len(command):len(command)], args...)
	c := &Child{cmd: exec.CommandContext(ctx, command[0], args...)}
	c.cmd.Stderr = &c.complaint
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start a server: %w", err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start a server: %w", err)
	}
	c.in, c.Out = in, bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a server: %w", err)
	}
	s, err := c.Hear()
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	c.Addr = s.Addr
	return c, nil
}

// Say tells the server what to do, and hears how things stand.
func (c *Child) Say(what string) (Served, error) {
	if _, err := io.WriteString(c.in, what+"\n"); err != nil {
		return Served{}, fmt.Errorf("tell the server: %w", err)
	}
	return c.Hear()
}

// Hear reads what the server says next.
func (c *Child) Hear() (s Served, err error) {
	text, err := c.Out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return s, fmt.Errorf("hear from the server: %w", err)
	}
	return s, nil
}

// Close ends the server in the way of a clean stop.
func (c *Child) Close() error {
	err := errors.Join(c.in.Close(), c.cmd.Wait())
	if err != nil {
		return fmt.Errorf("end the server: %w: %s", err, strings.TrimSpace(c.complaint.String()))
	}
	return nil
}
