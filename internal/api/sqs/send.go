package sqs

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/api/sqs/wire"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/message/sqsattr"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// sendMessage answers when the message is durable.
func (c *call) sendMessage(in *wire.SendMessageRequest) (wire.Response, error) {
	v, err := c.target(in)
	if err != nil {
		return nil, err
	}
	var one [1]message.Message
	if err := c.message(v, &in.Outgoing, &one[0]); err != nil {
		return nil, err
	}
	results, err := c.d.store.Publish(c.ctx(), v.name, one[:])
	if err != nil {
		return nil, err
	}
	out := new(wire.SendMessageResponse)
	sent(out, v, &in.Outgoing, results[0])
	return out, nil
}

// target is where the messages of a request go, if the caller may put some there.
func (c *call) target(in wire.Request) (*view, error) {
	n, err := c.on(in, access.Put)
	if err != nil {
		return nil, err
	}
	return c.d.publishable(c.ctx(), n)
}

// sent tells what became of a message. A duplicate is told with the id and the number of the first.
func sent(out *wire.SendMessageResponse, v *view, in *wire.Outgoing, r queue.PutResult) {
	out.MessageID = r.ID.String()
	out.MD5OfMessageBody = wire.MD5OfBody(in.MessageBody)
	out.MD5OfMessageAttributes = wire.MD5OfAttributes(in.MessageAttributes)
	out.MD5OfMessageSystemAttributes = wire.MD5OfAttributes(in.MessageSystemAttributes)
	if v.fifo && r.Sequence != 0 {
		out.SequenceNumber = sequenceNumber(r.Sequence)
	}
}

// sequenceNumber is a place in a queue as SQS shows it: 20 digits, the larger the later.
func sequenceNumber(sequence uint64) string { return fmt.Sprintf("%020d", sequence) }

// size is what a message counts against the limits of SQS.
func size(in *wire.Outgoing) int {
	n := len(in.MessageBody)
	for i := range in.MessageAttributes {
		n += in.MessageAttributes[i].Size()
	}
	return n
}

// sendMessageBatch puts the messages that can be put as one atomic group.
func (c *call) sendMessageBatch(in *wire.SendMessageBatchRequest) (wire.Response, error) {
	v, err := c.target(in)
	if err != nil {
		return nil, err
	}
	total := 0
	for i := range in.Entries {
		total += size(&in.Entries[i].Outgoing)
	}
	if total > maxMessageBytes {
		return nil, wire.BatchRequestTooLong(maxMessageBytes, total)
	}
	if v.fifo { // an entry without its group or id refuses all of them, as with the service
		for i := range in.Entries {
			if err := checkOrder(v, &in.Entries[i].Outgoing); err != nil {
				return nil, wire.InvalidParameter(err.Message)
			}
		}
	}
	out := new(wire.SendMessageBatchResponse)
	msgs := make([]message.Message, 0, len(in.Entries))
	entries := make([]*wire.SendMessageBatchEntry, 0, len(in.Entries)) // of msgs
	for i := range in.Entries {
		e := &in.Entries[i]
		var m message.Message
		if err := c.message(v, &e.Outgoing, &m); err != nil {
			out.Failed = append(out.Failed, c.d.entryError(e.ID, err))
			continue
		}
		msgs, entries = append(msgs, m), append(entries, e)
	}
	if len(msgs) == 0 {
		return out, nil
	}
	out.Successful = make([]wire.SendMessageBatchResult, 0, len(msgs))
	succeed := func(e *wire.SendMessageBatchEntry, r queue.PutResult) {
		out.Successful = append(out.Successful, wire.SendMessageBatchResult{ID: e.ID})
		sent(&out.Successful[len(out.Successful)-1].SendMessageResponse, v, &e.Outgoing, r)
	}
	results, err := c.d.store.Publish(c.ctx(), v.name, msgs)
	switch {
	case err == nil:
		for i, r := range results {
			succeed(entries[i], r)
		}
	case errors.Is(err, queue.ErrMismatch), errors.Is(err, queue.ErrTooLarge), errors.Is(err, queue.ErrQueueFull):
		// One of them may be at fault, or there is room for a few: each by itself.
		for i, e := range entries {
			r, err := c.d.store.Publish(c.ctx(), v.name, msgs[i:i+1])
			if err != nil {
				out.Failed = append(out.Failed, c.d.entryError(e.ID, err))
				continue
			}
			succeed(e, r[0])
		}
	default:
		return nil, err
	}
	return out, nil
}

