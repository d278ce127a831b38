package line

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestPlainRequestsAreServedHereOneAfterTheOther(t *testing.T) {
	r := newRig(t, Config{}, nil)
	l := r.dial()
	for _, body := range []string{"one", "", "three", strings.Repeat("x", maxBody), "five"} {
		l.want(plainRequest(body), "line "+body)
	}
}

func TestARequestSaysWhereItIsFrom(t *testing.T) {
	r := newRig(t, Config{Serve: func(x *Exchange) {
		_ = x.Send(http.StatusOK, append(x.Begin(), x.Request.RemoteAddr...)) // a client that is gone misses it
	}}, nil)
	l := r.dial()
	for range 2 {
		l.want(plainRequest(""), l.LocalAddr().String())
	}
}

func TestRequestsThatComeTogetherAreAnsweredInTheirOrder(t *testing.T) {
	r := newRig(t, Config{}, nil)
	l := r.dial()
	l.write(plainRequest("one") + plainRequest("two") + plainRequest(strings.Repeat("3", 10_000)) +
		plainRequest("four")[:20])
	for _, want := range []string{"line one", "line two", "line " + strings.Repeat("3", 10_000)} {
		if _, got := l.answer(); got != want {
			t.Errorf("answered %.50q, not %.50q", got, want)
		}
	}
	l.write(plainRequest("four")[20:])
	if _, got := l.answer(); got != "line four" {
		t.Errorf("answered %q", got)
	}
}

func TestARequestMayComeByteByByte(t *testing.T) {
	r := newRig(t, Config{}, nil)
	l := r.dial()
	for _, b := range []byte(plainRequest("slow")) {
		l.write(string(b))
	}
	if _, got := l.answer(); got != "line slow" {
		t.Errorf("answered %q", got)
	}
}

func TestHeadersAreThoseOfTheirOwnRequest(t *testing.T) {
	r := newRig(t, Config{}, nil)
	l := r.dial()
	for _, fields := range [][]string{{"X-Is: a"}, {"X-Is: a"}, {"X-Is: b"}, {"Accept: x", "X-Is: c"}, {"x-is: d"}, {},
		{"X-Is:e"}} {
		want := ""
		for _, f := range fields {
			if name, value, _ := strings.Cut(f, ":"); strings.EqualFold(name, "X-Is") {
				want = strings.TrimSpace(value)
			}
		}
		l.write(plainRequest("", fields...))
		if res, _ := l.answer(); res.Header.Get("X-Was") != want {
			t.Errorf("%v is seen as %q", fields, res.Header.Get("X-Was"))
		}
	}
}

func TestEverythingElseIsNetHTTPs(t *testing.T) {
	r := newRig(t, Config{}, nil)
	for name, c := range map[string]struct{ request, want string }{
		"another method": {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "other GET "},
		"chunks": {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
			"other POST abc"},
		"a large body": {plainRequest(strings.Repeat("x", maxBody+1)),
			"other POST " + strings.Repeat("x", maxBody+1)},
		"a long head":         {plainRequest("abc", "X-Is: "+strings.Repeat("y", maxHead)), "other POST abc"},
		"a name twice":        {plainRequest("abc", "X-Is: a", "X-Is: b"), "other POST abc"},
		"the end":             {plainRequest("abc", "Connection: close"), "other POST abc"},
		"an older protocol":   {strings.Replace(plainRequest("abc"), "1.1", "1.0", 1), "other POST abc"},
		"no length":           {"POST / HTTP/1.1\r\nHost: x\r\n\r\n", "other POST "},
		"another expectation": {plainRequest("abc", "Expect: more"), ""}, // 417, without a body
		"an absolute target":  {strings.Replace(plainRequest("abc"), "/", "http://localhost/", 1), "other POST abc"},
		"bare line feeds": {strings.ReplaceAll(plainRequest("abc"), "\r\n", "\n") + strings.Repeat(" ", maxHead),
			"other POST abc"},
		"many headers": {plainRequest("abc",
			strings.Split(strings.TrimSuffix(strings.Repeat("A$: x\n", maxFields+1), "\n"), "\n")...),
			"other POST abc"},
		"a length of no form": {strings.Replace(plainRequest("abc"), "Length: 3", "Length: +3", 1), "400 Bad Request"},
		"two lengths":         {plainRequest("abc", "Content-Length: 4"), "400 Bad Request"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "many headers" {
				for i := range maxFields + 1 {
					c.request = strings.Replace(c.request, "A$", "A"+strconv.Itoa(i), 1)
				}
			}
			l := r.dial()
			l.t = t
			l.want(plainRequest("before"), "line before")
			l.write(c.request)
			if _, got := l.answer(); !strings.HasPrefix(got, c.want) {
				t.Errorf("answered %.100q, not %.100q", got, c.want)
			}
		})
	}
}

