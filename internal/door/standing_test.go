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

// Who keeps open all the connections of one door that there is room for leaves others theirs.
func TestConnectionsOfOneDoorLeaveRoomForOthers(t *testing.T) {
	busy := standingFor(3 * ConnStands)
	c := Config{Busy: busy, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	flooded, other := open(t, c), open(t, c)
	for range 10 {
		dialWeb(t, flooded)
	}
	doortest.Until(t, "the door is full", func() bool { return busy.Standing().Used() >= 3*ConnStands })
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
