package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// Deadline is for one program. They need a few seconds each; a crowded machine may make that many times more.
const Deadline = 5 * time.Minute

// Program is one for a client, in the client's language.
type Program struct {
	Name    string
	Needs   []string // a command that fails if something is not installed
	Command []string
	Env     []string // besides the test's own
}

// Check runs the program and demands that it does just the wanted checks, and that all are ok. env is what it is told
// besides Env.
func (p Program) Check(t *testing.T, want []string, env ...string) {
	t.Helper()
	p.Start(t, env...).Finish(t, want)
}

// Running is a program at work.
type Running struct {
	program Program
	out     string // as err to be read when ended is closed
	err     error
	ended   chan struct{}
}

// Start begins what Check does; Finish does the rest.
func (p Program) Start(t *testing.T, env ...string) *Running {
	t.Helper()
	if out, err := p.installed(); err != nil {
		t.Fatalf("%s is not installed (%v); to install it: scripts/need-clients\n%s", p.Name, err, out)
	}
	r := &Running{program: p, ended: make(chan struct{})}
	ctx, cancel := context.WithTimeout(t.Context(), Deadline)
	go func() {
		defer close(r.ended)
		defer cancel()
		r.out, r.err = p.run(ctx, env)
	}()
	return r
}

// Ended is closed when the program has ended.
func (r *Running) Ended() <-chan struct{} { return r.ended }

// Finish waits for the program's end and demands that it did just the wanted checks, and that all are ok.
func (r *Running) Finish(t *testing.T, want []string) {
	t.Helper()
	<-r.ended
	for _, problem := range Problems(want, r.out) {
		t.Error(problem)
	}
	if r.err != nil {
		t.Errorf("%s: %v", strings.Join(r.program.Command, " "), r.err)
	}
	if t.Failed() {
		t.Logf("it printed:\n%s", r.out)
	}
}

// run runs the program and returns what it printed, on both outputs.
func (p Program) run(ctx context.Context, env []string) (string, error) {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, p.Command[0], p.Command[1:]...)
	cmd.Env = slices.Concat(os.Environ(), env, p.Env)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 10 * time.Second // then what it left running is not waited for
	err := cmd.Run()
	return out.String(), errors.Join(err, ctx.Err())
}

// installed tells whether all is there that the program needs.
func (p Program) installed() (string, error) {
	cmd := exec.Command(p.Needs[0], p.Needs[1:]...)
	cmd.Env = append(os.Environ(), p.Env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Problems says what is wrong with what a program printed: just the wanted checks have to be ok, once each.
func Problems(want []string, out string) []string {
	var found []string
	ran := map[string]int{}
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "ok "); ok {
			ran[name]++
		} else if rest, ok := strings.CutPrefix(line, "not ok "); ok {
			name, _, _ := strings.Cut(rest, ":")
			ran[name]++
			found = append(found, line)
		}
	}
	for _, name := range want {
		if ran[name] != 1 {
			found = append(found, fmt.Sprintf("the check %s ran %d times, not once", name, ran[name]))
		}
		delete(ran, name)
	}
	for name := range ran {
		found = append(found, fmt.Sprintf("the check %s is not on the list of list_test.go", name))
	}
	return found
}
