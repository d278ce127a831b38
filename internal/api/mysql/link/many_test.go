package link_test

import (
	"bytes"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/api/mysql/link"
)

// settles waits until the process has at most that many goroutines.
func settles(t *testing.T, most int) {
	t.Helper()
	for end := time.Now().Add(patience); runtime.NumGoroutine() > most; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, not %d", runtime.NumGoroutine(), most)
		}
	}
}

func TestAThousandWatchesLeaveNothingBehind(t *testing.T) {
	const many = 1000
	l := listen(t, link.Config{Socket: socketPath(t)})
	clients, servers := make([]net.Conn, many), make([]*link.Conn, many)
	for i := range many {
		clients[i], servers[i] = pair(t, l, 0)
	}
	before := runtime.NumGoroutine()
	gone, stops := make([]<-chan struct{}, many), make([]func(), many)
	for range 3 {
		for i, s := range servers {
			gone[i], stops[i] = s.Watch()
		}
		if n := runtime.NumGoroutine(); n > before+many {
			t.Errorf("%d goroutines for %d watches", n-before, many)
		}
		for _, stop := range stops {
			stop()
		}
		settles(t, before) // a goroutine that is waited for may still be on its last instructions
	}
	for i, s := range servers {
		gone[i], stops[i] = s.Watch()
	}
	for _, c := range clients {
		c.Close()
	}
	for i := range servers {
		soon(t, "gone", gone[i])
	}
	settles(t, before) // without stop: a watch whose client is gone is over
	for _, stop := range stops {
		stop()
	}
}

func TestWatchesNeverChangeTheStream(t *testing.T) {
	l := listen(t, link.Config{TCP: "127.0.0.1:0"})
	rapid.Check(t, func(r *rapid.T) {
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			r.Fatal(err)
		}
		defer client.Close()
		accepted, err := l.Accept()
		if err != nil {
			r.Fatal(err)
		}
		defer accepted.Close()
		server, _ := link.Of(accepted)
		server.Ready()

		var sent, got bytes.Buffer
		stop := func() {}
		for range rapid.IntRange(1, 20).Draw(r, "steps") {
			switch rapid.SampledFrom([]string{"send", "read", "watch", "stop"}).Draw(r, "step") {
			case "send":
				b := rapid.SliceOfN(rapid.Byte(), 1, 3000).Draw(r, "bytes")
				sent.Write(b)
				if _, err := client.Write(b); err != nil {
					r.Fatal(err)
				}
			case "read":
				if got.Len() < sent.Len() {
					b := make([]byte, rapid.IntRange(1, sent.Len()-got.Len()).Draw(r, "room"))
					n, err := server.Read(b)
					got.Write(b[:n])
					if n == 0 || err != nil {
						r.Fatalf("read %d, %v", n, err)
					}
				}
			case "watch":
				_, stop = server.Watch()
			case "stop":
				stop()
			}
		}
		client.Close()
		if _, err := io.Copy(&got, server); err != nil {
			r.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), sent.Bytes()) {
			r.Fatalf("%d bytes sent, %d read", sent.Len(), got.Len())
		}
	})
}

func TestAClientThatNeverReadsDoesNotHoldTheServer(t *testing.T) {
	l := listen(t, link.Config{TCP: "127.0.0.1:0", Socket: socketPath(t), Stall: 300 * time.Millisecond})
	for n := range l.Addrs() {
		_, server := pair(t, l, n)
		begun, written := time.Now(), 0
		var err error
		for err == nil { // until every buffer on the way is full
			var m int
			m, err = server.Write(make([]byte, 1<<20))
			written += m
		}
		if took := time.Since(begun); took > patience || written == 0 {
			t.Errorf("%s: %d bytes in %s: %v", l.Addrs()[n].Network(), written, took, err)
		}
	}
}
