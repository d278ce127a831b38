//go:build linux

package crash

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// TestWhatIsUnderWayWhileTheProgramIsFrozenIsNotSentAgain stops the program, with pushes under way, for longer than
// their leases and their deadlines, and lets it go on.
func TestWhatIsUnderWayWhileTheProgramIsFrozenIsNotSentAgain(t *testing.T) {
	t.Parallel()
	const users, rounds = 100, 3
	dir := t.TempDir()
	far, app := pushFarEnd(t, farend.Behaviour{Latency: farend.Latency{Median: farend.Duration(time.Second)}})
	s := serve(t, preamble(filepath.Join(dir, "data"))+fmt.Sprintf(`
sources:
  waiting: { type: queue, queue: outbox, lease: 1s }
transforms:
  notice: { type: jq, inputs: [waiting], program: '{aps: {alert: .text}}', attributes: { token: $body.token } }
sinks:
  phones: { type: apns, inputs: [notice], apps: %s, request: { concurrency: %d, timeout_secs: 2 } }
`, app, users))
	for round := range rounds {
		var bodies []string
		for i := range users {
			bodies = append(bodies, fmt.Sprintf(`{"token": "%064x", "text": "news"}`, round*users+i))
		}
		s.put(t, "outbox", bodies...)
		until(t, func() string { return "all pushes are under way\n" + s.log() },
			func() bool { return far.Counts().Requests >= int64((round+1)*users) })
		for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
			if err := s.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if signal == syscall.SIGSTOP {
				<-time.After(3 * time.Second)
			}
		}
		until(t, func() string { return "all are done\n" + s.log() },
			func() bool { return s.stats(t, "outbox").Totals.Done == uint64((round+1)*users) })
	}
	if c := far.Counts(); c.Messages != rounds*users || c.Doubles != 0 {
		t.Errorf("%d messages were sent, of %d; %d were sent twice\n%s", c.Messages, rounds*users, c.Doubles, s.log())
	}
}
