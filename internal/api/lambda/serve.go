package lambda

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/access/sigv4"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/door/line"
	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/message"
)

// call is a request under way.
type call struct {
	d         *Server
	w         http.ResponseWriter // nil with an x
	x         *line.Exchange      // of a plain request
	heads     []line.Field        // of the answer, with an x
	r         *http.Request
	body      []byte
	user      *access.User // nil without users
	id        string       // of the request
	action    string       // lambda:Invoke
	named     string       // the function as the path names it
	nameErr   error        // what is wrong with that, when it is known who asks
	function  string       // that the path names
	qualifier string       // of the path or the query
	rest      string       // what else the path names: an alias, an id
	code      string       // what it is answered with, as it is counted; "": 200
	act       bool         // it administers, and is not in the audit yet
	hold      door.Hold    // of the bytes that requests and answers may take
}

func (c *call) ctx() context.Context { return c.r.Context() }

const (
	maxEvent   = function.MaxPayload
	maxArchive = 70_167_211 // an archive of 50 MiB in base64, and the settings, as with the service
	// What a large body takes while it is worked on, in its own length: as it is, as an event, on its way to an
	// instance or into the journal; and where its length is not known before.
	bodyCost, bodyGrowing = 4, 6
	// streamed is what an answer takes that is passed on as it comes, and largeAnswer from where on another one counts.
	streamed, largeAnswer = 2*maxChunk + 128<<10, 32 << 10
)

// serveLine answers a plain request that invokes a function, and leaves others to serve.
func (d *Server) serveLine(x *line.Exchange) {
	c := &call{d: d, x: x, r: x.Request, hold: door.Hold{Of: d.busy, Traffic: d.traffic}}
	if _, _, ok := urlOf(c.r); ok {
		x.Leave()
		return
	}
	op, err := c.route()
	if err != nil || op.path != invocations {
		x.Leave()
		return
	}
	c.id = uuid.NewString()
	c.heads = append(make([]line.Field, 0, 6), line.Field{Name: "X-Amzn-Requestid", Value: c.id})
	defer c.counted()
	defer c.hold.End()
	defer c.recovered()
	if err := c.hold.Take(c.ctx(), int64(len(x.Body))); err != nil {
		c.fail(err)
		return
	}
	c.body = append([]byte(nil), x.Body...) // an event may live on when its client has gone, and the exchange with it
	c.do(op)
}

// serve answers any request.
func (d *Server) serve(w http.ResponseWriter, r *http.Request) {
	c := &call{d: d, w: w, r: r, id: uuid.NewString(), hold: door.Hold{Of: d.busy, Traffic: d.traffic}}
	defer c.counted()
	defer c.hold.End()
	w.Header().Set("X-Amzn-Requestid", c.id)
	defer c.recovered()
	if name, path, ok := urlOf(r); ok {
		c.action = functionURL
		c.serveURL(name, path)
		return
	}
	op, err := c.route()
	if err != nil {
		c.refuse(err)
		return
	}
	limit := int64(maxArchive)
	if op.events {
		limit = maxEvent
	}
	if err := c.read(limit); err != nil {
		c.refuse(err)
		return
	}
	c.do(op)
}

// do does what was asked for, if the caller may.
func (c *call) do(op *operation) {
	err := c.admit(c.body)
	if err == nil && !op.events { // an event is the function's to read
		err = c.values()
	}
	if err == nil {
		err = c.form(op)
	}
	if err == nil {
		err = c.granted(op)
	}
	if err == nil {
		c.act = op.method != http.MethodGet && !op.events
		err = op.do(c)
	}
	if err != nil {
		c.fail(err)
	}
}

// valueWeight is what becomes of values while a request is checked and decoded.
var valueWeight = door.Weight{Value: 128, Object: 128}

// values takes room for what becomes of the values of the body.
func (c *call) values() error {
	err := c.hold.Values(c.body, valueWeight)
	if errors.Is(err, door.ErrNeverFits) {
		return entityTooLarge("The request is %v: send fewer values, or raise limits: busy_bytes", err)
	}
	return err
}

// recovered answers for a call that panicked; others go on.
func (c *call) recovered() {
	v := recover()
	switch v {
	case nil:
		return
	case http.ErrAbortHandler:
		panic(v)
	}
	c.d.report(fmt.Errorf("lambda door: panic in %s %s: %v\n%s", c.r.Method, c.r.URL.Path, v, debug.Stack()))
	c.fail(&Error{Name: "ServiceException", Status: http.StatusInternalServerError,
		Message: "An internal error occurred; the log of hikyaku tells more."})
}

// counted counts the request by what was asked for and what it was answered with: the service's name of an error, else
// the status.
func (c *call) counted() {
	c.d.traffic.Ended(cmp.Or(strings.TrimPrefix(c.action, "lambda:"), "none"), cmp.Or(c.code, "200"))
}

