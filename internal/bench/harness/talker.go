package harness

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

// Talker is a process that answers each line with a line of JSON, and ends when its input does. It is for one goroutine
// at a time.
type Talker struct {
	name      string
	Cmd       *exec.Cmd
	In        io.WriteCloser
	Out       *bufio.Reader
	complaint bytes.Buffer
}

// StartTalker runs a command. It is killed when ctx ends.
func StartTalker(ctx context.Context, name string, command ...string) (*Talker, error) {
	t := &Talker{name: name, Cmd: exec.CommandContext(ctx, command[0], command[1:]...)}
	t.Cmd.Stderr = &t.complaint
	var err error
	if t.In, err = t.Cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	out, err := t.Cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	t.Out = bufio.NewReaderSize(out, 1<<20)
	if err := t.Cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return t, nil
}

// Ask says a line and hears the answer.
func (t *Talker) Ask(line string, answer any) error {
	if _, err := io.WriteString(t.In, line+"\n"); err != nil {
		return fmt.Errorf("tell %s: %w: %s", t.name, err, t.complained())
	}
	return t.Hear(answer)
}

// Hear reads the next answer. After an error the process has ended.
func (t *Talker) Hear(answer any) error {
	text, err := t.Out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(text, answer)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("hear from %s: %w", t.name, err), t.Close())
	}
	return nil
}

// Close ends the process in the way of a clean stop.
func (t *Talker) Close() error {
	if t.Cmd.ProcessState != nil {
		return nil // it has ended
	}
	err := errors.Join(t.In.Close(), t.Cmd.Wait())
	if err != nil {
		return fmt.Errorf("end %s: %w: %s", t.name, err, t.complained())
	}
	return nil
}

// complained is what it said on its standard error, as far as a person reads it.
func (t *Talker) complained() string {
	const most = 2000
	text := strings.TrimSpace(t.complaint.String())
	return text[:min(len(text), most)]
}

// Has tells whether there is a program of that name, or a file.
func Has(name string) bool {
	if _, err := exec.LookPath(name); err == nil {
		return true
	}
	_, err := os.Stat(name)
	return err == nil
}
