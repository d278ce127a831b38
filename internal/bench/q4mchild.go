package bench

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

// q4mChild is a process that does ServeQ4M, or ServePublish. It is for one goroutine at a time.
type q4mChild struct {
	cmd       *exec.Cmd
	in        io.WriteCloser
	out       *bufio.Reader
	complaint bytes.Buffer
	addr      string
}

// startQ4M starts a server over a new store in dir. It is killed when ctx ends.
func startQ4M(ctx context.Context, command []string, dir string, with setting) (*q4mChild, error) {
	return startServer(ctx, command, "--dir", dir, "--segment-bytes", strconv.FormatInt(with.segmentBytes, 10),
		"--checkpoint-bytes", strconv.FormatUint(with.checkpointBytes, 10))
}

// startServer runs a command, to which arguments are added, and hears where it listens. It is killed when ctx ends.
func startServer(ctx context.Context, command []string, args ...string) (*q4mChild, error) {
	if len(command) == 0 {
		return nil, errors.New("no command was given that serves in a process of its own")
	}
	args = append(command[1:len(command):len(command)], args...)
	c := &q4mChild{cmd: exec.CommandContext(ctx, command[0], args...)}
	c.cmd.Stderr = &c.complaint
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start a server: %w", err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start a server: %w", err)
	}
	c.in, c.out = in, bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a server: %w", err)
	}
	s, err := c.hear()
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	c.addr = s.Addr
	return c, nil
}

// say tells the server what to do, and hears how things stand.
func (c *q4mChild) say(what string) (served, error) {
	if _, err := io.WriteString(c.in, what+"\n"); err != nil {
		return served{}, fmt.Errorf("tell the server: %w", err)
	}
	return c.hear()
}

func (c *q4mChild) hear() (s served, err error) {
	text, err := c.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return s, fmt.Errorf("hear from the server: %w", err)
	}
	return s, nil
}

// close ends the server in the way of a clean stop.
func (c *q4mChild) close() error {
	err := errors.Join(c.in.Close(), c.cmd.Wait())
	if err != nil {
		return fmt.Errorf("end the server: %w: %s", err, strings.TrimSpace(c.complaint.String()))
	}
	return nil
}
