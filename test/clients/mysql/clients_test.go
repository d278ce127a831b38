package clients_test

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

// deadline is for one client. They need a few seconds each; a crowded machine may make that many times more.
const deadline = 2 * time.Minute

func TestEveryClientWorksWithoutUsers(t *testing.T) {
	everyClient(t, serve(t, false))
}

func TestEveryClientWorksWithUsersAndTLS(t *testing.T) {
	everyClient(t, serve(t, true))
}

// everyClient runs each client against a server, in a database of its own.
func everyClient(t *testing.T, s *server) {
	for _, c := range clients() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if out, err := c.there(); err != nil {
				t.Fatalf("%s is not installed (%v); to install it: scripts/need-clients\n%s", c.name, err, out)
			}
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			defer cancel()
			out, err := c.run(ctx, s.environment(c.database))
			for _, p := range problems(c.expected(s.guarded), out) {
				t.Error(p)
			}
			if err != nil {
				t.Errorf("%s: %v", strings.Join(c.command, " "), err)
			}
			if t.Failed() {
				t.Logf("it printed:\n%s", out)
			}
		})
	}
}

// run runs a client's program and returns what it printed, on both outputs.
func (c client) run(ctx context.Context, env []string) (string, error) {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, c.command[0], c.command[1:]...)
	cmd.Env = slices.Concat(os.Environ(), env, c.env)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 10 * time.Second // then what it left running is not waited for
	err := cmd.Run()
	return out.String(), errors.Join(err, ctx.Err())
}

// there tells whether all is installed that the client needs.
func (c client) there() (string, error) {
	cmd := exec.Command(c.needs[0], c.needs[1:]...)
	cmd.Env = append(os.Environ(), c.env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// problems says what is wrong with what a program printed: just the wanted checks have to be ok, once each.
func problems(want []string, out string) []string {
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

func TestAProgramThatDoesNotRunItsChecksFails(t *testing.T) {
	want := []string{"one", "two"}
	for name, out := range map[string]string{
		"says nothing":       "",
		"leaves one out":     "ok one\n",
		"runs one twice":     "ok one\nok one\nok two\n",
		"runs another":       "ok one\nok two\nok three\n",
		"has a longer name":  "ok one\nok twofold\n",
		"fails one":          "ok one\nnot ok two: why\n",
		"fails one silently": "ok one\nnot ok two\n",
		"fails another":      "ok one\nok two\nnot ok three: why\n",
	} {
		if problems(want, out) == nil {
			t.Errorf("a program that %s passes", name)
		}
	}
	if p := problems(want, "# 3 ms\nok two\nok one"); p != nil {
		t.Errorf("a good program: %q", p)
	}
}
