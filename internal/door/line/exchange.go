package line

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/hikyaku/hikyaku/internal/caller"
)

// An Exchange is a request and its answer. It is good until Serve returns.
type Exchange struct {
	c                  *conn
	sent, failed, left bool
	out                *[]byte // of the shared ones, from Begin until Send

	Request *http.Request // without its body and without a context of its own
	Body    []byte
}

// errGone is the error of an answer to a client that went away while it was waited for.
var errGone = errors.New("the client has gone away")

// headRoom is what the head of an answer may take. One that takes more is sent all the same, by a copy.
const headRoom = 512

// keptOut is the largest buffer for answers that is kept for other answers. All connections share them: many are idle.
const keptOut = 256 << 10

// Caller is the other end of the connection. It is good for as long as the connection.
func (x *Exchange) Caller() *caller.End {
	if x.c.end == nil {
		x.c.end = caller.Of(x.c.net)
	}
	return x.c.end
}

// Begin returns a buffer to append the body of the answer to.
func (x *Exchange) Begin() []byte {
	if x.out == nil {
		x.out, _ = x.c.s.outs.Get().(*[]byte)
	}
	if x.out == nil {
		b := make([]byte, usual)
		x.out = &b
	}
	return (*x.out)[:headRoom]
}

// Field is a header of an answer.
type Field struct{ Name, Value string }

// Send answers: answer is what Begin returned, with the body behind it. Its length and a date are added to the fields.
// An error says that the client has not got all of it. A second Send is a mistake of the caller's, and is told as one.
func (x *Exchange) Send(status int, answer []byte, fields ...Field) error {
	if x.sent || x.left {
		return errors.New("the request has been answered already, or left to another")
	}
	x.sent = true
	c := x.c
	var room [headRoom]byte
	head := append(room[:0], "HTTP/1.1 "...)
	head = strconv.AppendInt(head, int64(status), 10)
	head = append(head, ' ')
	head = append(head, http.StatusText(status)...)
	for i := range fields {
		head = appendField(head, fields[i].Name, fields[i].Value)
	}
	head = appendField(head, "Date", *c.s.date.Load())
	if c.s.ctx.Err() != nil {
		head = appendField(head, "Connection", "close")
	}
	if status != http.StatusNoContent { // which has no body, and no length either
		head = append(head, "\r\nContent-Length: "...)
		head = strconv.AppendInt(head, int64(len(answer)-headRoom), 10)
	}
	head = append(head, "\r\n\r\n"...)
	if len(head) <= headRoom {
		copy(answer[headRoom-len(head):], head)
		head = answer[headRoom-len(head):]
	} else {
		head = append(head, answer[headRoom:]...)
	}
	err := errGone
	if !c.broken {
		err = c.write(head)
	}
	if x.out != nil && cap(answer) <= keptOut {
		*x.out = answer
		c.s.outs.Put(x.out)
	}
	x.out = nil
	x.failed = err != nil
	return err
}

// appendField appends a header, before which its line end stands. Line ends in the value become spaces: nobody can slip
// a header in.
func appendField(dst []byte, name, value string) []byte {
	dst = append(dst, "\r\n"...)
	dst = append(dst, name...)
	dst = append(dst, ": "...)
	for i := range len(value) {
		if c := value[i]; c == '\r' || c == '\n' {
			dst = append(dst, ' ')
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}

// Leave leaves the request, and the rest of its connection, to net/http: for what wants more than one Send, or is rare.
// It has to be called in the place of Send; the Exchange is over then.
func (x *Exchange) Leave() { x.left = !x.sent }

// Writer makes of an Exchange an http.ResponseWriter that sends with its one Write.
func (x *Exchange) Writer() http.ResponseWriter { return &writer{x: x, header: http.Header{}} }

type writer struct {
	x      *Exchange
	header http.Header
	status int
}

func (w *writer) Header() http.Header { return w.header }

func (w *writer) WriteHeader(status int) { w.status = status }

func (w *writer) Write(body []byte) (int, error) {
	fields := make([]Field, 0, len(w.header))
	for _, name := range slices.Sorted(maps.Keys(w.header)) {
		for _, value := range w.header[name] {
			if name != "Content-Length" {
				fields = append(fields, Field{name, value})
			}
		}
	}
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return len(body), w.x.Send(w.status, append(w.x.Begin(), body...), fields...)
}
