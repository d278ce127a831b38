package runtimeapi_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/function/runtimeapi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ear is a Handler that passes on what it is told.
type ear struct {
	asked    chan struct{}
	answers  chan runtimeapi.Answer
	failures chan string
}

func newEar() *ear {
	return &ear{make(chan struct{}, 100), make(chan runtimeapi.Answer, 100), make(chan string, 100)}
}

func (e *ear) Asked() { e.asked <- struct{}{} }
func (e *ear) Answered(_ *runtimeapi.Invocation, a runtimeapi.Answer) {
	e.answers <- a
}
func (e *ear) InitFailed(kind string, body []byte) { e.failures <- kind + " " + string(body) }
func (e *ear) ExtensionFailed(name, kind string)   { e.failures <- name + " " + kind }

// desk is an endpoint and who hears of it.
type desk struct {
	*ear
	t *testing.T
	s *runtimeapi.Server
}

func open(t *testing.T, extensions ...string) *desk {
	t.Helper()
	e := newEar()
	s, err := runtimeapi.Listen(runtimeapi.Config{Handler: e, Extensions: extensions, Function: "f", Version: "7",
		HandlerName: "a.b", Account: "123"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return &desk{e, t, s}
}

// client is a connection to the endpoint.
type client struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func (d *desk) connect() *client {
	d.t.Helper()
	conn, err := net.Dial("tcp", d.s.Addr())
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { conn.Close() })
	return &client{d.t, conn, bufio.NewReader(conn)}
}

func (c *client) send(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c.conn, text); err != nil {
		c.t.Fatal(err)
	}
}

// read reads an answer.
func (c *client) read() (status int, h http.Header, body string) {
	c.t.Helper()
	if err := c.conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		c.t.Fatal(err)
	}
	r, err := http.ReadResponse(c.in, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return r.StatusCode, r.Header, string(text)
}

// expect reads an answer with a status, and with a part in its body.
func (c *client) expect(status int, part string) http.Header {
	c.t.Helper()
	got, h, body := c.read()
	if got != status || !strings.Contains(body, part) {
		c.t.Fatalf("%d with %s, want %d with %s", got, body, status, part)
	}
	return h
}

func (c *client) next() { c.t.Helper(); c.send("GET " + path + "next HTTP/1.1\r\nHost: x\r\n\r\n") }

func (c *client) post(target, body string, headers ...string) {
	c.t.Helper()
	c.send("POST " + target + " HTTP/1.1\r\nHost: x\r\n" + strings.Join(append(headers, ""), "\r\n") +
		"Content-Length: " + itoa(len(body)) + "\r\n\r\n" + body)
}

const path = "/2018-06-01/runtime/invocation/"

// given lets the runtime have an invocation with an id and a body.
func (d *desk) given(c *client, id, body string) *runtimeapi.Invocation {
	d.t.Helper()
	c.next()
	<-d.asked
	inv := &runtimeapi.Invocation{ID: id, ARN: "arn:f", Body: []byte(body), Deadline: time.UnixMilli(1234)}
	d.s.Give(inv)
	c.expect(200, body)
	return inv
}
