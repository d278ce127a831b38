package mysql

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hikyaku/hikyaku/internal/message"
)

// idle is how many readers wait at once, each for something else.
const idle = 1000

// TestAThousandIdleWaitersCostLittle holds what a waiting connection costs in memory and goroutines, and that it costs
// no time.
func TestAThousandIdleWaitersCostLittle(t *testing.T) {
	r := newRig(t, Config{}, nil)
	r.makeJobs(0)
	r.dialRaw().want("SELECT 1", "1") // what is made once is made
	memory, goroutines := heap(), runtime.NumGoroutine()
	clients := make([]*rawClient, idle)
	for i := range clients {
		clients[i] = r.dialRaw()
		clients[i].write(0, fmt.Appendf(nil, "\x03SELECT queue_wait('jobs:v=%d', 3600)", i+1))
	}
	r.until("all wait", func() bool { return r.stats().Waiters == idle })
	memory, goroutines = heap()-memory, runtime.NumGoroutine()-goroutines
	t.Logf("each connection: %d bytes, %.2f goroutines", memory/idle, float64(goroutines)/idle)
	if memory/idle > 96<<10 {
		t.Errorf("%d bytes a connection", memory/idle)
	}
	if goroutines > 3*idle {
		t.Errorf("%d goroutines for %d connections", goroutines, idle)
	}
	before := cpu()
	time.Sleep(time.Second) // nothing is waited for: it is what an idle second costs
	if used := cpu() - before; used > 3e8 {
		t.Errorf("%d ms of the processor in a second in which nothing happens", used/1e6)
	}
	// Each gets its own row, and nobody another's.
	r.putJobs(1, idle)
	var wg sync.WaitGroup
	for i, c := range clients {
		wg.Go(func() {
			if got, err := c.row(); err != nil || len(got) != 1 || got[0] != "1" {
				t.Errorf("waiter %d: %q, %v", i, got, err)
				return
			}
			c.want("SELECT v FROM jobs", fmt.Sprint(i+1))
			c.want("SELECT queue_end()", "1")
		})
	}
	wg.Wait()
	if st := r.stats(); st.Messages() != 0 || st.TotalDone != idle {
		t.Errorf("%d left, %d done", st.Messages(), st.TotalDone)
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// cpu is what the process has used of the processors, in nanoseconds.
func cpu() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// TestAClientThatNeverReadsHoldsUpNobody sends one a large answer that it does not take.
func TestAClientThatNeverReadsHoldsUpNobody(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.dialRaw()
	c.want("CREATE TABLE big (v longtext) ENGINE=QUEUE")
	for range 16 {
		if _, err := r.store.Put(t.Context(), inTest("big"),
			[]message.Message{{Row: []message.Value{message.String(strings.Repeat("x", 1<<20))}}}); err != nil {
			t.Fatal(err)
		}
	}
	lazy := r.dialRaw()
	lazy.write(0, []byte("\x03SELECT * FROM big"))
	if _, err := lazy.read(); err != nil { // it is being answered
		t.Fatal(err)
	}
	c.want("SELECT COUNT(*) FROM big", "16")
	c.want("SELECT queue_wait('big', 0)", "1")
	c.want("SELECT length(v) FROM big", "1048576")
	c.want("SELECT queue_end()", "1")
}

// TestALargeSelectIsNotGathered reads a table that would not fit where it passes through, and holds how much the
// process grows meanwhile.
func TestALargeSelectIsNotGathered(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.dialRaw()
	c.want("CREATE TABLE big (v longblob) ENGINE=QUEUE")
	row := make([]byte, 4<<20)
	for range 60 {
		if _, err := r.store.Put(t.Context(), inTest("big"),
			[]message.Message{{Row: []message.Value{message.Bytes(row)}}}); err != nil {
			t.Fatal(err)
		}
	}
	before, most := heap(), int64(0)
	c.write(0, []byte("\x03SELECT * FROM big"))
	bytes := 0
	for rows := 0; bytes < 60*len(row); {
		packet, err := c.read()
		if err != nil {
			t.Fatal(err)
		}
		if bytes += len(packet); len(packet) > 1<<20 {
			if rows++; rows%4 == 0 { // what is gathered stays
				most = max(most, heap())
			}
		}
	}
	if grown := most - before; grown > 128<<20 {
		t.Errorf("%d MB of memory for a table of %d MB", grown>>20, bytes>>20)
	}
}
