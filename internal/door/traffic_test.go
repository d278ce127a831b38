package door

import (
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hikyaku/hikyaku/internal/metricstest"
)

func TestRequestsAreCountedByCallAndCodeAlsoPastTheCountersThatAreKept(t *testing.T) {
	const goroutines, each = 4, 5
	traffic := NewTraffic("sqs")
	var work sync.WaitGroup
	for range goroutines {
		work.Go(func() {
			for range each {
				for i := range keptOutcomes + 10 {
					traffic.Ended("call", fmt.Sprint(i))
				}
			}
		})
	}
	work.Wait()
	got := metricstest.Of(t, traffic)
	for i := range keptOutcomes + 10 {
		if n := got[fmt.Sprintf("hikyaku_door_requests_total call %d sqs", i)]; n != goroutines*each {
			t.Errorf("%d: %v are counted, not %d", i, n, goroutines*each)
		}
	}
	if n := len(*traffic.counters.Load()); n != keptOutcomes {
		t.Errorf("%d counters are kept, not %d", n, keptOutcomes)
	}
}

func BenchmarkEnded(b *testing.B) {
	t := NewTraffic("sqs")
	b.ReportAllocs()
	for b.Loop() {
		t.Ended("SendMessage", "200")
	}
}

func BenchmarkEndedParallel(b *testing.B) {
	t := NewTraffic("sqs")
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			t.Ended("SendMessage", "200")
		}
	})
}

// TestConnectionsOfAllDoorsLeaveFilesToTheJournal: more wait for one to end, at whatever door, and a door that closes
// waits for none.
func TestConnectionsOfAllDoorsLeaveFilesToTheJournal(t *testing.T) {
	for files, want := range map[uint64]int{100: 50, 1024: 512, 4096: 3072, 1 << 20: 3 << 18} {
		s := SeatsFor(files)
		if got := cap(s.free) + mostDoors*s.alone; got != want || files > 100 && s.alone < 10 {
			t.Errorf("of %d files connections may have %d, not %d", files, got, want)
		}
	}
	if SeatsFor(0) != nil {
		t.Error("connections are bounded where nobody says how many files there may be")
	}
	seats := SeatsFor(4)
	accepted := make(chan net.Conn)
	var listeners []net.Listener
	var work sync.WaitGroup
	for _, name := range []string{"http", "sqs"} {
		traffic := NewTraffic(name)
		traffic.Share(seats)
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		l = traffic.Listen(l)
		listeners = append(listeners, l)
		work.Go(func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				accepted <- c
			}
		})
	}
	dial := func(l net.Listener) {
		t.Helper()
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
	}
	for range 2 { // both seats, at one door after the other has waited with one of them
		dial(listeners[0])
		dial(listeners[1])
	}
	first, second := <-accepted, <-accepted
	if len(seats.free) != 2 {
		t.Errorf("%d seats are taken", len(seats.free))
	}
	select {
	case c := <-accepted:
		t.Errorf("%v was accepted without a seat", c.RemoteAddr())
	case <-time.After(50 * time.Millisecond):
	}
	first.Close()
	third := <-accepted
	for _, l := range listeners { // while one waits for a seat
		l.Close()
	}
	work.Wait()
	second.Close()
	third.Close()
	if len(seats.free) != 0 {
		t.Errorf("%d seats are not given back", len(seats.free))
	}
}

// TestConnectionsOfSomeDoorsLeaveFilesToEveryOther holds every seat that two doors can have: each other one has some.
func TestConnectionsOfSomeDoorsLeaveFilesToEveryOther(t *testing.T) {
	seats, closed := SeatsFor(1024), make(chan struct{})
	close(closed) // nobody waits
	fill := func(d *doorSeats) (n int) {
		for full := false; !full; {
			select {
			case d.alone <- struct{}{}:
				n++
			case d.free <- struct{}{}:
				n++
			default:
				full = true
			}
		}
		return n
	}
	if n := fill(seats.ofDoor()) + fill(seats.ofDoor()); n != 512-(mostDoors-2)*seats.alone {
		t.Errorf("two doors have %d seats", n)
	}
	for range mostDoors - 2 {
		other := seats.ofDoor()
		var leaves []func()
		for range 3 {
			for range seats.alone {
				leave, ok := other.take(closed)
				if !ok {
					t.Fatalf("%d of its %d seats are there", len(leaves), seats.alone)
				}
				leaves = append(leaves, leave)
			}
			if _, ok := other.take(closed); ok {
				t.Error("a seat that is another's")
			}
			for _, leave := range leaves {
				leave()
			}
			leaves = nil
		}
	}
}

// A registry that checks what it collects has been told of each metric, also of those that nothing has counted yet.
func TestTrafficDescribesWhatHasNotHappenedYet(t *testing.T) {
	traffic, registry := NewTraffic("sqs"), prometheus.NewPedanticRegistry()
	registry.MustRegister(traffic)
	traffic.Waiting(ForRoom).Inc()
	traffic.Ended("call", "200")
	traffic.HandshakeFailed()
	if _, err := registry.Gather(); err != nil {
		t.Error(err)
	}
}
