package sqs

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/api/sqs/wire"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// handle is a receipt handle that a client shows again.
type handle struct {
	text    string
	receipt receipt
	// visibility is what the message's shall be changed to, in seconds; -1: the message shall be deleted.
	visibility int
	err        error // what became of it
}

const deleted = -1

func (c *call) deleteMessage(in *wire.DeleteMessageRequest) (wire.Response, error) {
	v, err := c.taker(in)
	if err != nil {
		return nil, err
	}
	one := [1]handle{{text: in.ReceiptHandle, visibility: deleted}}
	if err := c.settle(v, one[:]); err != nil {
		return nil, err
	}
	return nil, one[0].err
}

func (c *call) deleteMessageBatch(in *wire.DeleteMessageBatchRequest) (wire.Response, error) {
	v, err := c.taker(in)
	if err != nil {
		return nil, err
	}
	hs := make([]handle, len(in.Entries))
	for i := range in.Entries {
		hs[i] = handle{text: in.Entries[i].ReceiptHandle, visibility: deleted}
	}
	return c.settleBatch(v, wire.DeleteMessageBatch, hs, func(i int) string { return in.Entries[i].ID })
}

func (c *call) changeMessageVisibility(in *wire.ChangeMessageVisibilityRequest) (wire.Response, error) {
	v, err := c.taker(in)
	if err != nil {
		return nil, err
	}
	one := [1]handle{{text: in.ReceiptHandle}}
	one[0].setVisibility(in.VisibilityTimeout.Value)
	if err := c.settle(v, one[:]); err != nil {
		return nil, err
	}
	return nil, one[0].err
}

func (c *call) changeMessageVisibilityBatch(in *wire.ChangeMessageVisibilityBatchRequest) (wire.Response, error) {
	v, err := c.taker(in)
	if err != nil {
		return nil, err
	}
	hs := make([]handle, len(in.Entries))
	for i := range in.Entries {
		e := &in.Entries[i]
		hs[i] = handle{text: e.ReceiptHandle}
		if !e.VisibilityTimeout.Set {
			hs[i].err = wire.MissingParameter("VisibilityTimeout")
			continue
		}
		hs[i].setVisibility(e.VisibilityTimeout.Value)
	}
	return c.settleBatch(v, wire.ChangeMessageVisibilityBatch, hs, func(i int) string { return in.Entries[i].ID })
}

// taker is the queue of a request, if the caller may take from it.
func (c *call) taker(in wire.Request) (*view, error) {
	n, err := c.on(in, access.Take)
	if err != nil {
		return nil, err
	}
	return c.d.existing(c.ctx(), n)
}

func (h *handle) setVisibility(seconds int) {
	h.visibility = seconds
	if seconds < 0 || seconds > maxVisibility {
		h.err = wire.InvalidParameterValue("VisibilityTimeout", strconv.Itoa(seconds),
			"VisibilityTimeout must be an integer between 0 and 43200.")
	}
}

// settleBatch is settle for a batch.
func (c *call) settleBatch(v *view, of wire.Action, hs []handle, id func(int) string) (wire.Response, error) {
	if err := c.settle(v, hs); err != nil {
		return nil, err
	}
	out := &wire.BatchResponse{Of: of}
	for i := range hs {
		if err := hs[i].err; err != nil {
			out.Failed = append(out.Failed, c.d.entryError(id(i), err))
		} else {
			out.Successful = append(out.Successful, id(i))
		}
	}
	return out, nil
}

// settle does to messages what their handles want, and tells in each what became of it. Its error is of the whole. When
// it returns, deletions are durable.
func (c *call) settle(v *view, hs []handle) error {
	var room [1]queue.Settlement
	ends := room[:0]
	var extended bool
	for i := range hs {
		h := &hs[i]
		if h.err == nil {
			h.err = c.read(v, h)
		}
		switch {
		case h.err != nil:
		case h.visibility == deleted:
			ends = append(ends, queue.Settlement{Token: h.receipt.token, Kind: queue.Done})
		case h.visibility == 0:
			ends = append(ends, queue.Settlement{Token: h.receipt.token, Kind: queue.Back, Apart: v.fifo})
		default:
			extended = true
		}
	}
	if len(ends) > 0 {
		errs, err := c.d.store.Settle(c.ctx(), ends)
		if err != nil {
			return err
		}
		next := 0
		for i := range hs {
			if h := &hs[i]; h.err == nil && h.visibility <= 0 {
				if errs[next] != nil {
					h.err = c.stale(v, h)
				}
				next++
			}
		}
	}
	if extended {
		if err := c.extend(v, hs); err != nil {
			return err
		}
	}
	if v.fifo {
		c.d.attempts.changed(v.name, hs)
	}
	return nil
}

