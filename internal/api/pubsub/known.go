package pubsub

import (
	"context"
	"errors"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/hikyaku/hikyaku/internal/javascript"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// subscription is what calls that take messages need to know of one. It is made once for each change of the definition
// or the notes, and not changed.
type subscription struct {
	name    queue.Name // resolved
	version uint64     // of the definition
	changes uint64     // of notes, when it was made
	def     queue.Definition
	note    *pubsubpb.Subscription // nil: another door made it
	kept    queue.NoteIs           // the note as it is kept
	retry   backoff
	push    bool

	functions []javascript.Function // its message transforms
}

// subscription finds one by its name, also one that is detached.
func (d *Server) subscription(ctx context.Context, r resource) (*subscription, error) {
	n := d.store.Resolve(r.name())
	changes := d.changes.Load() // before the note is read: a change meanwhile lets it be read again
	_, version, err := d.store.Definition(ctx, n)
	if errors.Is(err, queue.ErrNotFound) {
		d.known.forget(n)
		note := new(pubsubpb.Subscription)
		kept, err := d.recall(ctx, noteKey(kindSubscription, n), note)
		if err != nil {
			return nil, err
		} else if kept.Value == nil || !note.Detached {
			return nil, notFound(r)
		}
		return &subscription{name: n, note: note, kept: kept}, nil
	}
	if err != nil {
		return nil, err
	}
	if k, ok := d.known.get(n); ok {
		if s := k.(*subscription); s.version == version && s.changes == changes {
			return s, nil
		}
	}
	s, note := &subscription{name: n, changes: changes}, new(pubsubpb.Subscription)
	if s.kept, err = d.recall(ctx, noteKey(kindSubscription, n), note); err != nil {
		return nil, err
	}
	// Behind the note: what is made of both is kept only while the note is so.
	if s.def, s.version, err = d.store.Definition(ctx, n); errors.Is(err, queue.ErrNotFound) {
		return d.subscription(ctx, r) // deleted meanwhile
	} else if err != nil {
		return nil, err
	}
	if s.kept.Value != nil && !note.Detached {
		s.note, s.retry, s.push = note, backoffOf(note.RetryPolicy), note.PushConfig.GetPushEndpoint() != ""
		s.functions = functionsOf(note.MessageTransforms)
	}
	d.known.put(n, s, knownResident+noteCopies*int64(proto.Size(note)))
	return s, nil
}

// pullable refuses what cannot be taken from.
func (s *subscription) pullable(r resource) error {
	switch {
	case s.detached():
		return status.Errorf(codes.FailedPrecondition, "the subscription is detached from its topic: %s", r)
	case s.push:
		return status.Errorf(codes.FailedPrecondition, "messages of %s are pushed to its endpoint: this method is "+
			"for subscriptions without one", r)
	}
	return nil
}

// detached tells whether it has been cut off its topic: then it holds nothing.
func (s *subscription) detached() bool { return s.note.GetDetached() }

// deadline is how long a message may be out before it is handed out again.
func (s *subscription) deadline() time.Duration { return s.def.ClaimLease() }

// shows is what delivery_attempt is for an attempt: it is shown only where attempts are bounded.
func (s *subscription) shows(attempt int) int {
	if s.def.MaxAttempts == 0 {
		return 0
	}
	return attempt
}

// backoff is how long a message rests after a delivery that failed. The zero value is not at all.
type backoff struct{ min, max time.Duration }

// The bounds of a retry policy that does not say.
const (
	defaultMinBackoff = 10 * time.Second
	defaultMaxBackoff = 600 * time.Second
)

func backoffOf(p *pubsubpb.RetryPolicy) backoff {
	if p == nil {
		return backoff{}
	}
	b := backoff{defaultMinBackoff, defaultMaxBackoff}
	if p.MinimumBackoff != nil {
		b.min = p.MinimumBackoff.AsDuration()
	}
	if p.MaximumBackoff != nil {
		b.max = p.MaximumBackoff.AsDuration()
	}
	return b
}

// after is the rest after the attempt of that number, from 1: twice as long each time.
func (b backoff) after(attempt int) time.Duration {
	rest := b.min
	for range attempt - 1 {
		if rest >= b.max/2 {
			return max(b.min, b.max)
		}
		rest *= 2
	}
	return min(rest, max(b.min, b.max))
}
