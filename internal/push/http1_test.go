package push_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/push"
)

// oldServer starts a server that speaks HTTP/1.1 alone, and answers a configuration for it.
func oldServer(t testing.TB, handler http.HandlerFunc) push.Config {
	t.Helper()
	cert, pool := certificate(t)
	server := &http.Server{
		Handler: handler, TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}}, Protocols: &http.Protocols{},
	}
	server.Protocols.SetHTTP1(true)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.ServeTLS(l, "", "")
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-ended
	})
	return push.Config{Address: l.Addr().String(), ServerName: "localhost", TLS: &tls.Config{RootCAs: pool},
		HTTP1: true, MaxConnections: 4}
}

func TestAFarEndWithoutHTTP2GetsARequestAtATimeOnEachConnection(t *testing.T) {
	var now, most atomic.Int64
	config := oldServer(t, func(w http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Said", r.Header.Get("x-said"))
		fmt.Fprintf(w, "%s %s %s %s %s", r.Proto, r.Method, r.URL, r.Host, body)
	})
	c := newClient(t, config)
	var wg sync.WaitGroup
	for i := range 1000 {
		wg.Add(1)
		path, said, body := fmt.Sprint("/?token=", i), fmt.Sprint("said", i), fmt.Sprint("body", i)
		c.Send(&push.Request{Method: "POST", Path: path, Header: []push.Field{{Name: "x-said", Value: said}},
			Body: []byte(body)}, time.Now().Add(5*time.Minute), func(r push.Result) {
			defer wg.Done()
			if r.Err != nil {
				t.Errorf("%s: %v", path, r.Err)
				return
			}
			_, port, _ := net.SplitHostPort(config.Address)
			if got := string(r.Response.Body); got != "HTTP/1.1 POST "+path+" localhost:"+port+" "+body ||
				r.Response.Get("x-said") != said || r.Sent.IsZero() {
				t.Errorf("%s: %d %q %q", path, r.Response.Status, got, r.Response.Get("x-said"))
			}
		})
	}
	wg.Wait()
	if s := c.Stats(); s.Made > 4 || s.StreamsLimit != s.Connections || s.Responses != 1000 || most.Load() > 4 {
		t.Errorf("%d at once; %+v", most.Load(), s)
	}
}

func TestAFarEndThatSpeaksBothIsServedByHTTP2(t *testing.T) {
	config := goServer(t, 250, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) })
	config.HTTP1 = true
	r, err := newClient(t, config).Do(t.Context(), &push.Request{Method: "POST", Path: "/"})
	if err != nil || string(r.Body) != "HTTP/2.0" {
		t.Error(r, err)
	}
}

func TestAFarEndWithoutHTTP2IsRefusedUnlessAllowed(t *testing.T) {
	config := oldServer(t, func(http.ResponseWriter, *http.Request) {})
	config.HTTP1 = false
	c, got := newClient(t, config), newResults(t)
	got.send(c, "/", 300*time.Millisecond)
	if r := got.wait("/"); !errors.Is(r.Err, push.ErrDeadline) || !strings.Contains(r.Err.Error(), "no connection") {
		t.Errorf("%+v", r)
	}
}

func TestConnectionsThatEndWithAnAnswerLoseNone(t *testing.T) {
	var asked atomic.Int64
	config := oldServer(t, func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1)%50 == 0 {
			w.Header().Set("Connection", "close")
		}
	})
	config.DialBurst = 100
	c, got := newClient(t, config), newResults(t)
	for i := range 500 {
		got.send(c, fmt.Sprint("/", i), 5*time.Minute)
	}
	for i := range 500 {
		got.ok(fmt.Sprint("/", i), 200)
	}
	if s := c.Stats(); s.Unknown != 0 || s.Lost != 0 || s.DialFailures != 0 || asked.Load() != 500 {
		t.Errorf("%d asked; %+v", asked.Load(), s)
	}
}

// closing is a server that ends the connection with each answer.
func closing(t *testing.T, status int) push.Config {
	t.Helper()
	return oldServer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		w.WriteHeader(status)
	})
}

