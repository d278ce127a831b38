//go:build linux

package crash

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// lingering is a function whose first instance takes every event and never answers; those that find the file "go" write
// down the event's id. Each writes down its process first.
const lingering = `
import os, time
here = os.environ["HERE"]
with open(here + "/pids", "a") as f: f.write(str(os.getpid()) + "\n")
def handler(event, context):
    with open(here + "/begun", "a") as f: f.write(str(event["id"]) + "\n")
    while not os.path.exists(here + "/go"): time.sleep(0.01)
    with open(here + "/done", "a") as f: f.write(str(event["id"]) + "\n")
`

// written are the lines of a file; none when there is no file.
func written(t *testing.T, path string) map[string]int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	lines := map[string]int{}
	for _, line := range strings.Fields(string(text)) {
		lines[line]++
	}
	return lines
}

func TestAKillLosesNoEventOfAFunctionAndLeavesNoInstance(t *testing.T) {
	t.Parallel()
	here := t.TempDir()
	write(t, filepath.Join(here, "code.py"), lingering)
	config := fmt.Sprintf(`data_dir: %s
api: { http: { listen: 127.0.0.1:0 }, mysql: { off: true }, pubsub: { off: true }, sqs: { off: true }, lambda: { listen: 127.0.0.1:0, retry_delay: 10ms, isolation: none } }
functions:
  lingering: { runtime: python3, handler: code.handler, code: %s, timeout: 15m, init_timeout: 5m, concurrency: 3, environment: { HERE: %s } }
`, filepath.Join(here, "data"), here, here)
	s := serve(t, config)
	const events = 20
	for i := range events {
		answer, err := post(t, s, "/2015-03-31/functions/lingering/invocations", fmt.Sprintf(`{"id":%d}`, i))
		if err != nil || answer != http.StatusAccepted {
			t.Fatalf("event %d: %d, %v\n%s", i, answer, err, s.log())
		}
	}
	until(t, func() string { return fmt.Sprint("begun: ", written(t, here+"/begun")) },
		func() bool { return len(written(t, here+"/begun")) == 3 })
	s.kill()
	for pid := range written(t, here+"/pids") {
		n, err := strconv.Atoi(pid)
		if err != nil {
			t.Fatal(err)
		}
		until(t, func() string { return "instance " + pid + " runs on" }, func() bool { return gone(n) })
	}
	write(t, filepath.Join(here, "go"), "")
	s = serve(t, config)
	until(t, func() string { return fmt.Sprintf("done: %v\n%s", written(t, here+"/done"), s.log()) },
		func() bool { return len(written(t, here+"/done")) == events })
	s.stop(t)
	checkJournal(t, filepath.Join(here, "data"))
}

// post posts an event that nobody waits for to the Lambda door.
func post(t *testing.T, s *served, path, event string) (status int, err error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.address(t, "lambda")+path,
		strings.NewReader(event))
	if err != nil {
		return 0, err
	}
	r.Header.Set("X-Amz-Invocation-Type", "Event")
	client := &http.Client{Timeout: time.Minute}
	defer client.CloseIdleConnections()
	answer, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	return answer.StatusCode, answer.Body.Close()
}

// gone tells whether a process has ended.
func gone(pid int) bool {
	if err := syscall.Kill(pid, 0); err != nil {
		return true
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // perhaps nobody has taken note of its end yet
	return err != nil || strings.Contains(string(text), ") Z ")
}
