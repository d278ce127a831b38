package pubsub

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Attributes of a dead letter that tell where it comes from.
const (
	deathCount        = "CloudPubSubDeadLetterSourceDeliveryCount"
	deathSubscription = "CloudPubSubDeadLetterSourceSubscription"
	deathProject      = "CloudPubSubDeadLetterSourceSubscriptionProject"
	deathPublished    = "CloudPubSubDeadLetterSourceTopicPublishTime"
)

// taker makes deliveries of claims. It keeps their memory for the next ones.
type taker struct {
	d      *Server
	user   *access.User
	asks   bool       // whether the user may take, each time that something came
	from   queue.Name // which take takes from
	stream uint32
	out    []delivery
	attrs  []textAttribute
	hold   door.Hold        // of the bytes of the answer that is made
	cost   int64            // of a byte of messages
	waits  prometheus.Gauge // of those who wait for messages; nil: nobody counts
}

// take claims up to n messages and b bytes, waiting for the first, and returns how they are told. deadline is until
// when they are to be acknowledged. What it returns is good until the next call. There may be none before the wait is
// over, where functions dropped them all.
func (t *taker) take(ctx context.Context, s *subscription, n, b int, wait, deadline time.Duration,
	owner queue.Owner) ([]queue.Claim, []delivery, error) {
	if t.waits != nil && wait > 0 {
		t.waits.Inc()
		defer t.waits.Dec()
	}
	t.from = s.name
	claims, err := t.d.store.Claim(ctx, queue.ClaimRequest{
		From: []queue.From{{Queue: s.name}}, Max: n, Bytes: b, Wait: wait, Lease: deadline + s.retry.after(1),
		Owner: owner, Hold: t.room,
	})
	if err != nil || len(claims) == 0 {
		return nil, nil, err
	}
	if s, err = t.d.current(ctx, s); err != nil {
		t.d.untake(ctx, claims)
		t.hold.End()
		return nil, nil, err
	}
	if s.functions != nil {
		if claims, err = t.transformed(ctx, s, claims, b, deadline); err != nil || len(claims) == 0 {
			t.hold.End()
			return nil, nil, err
		}
	}
	if s.retry != (backoff{}) {
		t.d.lengthen(context.WithoutCancel(ctx), s, claims, deadline) // the turn may end; they go out all the same
	}
	clear(t.out) // lets go of the bodies of before
	t.out, t.attrs = slices.Grow(t.out[:0], len(claims))[:len(claims)], t.attrs[:0]
	for i := range claims {
		if err := t.tell(ctx, &t.out[i], &claims[i], s); err != nil {
			t.d.untake(ctx, claims)
			t.hold.End()
			return nil, nil, err
		}
	}
	return claims, t.out, nil
}

// lengthen gives messages that were handed out before the longer rest after their deadline that they have earned.
func (d *Server) lengthen(ctx context.Context, s *subscription, claims []queue.Claim, deadline time.Duration) {
	var by map[time.Duration][]queue.Token
	for i := range claims {
		if c := &claims[i]; c.Attempt > 1 {
			if by == nil {
				by = map[time.Duration][]queue.Token{}
			}
			lease := deadline + s.retry.after(c.Attempt)
			by[lease] = append(by[lease], c.Token)
		}
	}
	for lease, tokens := range by {
		if _, err := d.store.Extend(ctx, tokens, lease); err != nil {
			return // they rest as after the first attempt
		}
	}
}

// tell describes a claim.
func (t *taker) tell(ctx context.Context, x *delivery, c *queue.Claim, s *subscription) error {
	m := &c.Message
	*x = delivery{
		ackID: newAckID(c, t.stream).text(t.user), id: m.ID, body: c.Body(), key: text(m.Key), time: m.Time,
		attempt: s.shows(c.Attempt),
	}
	first := len(t.attrs)
	for _, a := range m.Attributes {
		if journey.Hidden(a.Name) {
			continue
		}
		t.attrs = append(t.attrs, textAttribute{text(a.Name), attributeText(a.Value)})
	}
	if m.Death != nil {
		if err := t.tellDeath(ctx, m); err != nil {
			return err
		}
	}
	x.attrs = t.attrs[first:len(t.attrs):len(t.attrs)]
	x.measure()
	return nil
}

func attributeText(v message.Value) string {
	if v.Kind() == message.KindString {
		return text(v.AsString())
	}
	return text(v.Text())
}

// tellDeath adds where a dead letter comes from, unless somebody has put attributes of those names.
func (t *taker) tellDeath(ctx context.Context, m *message.Message) error {
	add := func(name, value string) {
		if _, ok := m.Attributes.Get(name); !ok && value != "" {
			t.attrs = append(t.attrs, textAttribute{name, value})
		}
	}
	if from, err := queue.ParseName(m.Death.Queue); err == nil && m.Death.Queue != "" {
		r, err := t.d.calledBy(context.WithoutCancel(ctx), from) // as lengthen
		if err != nil {
			return err
		}
		add(deathSubscription, r.id)
		add(deathProject, r.project)
	}
	add(deathCount, strconv.Itoa(m.Death.Attempts))
	add(deathPublished, m.Time.UTC().Format(time.RFC3339Nano))
	return nil
}

// untake puts back at once what could not be sent: nobody has seen it.
func (d *Server) untake(ctx context.Context, claims []queue.Claim) {
	tokens := make([]queue.Token, len(claims))
	for i := range claims {
		tokens[i] = claims[i].Token
	}
	d.giveBack(ctx, tokens)
}

// giveBack puts back messages that nobody has seen.
func (d *Server) giveBack(ctx context.Context, tokens []queue.Token) {
	if len(tokens) == 0 {
		return
	}
	back := make([]queue.Settlement, len(tokens))
	for i := range tokens {
		// The last ones first: each takes back its own hand-out, none goes as one behind another of its key.
		back[len(tokens)-1-i] = queue.Settlement{Token: tokens[i], Kind: queue.Back, Uncounted: true}
	}
	_, _ = d.store.Settle(context.WithoutCancel(ctx), back) // what stays goes back at its deadline
}