func TestAFarEndThatEndsEachConnectionWithAnAnswerIsNotWaitedFor(t *testing.T) {
	c, got := newClient(t, closing(t, 201)), newResults(t)
	for i := range 100 {
		got.send(c, fmt.Sprint("/", i), 15*time.Second) // by the tokens alone it takes three minutes
	}
	for i := range 100 {
		got.ok(fmt.Sprint("/", i), 201)
	}
	if s := c.Stats(); s.Unknown != 0 || s.Lost != 0 || s.DialFailures != 0 {
		t.Errorf("%+v", s)
	}
}

func TestAFarEndThatEndsEachConnectionWithARefusalSeesNoStorm(t *testing.T) {
	for _, status := range []int{429, 503} {
		began := time.Now()
		c, got := newClient(t, closing(t, status)), newResults(t)
		for i := range 100 {
			got.send(c, fmt.Sprint("/", i), 500*time.Millisecond)
		}
		for i := range 100 {
			got.wait(fmt.Sprint("/", i))
		}
		if s, most := c.Stats(), 4+8+1+1+int(time.Since(began).Seconds()/2); int(s.Dials) > most {
			t.Errorf("%d connections were made, %d are allowed", s.Dials, most)
		}
	}
}

func TestAnAnswerThatIsCutOffIsLostAndNotRepeated(t *testing.T) {
	var asked atomic.Int64
	config := oldServer(t, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1); r.URL.Path == "/cut" {
			panic(http.ErrAbortHandler)
		}
	})
	c, got := newClient(t, config), newResults(t)
	got.send(c, "/before", 5*time.Minute)
	got.ok("/before", 200)
	got.send(c, "/cut", 5*time.Minute)
	if r := got.wait("/cut"); r.Err == nil || r.Unprocessed || r.Sent.IsZero() {
		t.Errorf("%+v", r)
	}
	got.send(c, "/after", 5*time.Minute)
	got.ok("/after", 200)
	if n := asked.Load(); n != 3 {
		t.Errorf("asked %d times", n)
	}
}

func TestARequestWithoutAnAnswerEndsItsConnectionAlone(t *testing.T) {
	release := make(chan struct{})
	config := oldServer(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/silent" {
			<-release
		}
	})
	defer close(release)
	c, got := newClient(t, config), newResults(t)
	got.send(c, "/silent", 300*time.Millisecond)
	for i := range 100 {
		got.send(c, fmt.Sprint("/", i), 5*time.Minute)
	}
	for i := range 100 {
		got.ok(fmt.Sprint("/", i), 200)
	}
	if r := got.wait("/silent"); !errors.Is(r.Err, push.ErrDeadline) || r.Unprocessed {
		t.Errorf("%+v", r)
	}
	got.send(c, "/after", 5*time.Minute)
	got.ok("/after", 200)
}

func TestTooLongAnAnswerOfHTTP1IsCutShort(t *testing.T) {
	config := oldServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/long" {
			fmt.Fprint(w, strings.Repeat("x", 1<<20))
		}
	})
	config.MaxResponseBody, config.MaxConnections = 100, 1
	c := newClient(t, config)
	r, err := c.Do(t.Context(), &push.Request{Method: "POST", Path: "/long"})
	if err != nil || len(r.Body) != 100 || !r.Truncated {
		t.Error(r, err)
	}
	if r, err := c.Do(t.Context(), &push.Request{Method: "POST", Path: "/"}); err != nil || r.Status != 200 {
		t.Error(r, err)
	}
}

func TestARestThatDoesNotComeHoldsNoStatusUp(t *testing.T) {
	release := make(chan struct{})
	config := oldServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000000")
		w.WriteHeader(http.StatusGone)
		fmt.Fprint(w, strings.Repeat("x", 101))
		_ = http.NewResponseController(w).Flush()
		<-release
	})
	defer close(release)
	config.MaxResponseBody = 100
	c, got := newClient(t, config), newResults(t)
	got.send(c, "/", 5*time.Second)
	got.ok("/", 410)
}

