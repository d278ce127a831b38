//go:build linux

package crash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Connections of one door: as many as fit beside other tests, or 4,000 and 2,000 with -times 20.
const (
	idleConnections     = 200
	drippingConnections = 100
)

// headerPatience is twice what a door waits for a request's head, or for a login.
const headerPatience = 20 * time.Second

// greetings are what a client of a door says before it has nothing more to say, and what is begun and never ended.
var greetings = map[string]struct{ idle, dripping string }{
	"http":   {"GET /livez HTTP/1.1\r\nHost: here\r\n\r\n", "GET /livez HTTP/1.1\r\nHost: here\r\nX: "},
	"sqs":    {"GET /livez HTTP/1.1\r\nHost: here\r\n\r\n", "POST / HTTP/1.1\r\nHost: here\r\nX: "},
	"lambda": {"GET /2015-03-31/functions/ HTTP/1.1\r\nHost: here\r\n\r\n", "POST / HTTP/1.1\r\nHost: here\r\nX: "},
	"pubsub": {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00", "PRI * HTTP/2.0"},
	"mysql":  {"", "\xff\x00\x00\x01"},
}

// TestIdleAndDrippingConnectionsHarmNobody opens many connections to each door: some say what a client says and are
// silent then, the others send a byte of a request's head, or of a login, now and then. Others are served meanwhile,
// who drips is sent away, and in the end nothing is left of them.
func TestIdleAndDrippingConnectionsHarmNobody(t *testing.T) {
	parallel := *times == 1 // thousands of each at once would be more than a process may open
	if parallel {
		t.Parallel()
	}
	for _, door := range some(t, 2, slices.Sorted(maps.Keys(greetings))...) {
		t.Run(door, func(t *testing.T) {
			if parallel {
				t.Parallel()
			}
			here := t.TempDir()
			s := serve(t, allDoors(here, filepath.Join(here, "data"), 1))
			address := s.address(t, door)
			s.put(t, "jobs", "warm")
			before, memory := s.handles(t), s.memory(t)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			var all sync.WaitGroup
			defer all.Wait()
			defer stop()
			var open atomic.Int64
			idle(ctx, t, s, door, address, idleConnections**times)
			for range drippingConnections * *times {
				c := dial(t, address)
				open.Add(1)
				all.Go(func() {
					defer open.Add(-1)
					drip(ctx, c, greetings[door].dripping)
				})
			}
			until(t, func() string { return "the connections are open" }, func() bool {
				return s.handles(t) >= before+(idleConnections+drippingConnections)**times/2
			})
			each := (s.memory(t) - memory) / int64((idleConnections+drippingConnections)**times)
			for i := range 20 {
				s.put(t, "jobs", fmt.Sprint(i))
			}
			began := time.Now()
			until(t, func() string { return fmt.Sprintf("%d dripping connections are open\n%s", open.Load(), s.log()) },
				func() bool {
					return open.Load() == 0 || time.Since(began) > headerPatience
				})
			if n := open.Load(); n > 0 {
				t.Errorf("%d dripping connections are open after %v", n, time.Since(began))
			}
			sentAway := time.Since(began)
			if n := s.handles(t) - before; n < idleConnections**times*9/10 {
				t.Errorf("of %d idle connections %d are left", idleConnections**times, n)
			}
			stop()
			until(t, func() string { return fmt.Sprintf("%d handles are open, %d were before", s.handles(t), before) },
				func() bool { return s.handles(t) <= before+4 })
			t.Logf("%d idle and %d dripping connections: %d KiB each; those that drip were sent away within %v",
				idleConnections**times, drippingConnections**times, each>>10, sentAway.Round(time.Second/10))
			most := int64(128 << 10)
			if *raced {
				most *= 4 // the detector keeps what each goroutine has seen
			}
			if each > most {
				t.Errorf("a connection takes %d bytes", each)
			}
			s.stop(t)
		})
	}
}

// idle opens connections that say what a client says, and are silent then until ctx ends.
func idle(ctx context.Context, t *testing.T, s *served, door, address string, n int) {
	t.Helper()
	if door == "mysql" { // here a client says who it is
		db := s.tables(t)
		db.SetMaxOpenConns(n)
		for range n {
			c, err := db.Conn(ctx)
			if err != nil {
				t.Fatal(err)
			}
			context.AfterFunc(ctx, func() {
				c.Close()
				db.Close()
			})
		}
		return
	}
	for range n {
		c := dial(t, address)
		if _, err := io.WriteString(c, greetings[door].idle); err != nil {
			t.Fatal(err)
		}
		context.AfterFunc(ctx, func() { c.Close() })
	}
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := net.DialTimeout("tcp", address, patience)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// drip sends a beginning, and then a byte every half second, until the other end has had enough or ctx ends.
func drip(ctx context.Context, c net.Conn, beginning string) {
	defer c.Close()
	if _, err := io.WriteString(c, beginning); err != nil {
		return
	}
	buffer := make([]byte, 4096)
	for ctx.Err() == nil {
		// fails only on a closed connection, which the read tells
		_ = c.SetReadDeadline(time.Now().Add(time.Second / 2))
		for {
			_, err := c.Read(buffer)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				break
			}
			if err != nil {
				return
			}
		}
		if _, err := io.WriteString(c, "x"); err != nil {
			return
		}
	}
}

// handles is how many files and sockets the program has open.
func (s *served) handles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// memory is how much memory the program has now, in bytes.
func (s *served) memory(t *testing.T) int64 {
	t.Helper()
	return s.status(t, "VmRSS:") << 10
}