func TestAContinueIsSentToThoseWhoExpectIt(t *testing.T) {
	r := newRig(t, Config{}, nil)
	l := r.dial()
	head, body, _ := strings.Cut(plainRequest("abc", "Expect: 100-continue"), "\r\n\r\n")
	l.write(head + "\r\n\r\n")
	if res, _ := l.answer(); res.StatusCode != http.StatusContinue {
		t.Fatal(res.Status)
	}
	l.want(body, "line abc")
	l.want(plainRequest("def", "Expect: 100-continue"), "line def") // without waiting for it
	l.want(plainRequest("ghi"), "line ghi")
}

func TestAHandedConnectionIsServedUntilItsEnd(t *testing.T) {
	r := newRig(t, Config{}, nil)
	l := r.dial()
	l.want("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "other GET ")
	l.want(plainRequest("abc"), "other POST abc")
}

func TestConnectionsAreBoundedHereAndThere(t *testing.T) {
	r := newRig(t, Config{MaxConnections: 2}, nil)
	here, there, waiting := r.dial(), r.dial(), r.dial()
	here.want(plainRequest("x"), "line x")
	there.want("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "other GET ")
	waiting.write(plainRequest("y"))
	if n := len(r.server.room); n != 2 {
		t.Errorf("%d connections are open", n)
	}
	_ = there.Close()
	if _, got := waiting.answer(); got != "line y" {
		t.Errorf("answered %q", got)
	}
	another := r.dial()
	another.write(plainRequest("z"))
	_ = here.Close()
	if _, got := another.answer(); got != "line z" {
		t.Errorf("answered %q", got)
	}
}

func TestAnAnswerCannotBeSplitByWhatItHolds(t *testing.T) {
	r := newRig(t, Config{Serve: func(x *Exchange) {
		// as echo
		_ = x.Send(http.StatusBadRequest, append(x.Begin(), "no"...), Field{"X-Was", "a\r\nX-Evil: b"},
			Field{"X-Long", strings.Repeat("y", 2*headRoom)})
	}}, nil)
	l := r.dial()
	l.write(plainRequest(""))
	res, body := l.answer()
	if body != "no" || res.StatusCode != 400 || res.Header.Get("X-Evil") != "" ||
		len(res.Header.Get("X-Long")) != 2*headRoom || res.Header.Get("Date") == "" {
		t.Errorf("answered %v %q", res, body)
	}
}

func TestAWriterSendsWhatItIsGiven(t *testing.T) {
	r := newRig(t, Config{Serve: func(x *Exchange) {
		w := x.Writer()
		w.Header().Set("X-Was", "a")
		w.Header().Set("Content-Length", "2")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "no") // as echo
		if err := x.Send(http.StatusOK, x.Begin()); err == nil {
			t.Error("it is answered twice")
		}
	}}, nil)
	l := r.dial()
	l.write(plainRequest(""))
	if res, body := l.answer(); body != "no" || res.StatusCode != 403 || res.Header.Get("X-Was") != "a" ||
		len(res.Header["Content-Length"]) != 1 {
		t.Errorf("answered %v %q", res, body)
	}
}

func TestARequestThatIsNotAnsweredEndsItsConnection(t *testing.T) {
	var told sync.WaitGroup
	told.Add(1)
	r := newRig(t, Config{
		Serve:    func(x *Exchange) { panic("no") },
		Panicked: func(any) { told.Done() },
	}, nil)
	l := r.dial()
	l.write(plainRequest(""))
	if _, err := l.in.ReadByte(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	told.Wait()
	told.Add(1)
	again := r.dial()
	again.write(plainRequest(""))
	told.Wait()
}

func TestAWatchEndsWhenTheClientGoesAway(t *testing.T) {
	watching, failed := make(chan struct{}), make(chan error, 1)
	r := newRig(t, Config{Serve: func(x *Exchange) {
		ctx, stop := x.Watch()
		close(watching)
		<-ctx.Done()
		stop()
		failed <- x.Send(http.StatusOK, x.Begin())
	}}, nil)
	l := r.dial()
	l.write(plainRequest("wait"))
	<-watching
	_ = l.Close()
	if err := <-failed; err == nil {
		t.Error("an answer to nobody is said to have been sent")
	}
}

func TestAWatchLosesNothingOfTheNextRequest(t *testing.T) {
	watching, goOn := make(chan struct{}), make(chan struct{})
	r := newRig(t, Config{Serve: func(x *Exchange) {
		if string(x.Body) != "wait" {
			echo(x)
			return
		}
		ctx, stop := x.Watch()
		watching <- struct{}{}
		<-goOn
		if ctx.Err() != nil {
			t.Error(ctx.Err())
		}
		stop()
		echo(x)
	}}, nil)
	for _, early := range []int{0, 1, len(plainRequest("next"))} {
		l := r.dial()
		next := plainRequest("next")
		l.write(plainRequest("wait"))
		<-watching
		l.write(next[:early])
		goOn <- struct{}{}
		if _, got := l.answer(); got != "line wait" {
			t.Errorf("answered %q", got)
		}
		l.want(next[early:], "line next")
		// And what has come before the watch begins.
		l.write(plainRequest("wait") + next)
		<-watching
		goOn <- struct{}{}
		if _, got := l.answer(); got != "line wait" {
			t.Errorf("answered %q", got)
		}
		if _, got := l.answer(); got != "line next" {
			t.Errorf("answered %q", got)
		}
	}
}

func TestWhatIsLeftIsServedByTheOtherToItsEnd(t *testing.T) {
	r := newRig(t, Config{Serve: func(x *Exchange) {
		if string(x.Body) != "other" {
			echo(x)
			return
		}
		x.Leave()
		if err := x.Send(http.StatusOK, x.Begin()); err == nil {
			t.Error("what was left is answered, too")
		}
	}}, nil)
	l := r.dial()
	l.want(plainRequest("abc"), "line abc")
	l.write(plainRequest("other") + plainRequest("def"))
	for _, want := range []string{"other POST other", "other POST def"} {
		if _, got := l.answer(); got != want {
			t.Errorf("answered %q, not %q", got, want)
		}
	}
	l.want(plainRequest("ghi"), "other POST ghi")
}

func TestAnAnswerWithoutABodySaysNoLength(t *testing.T) {
	r := newRig(t, Config{Serve: func(x *Exchange) { _ = x.Send(http.StatusNoContent, x.Begin()) }}, nil) // as echo
	l := r.dial()
	for range 2 {
		l.write(plainRequest("abc"))
		if res, body := l.answer(); res.StatusCode != http.StatusNoContent || body != "" ||
			res.Header["Content-Length"] != nil {
			t.Errorf("answered %v %q", res, body)
		}
	}
}

func TestALongWatchLooksOnlyAfterAWhile(t *testing.T) {
	for name, c := range map[string]struct {
		leaves, lasts time.Duration
		noticed       bool
	}{
		"it goes away in time":                     {10 * time.Second, time.Minute, true},
		"it goes away at once":                     {0, time.Minute, true},
		"it stays":                                 {time.Hour, time.Minute, false},
		"it stays, and what it wants is done soon": {time.Hour, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPipes()
				noticed := false
				r := newRig(t, Config{Serve: func(x *Exchange) {
					ctx, stop := x.WatchLong()
					select {
					case <-ctx.Done():
						noticed = true
					case <-time.After(c.lasts):
					}
					stop()
					echo(x)
				}}, p)
				l := p.dial(t)
				if c.leaves < c.lasts {
					l.write(plainRequest("abc"))
					time.Sleep(c.leaves) // time that only this bubble has
				} else {
					for range 2 { // the second one finds the connection as it was
						l.want(plainRequest("abc"), "line abc")
					}
				}
				_ = l.Close()
				r.close()
				if noticed != c.noticed {
					t.Errorf("noticed: %v", noticed)
				}
			})
		})
	}
}

