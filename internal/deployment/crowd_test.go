package deployment_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// recorder builds the function that records what it is invoked with, and is its settings, its code, and the file.
func recorder(t *testing.T) (s deployment.Settings, c deployment.Code, record string) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "bootstrap"), "./testdata/recorder")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cannot build the function: %v\n%s", err, out)
	}
	record = filepath.Join(t.TempDir(), "record")
	return deployment.Settings{
		Runtime: "provided.al2023", MemoryMB: 1769, Timeout: 30 * time.Second,
		InitTimeout: time.Minute,
		Environment: map[string]string{"RECORD": record},
	}, deployment.Code{Folder: dir}, record
}

// recorded tells how often each request was invoked, and in which processes.
func recorded(t *testing.T, record string) (times map[string]int, pids map[string]bool) {
	t.Helper()
	text, err := os.ReadFile(record)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	times, pids = map[string]int{}, map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if id, pid, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok && strings.HasSuffix(line, "\n") {
			times[id]++
			pids[pid] = true
		}
	}
	return times, pids
}

func events(name string) queue.Name { return queue.Name{Namespace: "functions", Name: name} }

// Nobody waits for ten thousand events: each is invoked once, by about as many instances as events may be in the
// function at once, and nothing grows with their number but the queue. On a busy machine one that does not come back
// within a second is replaced.
func TestTenThousandEventsAtOnceAreEachInvokedOnce(t *testing.T) {
	r, s, _ := open(t, t.TempDir())
	settings, code, record := recorder(t)
	if _, err := r.Create(t.Context(), "f", settings, code, nil); err != nil {
		t.Fatal(err)
	}
	const all, callers = 10_000, 50
	ids := make([]string, all)
	before := runtime.NumGoroutine()
	var wg sync.WaitGroup
	for caller := range callers {
		wg.Go(func() {
			for n := caller; n < all; n += callers {
				id, err := r.Enqueue(t.Context(),
					function.Request{Function: "f", Payload: fmt.Appendf(nil, `{"n":%d}`, n)})
				if err != nil {
					t.Error(err)
					return
				}
				ids[n] = id
			}
		})
	}
	wg.Wait()
	most := 0
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if idle, err := s.Idle(t.Context(), events("f"), nil); idle || err != nil {
			break
		}
		most = max(most, runtime.NumGoroutine())
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("the events do not come to an end")
		}
	}
	times, pids := recorded(t, record)
	for n, id := range ids {
		if times[id] != 1 {
			t.Errorf("event %d, %s, was invoked %d times", n, id, times[id])
		}
	}
	if len(times) != all {
		t.Errorf("%d requests were invoked", len(times))
	}
	stats, ok := r.Deployed("f", function.Latest)
	if !ok || stats.Invocations != all || stats.Errors != 0 || stats.Throttled != 0 {
		t.Errorf("%+v", stats)
	}
	if len(pids) > 10*16 || most-before > 50*16 {
		t.Errorf("%d instances and %d goroutines more were there for 16 at once", len(pids), most-before)
	}
}

// beKilled is the owner of functions that the test kills: it queues events and says which of them are queued.
func beKilled(dir string) {
	err := func() error {
		ctx := context.Background()
		j, err := file.Open(ctx, file.Options{Dir: filepath.Join(dir, "journal"), Durability: journal.Fsync,
			SegmentBytes: 4 << 20})
		if err != nil {
			return err
		}
		s, err := queue.Open(ctx, queue.Options{Journal: j, OnDemand: true})
		if err != nil {
			return err
		}
		r, err := deployment.Open(ctx, deployment.Config{Store: s, Dir: filepath.Join(dir, "functions"),
			Pool: function.Config{Isolation: function.None}})
		if err != nil {
			return err
		}
		settings := deployment.Settings{
			Runtime: "provided.al2023", MemoryMB: 1769, Timeout: time.Minute, InitTimeout: time.Minute,
			Environment: map[string]string{"RECORD": os.Getenv("RECORD"), "REST": "3ms"},
		}
		if _, err := r.Create(ctx, "f", settings, deployment.Code{Folder: os.Getenv("CODE")}, nil); err != nil {
			return err
		}
		for { // until it is killed
			id, err := r.Enqueue(ctx, function.Request{Function: "f", Payload: []byte("{}")})
			if err != nil {
				return err
			}
			fmt.Println(id)
		}
	}()
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func TestEventsOfAKilledOwnerAreInvokedByTheNextAndItsInstancesAreGone(t *testing.T) {
	_, code, record := recorder(t)
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "KILLED_OWNER="+dir, "RECORD="+record, "CODE="+code.Folder)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var queued []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		queued = append(queued, lines.Text())
		if len(queued) < 200 {
			continue
		}
		if times, _ := recorded(t, record); len(times) >= 20 && cmd.ProcessState == nil {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	_ = cmd.Wait() // it was killed
	_, pids := recorded(t, record)
	if len(queued) < 200 || len(pids) == 0 {
		t.Fatalf("%d events were queued, and %d instances had any", len(queued), len(pids))
	}
	gone := time.NewTicker(time.Millisecond)
	defer gone.Stop()
	for deadline := time.Now().Add(time.Minute); len(pids) > 0; <-gone.C {
		for pid := range pids {
			if !runs(pid) {
				delete(pids, pid)
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("instances outlive their owner: %v", pids)
		}
	}
	before, _ := recorded(t, record)
	_, s, _ := open(t, dir)
	empty(t, s, events("f"))
	times, _ := recorded(t, record)
	twice := 0
	for _, id := range queued {
		switch times[id] {
		case 1:
		case 2:
			twice++ // it was in the function when that was killed
			if before[id] == 0 {
				t.Errorf("%s was invoked twice after the kill", id)
			}
		default:
			t.Errorf("%s was invoked %d times", id, times[id])
		}
	}
	if twice > 16 {
		t.Errorf("%d events were invoked twice, and 16 were in the function at most", twice)
	}
}

// runs tells whether a process is there and no zombie.
func runs(pid string) bool {
	if _, err := strconv.Atoi(pid); err != nil {
		return false
	}
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}
