package function

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/hikyaku/hikyaku/internal/function/bill"
	"github.com/hikyaku/hikyaku/internal/function/place"
	"github.com/hikyaku/hikyaku/internal/function/runtimeapi"
)

// MaxPayload is how many bytes an event has at most, as the provider has it; an answer may be a little longer.
const MaxPayload = 6 << 20

// Stream takes an answer piece by piece while it comes; see runtimeapi.Stream.
type Stream = runtimeapi.Stream

// Request is an invocation. Only Function is needed.
type Request struct {
	Function string
	Version  string // "": Latest
	// the event, as a rule JSON; it must not be changed until Invoke returns, nor after if the context ended it
	Payload []byte
	// ID is the request's id; "": a new one.
	ID string
	// ARN is the function as it was invoked; "": its own. TraceID, ClientContext and Cognito are passed on as they are,
	// the last two being JSON.
	ARN, TraceID, ClientContext, Cognito string
	// LogTail asks for the end of the log.
	LogTail bool
	// Pass is room that was kept for the invocation; nil: it is throttled if there is none. The invocation uses it up,
	// also when it is refused.
	Pass *Pass
}

// Result is what became of an invocation that an instance has served, well or not.
type Result struct {
	RequestID   string
	Version     string
	Payload     []byte // the answer or the error, the caller's; nil if it was streamed
	ContentType string
	// FunctionError is "" for an answer and Unhandled for an error; ErrorType says of which kind.
	FunctionError, ErrorType string
	// Advice is what a person can do about the error; "" without one.
	Advice string
	// Streamed is how many bytes went to the Stream.
	Streamed int64
	LogTail  []byte
	Instance string // which one served it
	Cold     bool   // no instance was free, and the one that served it had to start first
	Usage    bill.Usage
	Charge   bill.Charge
	// Waited is the time from Invoke to the hand-over of the event.
	Waited time.Duration
}

// Invoke runs a function once and returns its answer, or the error it answered with, as a Result. Its own errors wrap
// ErrUnknown, ErrThrottled (a *ThrottledError), ErrTooLarge, ErrClosed or the context's. An invocation that the context
// ends while it runs goes on to its end without anybody to tell it.
func (p *Pool) Invoke(ctx context.Context, r Request) (*Result, error) {
	return p.invoke(ctx, r, nil)
}

// InvokeStream is Invoke whose answer goes to the Stream piece by piece, if the runtime streams it, else at once. An
// error of the function comes in the Result, as with Invoke, also when a part of the answer was streamed before. The
// Stream is not used after InvokeStream has returned.
func (p *Pool) InvokeStream(ctx context.Context, r Request, s Stream) (*Result, error) {
	return p.invoke(ctx, r, s)
}

func (p *Pool) invoke(ctx context.Context, r Request, s Stream) (*Result, error) {
	if r.Pass != nil {
		defer r.Pass.Release() // where it was not used
	}
	if len(r.Payload) > MaxPayload {
		return nil, fmt.Errorf("function %s: %w: it has %d bytes, the limit is %d", r.Function, ErrTooLarge,
			len(r.Payload), MaxPayload)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := p.find(r.Function, r.Version)
	if err != nil {
		return nil, err
	}
	c := newCall(f, r, s)
	if err := p.admit(c, r.Pass); err != nil {
		return nil, err
	}
	if err := f.arrive(c); err != nil {
		c.release()
		return nil, err
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		f.mu.Lock()
		waiting := f.placer.Cancel(p.now(), &c.ticket)
		f.mu.Unlock()
		c.gate.close()
		if waiting {
			c.release()
			return nil, fmt.Errorf("function %s: no instance was free: %w", f.d.Name, ctx.Err())
		}
		return nil, fmt.Errorf("function %s: nobody waits for its answer any more: %w", f.d.Name, ctx.Err())
	}
	c.gate.close()
	return c.result, c.err
}

func newCall(f *function, r Request, s Stream) *call {
	c := &call{fn: f, arrived: time.Now(), done: make(chan struct{})}
	c.inv = runtimeapi.Invocation{ID: r.ID, ARN: r.ARN, TraceID: r.TraceID, ClientContext: r.ClientContext,
		Cognito: r.Cognito, Body: r.Payload}
	if c.inv.ID == "" {
		c.inv.ID = uuid.NewString()
	}
	if c.inv.ARN == "" {
		c.inv.ARN = f.deployed.ARN
	}
	if s != nil {
		c.gate = &gate{stream: s}
		c.inv.Stream = c.gate
	}
	if r.LogTail {
		c.tail = new(tail)
	}
	c.ticket.Value = c
	return c
}

// arrive places an invocation: it is served, or it waits.
func (f *function) arrive(c *call) error {
	f.mu.Lock()
	switch f.placer.Arrive(f.pool.now(), &c.ticket) {
	case place.Refuse:
		ended := f.ended
		f.mu.Unlock()
		if ended {
			return fmt.Errorf("function %s: %w", f.d.Name, ErrClosed)
		}
		f.totals.throttled.Add(1)
		return &ThrottledError{f.d.Name, reasonReserved, *f.d.Reserved}
	case place.Wait:
		c.queued = true
		f.act()
	case place.Use:
		i := c.ticket.Slot.Value.(*instance)
		if c.ticket.Slot.Frozen {
			c.ticket.Slot.Frozen = false
			i.thaw()
		}
		f.act()
		i.serve(c)
	}
	return nil
}
