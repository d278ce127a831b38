package pubsub

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/protobuf/proto"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/push"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// pushers runs a pusher for each subscription that has an endpoint.
type pushers struct {
	changed   chan struct{} // capacity 1: a subscription was made, changed or deleted
	transport *http.Transport
	running   map[queue.Name]*pushing // touched by run alone
	work      sync.WaitGroup
}

// pushing is one pusher at work.
type pushing struct {
	sub  *subscription
	stop context.CancelFunc
}

// look lets run look at the subscriptions again.
func (p *pushers) look() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// push keeps the pushers as the subscriptions say until the door closes.
func (d *Server) push() {
	p := &d.pushers
	ctx, cancel := context.WithCancel(d.stopping)
	defer p.transport.CloseIdleConnections()
	defer p.work.Wait()
	defer cancel()
	ticker := time.NewTicker(lookEvery) // other doors delete queues, too
	defer ticker.Stop()
	for {
		d.adjustPushers(ctx)
		select {
		case <-p.changed:
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// adjustPushers starts and ends pushers.
func (d *Server) adjustPushers(ctx context.Context) {
	p := &d.pushers
	failed := func(what string, err error) {
		if ctx.Err() == nil {
			d.report(fmt.Errorf("pubsub door: push %s: %w", what, err))
		}
	}
	wanted := map[queue.Name]*subscription{}
	all, err := d.store.Queues(ctx)
	if err != nil {
		failed("which subscriptions there are", err)
		return // the pushers go on as they are
	}
	for _, n := range all {
		sub, err := d.subscription(ctx, resource{n.Namespace, kindSubscription, n.Name})
		if err != nil && !isNotFound(err) {
			failed(n.Short(), err)
			if x := p.running[n]; x != nil {
				wanted[n] = x.sub // as it is
			}
			continue
		}
		if err == nil && sub.push {
			wanted[n] = sub
		}
	}
	for n, x := range p.running {
		if now := wanted[n]; now == nil || !samePush(x.sub, now) {
			x.stop()
			delete(p.running, n)
		}
	}
	for n, sub := range wanted {
		if p.running[n] != nil {
			continue
		}
		if err := d.startPusher(ctx, sub); err != nil {
			failed(n.Short(), err)
		}
	}
}

// samePush tells whether a pusher can go on.
func samePush(a, b *subscription) bool {
	return proto.Equal(a.note.PushConfig, b.note.PushConfig) && a.deadline() == b.deadline() && a.retry == b.retry &&
		a.def.Unordered == b.def.Unordered &&
		slices.Equal(a.functions, b.functions)
}

func (d *Server) startPusher(ctx context.Context, sub *subscription) error {
	config := sub.note.PushConfig
	called, err := d.calledBy(ctx, sub.name)
	if err != nil {
		return err
	}
	c := push.Config{
		Endpoint:     config.PushEndpoint,
		Subscription: called.String(),
		AckDeadline:  sub.deadline(),
		Unwrapped:    config.GetNoWrapper() != nil,
		Metadata:     config.GetNoWrapper().GetWriteMetadata(),
		RetryPolicy:  sub.retry != backoff{},
		Transport:    d.pushers.transport,
		Report:       d.report,
	}
	if token, ok := config.AuthenticationMethod.(*pubsubpb.PushConfig_OidcToken_); ok {
		c.OIDC = &push.OIDC{ServiceAccountEmail: token.OidcToken.GetServiceAccountEmail(),
			Audience: token.OidcToken.GetAudience()}
	}
	p, err := push.New(c, newPushSource(d, sub))
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	if d.pushers.running == nil {
		d.pushers.running = map[queue.Name]*pushing{}
	}
	d.pushers.running[sub.name] = &pushing{sub, stop}
	d.pushers.work.Go(func() {
		defer stop()
		p.Run(running)
	})
	return nil
}

// pushSource gives a pusher the messages of a subscription. Its claims have no owner, so that one of them at a time
// holds messages of a key: a second one could be on its way to the pusher while a message before it is nacked, which
// takes back those behind it.
type pushSource struct {
	d   *Server
	sub *subscription
}

// pushBytes bounds what is claimed at once.
const pushBytes = 4 << 20

func newPushSource(d *Server, sub *subscription) *pushSource { return &pushSource{d, sub} }

// Claim takes messages, waiting for the first until ctx ends.
func (s *pushSource) Claim(ctx context.Context, most int) ([]push.Message, error) {
	t := taker{d: s.d}
	for {
		claims, told, err := t.take(ctx, s.sub, most, pushBytes, streamWait, s.sub.deadline(), nil)
		if err != nil {
			return nil, err
		}
		if len(claims) == 0 {
			continue
		}
		until := time.Now().Add(s.sub.deadline())
		ms := make([]push.Message, len(claims))
		for i := range claims {
			x := &told[i]
			ms[i] = push.Message{
				ID: x.id.String(), Data: x.body, Attributes: make(map[string]string, len(x.attrs)), OrderingKey: x.key,
				PublishTime: x.time, Attempt: x.attempt,
				Deadline: until, Claim: newAckID(&claims[i], 0),
			}
			for _, a := range x.attrs {
				ms[i].Attributes[a.name] = a.value
			}
		}
		return ms, nil
	}
}

// Ack ends a message that was delivered.
func (s *pushSource) Ack(ctx context.Context, m push.Message) error {
	return s.settle(ctx, queue.Settlement{Token: m.Claim.(ackID).token, Kind: queue.Done})
}

// Nack gives back a message that was not taken.
func (s *pushSource) Nack(ctx context.Context, m push.Message) error {
	id := m.Claim.(ackID)
	return s.settle(ctx, queue.Settlement{Token: id.token, Kind: queue.Back, Delay: s.sub.retry.after(int(id.attempt))})
}

// Return gives back a message that was not sent.
func (s *pushSource) Return(ctx context.Context, m push.Message) error {
	return s.settle(ctx, queue.Settlement{Token: m.Claim.(ackID).token, Kind: queue.Back, Uncounted: true})
}

// settle ends a claim. One that is over is not worth a word: its message comes again, or is gone.
func (s *pushSource) settle(ctx context.Context, x queue.Settlement) error {
	_, err := s.d.store.Settle(ctx, []queue.Settlement{x})
	return err
}

// Extend moves the deadline of a message.
func (s *pushSource) Extend(ctx context.Context, m push.Message) (time.Time, error) {
	id := m.Claim.(ackID)
	errs, err := s.d.store.Extend(ctx, []queue.Token{id.token}, s.sub.deadline()+s.sub.retry.after(int(id.attempt)))
	if err := errors.Join(append(errs, err)...); err != nil {
		return time.Time{}, err
	}
	return time.Now().Add(s.sub.deadline()), nil
}

var _ push.Source = (*pushSource)(nil)