func TestShutdownWaitsForRequestsUnderWayAndClosesTheRest(t *testing.T) {
	working, goOn := make(chan struct{}), make(chan struct{})
	r := newRig(t, Config{Serve: func(x *Exchange) {
		if string(x.Body) == "work" {
			close(working)
			<-goOn
		}
		echo(x)
	}}, nil)
	idle, busy := r.dial(), r.dial()
	idle.want(plainRequest("x"), "line x")
	busy.write(plainRequest("work"))
	<-working
	ended := make(chan error)
	go func() { ended <- r.server.Shutdown(context.Background()) }()
	if _, err := idle.in.ReadByte(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	close(goOn)
	res, got := busy.answer()
	if got != "line work" || !res.Close {
		t.Errorf("answered %q, close %v", got, res.Close)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestAShutdownThatTakesTooLongCutsConnections(t *testing.T) {
	for name, watch := range map[string]func(*Exchange) (context.Context, func()){"watched": (*Exchange).Watch,
		"watched when it takes long": (*Exchange).WatchLong} {
		t.Run(name, func(t *testing.T) {
			working, goOn := make(chan struct{}), make(chan struct{})
			r := newRig(t, Config{Serve: func(x *Exchange) {
				ctx, stop := watch(x)
				defer stop()
				close(working)
				<-ctx.Done()
				close(goOn)
			}}, nil)
			r.dial().write(plainRequest("work"))
			<-working
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			if err := r.server.Shutdown(ctx); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			<-goOn
		})
	}
}

// pipes is a listener of connections in memory, whose time a test can make.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { p.once.Do(func() { close(p.closed) }); return nil }

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial(t *testing.T) *line {
	ours, theirs := net.Pipe()
	p.conns <- theirs
	t.Cleanup(func() { _ = ours.Close() })
	return &line{t, ours, bufio.NewReader(ours)}
}

func TestClientsThatTakeTooLongAreCut(t *testing.T) {
	for name, c := range map[string]struct {
		write string
		want  time.Duration
	}{
		"one that says nothing":   {"", 30 * time.Second},
		"one that stops midway":   {plainRequest("abc")[:30], 10 * time.Second},
		"one that never reads":    {plainRequest("abc"), 10 * time.Second},
		"one without a last byte": {plainRequest("abc")[:len(plainRequest("abc"))-1], 45 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPipes()
				r := newRig(t, Config{Head: 10 * time.Second, Idle: 30 * time.Second, Read: 45 * time.Second,
					Write: 20 * time.Second}, p)
				l := p.dial(t)
				began := time.Now()
				if c.write != "" {
					l.write(c.write)
				}
				for {
					time.Sleep(time.Second) // time that only this bubble has
					r.server.mu.Lock()
					n := len(r.server.conns)
					r.server.mu.Unlock()
					if n == 0 {
						break
					}
				}
				if took := time.Since(began); took < c.want || took > c.want+5*time.Second {
					t.Errorf("it took %v, not %v", took, c.want)
				}
				r.close()
			})
		})
	}
}