// piped is a far end over pipes that speaks HTTP/1.1 and answers each request with 200.
func piped(t *testing.T) push.Config {
	cert, pool := certificate(t)
	return push.Config{Address: "far.example:443", ServerName: "localhost", TLS: &tls.Config{RootCAs: pool},
		HTTP1: true, Dial: func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			k := tls.Server(far, &tls.Config{Certificates: []tls.Certificate{cert}})
			go func() {
				defer far.Close()
				from := bufio.NewReader(k)
				for {
					if _, err := http.ReadRequest(from); err != nil {
						return
					}
					_, _ = io.WriteString(k, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
				}
			}()
			return near, nil
		}}
}

func TestAConnectionOfHTTP1IsEndedBeforeServersUseToEndIt(t *testing.T) {
	for name, idle := range map[string]time.Duration{"long": 5 * time.Minute, "never": 0, "short": 10 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config := piped(t)
				config.IdleTimeout = idle
				c, got := newClient(t, config), newResults(t)
				got.send(c, "/", soon)
				got.ok("/", 200)
				kept := 50 * time.Second
				if name == "short" {
					kept = idle
				}
				time.Sleep(kept - time.Second)
				if s := c.Stats(); s.Connections != 1 {
					t.Errorf("%d connections before %v", s.Connections, kept)
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if s := c.Stats(); s.Connections != 0 || s.Lost != 0 {
					t.Errorf("after %v: %+v", kept, s)
				}
			})
		})
	}
}

// gathered is a connection whose writes leave together when they are flushed.
type gathered struct {
	net.Conn
	hold bool
	text []byte
}

func (g *gathered) Write(p []byte) (int, error) {
	if g.hold {
		g.text = append(g.text, p...)
		return len(p), nil
	}
	return g.Conn.Write(p)
}

func (g *gathered) flush() error {
	text := g.text
	g.hold, g.text = false, nil
	_, err := g.Conn.Write(text)
	return err
}

// doubleServer answers /1 with each of the texts in a record of its own, all at once, and everything else with 200. It
// closes seen when a second request has come.
func doubleServer(t *testing.T, seen chan struct{}, texts ...string) push.Config {
	t.Helper()
	cert, pool := certificate(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	var all sync.WaitGroup
	serve := func(raw net.Conn) {
		defer raw.Close()
		g := &gathered{Conn: raw}
		k := tls.Server(g, &tls.Config{Certificates: []tls.Certificate{cert}})
		from := bufio.NewReader(k)
		for {
			r, err := http.ReadRequest(from)
			if err != nil {
				return
			}
			if asked.Add(1) == 2 {
				close(seen)
			}
			answer := texts
			if r.URL.Path != "/1" {
				answer = []string{"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"}
			}
			g.hold = true
			for _, text := range answer {
				_, _ = io.WriteString(k, text)
			}
			if g.flush() != nil {
				return
			}
		}
	}
	all.Go(func() {
		for {
			raw, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { serve(raw) })
		}
	})
	t.Cleanup(func() { // after the client's, which hangs up
		_ = l.Close()
		all.Wait()
	})
	return push.Config{Address: l.Addr().String(), ServerName: "localhost", TLS: &tls.Config{RootCAs: pool},
		HTTP1: true}
}

func TestAnAnswerThatNobodyAskedForIsNotTheNextRequests(t *testing.T) {
	const (
		good = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"
		gone = "HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n"
	)
	for name, texts := range map[string][]string{"in one record": {good + gone}, "in two records": {good, gone}} {
		t.Run(name, func(t *testing.T) {
			seen := make(chan struct{})
			c, got := newClient(t, doubleServer(t, seen, texts...)), newResults(t)
			c.Send(&push.Request{Method: "POST", Path: "/1"}, time.Now().Add(time.Minute), func(r push.Result) {
				<-seen // the next request is on its way, on whatever connection, before more is read of this one
				got.done("/1")(r)
			})
			got.send(c, "/2", time.Minute)
			got.ok("/1", 200)
			got.ok("/2", 200)
		})
	}
}
