package sqs

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/api/sqs/wire"
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// receiving is a ReceiveMessage whose parameters have been checked.
type receiving struct {
	view    *view
	claim   queue.ClaimRequest
	from    [1]queue.From // room for the usual one
	wants   wanted
	attempt string // ReceiveRequestAttemptId; "": none
}

// maxAnswerBytes bounds the messages of an answer, but for a single larger one. Ten of the largest that SQS knows fit.
const maxAnswerBytes = maxReceived * maxMessageBytes * 5 / 4

// receiveMessage claims messages. They are put back when they cannot be written to the client.
func (c *call) receiveMessage(in *wire.ReceiveMessageRequest) (wire.Response, error) {
	var r receiving
	if err := c.checkReceive(in, &r); err != nil {
		return nil, err
	}
	if r.attempt != "" {
		if again, err := c.again(&r); again != nil || err != nil {
			return again, err
		}
	}
	most, err := r.view.flying.allow(c.ctx(), c.d.store, r.view.name, maxInFlight, r.claim.Max)
	if err != nil {
		return nil, err
	}
	if most <= 0 {
		return nil, wire.OverLimit(fmt.Sprintf("The queue has %d messages in flight, the most there can be: delete "+
			"some, or wait until their visibility timeout ends.", maxInFlight))
	}
	r.claim.Max = most
	claims, err := c.take(r.claim)
	if err != nil {
		return nil, err
	}
	if len(claims) == 0 {
		return new(wire.ReceiveMessageResponse), nil
	}
	r.view.flying.handed(len(claims))
	c.claims = claims
	now := c.d.now()
	out := &wire.ReceiveMessageResponse{Messages: make([]wire.Received, len(claims))}
	for i := range claims {
		if claims[i].Attempt == 1 {
			c.d.firsts.note(claims[i].Token, now.UnixMilli())
		}
		c.show(&out.Messages[i], &r, &claims[i], now)
	}
	if r.attempt != "" {
		c.d.attempts.keep(attemptKey{r.view.name, r.attempt}, claims, now)
	}
	return out, nil
}

// checkReceive reads the parameters of a request.
func (c *call) checkReceive(in *wire.ReceiveMessageRequest, r *receiving) error {
	n, err := c.on(in, access.Take)
	if err != nil {
		return err
	}
	if r.view, err = c.d.existing(c.ctx(), n); err != nil {
		return err
	}
	most, err := inRange("MaxNumberOfMessages", in.MaxNumberOfMessages, 1, maxReceived, 1, "")
	if err != nil {
		return err
	}
	wait := in.WaitTimeSeconds.Or(r.view.Wait)
	if wait < 0 || wait > maxWaitSeconds {
		return wire.InvalidParameterValue("WaitTimeSeconds", strconv.Itoa(wait), "Must be >= 0 and <= 20, if provided.")
	}
	visibility, err := inRange("VisibilityTimeout", in.VisibilityTimeout, 0, maxVisibility, 0,
		"Must be >= 0 and <= 43200, if provided.")
	if err != nil {
		return err
	}
	r.from[0].Queue = n
	r.claim = queue.ClaimRequest{
		From: r.from[:], Max: most, Wait: time.Duration(wait) * time.Second,
		Bytes: int(min(maxAnswerBytes, c.d.busy.Limit()/(2*answerCost))),
		Hold: func(ctx context.Context, sum, largest int64) error {
			if err := c.may(access.Take, n); err != nil { // it was taken away while the claim waited
				return err
			}
			return c.room(ctx, sum, largest)
		},
	}
	r.claim.ByKey, r.claim.Apart = r.view.fifo, r.view.fifo
	if in.VisibilityTimeout.Set {
		r.claim.Lease = lease(visibility)
	}
	if in.ReceiveRequestAttemptID.Set {
		if r.attempt = in.ReceiveRequestAttemptID.Value; !r.view.fifo {
			return wire.InvalidParameterValue("ReceiveRequestAttemptId", shortened(r.attempt),
				"The request include parameter that is not valid for this queue type.")
		}
		if err := checkGroup("ReceiveRequestAttemptId", r.attempt); err != nil {
			return err
		}
	}
	if r.wants.system, err = systemNames(in.SystemAttributeNames); err != nil {
		return err
	}
	return c.checkNames(in.MessageAttributeNames, r)
}

// whereName begins an entry of MessageAttributeNames that is a condition.
const whereName = "hikyaku.where:"

// maxConditions is how many conditions a request may name.
const maxConditions = 10

// checkNames reads MessageAttributeNames: names of attributes, and conditions on messages, of which earlier ones come
// first.
func (c *call) checkNames(names []string, r *receiving) error {
	r.claim.From = r.from[:0]
	for _, name := range names {
		text, ok := strings.CutPrefix(name, whereName)
		if !ok {
			if err := r.wants.add(name); err != nil {
				return err
			}
			continue
		}
		if len(r.claim.From) == maxConditions {
			return wire.InvalidParameter(fmt.Sprintf("MessageAttributeNames has more than %d conditions.",
				maxConditions))
		}
		where, err := c.d.store.Parse(c.ctx(), r.view.name, text)
		if err != nil {
			return whereError(err)
		}
		r.claim.From = append(r.claim.From, queue.From{Queue: r.view.name, Where: where})
	}
	if len(r.claim.From) == 0 {
		r.claim.From = append(r.claim.From, queue.From{Queue: r.view.name})
	}
	return nil
}

// whereError tells what is wrong with a condition, and where.
func whereError(err error) error {
	var e *condition.Error
	if errors.As(err, &e) {
		return wire.InvalidParameterValue("MessageAttributeNames", whereName+shortened(e.Text), e.Error()+".")
	}
	return err
}

// take claims, and waits for messages until the client goes away or the door closes.
func (c *call) take(r queue.ClaimRequest) ([]queue.Claim, error) {
	wait := r.Wait
	r.Wait = 0
	claims, err := c.d.store.Claim(c.ctx(), r)
	if len(claims) > 0 || err != nil || wait == 0 {
		return claims, err
	}
	there, done := c.watch()
	defer done()
	ctx, cancel := context.WithCancel(there)
	defer cancel()
	defer context.AfterFunc(c.d.stopping, cancel)()
	r.Wait = wait
	if waiting := c.d.traffic.Waiting(door.ForMessages); waiting != nil {
		waiting.Inc()
		defer waiting.Dec()
	}
	claims, err = c.d.store.Claim(ctx, r)
	if err != nil && there.Err() == nil && c.d.stopping.Err() != nil {
		return nil, nil // clients ask again, and find out that the door is closed
	}
	return claims, err
}

// putBackTimeout bounds what is finished after nobody waits for it any more, such as the settling of claims that nobody
// took.
const putBackTimeout = 10 * time.Second

// putBack returns claims whose client is gone to their places, as if they had never been handed out.
func (c *call) putBack() {
	if len(c.claims) == 0 {
		return
	}
	back := make([]queue.Settlement, len(c.claims))
	for i := range c.claims {
		back[i] = queue.Settlement{Token: c.claims[i].Token, Kind: queue.Back, Uncounted: true}
	}
	c.claims = nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx()), putBackTimeout)
	defer cancel()
	if _, err := c.d.store.Settle(ctx, back); err != nil {
		c.d.report(fmt.Errorf("sqs door: messages that no client took come back when their visibility timeout ends: %w",
			err))
	}
}