// read reads the receipt of a handle.
func (c *call) read(v *view, h *handle) error {
	var ok bool
	if h.receipt, ok = c.d.receipts.read(v.name, h.text); !ok {
		return wire.ReceiptHandleIsInvalid(h.text)
	}
	if h.receipt.token.Queue != v.id { // of a queue that was deleted, through whatever door
		return wire.ReceiptHandleIsInvalid(h.text)
	}
	if h.visibility > 0 {
		end := c.d.now().Add(time.Duration(h.visibility) * time.Second)
		if end.Sub(h.receipt.received) > maxVisibility*time.Second {
			return wire.InvalidParameterValue("VisibilityTimeout", strconv.Itoa(h.visibility),
				"Total VisibilityTimeout for the message is beyond the limit [43200 seconds].")
		}
	}
	return nil
}

// extend changes the visibility of those that want more than 0: one call for each time that is wanted.
func (c *call) extend(v *view, hs []handle) error {
	done := make([]bool, len(hs))
	for i := range hs {
		if done[i] || hs[i].err != nil || hs[i].visibility <= 0 {
			continue
		}
		var tokens []queue.Token
		var of []int
		for j := i; j < len(hs); j++ {
			if !done[j] && hs[j].err == nil && hs[j].visibility == hs[i].visibility {
				done[j], tokens, of = true, append(tokens, hs[j].receipt.token), append(of, j)
			}
		}
		errs, err := c.d.store.Extend(c.ctx(), tokens, time.Duration(hs[i].visibility)*time.Second)
		if err != nil {
			return err
		}
		for k, j := range of {
			if errs[k] != nil {
				hs[j].err = c.stale(v, &hs[j])
			}
		}
	}
	return nil
}

// stale decides what becomes of a handle whose claim is over.
//
// Of a message that is gone, deleting it once more succeeds. In a standard queue the newest handle of a message deletes
// it also when its visibility timeout has ended; an older one succeeds and deletes nothing. Any of its handles changes
// the visibility of a message in flight; of one that is not, nothing is changed. In a FIFO queue a handle that has
// expired is an error: the order may have moved on.
func (c *call) stale(v *view, h *handle) error {
	p, err := c.d.store.Look(c.ctx(), v.name, h.receipt.token.Sequence)
	gone := errors.Is(err, queue.ErrGone) || err == nil && idTail(p.Message.ID) != h.receipt.id
	if err != nil && !gone {
		return err
	}
	switch {
	case h.visibility != deleted && !gone && !v.fifo:
		return c.changeOther(v, h)
	case h.visibility != deleted && (gone || p.State == queue.Claimed):
		return wire.InvalidParameterValue("ReceiptHandle", shortened(h.text), "Message does not exist or is not "+
			"available for visibility timeout change.")
	case h.visibility != deleted:
		return wire.MessageNotInflight(h.text)
	case gone:
		return nil
	case v.fifo:
		return wire.ReceiptHandleExpired(h.text)
	case p.State == queue.Claimed || p.Attempts != int(h.receipt.attempt):
		return nil
	}
	_, err = c.d.store.Remove(context.WithoutCancel(c.ctx()), v.name, []uint64{h.receipt.token.Sequence})
	return err
}

// changeOther changes the visibility of a message that another receive may hold, as the service does.
func (c *call) changeOther(v *view, h *handle) error {
	token, ok, err := c.d.store.TokenOf(c.ctx(), v.name, h.receipt.token.Sequence)
	if err != nil || !ok {
		return err
	}
	if h.visibility == 0 {
		_, err = c.d.store.Settle(c.ctx(), []queue.Settlement{{Token: token, Kind: queue.Back}})
		return err
	}
	_, err = c.d.store.Extend(c.ctx(), []queue.Token{token}, time.Duration(h.visibility)*time.Second)
	return err
}
