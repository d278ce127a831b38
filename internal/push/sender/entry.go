package sender

import (
	"context"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/payload"
	"github.com/hikyaku/hikyaku/internal/push/receipt"
	"github.com/hikyaku/hikyaku/internal/push/setting"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Entry is how messages come into a sink, which embeds it.
type Entry struct {
	To    queue.Name   // where receipts go; zero: none are written
	Begin func(c Call) // begins to send; it is set before the first message
}

// Call is a message that is to be sent, and who is told what became of it.
type Call struct {
	Message  *message.Message
	Deadline time.Time
	Done     func(component.Outcome) // is called once
	Named    func(string)            // is told before Done what the far end calls what it took; nil: nobody asks
	Receipt  bool                    // Tell is to be called, for a receipt
}

// Receipts is the queue of receipts.
func (e *Entry) Receipts() queue.Name { return e.To }

// Send delivers a batch and waits for it.
func (e *Entry) Send(ctx context.Context, batch []*message.Message) ([]component.Outcome, error) {
	return component.SendAsync(ctx, e, batch)
}

// Deliver begins to send a message.
func (e *Entry) Deliver(m *message.Message, deadline time.Time, done func(component.Outcome)) {
	e.Begin(Call{Message: m, Deadline: deadline, Done: done, Receipt: e.To != (queue.Name{})})
}

// DeliverDirect implements component.DirectSink.
func (e *Entry) DeliverDirect(m *message.Message, deadline time.Time, done func(component.Answer)) {
	name := ""
	e.Begin(Call{
		Message: m, Deadline: deadline,
		Named: func(n string) { name = n },
		Done:  func(o component.Outcome) { done(component.Answer{Outcome: o, Name: name}) },
	})
}

// Read reads what the settings of all sinks have alike: the program that makes what is sent, which is the setting what,
// the queues of feedback and receipts, and the proxy, which is only checked.
func (e *Entry) Read(what, program, feedback, receipts, proxy string) (p *payload.Program, to queue.Name, err error) {
	if program != "" {
		if p, err = payload.Compile(what, program); err != nil {
			return nil, to, err
		}
	}
	if to, err = setting.Queue("feedback", feedback); err != nil {
		return nil, to, err
	}
	if e.To, err = setting.Queue("receipts", receipts); err != nil {
		return nil, to, err
	}
	return p, to, setting.Proxy(proxy)
}

// Tell lets the outcome say what only the sink knows of the message, which fill adds to the receipt.
func (c *Call) Tell(fill func(r *component.Receipt)) {
	r, done := new(component.Receipt), c.Done
	c.Named = func(name string) { r.PushID = name }
	c.Done = func(o component.Outcome) {
		fill(r)
		r.Reason = receipt.Reason(o)
		o.Receipt = r
		done(o)
	}
}

// Choose is the app that a message names, or, where it names none, the only one that there is. kind is the attribute
// that names it.
func Choose[A any](all map[string]*A, only *A, kind, name string) (*A, error) {
	switch {
	case name != "" && all[name] == nil:
		return nil, fmt.Errorf("%s %.100q is not configured", kind, name)
	case name != "":
		return all[name], nil
	case only == nil:
		return nil, fmt.Errorf("it has no attribute %s, and several are configured", kind)
	}
	return only, nil
}
