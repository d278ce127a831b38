package bench

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
	"strings"
)

// talker is a process that answers each line with a line of JSON, and ends when its input does. It is for one goroutine
// at a time.
type talker struct {
	name      string
	cmd       *exec.Cmd
	in        io.WriteCloser
	out       *bufio.Reader
	complaint bytes.Buffer
}

// startTalker runs a command. It is killed when ctx ends.
func startTalker(ctx context.Context, name string, command ...string) (*talker, error) {
	t := &talker{name: name, cmd: exec.CommandContext(ctx, command[0], command[1:]...)}
	t.cmd.Stderr = &t.complaint
	var err error
	if t.in, err = t.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	out, err := t.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	t.out = bufio.NewReaderSize(out, 1<<20)
	if err := t.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return t, nil
}

// ask says a line and hears the answer.
func (t *talker) ask(line string, answer any) error {
	if _, err := io.WriteString(t.in, line+"\n"); err != nil {
		return fmt.Errorf("tell %s: %w: %s", t.name, err, t.complained())
	}
	return t.hear(answer)
}

func (t *talker) hear(answer any) error {
	text, err := t.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(text, answer)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("hear from %s: %w", t.name, err), t.close())
	}
	return nil
}

// close ends the process in the way of a clean stop.
func (t *talker) close() error {
	if t.cmd.ProcessState != nil {
		return nil // it has ended
	}
	err := errors.Join(t.in.Close(), t.cmd.Wait())
	if err != nil {
		return fmt.Errorf("end %s: %w: %s", t.name, err, t.complained())
	}
	return nil
}

// complained is what it said on its standard error, as far as a person reads it.
func (t *talker) complained() string {
	const most = 2000
	text := strings.TrimSpace(t.complaint.String())
	return text[:min(len(text), most)]
}

// has tells whether there is a program of that name, or a file.
func has(name string) bool {
	if _, err := exec.LookPath(name); err == nil {
		return true
	}
	_, err := os.Stat(name)
	return err == nil
}
