package pubsub

import (
	"context"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/door"
)

const (
	// maxPull bounds the messages of one Pull, and pullBytes their bytes: clients refuse responses of 4 MiB unless they
	// are told otherwise.
	maxPull   = 1000
	pullBytes = 3 << 20
	// pullWait is how long a Pull waits for the first message.
	pullWait = 20 * time.Second
	// pullSlack is how long before its client gives up a Pull returns.
	pullSlack = 200 * time.Millisecond
)

// pull answers Pull.
func (d *Server) pull(ctx context.Context, req *pubsubpb.PullRequest) (*frame, error) {
	r, err := parseResource("subscription", req.Subscription, kindSubscription)
	if err != nil {
		return nil, err
	}
	if err := d.allow(ctx, access.Take, r); err != nil {
		return nil, err
	}
	s, err := d.subscription(ctx, r)
	if err != nil {
		return nil, err
	}
	if req.MaxMessages <= 0 {
		return nil, invalid("max_messages", "is %d: it has to be a positive number", req.MaxMessages)
	}
	if err := s.pullable(r); err != nil {
		return nil, err
	}
	wait := pullWait
	if deadline, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(deadline)-pullSlack)
	}
	//lint:ignore SA1019 clients still send it
	if req.ReturnImmediately {
		wait = 0
	}
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.stopping, cancel)()
	t := taker{d: d, user: userOf(ctx), asks: true, hold: door.Hold{Of: d.answers, Traffic: d.traffic}, cost: pullCost,
		waits: d.traffic.Waiting(door.ForMessages)}
	defer t.hold.End()
	n, b, until := min(int(req.MaxMessages), maxPull), min(pullBytes, int(d.answers.Limit()/(2*pullCost))),
		time.Now().Add(wait)
	claims, told, err := t.take(waiting, s, n, b, wait, s.deadline(), nil)
	for err == nil && len(claims) == 0 && waiting.Err() == nil && time.Until(until) > 0 { // functions dropped what came
		claims, told, err = t.take(waiting, s, n, b, time.Until(until), s.deadline(), nil)
	}
	switch {
	case err == nil:
	case d.stopping.Err() != nil && ctx.Err() == nil:
		return nil, errStopping
	default:
		return nil, err
	}
	if ctx.Err() != nil {
		d.untake(ctx, claims)
		return nil, ctx.Err()
	}
	return counted(receivedFrame(told, nil), &t.hold), nil
}
