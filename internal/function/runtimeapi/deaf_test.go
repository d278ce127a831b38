package runtimeapi_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/function/runtimeapi"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// pipes is a listener whose connections hold nothing: what one side writes, the other has to read.
type pipes struct {
	come  chan net.Conn
	close func()
	gone  chan struct{}
}

func newPipes() *pipes {
	p := &pipes{come: make(chan net.Conn), gone: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.gone) })
	return p
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.come:
		return c, nil
	case <-p.gone:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { p.close(); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// deaf is an endpoint whose clients have to read what is written to them.
func deaf(t *testing.T) (d *desk, connect func() *client) {
	t.Helper()
	p, e := newPipes(), newEar()
	s, err := runtimeapi.Listen(runtimeapi.Config{Handler: e, Listener: p})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return &desk{e, t, s}, func() *client {
		ours, theirs := net.Pipe()
		p.come <- theirs
		t.Cleanup(func() { ours.Close() })
		return &client{t, hasty{ours}, bufio.NewReader(ours)}
	}
}

// hasty is a connection whose writes do not wait until they are read.
type hasty struct{ net.Conn }

func (h hasty) Write(p []byte) (int, error) {
	text := bytes.Clone(p)
	go func() { _, _ = h.Conn.Write(text) }() // who does not get it says so
	return len(p), nil
}

// within ends the test when something does not return.
func within(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal(what + " does not return") // and what holds it up is left behind
	}
}

func TestARuntimeThatDoesNotReadItsEventHoldsUpNobodyElse(t *testing.T) {
	d, connect := deaf(t)
	c := connect()
	c.next()
	<-d.asked
	inv := &runtimeapi.Invocation{ID: "a", Body: []byte("x")}
	var giving sync.WaitGroup
	defer giving.Wait()
	giving.Go(func() { d.s.Give(inv) })
	within(t, "who asks when the event was given", func() {
		waittest.Until(t, "the event is given", func() bool { return !d.s.GivenAt(inv).IsZero() })
	})
	within(t, "who says goodbye", func() { d.s.Shutdown("timeout", time.Now()) })
	other := connect()
	other.send("GET /2018-06-01/ping HTTP/1.1\r\nHost: x\r\n\r\n")
	other.expect(200, "pong")
	within(t, "who closes the endpoint", d.s.Close)
}

func TestARuntimeThatAnswersWithoutReadingGathersNoEvents(t *testing.T) {
	d, connect := deaf(t)
	first, second := connect(), connect()
	first.next()
	<-d.asked
	d.s.Give(&runtimeapi.Invocation{ID: "a", Body: make([]byte, 1<<20)})
	if _, err := io.ReadFull(first.in, make([]byte, 20)); err != nil {
		t.Fatal(err)
	}
	second.post(path+"a/response", "1")
	second.expect(202, "OK")
	<-d.answers
	second.next()
	<-d.asked
	within(t, "who gives a large event", func() {
		d.s.Give(&runtimeapi.Invocation{ID: "b", Body: []byte(strings.Repeat("b", 1<<20))})
	})
	if err := first.conn.Close(); err != nil { // the rest of the first event is nobody's any more
		t.Fatal(err)
	}
	second.expect(200, "bbb")
}

func TestAnExtensionThatDoesNotReadItsEventsHoldsUpNobody(t *testing.T) {
	d, connect := deaf(t)
	e := connect()
	e.post(ext+"register", `{"events":["INVOKE","SHUTDOWN"]}`, "Lambda-Extension-Name: e")
	id := e.expect(200, "").Get("Lambda-Extension-Identifier")
	r := connect()
	r.next()
	e.event(id)
	<-d.asked
	var giving sync.WaitGroup
	giving.Go(func() { d.s.Give(&runtimeapi.Invocation{ID: "a", Body: []byte("x")}) })
	r.expect(200, "x")
	within(t, "who gives an invocation", giving.Wait)
	within(t, "who says goodbye", func() { d.s.Shutdown("spindown", time.Now()) })
	e.expect(200, "INVOKE")
	e.event(id)
	e.expect(200, "SHUTDOWN") // one after the other
}