// FuzzHead holds what is served here against net/http: a head that is plain means the same to both.
func FuzzHead(f *testing.F) {
	f.Add([]byte(plainRequest("abc")), []byte(plainRequest("abcd", "X-Is: a")))
	f.Add([]byte(plainRequest("", "Authorization: AWS4-HMAC-SHA256 Credential=a/b/c", "X-Is:  a\tb ")),
		[]byte("POST /a/b?c=d HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n"))
	f.Add([]byte("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
		[]byte("POST /%zz HTTP/1.1\r\n\r\n"))
	f.Add([]byte("POST / HTTP/1.1\r\nHost : x\r\n\r\n"),
		[]byte("POST / HTTP/1.1\r\nHost: x\r\n folded\r\nContent-Length: 0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		var h head // of a connection with two requests: the second is read with the first in memory
		for _, data := range [][]byte{first, second} {
			n, v := h.read(data)
			if v != plain {
				continue
			}
			r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(data)))
			if err != nil {
				t.Fatalf("%q is plain, and no request to net/http: %v", data, err)
			}
			if int(r.ContentLength) != h.length || r.Host != h.request.Host ||
				r.URL.String() != h.request.URL.String() || r.Method != h.request.Method || n > len(data) || r.Close ||
				len(r.TransferEncoding) > 0 {
				t.Fatalf("%q: net/http reads %+v, this %+v", data, r, h.request)
			}
			if len(r.Header) != len(h.request.Header) {
				t.Fatalf("%q: the headers are %v, to net/http %v", data, h.request.Header, r.Header)
			}
			for name, values := range r.Header {
				if got := h.request.Header[name]; len(values) != 1 || len(got) != 1 || got[0] != values[0] {
					t.Fatalf("%q: %s is %q, to net/http %q", data, name, got, values)
				}
			}
		}
	})
}
