package soak

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// soak is for how long fresh seeds run. The default shows that it works.
var soak = flag.Duration("soak", time.Second, "how long TestSoak runs fresh seeds on all processors")

// A worker is this test program, run with a first seed and a step to the next one, and when to end, in the environment:
// each seed wants a processor to itself, so there is a process for each.
const workerEnv = "HIKYAKU_SOAK_WORKER"

// TestSoak runs seeds that nobody has run before, on all processors, and histories beside them, until its time is over
// or one finds something.
func TestSoak(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	start := time.Now()
	end := start.Add(*soak)
	first := uint64(start.UnixNano()) >> 10
	n := uint64(runtime.GOMAXPROCS(0))
	t.Logf("%v from seed %d on, %d at a time", *soak, first, n)

	o := &overseer{fail: cancel}
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { o.oversee(ctx, first+i, n, end) })
	}
	all.Go(func() {
		for seed := first; time.Now().Before(end) && ctx.Err() == nil; seed++ {
			events, err := writeHistory(seed, 8, nil)
			if err != nil {
				cancel(err)
			}
			o.history(events)
			select { // most of the time belongs to the seeds
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	})
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		all.Wait()
	}()
	every := time.NewTicker(10 * time.Second)
	defer every.Stop()
	for {
		select {
		case <-every.C:
			t.Log(o.progress(start))
			continue
		case <-finished:
		}
		break
	}
	t.Log(o.progress(start))
	if err := context.Cause(ctx); err != nil {
		t.Fatal(err)
	}
}

// overseer adds up what the workers say.
type overseer struct {
	fail context.CancelCauseFunc

	mu        sync.Mutex
	sum       tally
	histories int
	events    int
}

func (o *overseer) progress(start time.Time) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	d := time.Since(start)
	return fmt.Sprintf("%v: %v; %d histories of %d events; %.0f seeds/s", d.Round(time.Second), o.sum, o.histories,
		o.events, float64(o.sum.Seeds)/d.Seconds())
}

func (o *overseer) history(events int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.histories++
	o.events += events
}

// oversee runs one worker to its end.
func (o *overseer) oversee(ctx context.Context, first, step uint64, end time.Time) {
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestSeeds$", "-test.timeout=0")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d,%d,%d", workerEnv, first, step, end.UnixMilli()))
	out, err := cmd.StdoutPipe()
	if err != nil {
		o.fail(err)
		return
	}
	var complaint strings.Builder
	cmd.Stderr = &complaint
	if err := cmd.Start(); err != nil {
		o.fail(err)
		return
	}
	at, rest := o.listen(out)
	err = cmd.Wait()
	if err != nil && ctx.Err() == nil {
		o.fail(fmt.Errorf("%s%s%w; to see it again: go test ./test/soak -run TestSeeds -seed %d", rest,
			complaint.String(), err, at))
	}
}

// listen reads what a worker says: "at SEED" before each seed, a tally behind it; whatever else comes is about what it
// has found.
func (o *overseer) listen(out io.Reader) (at uint64, rest string) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		word, value, _ := strings.Cut(lines.Text(), " ")
		var t tally
		switch {
		case word == "at":
			at, _ = strconv.ParseUint(value, 10, 64)
		case word == "did" && json.Unmarshal([]byte(value), &t) == nil:
			o.mu.Lock()
			o.sum.add(t)
			o.mu.Unlock()
		default:
			rest += lines.Text() + "\n"
		}
	}
	return at, rest
}

// worker runs seeds, as an order says, until its time is over.
func worker(t *testing.T, order string) {
	var seed, step uint64
	var end int64
	if _, err := fmt.Sscanf(order, "%d,%d,%d", &seed, &step, &end); err != nil {
		t.Fatalf("%s=%q: %v", workerEnv, order, err)
	}
	for ; time.Now().UnixMilli() < end; seed += step {
		fmt.Printf("at %d\n", seed)
		res := run(t, seed, 80, nil)
		if res.err != nil {
			t.Fatal(res.err)
		}
		did, err := json.Marshal(res.count)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("did %s\n", did)
	}
}
