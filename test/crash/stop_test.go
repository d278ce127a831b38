//go:build linux

package crash

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/sandbox/webhook"
)

// grace is more than a clean stop takes, also on a busy machine, and less than a request that hangs may take.
const grace = 45 * time.Second

// delivering is a serve with a queue source and a webhook, whose requests are few.
func delivering(dir, url, timeout string) string {
	return preamble(filepath.Join(dir, "data")) + `
sources: { waiting: { type: queue, queue: jobs } }
sinks: { hook: { type: webhook, inputs: [waiting], url: ` + url + `, request: { concurrency: 4, timeout_secs: ` + timeout + ` } } }
`
}

func listen(t *testing.T) *webhook.Server {
	t.Helper()
	hook, err := webhook.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hook.Close() }) // what hangs is cut off
	return hook
}

func always(t *testing.T, hook *webhook.Server, b webhook.Behaviour) {
	t.Helper()
	if err := hook.Always(b); err != nil {
		t.Fatal(err)
	}
}

func names(n int) []string {
	bs := make([]string, n)
	for i := range bs {
		bs[i] = fmt.Sprintf("job %d", i)
	}
	return bs
}

var ended = regexp.MustCompile(`msg="pipelines ended" delivered=(\d+) dead_letters=(\d+) given_back=(\d+)`)

func TestACleanStopFinishesWhatIsInFlightAndGivesTheRestBackUncounted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		jobs int // of a slow far end so few that all are done within the time of a stop, also on a busy machine
		far  webhook.Behaviour
	}{
		{"a far end that is slow", 200,
			webhook.Behaviour{Do: webhook.Slow, Delay: webhook.Duration(20 * time.Millisecond)}},
		{"a far end that hangs", 1000, webhook.Behaviour{Do: webhook.Hang}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, hook, jobs := t.TempDir(), listen(t), c.jobs
			always(t, hook, c.far)
			s := serve(t, delivering(dir, hook.URL(), "60"))
			s.put(t, "jobs", names(jobs)...)
			until(t, says("requests are under way"), func() bool { return hook.Counts().Requests >= 4 })
			begun := time.Now()
			s.signal(t, syscall.SIGTERM)
			if state := s.wait(t); state.ExitCode() != 0 {
				t.Errorf("it ended with %v\n%s", state, s.log())
			}
			if took := time.Since(begun); took > grace {
				t.Errorf("the stop took %v", took)
			}
			told := ended.FindStringSubmatch(s.log())
			if told == nil {
				t.Fatalf("it does not say what became of the messages:\n%s", s.log())
			}
			delivered, _ := strconv.Atoi(told[1]) // digits
			if got := hook.Counts(); got.Messages != delivered || got.Doubles != 0 || told[2] != "0" {
				t.Errorf("it says %q; the webhook has %+v", told[0], got)
			}
			checkGivenBack(t, dir, jobs, delivered)
		})
	}
}

// checkGivenBack demands that what was not delivered is ready, and was never attempted.
func checkGivenBack(t *testing.T, dir string, jobs, delivered int) {
	t.Helper()
	s := serve(t, preamble(filepath.Join(dir, "data")))
	st := s.stats(t, "jobs")
	if int(st.Ready) != jobs-delivered || int(st.Messages) != jobs-delivered || int(st.Totals.Done) != delivered {
		t.Errorf("%d of %d were delivered; the queue has %+v", delivered, jobs, st)
	}
	left, err := s.client.Peek(t.Context(), queueName("jobs"), httpdoor.PeekRequest{Max: jobs})
	if err != nil {
		t.Fatal(err)
	}
	for i := range left {
		if left[i].Attempts != 0 {
			t.Errorf("message %d was given back with %d attempts", left[i].Sequence, left[i].Attempts)
		}
	}
	s.stop(t)
	checkJournal(t, filepath.Join(dir, "data"))
}

func TestASecondCtrlCEndsAtOnce(t *testing.T) {
	t.Parallel()
	dir, hook := t.TempDir(), listen(t)
	always(t, hook, webhook.Behaviour{Do: webhook.Hang})
	s := serve(t, delivering(dir, hook.URL(), "60"))
	s.put(t, "jobs", names(100)...)
	until(t, says("requests are under way"), func() bool { return hook.Counts().Requests >= 4 })
	s.signal(t, syscall.SIGINT)
	until(t, says("it is stopping"), func() bool { return strings.Contains(s.log(), "msg=stopping") })
	until(t, says("a second Ctrl-C ends it"), func() bool {
		_ = s.cmd.Process.Signal(syscall.SIGINT) // it may have ended
		select {
		case <-s.drained:
			return true
		default:
			return false
		}
	})
	if status, ok := s.wait(t).Sys().(syscall.WaitStatus); !ok || !status.Signaled() ||
		status.Signal() != syscall.SIGINT {
		t.Errorf("it ended with %v, not by the signal", status)
	}
	checkJournal(t, filepath.Join(dir, "data"))
	s = serve(t, preamble(filepath.Join(dir, "data")))
	if st := s.stats(t, "jobs"); st.Messages != 100 {
		t.Errorf("%+v", st)
	}
	s.stop(t)
}
