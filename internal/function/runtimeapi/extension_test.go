package runtimeapi_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/function/runtimeapi"
)

const ext = "/2020-01-01/extension/"

// register registers an extension and returns its identifier.
func (c *client) register(name, events string) string {
	c.t.Helper()
	c.post(ext+"register", `{"events":[`+events+`]}`, "Lambda-Extension-Name: "+name)
	return c.expect(200, `"functionName":"f"`).Get("Lambda-Extension-Identifier")
}

func (c *client) event(id string) {
	c.t.Helper()
	c.send("GET " + ext + "event/next HTTP/1.1\r\nHost: x\r\nLambda-Extension-Identifier: " + id + "\r\n\r\n")
}

func TestTheInitialisationWaitsForExtensions(t *testing.T) {
	d := open(t, "watcher")
	r, e := d.connect(), d.connect()
	r.next()
	id := e.register("watcher", `"INVOKE","SHUTDOWN"`)
	select {
	case <-d.asked:
		t.Fatal("the extension has not asked")
	default:
	}
	e.event(id)
	<-d.asked
	d.s.Give(&runtimeapi.Invocation{ID: "a", ARN: "arn:f", TraceID: "Root=1", Body: []byte("x"),
		Deadline: time.UnixMilli(99)})
	r.expect(200, "x")
	_, h, body := e.read()
	var got map[string]any
	if err := json.Unmarshal([]byte(body), &got); err != nil || got["eventType"] != "INVOKE" ||
		got["requestId"] != "a" || got["deadlineMs"] != 99.0 ||
		got["invokedFunctionArn"] != "arn:f" || h.Get("Lambda-Extension-Event-Identifier") == "" {
		t.Errorf("%s (%v)", body, err)
	}
	r.post(path+"a/response", "1")
	r.expect(202, "OK")
	<-d.answers
	r.next()
	e.event(id)
	<-d.asked // both
	if told := d.s.Shutdown("spindown", time.UnixMilli(100)); told != 1 {
		t.Errorf("%d were told", told)
	}
	e.expect(200, `"shutdownReason":"spindown"`)
}

func TestAnInvocationIsOverWhenTheExtensionsAreDone(t *testing.T) {
	d := open(t)
	r, e := d.connect(), d.connect()
	id := e.register("inner", `"INVOKE"`)
	e.event(id)
	d.given(r, "a", "x")
	e.expect(200, "INVOKE")
	r.post(path+"a/response", "1")
	r.expect(202, "OK")
	<-d.answers
	r.next()
	r2 := d.connect()
	r2.send("GET /2018-06-01/ping HTTP/1.1\r\nHost: x\r\n\r\n")
	r2.expect(200, "pong")
	select {
	case <-d.asked:
		t.Fatal("the extension is not done")
	default:
	}
	e.event(id)
	<-d.asked
}

func TestAnExtensionThatWantsOnlyTheEndHoldsUpNothing(t *testing.T) {
	d := open(t)
	r, e := d.connect(), d.connect()
	id := e.register("end", `"SHUTDOWN"`)
	e.event(id)
	d.given(r, "a", "x")
	r.post(path+"a/response", "1")
	r.expect(202, "OK")
	<-d.answers
	r.next()
	<-d.asked
	d.s.Shutdown("failure", time.Now())
	e.expect(200, `"shutdownReason":"failure"`)
}

func TestExtensionsThatDoItWrongAreRefused(t *testing.T) {
	d := open(t)
	c := d.connect()
	c.post(ext+"register", `{"events":["INVOKE"]}`)
	c.expect(400, "InvalidRequestFormat")
	c.post(ext+"register", `{"events":`, "Lambda-Extension-Name: x")
	c.expect(400, "InvalidRequestFormat")
	c.post(ext+"register", `{"events":["BIRTHDAY"]}`, "Lambda-Extension-Name: x")
	c.expect(400, "There is no event BIRTHDAY")
	id := c.register("x", "")
	c.post(ext+"register", `{}`, "Lambda-Extension-Name: x")
	c.expect(403, "AlreadyRegistered")
	c.event("not-an-id")
	c.expect(403, "InvalidExtensionIdentifier")
	c.send("GET " + ext + "event/next HTTP/1.1\r\nHost: x\r\n\r\n")
	c.expect(403, "MissingExtensionIdentifier")
	c.post(ext+"init/error", `{"errorType":"E"}`, "Lambda-Extension-Identifier: "+id,
		"Lambda-Extension-Function-Error-Type: Extension.E")
	c.expect(202, "OK")
	if got := <-d.failures; got != `Extension.E {"errorType":"E"}` {
		t.Errorf("%s", got)
	}
	c.post(ext+"exit/error", `{}`, "Lambda-Extension-Identifier: "+id,
		"Lambda-Extension-Function-Error-Type: Extension.F")
	c.expect(202, "OK")
	if got := <-d.failures; got != "x Extension.F" {
		t.Errorf("%s", got)
	}
	for n := range 9 {
		c.register("more"+itoa(n), "")
	}
	c.post(ext+"register", `{}`, "Lambda-Extension-Name: eleventh")
	c.expect(403, "TooManyExtensions")
}

func TestAfterTheInitialisationNobodyRegisters(t *testing.T) {
	d := open(t)
	r, e := d.connect(), d.connect()
	r.next()
	<-d.asked
	e.post(ext+"register", `{}`, "Lambda-Extension-Name: late")
	e.expect(403, "RegistrationClosed")
}

func TestLogsAndTelemetryAreAnsweredWithoutThem(t *testing.T) {
	d := open(t)
	c := d.connect()
	for _, p := range []string{"/2020-08-15/logs", "/2022-07-01/telemetry"} {
		c.send("PUT " + p + " HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
		c.expect(202, "NotSupported")
	}
	c.post("/2018-06-01/runtime/init/error", strings.Repeat("x", 2<<20))
	c.expect(413, "larger than 1 MiB")
}
