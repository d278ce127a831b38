package http

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func claimQueue(c *call) error {
	n, err := c.on(access.Take, "queue")
	if err != nil {
		return err
	}
	var r ClaimRequest
	if err := c.decode(&r, false); err != nil {
		return err
	}
	where, err := c.d.store.Parse(c.ctx(), n, r.Where)
	if err != nil {
		return err
	}
	return c.claim(queue.ClaimRequest{
		From: []queue.From{{Queue: n, Where: where}},
		Max:  r.Max, Wait: time.Duration(r.Wait), Lease: time.Duration(r.Lease),
	})
}

func claimFrom(c *call) error {
	var r ClaimFromRequest
	if err := c.decode(&r, true); err != nil {
		return err
	}
	if len(r.From) == 0 {
		return badRequest.problem("from is empty").withHint(`{"from": [{"queue": "news"}]}`)
	}
	if err := within("the number of queues", len(r.From), MaxFrom); err != nil {
		return err
	}
	out := queue.ClaimRequest{Max: r.Max, Wait: time.Duration(r.Wait), Lease: time.Duration(r.Lease)}
	for _, f := range r.From {
		n, err := c.named(f.Queue)
		if err != nil {
			return err
		}
		if err := c.may(access.Take, n); err != nil {
			return err
		}
		where, err := c.d.store.Parse(c.ctx(), n, f.Where)
		if err != nil {
			return err
		}
		out.From = append(out.From, queue.From{Queue: n, Where: where})
	}
	return c.claim(out)
}

// claimBytes bounds the messages in one answer to a claim, but for a single larger one.
const claimBytes = 8 << 20

// claim claims, answers, and puts back what could not be answered with.
func (c *call) claim(r queue.ClaimRequest) error {
	if err := within("max", r.Max, MaxClaim); err != nil {
		return err
	}
	if r.Lease > queue.MaxLease {
		return badRequest.problemf("lease is %v: the longest is %v", r.Lease, queue.MaxLease)
	}
	r.Wait = min(r.Wait, c.d.config.MaxWait)
	r.Bytes = int(min(claimBytes, c.d.busy.Limit()/4))
	r.Hold = func(ctx context.Context, sum, largest int64) error {
		for _, f := range r.From { // a grant may have been taken away while the claim waited
			if err := c.may(access.Take, f.Queue); err != nil {
				return err
			}
		}
		return c.room(ctx, sum, largest)
	}
	claims, err := c.collect(r)
	if err == nil {
		err = c.ctx().Err() // nobody is there any more
	}
	if err == nil {
		err = c.writeClaims(claims)
	}
	if err != nil {
		c.putBack(claims)
	}
	return err
}

// collect claims. A server that is stopping hands out nothing.
func (c *call) collect(r queue.ClaimRequest) ([]queue.Claim, error) {
	ctx, cancel := c.d.untilStop(c.ctx())
	defer cancel()
	if waiting := c.d.traffic.Waiting(door.ForMessages); waiting != nil && r.Wait > 0 {
		waiting.Inc()
		defer waiting.Dec()
	}
	claims, err := c.d.store.Claim(ctx, r)
	if err != nil {
		if ctx.Err() != nil && c.ctx().Err() == nil {
			err = nil
		}
		return nil, err
	}
	now := time.Now()
	for i := range claims {
		c.d.metrics.claimed(&claims[i], now)
	}
	return claims, nil
}

// untilStop is a context that also ends when Close begins.
func (s *Server) untilStop(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	unwatch := context.AfterFunc(s.stopping, cancel)
	return ctx, func() {
		unwatch()
		cancel()
	}
}

// writeClaims writes claims one by one, so that an answer is never held as a whole beside the messages it is made of.
func (c *call) writeClaims(claims []queue.Claim) error {
	h := c.w.Header()
	h.Set("Content-Type", jsonType)
	h.Set("Cache-Control", "no-store")
	if _, err := c.w.Write([]byte(`{"messages":[`)); err != nil {
		return err
	}
	for i := range claims {
		if i > 0 {
			if _, err := c.w.Write([]byte{','}); err != nil {
				return err
			}
		}
		claim := &claims[i]
		if err := c.show(&claim.Message, claim.Body(), func(m Content) any { return c.claimed(claim, m) }); err != nil {
			return err
		}
	}
	if _, err := c.w.Write([]byte("]}\n")); err != nil {
		return err
	}
	if len(claims) == 0 {
		return nil
	}
	if err := c.w.flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return c.ctx().Err()
}

func (c *call) claimed(claim *queue.Claim, m Content) Claimed {
	return Claimed{
		Token:    c.user.Seal(claim.Token.String()),
		Queue:    claim.Queue.String(),
		From:     claim.From,
		Sequence: claim.Sequence,
		Attempt:  claim.Attempt,
		Deadline: claim.Deadline.UTC(),
		Content:  m,
	}
}

// putBackTimeout bounds the settling of claims that nobody took.
const putBackTimeout = 10 * time.Second

// putBack returns claims whose client is gone to their places, as if they had never been handed out.
func (c *call) putBack(claims []queue.Claim) {
	if len(claims) == 0 {
		return
	}
	settlements := make([]queue.Settlement, len(claims))
	for i := range claims {
		settlements[i] = queue.Settlement{Token: claims[i].Token, Kind: queue.Back, Uncounted: true}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx()), putBackTimeout)
	defer cancel()
	if _, err := c.d.store.Settle(ctx, settlements); err != nil {
		c.d.report(err) // their leases end some time
		return
	}
	c.d.metrics.returned.Add(float64(len(claims)))
}