// message makes what a queue takes of what a client sends. The body is the request's own.
func (c *call) message(v *view, in *wire.Outgoing, m *message.Message) error {
	if err := c.checkOutgoing(v, in); err != nil {
		return err
	}
	now := c.d.now()
	m.Body, m.Time = in.MessageBody, now
	m.Hops.Mark(message.Accepted, c.accepted)
	if in.DelaySeconds.Set { // also 0, when the queue has a delay
		m.NotBefore = now.Add(time.Duration(in.DelaySeconds.Value) * time.Second)
	}
	m.Key = in.MessageGroupID.Value
	if v.fifo {
		m.NotBefore = time.Time{}
		m.Dedup = dedup(v, in)
	}
	if err := c.attributes(in, m); err != nil {
		return err
	}
	c.d.spans.Carry(m, c.r.Header.Get("Traceparent"), c.r.Header.Get("Tracestate"))
	return nil
}

// checkOutgoing holds a message to the rules of SQS, but for its attributes.
func (c *call) checkOutgoing(v *view, in *wire.Outgoing) error {
	if len(in.MessageBody) == 0 { // of an entry of a batch
		return wire.MissingParameter("MessageBody")
	}
	if !wire.ValidText(in.MessageBody) {
		return wire.InvalidMessageContents()
	}
	if n := size(in); n > v.maxBytes() {
		return wire.InvalidParameter("One or more parameters are invalid. Reason: Message must be shorter than " +
			strconv.Itoa(v.maxBytes()) + " bytes.")
	}
	if _, err := inRange("DelaySeconds", in.DelaySeconds, 0, maxDelaySeconds, 0,
		"DelaySeconds must be >= 0 and <= 900."); err != nil {
		return err
	}
	if in.MessageGroupID.Set {
		if err := checkGroup("MessageGroupId", in.MessageGroupID.Value); err != nil {
			return err
		}
	}
	const otherType = "The request include parameter that is not valid for this queue type."
	if !v.fifo {
		if in.MessageDeduplicationID.Set {
			return wire.InvalidParameterValue("MessageDeduplicationId", shortened(in.MessageDeduplicationID.Value),
				otherType)
		}
		return nil
	}
	if err := checkOrder(v, in); err != nil {
		return err
	}
	if in.DelaySeconds.Value != 0 {
		return wire.InvalidParameterValue("DelaySeconds", strconv.Itoa(in.DelaySeconds.Value), otherType)
	}
	if in.MessageDeduplicationID.Set {
		return checkGroup("MessageDeduplicationId", in.MessageDeduplicationID.Value)
	}
	return nil
}

// checkOrder tells whether a message for a FIFO queue has its group and its deduplication id.
func checkOrder(v *view, in *wire.Outgoing) *wire.Error {
	switch {
	case !in.MessageGroupID.Set:
		return wire.MissingParameter("MessageGroupId")
	case !in.MessageDeduplicationID.Set && !v.ContentDedup:
		return wire.InvalidParameter("The queue should either have ContentBasedDeduplication enabled or " +
			"MessageDeduplicationId provided explicitly")
	}
	return nil
}

// traceHeader is the header of a request in which AWS X-Ray says to what it belongs: the same as the system attribute
// AWSTraceHeader, which goes before it.
const traceHeader = "X-Amzn-Trace-Id"

// maxTraceHeader is the longest one that is kept. Those of X-Ray have some hundred characters.
const maxTraceHeader = 1024

// attributes gives a message the attributes of a request.
func (c *call) attributes(in *wire.Outgoing, m *message.Message) error {
	header := c.r.Header.Get(traceHeader)
	if len(in.MessageAttributes) == 0 && len(in.MessageSystemAttributes) == 0 && c.caller.user == nil && header == "" {
		return nil
	}
	if err := checkAttributes(in.MessageAttributes); err != nil {
		return err
	}
	trace, err := checkSystemAttributes(in.MessageSystemAttributes)
	if err != nil {
		return err
	}
	if trace == "" && len(header) <= maxTraceHeader && wire.ValidText(header) {
		trace = header
	}
	var kept typeLines
	m.Attributes = make(message.Attributes, 0, len(in.MessageAttributes)+1)
	for i := range in.MessageAttributes {
		a := &in.MessageAttributes[i]
		value, exact := valueOf(a)
		if !exact {
			kept.add(a)
		}
		m.Attributes.Set(a.Name, value)
	}
	if kept != "" {
		m.Attributes.Set(sqsattr.Types, message.String(string(kept)))
	}
	if trace != "" {
		m.Attributes.Set(sqsattr.Trace, message.String(trace))
	}
	if c.caller.user != nil {
		m.Attributes.Set(sqsattr.Sender, message.String(c.caller.user.Name))
	}
	return nil
}
