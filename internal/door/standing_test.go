package door

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/door/doortest"
	"github.com/hikyaku/hikyaku/internal/door/line"
)

// standingFor is an account in which what stands open at a door may take so many bytes.
func standingFor(n int64) *Busy { return NewBusy(standingShare * 4 * ((n + 2) / 3)) }

// dialWeb opens a connection, which ends with the test.
func dialWeb(t *testing.T, w *Web) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", w.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// answerOn reads as much as the beginning of an answer has.
func answerOn(conn net.Conn) string {
	var b [15]byte
	n, _ := io.ReadFull(conn, b[:]) // a connection that ended has said less
	return string(b[:n])
}

// Who keeps open all the connections of two doors that there is room for leaves every other one some that nobody else
// can have.
func TestConnectionsOfSomeDoorsLeaveRoomForEveryOther(t *testing.T) {
	const each, most = 4, 3 * mostDoors * 4 * 4 / 3 // connections that a door has alone, and that one may have
	busy := NewBusy(standingShare * aloneShare * each * ConnStands)
	if got := busy.StandingOfDoor().Limit() / ConnStands; got != most {
		t.Fatalf("a door may have %d connections", got)
	}
	c := Config{Busy: busy, MaxConnections: 1000,
		Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	flooded := []*Web{open(t, c), open(t, c)}
	for _, w := range flooded {
		for range aloneShare * each {
			dialWeb(t, w)
		}
	}
	doortest.Until(t, "the doors are full", func() bool {
		return busy.Standing().Used() == (aloneShare-(mostDoors-2))*each*ConnStands
	})
	for range mostDoors - 2 {
		other := open(t, c)
		for range each {
			conn := dialWeb(t, other)
			if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			if got := answerOn(conn); got != "HTTP/1.1 200 OK" {
				t.Errorf("%q", got)
			}
		}
	}
}

// What a door has alone is given back to it, and what it has beyond that to all: in whatever order connections of
// several doors come and go, no more are open than there is room for, and who waits is let in as soon as there is.
func TestWhatADoorHasAloneComesBackToIt(t *testing.T) {
	const unit = 1 << 10
	busy := NewBusy(standingShare * aloneShare * unit) // each door has one unit alone, and at most 24 of 26 others
	all := busy.Standing()
	a, b := busy.StandingOfDoor(), busy.StandingOfDoor()
	take := func(of *Busy, n int, ok bool) {
		t.Helper()
		for i := range n {
			if of.Try(unit) != ok {
				t.Fatalf("%d of %d: %t, with %d in use", i, n, !ok, all.Used()/unit)
			}
		}
	}
	take(a, 24, true)
	take(a, 1, false)
	take(b, 1+26-23, true)
	take(b, 1, false)
	for _, of := range []*Busy{a, b} {
		got := make(chan error, 1)
		go func() { got <- of.Take(t.Context(), unit) }()
		doortest.Until(t, "one waits", func() bool { return all.crowded.Load() })
		if other := map[*Busy]*Busy{a: b, b: a}[of]; of == b {
			other.Give(unit) // beyond what it has alone: for all
		} else {
			of.Give(unit)
		}
		if err := <-got; err != nil {
			t.Error(err)
		}
	}
	a.Give(a.Used())
	b.Give(b.Used())
	if all.Used() != 0 || all.used.Load() != 0 {
		t.Errorf("%d are taken, %d of those for all", all.Used(), all.used.Load())
	}
	take(b, 24, true)
	h := Hold{Of: a}
	h.Owe(10 * unit) // whether they are left or not
	if all.used.Load() != (23+9)*unit {
		t.Errorf("%d are taken of those for all", all.used.Load()/unit)
	}
	h.End()
	take(a, 4, true)
	take(a, 1, false)
}

// Connections for which there is no room wait until another one ends, and nothing is lost of what they sent.
func TestConnectionsTakeNoMoreThanTheirRoom(t *testing.T) {
	for name, plain := range map[string]func(*line.Exchange){"net/http": nil, "plain": func(x *line.Exchange) {}} {
		busy := standingFor(2 * ConnStands)
		var served atomic.Int64
		w := open(t, Config{Busy: busy, Plain: plain, Handler: http.HandlerFunc(func(http.ResponseWriter,
			*http.Request) {
			served.Add(1)
		})})
		first, second, third := dialWeb(t, w), dialWeb(t, w), dialWeb(t, w)
		for _, c := range []net.Conn{first, second, third} {
			if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []net.Conn{first, second} {
			if got := answerOn(c); got != "HTTP/1.1 200 OK" {
				t.Errorf("%s: %q", name, got)
			}
		}
		if used := busy.Standing().Used(); used != 2*ConnStands {
			t.Errorf("%s: %d bytes are taken", name, used)
		}
		if n := served.Load(); n != 2 {
			t.Errorf("%s: %d are served at once", name, n)
		}
		first.Close()
		if got := answerOn(third); got != "HTTP/1.1 200 OK" {
			t.Errorf("%s: the third: %q", name, got)
		}
		second.Close()
		third.Close()
		doortest.Until(t, "all is given back", func() bool { return busy.Standing().Used() == 0 })
	}
}

// A header that is not small counts while it comes and until it is answered, by its bytes and by its lines. One without
// room ends with its connection; a small one needs none.
func TestALargeHeaderCountsUntilItIsAnswered(t *testing.T) {
	lines := ""
	for i := range 300 {
		lines += fmt.Sprintf("%x:\r\n", i)
	}
	for name, large := range map[string]string{"bytes": "X: " + strings.Repeat("x", 20<<10) + "\r\n", "lines": lines} {
		for way, plain := range map[string]func(*line.Exchange){"net/http": nil, "plain": func(x *line.Exchange) {
			x.Leave()
		}} {
			busy := standingFor(3*ConnStands + 90<<10)
			w := open(t, Config{Busy: busy, Plain: plain, MaxHeaderBytes: 64 << 10})
			begin := "GET / HTTP/1.1\r\nHost: a\r\n" + large
			first, second, third := dialWeb(t, w), dialWeb(t, w), dialWeb(t, w)
			if _, err := io.WriteString(first, begin); err != nil {
				t.Fatal(err)
			}
			doortest.Until(t, "the header counts", func() bool {
				return busy.Standing().Used() > 3*ConnStands+45<<10
			})
			_, _ = io.WriteString(second, begin) // it may have been closed meanwhile
			if got := answerOn(second); got != "" {
				t.Errorf("%s, %s: without room: %q", name, way, got)
			}
			for c, end := range map[net.Conn]string{first: "\r\n", third: "GET / HTTP/1.1\r\nHost: a\r\n\r\n"} {
				if _, err := io.WriteString(c, end); err != nil {
					t.Fatal(err)
				}
				if got := answerOn(c); got != "HTTP/1.1 200 OK" {
					t.Errorf("%s, %s: %q", name, way, got)
				}
			}
			doortest.Until(t, "the header is given back", func() bool {
				return busy.Standing().Used() == 2*ConnStands
			})
		}
	}
}

// What comes before a handshake of TLS is complete counts as a header does.
func TestALargeHandshakeCounts(t *testing.T) {
	certified := httptest.NewUnstartedServer(nil)
	certified.StartTLS()
	defer certified.Close()
	for way, plain := range map[string]func(*line.Exchange){"net/http": nil, "plain": func(x *line.Exchange) {}} {
		busy := standingFor(2 * secureStands)
		w := open(t, Config{Busy: busy, Plain: plain,
			TLS: &tls.Config{Certificates: certified.TLS.Certificates}})
		conn := dialWeb(t, w)
		// a record that is complete, and a part of the ClientHello that it promises
		_, _ = conn.Write(append([]byte{22, 3, 1, 0x40, 0, 1, 0, 0x60, 0}, make([]byte, 16<<10)...))
		if got := answerOn(conn); got != "" {
			t.Errorf("%s: %q", way, got)
		}
		doortest.Until(t, "all is given back", func() bool { return busy.Standing().Used() == 0 })
	}
}

// Each request over HTTP/2 takes room until it is answered. One that finds none is told to try again.
func TestRequestsOverHTTP2TakeRoom(t *testing.T) {
	certified := httptest.NewUnstartedServer(nil)
	certified.StartTLS()
	defer certified.Close()
	trust := certified.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	busy := standingFor(secureStands + streamsWindow + streamStands*3/2)
	begun, end := make(chan string, 2), make(chan struct{})
	w := open(t, Config{Busy: busy, TLS: &tls.Config{Certificates: certified.TLS.Certificates},
		Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			begun <- r.Proto
			<-end
		})})
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: trust, ForceAttemptHTTP2: true}}
	defer client.CloseIdleConnections()
	get := func() int {
		res, err := client.Get("https://" + w.Addr().String())
		if err != nil {
			t.Error(err)
			return 0
		}
		res.Body.Close()
		return res.StatusCode
	}
	var first sync.WaitGroup
	first.Go(func() {
		if got := get(); got != 200 {
			t.Errorf("the first: %d", got)
		}
	})
	if proto := <-begun; proto != "HTTP/2.0" {
		t.Errorf("it is served over %s", proto)
	}
	if got := get(); got != http.StatusServiceUnavailable {
		t.Errorf("one without room: %d", got)
	}
	close(end)
	first.Wait()
	doortest.Until(t, "there is room again", func() bool { return get() == 200 })
}

// Nobody asks for what stands behind a body, so it is not kept while its request waits.
func TestWhatStandsBehindABodyIsNotKept(t *testing.T) {
	var p Parts
	kept := make(chan http.Header, 1)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // it is whole
	}))
	p.Watch(s.Config)
	watched := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		watched.ServeHTTP(w, r)
		kept <- r.Trailer
	})
	s.Start()
	defer s.Close()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"+
		"1\r\nx\r\n0\r\nX-Behind: 1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if got := <-kept; len(got) > 0 {
		t.Errorf("%v is kept", got)
	}
}
