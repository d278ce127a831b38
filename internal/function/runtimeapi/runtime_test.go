package runtimeapi_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/function/runtimeapi"
)

func itoa(n int) string { return strconv.Itoa(n) }

func TestAnInvocationGoesOutAndItsAnswerComesBack(t *testing.T) {
	d := open(t)
	c := d.connect()
	for n := range 3 {
		c.next()
		<-d.asked
		id := fmt.Sprintf("id-%d", n)
		d.s.Give(&runtimeapi.Invocation{ID: id, ARN: "arn:f", TraceID: "Root=1\r\nEvil: yes", ClientContext: "{}",
			Body: []byte(`{"n":1}`), Deadline: time.UnixMilli(1234)})
		h := c.expect(200, `{"n":1}`)
		for name, want := range map[string]string{"Lambda-Runtime-Aws-Request-Id": id,
			"Lambda-Runtime-Deadline-Ms":          "1234",
			"Lambda-Runtime-Invoked-Function-Arn": "arn:f", "Lambda-Runtime-Trace-Id": "Root=1Evil: yes",
			"Lambda-Runtime-Client-Context": "{}", "Evil": "",
			"Lambda-Runtime-Cognito-Identity": "", "Content-Type": "application/json"} {
			if got := h.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		c.post(path+id+"/response", `"done"`, "Content-Type: text/plain")
		c.expect(202, `{"status":"OK"}`)
		if a := <-d.answers; string(a.Body) != `"done"` || a.Failed || a.ContentType != "text/plain" {
			t.Errorf("%+v", a)
		}
	}
}

func TestAnInvocationWaitsForARuntimeThatHasNotAsked(t *testing.T) {
	d := open(t)
	d.s.Give(&runtimeapi.Invocation{ID: "early", Body: []byte("x")})
	c := d.connect()
	c.next()
	c.expect(200, "x")
	select {
	case <-d.asked:
		t.Error("it is said to wait though it has work")
	default:
	}
}

func TestARuntimeThatConnectsAnewIsServedThere(t *testing.T) {
	d := open(t)
	first := d.connect()
	first.next()
	<-d.asked
	second := d.connect()
	second.next()
	if _, err := first.in.ReadByte(); err == nil {
		t.Error("the first connection is not ended")
	}
	d.s.Give(&runtimeapi.Invocation{ID: "a", Body: []byte("x")})
	second.expect(200, "x")
}

func TestWhatDoesNotFitTheStateIsRefused(t *testing.T) {
	d := open(t)
	c := d.connect()
	c.post(path+"none/response", "x")
	c.expect(400, "InvalidRequestID")
	d.given(c, "a", "x")
	c.next()
	c.expect(403, "InvalidStateTransition")
	c.post(path+"b/response", "x")
	c.expect(400, "InvalidRequestID")
	c.post("/2018-06-01/runtime/init/error", "{}")
	c.expect(403, "InvalidStateTransition")
	c.post(path+"a/error", `{"errorType":"E"}`, "Lambda-Runtime-Function-Error-Type: Function.E")
	c.expect(202, "OK")
	if a := <-d.answers; !a.Failed || a.ErrorType != "Function.E" || string(a.Body) != `{"errorType":"E"}` {
		t.Errorf("%+v", a)
	}
	c.post(path+"a/response", "again")
	c.expect(403, "InvalidStateTransition")
	c.post(path+"a/error", "again")
	c.expect(403, "InvalidStateTransition")
	c.next()
	<-d.asked
	if len(d.answers) != 0 {
		t.Error("what was refused was taken as an answer")
	}
}

func TestPathsThatAreNotThereAreRefused(t *testing.T) {
	d := open(t)
	c := d.connect()
	for _, request := range []string{"GET /", "POST " + path + "next", "GET " + path + "x/response",
		"DELETE /2018-06-01/runtime/init/error", "GET " + path} {
		c.send(request + " HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
		c.expect(404, "There is no ")
	}
}

func TestAnInitialisationErrorIsTold(t *testing.T) {
	d := open(t)
	c := d.connect()
	c.post("/2018-06-01/runtime/init/error", `{"errorType":"E"}`, "Lambda-Runtime-Function-Error-Type: Init.E")
	c.expect(202, "OK")
	if got := <-d.failures; got != `Init.E {"errorType":"E"}` {
		t.Errorf("%s", got)
	}
	c.next()
	c.expect(403, "InvalidStateTransition")
}

func TestAnswersAreBounded(t *testing.T) {
	big := strings.Repeat("x", runtimeapi.MaxPayload+1)
	for name, send := range map[string]func(*client){
		"a known length": func(c *client) { c.post(path+"a/response", big) },
		"an error":       func(c *client) { c.post(path+"a/error", big) },
		"chunks": func(c *client) {
			c.send("POST " + path + "a/response HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" +
				strconv.FormatInt(int64(len(big)), 16) + "\r\n" + big + "\r\n0\r\n\r\n")
		},
		"an error that net/http reads": func(c *client) { c.post(path+"a/error", big, "Connection: close") },
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			c := d.connect()
			d.given(c, "a", "x")
			send(c)
			c.expect(413, "Exceeded maximum allowed payload size (6291556 bytes).")
			if a := <-d.answers; a.ErrorType != "Function.ResponseSizeTooLarge" || !a.Failed {
				t.Errorf("%+v", a)
			}
		})
	}
	d := open(t)
	c := d.connect()
	d.given(c, "a", "x")
	c.post(path+"a/response", big[1:])
	c.expect(202, "OK")
	if a := <-d.answers; len(a.Body) != runtimeapi.MaxPayload {
		t.Errorf("%d bytes", len(a.Body))
	}
}

