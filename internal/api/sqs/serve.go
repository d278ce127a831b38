package sqs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/api/sqs/wire"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/door/line"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// call is a request under way.
type call struct {
	d        *Server
	r        *http.Request
	accepted time.Time
	caller   caller
	x        *line.Exchange // of a plain request; nil: it is net/http's
	claims   []queue.Claim  // to be put back when they cannot be written
	hold     door.Hold      // of the bytes that requests and answers may take
	sum      int            // bytes of the messages of an answer
	// watch returns a context that ends when the client goes away, and what ends the watch.
	watch func() (context.Context, func())
}

func (c *call) ctx() context.Context { return c.r.Context() }

const (
	// maxBodyBytes bounds a request: a batch of the largest size in which every byte is written as an escape of six.
	maxBodyBytes = 6*maxMessageBytes + 256<<10
	// keptBytes is the largest buffer that is kept for the next request.
	keptBytes = 64 << 10
)

// buffers is a pool of what bodies are read into and answers are built in.
type buffers struct{ pool sync.Pool }

func (b *buffers) get() *bytes.Buffer {
	if x, ok := b.pool.Get().(*bytes.Buffer); ok {
		x.Reset()
		return x
	}
	return bytes.NewBuffer(make([]byte, 0, 4<<10))
}

func (b *buffers) put(x *bytes.Buffer) {
	if x.Cap() <= keptBytes {
		b.pool.Put(x)
	}
}

// serveLine answers a request of the usual kind.
func (d *Server) serveLine(x *line.Exchange) {
	c := call{d: d, x: x, r: x.Request, accepted: time.Now(), watch: x.Watch,
		hold: door.Hold{Of: d.busy, Traffic: d.traffic}}
	defer c.hold.End()
	in, out, bad := c.handle(x.Body, nil)
	if bad != nil {
		wire.WriteError(x.Writer(), nil, in, bad)
		return
	}
	answer := c.encode(x.Begin(), in, out)
	err := x.Send(http.StatusOK, answer, line.Field{Name: "X-Amzn-Requestid", Value: in.RequestID},
		line.Field{Name: "Content-Type", Value: in.ContentType()})
	if err != nil {
		c.putBack()
	}
}

// serve answers any request.
func (d *Server) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/health" && r.Method == http.MethodGet {
		_, _ = io.WriteString(w, "Ok\n") // a client that is gone misses it
		return
	}
	c := &call{d: d, r: r, accepted: time.Now(), hold: door.Hold{Of: d.busy, Traffic: d.traffic}}
	defer c.hold.End()
	c.watch = func() (context.Context, func()) { return r.Context(), func() {} }
	buf := d.buffers.get()
	defer d.buffers.put(buf)
	body, bad := c.body(r)
	in, out, bad := c.handle(body, bad)
	scratch := buf.AvailableBuffer()
	if bad != nil {
		wire.WriteError(w, scratch, in, bad)
		return
	}
	c.answer(w, in, out, scratch)
}

// handle finds out what a request wants and from whom it comes, and does it. bad is what was wrong with reading its
// body.
func (c *call) handle(body []byte, bad *wire.Error) (*wire.Call, wire.Response, *wire.Error) {
	in, out, bad := c.answered(body, bad)
	call, code := "none", "200" // what a client made up is no call
	if c.d.calls[in.Action] {
		call = string(in.Action)
	}
	if bad != nil {
		code = bad.Code
	}
	c.d.traffic.Ended(call, code)
	return in, out, bad
}

func (c *call) answered(body []byte, bad *wire.Error) (*wire.Call, wire.Response, *wire.Error) {
	in, wrong := wire.Decode(c.r, body)
	if bad == nil {
		bad = wrong
	}
	if err := c.admit(in, body); err != nil {
		return in, nil, c.d.wireError(err)
	}
	if bad != nil {
		return in, nil, bad
	}
	out, err := c.safely(in)
	if err != nil {
		return in, nil, c.d.wireError(err)
	}
	return in, out, nil
}

// answer writes a response. Claims that cannot be written are put back.
func (c *call) answer(w http.ResponseWriter, in *wire.Call, out wire.Response, scratch []byte) {
	if len(c.claims) == 0 {
		wire.Write(w, in, c.encode(scratch, in, out))
		return
	}
	if c.ctx().Err() != nil { // nobody is there any more
		c.putBack()
		panic(http.ErrAbortHandler)
	}
	f := &failing{ResponseWriter: w}
	wire.Write(f, in, c.encode(scratch, in, out))
	if f.err == nil {
		f.err = http.NewResponseController(w).Flush()
	}
	if f.err != nil {
		c.putBack()
		panic(http.ErrAbortHandler)
	}
}

// failing remembers that writing failed.
type failing struct {
	http.ResponseWriter
	err error
}

func (w *failing) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.err = errors.Join(w.err, err)
	return n, err
}

// safely does what a call asks for. A panic is told as an internal error; others go on.
func (c *call) safely(in *wire.Call) (out wire.Response, err error) {
	defer func() {
		if v := recover(); v != nil {
			c.d.report(fmt.Errorf("sqs door: panic in %s: %v\n%s", in.Action, v, debug.Stack()))
			out, err = nil, wire.InternalError()
			c.putBack()
		}
	}()
	return c.do(in.Request)
}

// do does what a request asks for.
func (c *call) do(request wire.Request) (wire.Response, error) {
	switch in := request.(type) {
	case *wire.SendMessageRequest:
		return c.sendMessage(in)
	case *wire.ReceiveMessageRequest:
		return c.receiveMessage(in)
	case *wire.DeleteMessageRequest:
		return c.deleteMessage(in)
	case *wire.SendMessageBatchRequest:
		return c.sendMessageBatch(in)
	case *wire.DeleteMessageBatchRequest:
		return c.deleteMessageBatch(in)
	case *wire.ChangeMessageVisibilityRequest:
		return c.changeMessageVisibility(in)
	case *wire.ChangeMessageVisibilityBatchRequest:
		return c.changeMessageVisibilityBatch(in)
	case *wire.GetQueueURLRequest:
		return c.getQueueURL(in)
	case *wire.CreateQueueRequest:
		return c.createQueue(in)
	case *wire.DeleteQueueRequest:
		return c.deleteQueue(in)
	case *wire.ListQueuesRequest:
		return c.listQueues(in)
	case *wire.GetQueueAttributesRequest:
		return c.getQueueAttributes(in)
	case *wire.SetQueueAttributesRequest:
		return c.setQueueAttributes(in)
	case *wire.PurgeQueueRequest:
		return c.purgeQueue(in)
	case *wire.ListDeadLetterSourceQueuesRequest:
		return c.listDeadLetterSourceQueues(in)
	case *wire.StartMessageMoveTaskRequest:
		return c.startMessageMoveTask(in)
	case *wire.ListMessageMoveTasksRequest:
		return c.listMessageMoveTasks(in)
	case *wire.CancelMessageMoveTaskRequest:
		return c.cancelMessageMoveTask(in)
	case *wire.TagQueueRequest:
		return c.tagQueue(in)
	case *wire.UntagQueueRequest:
		return c.untagQueue(in)
	case *wire.ListQueueTagsRequest:
		return c.listQueueTags(in)
	case *wire.AddPermissionRequest:
		return c.addPermission(in)
	case *wire.RemovePermissionRequest:
		return c.removePermission(in)
	}
	return nil, fmt.Errorf("no way to answer a request of type %T", request)
}
