//go:build unix

package pace_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/hikyaku/hikyaku/pace"
)

// TestTheKeysOfATerminalReachTheAskingProgramAlone sends the pacing process what a terminal sends to all processes of a
// program.
func TestTheKeysOfATerminalReachTheAskingProgramAlone(t *testing.T) {
	run, h := start(t, t.Context(), newEar(t), pace.Job{}, callerSetup{})
	h.until("frame 5")
	p, err := os.FindProcess(h.pid)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTSTP} {
		if err := p.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	h.until("frame 400") // a process that was halted would never come there
	run.Stop()
	h.until("stop")
	if report, err := run.Wait(); err != nil || report.Played < 400 {
		t.Errorf("%v, %+v", err, report)
	}
}
