package start_test

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench/benchtest"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/bench/start"
)

// What the bench finds is looked at with the real program, in the tests of the command.

func subject(program ...string) benchtest.Subject {
	return benchtest.Subject{Name: "start", Run: start.Run, With: harness.Options{Program: program}}
}

func TestStartSaysWhyItCannotBegin(t *testing.T) {
	program := func(words ...string) func(*harness.Options) {
		return func(o *harness.Options) { o.Program = words }
	}
	subject("/bin/true").SaysWhyItCannotBegin(t, map[string]benchtest.Obstacle{
		"no program":            {Put: program(), Says: "no command"},
		"a program that is not": {Put: program("/bin/missing"), Says: "find this program"},
		"a program that fails":  {Put: program("/bin/false"), Says: "run false: exit status 1"},
		"a server without a door": {
			Put: func(o *harness.Options) {
				o.Only, o.Program = []string{"serve"}, []string{"/bin/sh", "-c", "echo no >&2; sleep 1"}
			},
			Says: "opened no HTTP door: EOF: no",
		},
	})
}

func TestStartEndsWithItsContext(t *testing.T) {
	subject("/bin/sh", "-c", "exec sleep 100").EndsWithItsContext(t, true)
}