// answered notes the status for who counts; of one that a function chose, its first digit.
func (c *call) answered(status int) {
	switch {
	case c.code != "":
	case c.action == functionURL:
		c.code = strconv.Itoa(status/100) + "xx"
	case status != http.StatusOK:
		c.code = strconv.Itoa(status)
	}
}

// functionURL is what a request to a function's URL is counted as.
const functionURL = "lambda:InvokeFunctionUrl"

// refuse answers a request that was not looked at whole, to strangers as well: so it tells nothing but what is wrong
// with it.
func (c *call) refuse(err error) {
	c.set("Connection", "close")
	c.fail(err)
	c.overhear()
}

// What is read of a body that nobody wants: a client that still sends when its connection is closed sees that, and not
// the answer.
const (
	overheard     = 32 << 20
	overheardTime = 2 * time.Second
)

// overhear sends the answer and reads what the client still sends, for a while.
func (c *call) overhear() {
	on := http.NewResponseController(c.w)
	if on.Flush() != nil || on.SetReadDeadline(time.Now().Add(overheardTime)) != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, c.r.Body, overheard) // what comes of it does not matter
}

// granted asks whether the caller may.
func (c *call) granted(op *operation) error {
	switch {
	case c.function == "":
		return nil // the operation itself asks
	case op.can == "":
		return c.seen(c.function)
	}
	return c.may(op.can, c.function)
}

// read reads the body when there is room for it.
func (c *call) read(limit int64) error {
	b := door.Body{Hold: &c.hold, Most: limit, Cost: bodyCost, Growing: bodyGrowing}
	body, err := b.Read(c.ctx(), c.r)
	c.body = body
	var large *http.MaxBytesError
	switch {
	case err == nil, errors.Is(err, door.ErrBusy):
		return err
	case errors.As(err, &large):
		return c.tooLarge(limit)
	case errors.Is(err, door.ErrNeverFits):
		return c.tooLarge(c.d.busy.Limit() / bodyCost)
	}
	return badContent("The body of the request could not be read: %v", err)
}

// decode reads the body as JSON. Fields that are not known are left to newer clients.
func (c *call) decode(into any) error {
	if len(bytes.TrimSpace(c.body)) == 0 {
		return nil
	}
	if err := json.Unmarshal(c.body, into); err != nil {
		return &Error{Name: "SerializationException", Status: http.StatusBadRequest,
			Message: "The body of the request cannot be read: " + err.Error()}
	}
	return nil
}

// set adds a header to the answer.
func (c *call) set(name, value string) {
	if c.x != nil {
		c.heads = append(c.heads, line.Field{Name: name, Value: value})
		return
	}
	c.w.Header()[name] = []string{value}
}

// send answers.
func (c *call) send(status int, kind string, body []byte) {
	if c.act && status < http.StatusMultipleChoices {
		c.acted()
	}
	if kind != "" {
		c.set("Content-Type", kind)
	}
	c.answered(status)
	// it is there already, and the function has done its work: it is counted whether there is room or not
	if len(body) > largeAnswer {
		c.hold.Owe(2 * int64(len(body)))
	}
	if c.x != nil {
		_ = c.x.Send(status, append(c.x.Begin(), body...), c.heads...) // a client that is gone misses it
		return
	}
	if status != http.StatusNoContent {
		c.set("Content-Length", strconv.Itoa(len(body)))
	}
	c.w.WriteHeader(status)
	_, _ = c.w.Write(body) // a client that is gone misses it
}

// acted has an act that was done kept, before its client knows of it.
func (c *call) acted() {
	c.act = false
	if c.d.audit == nil {
		return
	}
	operation := strings.TrimPrefix(c.action, "lambda:")
	c.d.audit(access.Asked(c.ctx(), c.user, c.r.RemoteAddr, c.r.Header.Get(sigv4.InvocationID)),
		strings.ToLower(operation[:1])+operation[1:], strings.Trim(c.function+"/"+c.rest, "/"), nil)
}

// answer answers with JSON.
func (c *call) answer(status int, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	c.send(status, "application/json", text)
	return nil
}

// theName notes the function that a path names.
func (c *call) theName(text string) {
	asked := ""
	if c.r.URL.RawQuery != "" {
		asked = c.r.URL.Query().Get("Qualifier")
	}
	c.named = text
	c.function, c.qualifier, c.nameErr = c.parsedName(text, asked)
}

// parsedName is the function and the version or alias that a client means.
func (c *call) parsedName(text, asked string) (name, qualifier string, err error) {
	if name, qualifier, err = c.parsed(text); err == nil {
		err = c.inRegion(text)
	}
	if err != nil {
		return "", "", err
	}
	if qualifier != "" && asked != "" && qualifier != asked {
		return "", "", wrongValue(
			"The derived qualifier from the function name does not match the specified qualifier.")
	}
	return name, cmp.Or(asked, qualifier), nil
}

// shortened cuts what a client sent for a message.
func shortened(s string) string { return message.Shorten(s, 100) }
