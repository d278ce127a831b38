package function

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// emulator is the provider's runtime interface emulator: one that runs already, or one that the bench has started.
type emulator struct {
	*functionLine
	runs  string        // in words: what it runs
	cmd   *exec.Cmd     // nil: the bench has not started it
	ended chan struct{} // closed when the program has
}

// openEmulator connects to the emulator at an http:// address, or starts a program of that path, with the bench's
// function in Go.
func (s *session) openEmulator(ctx context.Context) (*emulator, error) {
	if strings.Contains(s.RIE, "://") {
		l, err := openEmulatorLine(ctx, s.RIE)
		return &emulator{functionLine: l, runs: "whatever function it runs"}, err
	}
	for _, l := range s.runtimes {
		if l.name == caseGo {
			return startEmulator(ctx, s.RIE, l, filepath.Join(s.Temp, "emulator.log"))
		}
	}
	return nil, fmt.Errorf("the emulator %s was not started: it runs the bench's function in Go, and there is no go "+
		"on this machine's PATH", s.RIE)
}

// startEmulator starts the program with the function of a runtime. What it prints goes into a file, as that of a
// container would.
func startEmulator(ctx context.Context, program string, r *functionRuntime, log string) (_ *emulator, err error) {
	program, err = filepath.Abs(program)
	if err != nil {
		return nil, fmt.Errorf("find the emulator: %w", err)
	}
	var hosts [2]string // it cannot be told to choose by itself
	for i := range hosts {
		port, err := harness.FreePort()
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		hosts[i] = "127.0.0.1:" + strconv.Itoa(port)
	}
	out, err := os.Create(log)
	if err != nil {
		return nil, fmt.Errorf("make the emulator's log: %w", err)
	}
	defer func() { err = harness.JoinCleanup(err, out.Close()) }() // the program has it
	cmd := exec.CommandContext(ctx, program, "--runtime-interface-emulator-address", hosts[0], "--runtime-api-address",
		hosts[1], "./bootstrap")
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = r.folder, out, out, time.Second
	cmd.Env = append(os.Environ(), "_HANDLER=echo")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it ends what it has started
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the emulator (its program, or http://host:port where it runs): %w", err)
	}
	e := &emulator{runs: "the same function in Go", cmd: cmd, ended: make(chan struct{})}
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer close(e.ended)
		defer cancel()
		_ = cmd.Wait() // what went wrong is in its log
	}()
	if err = harness.AwaitListener(waiting, hosts[0]); err == nil {
		e.functionLine, err = openEmulatorLine(ctx, (&url.URL{Scheme: "http", Host: hosts[0]}).String())
	}
	if err != nil {
		text, _ := os.ReadFile(log) // without it the error says what it says
		return nil, errors.Join(fmt.Errorf("the emulator does not listen: %w\n%.1000s", err, text), e.Close())
	}
	return e, nil
}

func (e *emulator) Close() (err error) {
	if e.functionLine != nil {
		err = e.functionLine.Close()
	}
	if e.cmd != nil {
		if e.cmd.Cancel() != nil {
			_ = e.cmd.Process.Kill() // it has ended as a rule
		}
		<-e.ended
	}
	return err
}