func TestAnAnswerThatBreaksOffIsAnError(t *testing.T) {
	for name, text := range map[string]string{
		"a known length": "Content-Length: 10\r\n\r\nhalf",
		"chunks":         "Transfer-Encoding: chunked\r\n\r\n5\r\nhe",
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			c := d.connect()
			d.given(c, "a", "x")
			c.send("POST " + path + "a/response HTTP/1.1\r\nHost: x\r\n" + text)
			c.conn.Close()
			if a := <-d.answers; a.ErrorType != "Runtime.TruncatedResponse" || !a.Failed {
				t.Errorf("%+v", a)
			}
		})
	}
}

func TestAnUnknownResponseModeIsAnError(t *testing.T) {
	d := open(t)
	c := d.connect()
	d.given(c, "a", "x")
	c.post(path+"a/response", "x", "Lambda-Runtime-Function-Response-Mode: telepathy")
	c.expect(400, "InvalidFunctionResponseMode")
	if a := <-d.answers; a.ErrorType != "Runtime.InvalidResponseModeHeader" {
		t.Errorf("%+v", a)
	}
}

func TestABodyMayBeAnnounced(t *testing.T) {
	d := open(t)
	c := d.connect()
	d.given(c, "a", "x")
	c.send("POST " + path + "a/response HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
	line, err := c.in.ReadString('\n')
	if err != nil || line != "HTTP/1.1 100 Continue\r\n" {
		t.Fatalf("%q, %v", line, err)
	}
	_, _ = c.in.ReadString('\n') // the empty line behind it
	c.send("hello")
	c.expect(202, "OK")
	if a := <-d.answers; string(a.Body) != "hello" {
		t.Errorf("%+v", a)
	}
}

func TestALargeEventReachesTheRuntime(t *testing.T) {
	d := open(t)
	c := d.connect()
	c.next()
	<-d.asked
	body := bytes.Repeat([]byte("0123456789"), 600_000)
	d.s.Give(&runtimeapi.Invocation{ID: "a", Body: body})
	status, _, got := c.read()
	if status != 200 || got != string(body) {
		t.Errorf("%d with %d bytes", status, len(got))
	}
}

func TestARealHTTPClientIsServed(t *testing.T) {
	d := open(t)
	over := make(chan error, 1)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	go func() {
		over <- func() error {
			for range 10 {
				r, err := client.Get("http://" + d.s.Addr() + path + "next")
				if err != nil {
					return err
				}
				id := r.Header.Get("Lambda-Runtime-Aws-Request-Id")
				p, err := client.Post("http://"+d.s.Addr()+path+id+"/response", "application/json", r.Body)
				if err != nil {
					return err
				}
				if p.StatusCode != 202 {
					return fmt.Errorf("told %s", p.Status)
				}
				if err := p.Body.Close(); err != nil {
					return err
				}
			}
			return nil
		}()
	}()
	for n := range 10 {
		<-d.asked
		d.s.Give(&runtimeapi.Invocation{ID: itoa(n), Body: []byte(itoa(n))})
		if a := <-d.answers; string(a.Body) != itoa(n) {
			t.Errorf("%+v", a)
		}
	}
	if err := <-over; err != nil {
		t.Error(err)
	}
}

func TestClosingEndsEveryConnection(t *testing.T) {
	d := open(t)
	a, b := d.connect(), d.connect()
	a.next()
	<-d.asked
	b.send("GET /2018-06-01/ping HTTP/1.1\r\nHost: x\r\n\r\n")
	b.expect(200, "pong")
	d.s.Close()
	for _, c := range []*client{a, b} {
		if _, err := c.in.ReadByte(); err == nil {
			t.Error("a connection goes on")
		}
	}
	d.s.Close()
}

func TestConnectionsAreBounded(t *testing.T) {
	d := open(t)
	var all []*client
	for range 64 {
		c := d.connect()
		c.send("GET /2018-06-01/ping HTTP/1.1\r\nHost: x\r\n\r\n")
		c.expect(200, "pong")
		all = append(all, c)
	}
	if _, err := d.connect().in.ReadByte(); err == nil {
		t.Error("one too many is served")
	}
	all[0].send("GET /2018-06-01/ping HTTP/1.1\r\nHost: x\r\n\r\n")
	all[0].expect(200, "pong")
}
