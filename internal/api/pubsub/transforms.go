package pubsub

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/hikyaku/hikyaku/internal/javascript"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Bounds of message transforms.
const (
	maxTransforms    = 5
	maxTransformCode = 20 << 10
	// transformCheck is how long a look at functions may take, transformPublish all functions of one publish.
	transformCheck   = 20 * time.Second
	transformPublish = time.Minute
)

// checkTransforms refuses functions that could not be run. was are those of before: they were looked at.
func (d *Server) checkTransforms(all, was []*pubsubpb.MessageTransform) error {
	const field = "message_transforms"
	if slices.EqualFunc(all, was, func(a, b *pubsubpb.MessageTransform) bool { return proto.Equal(a, b) }) {
		return nil
	}
	if d.functions == nil {
		return unserved(field, "transforming messages")
	}
	if len(all) > maxTransforms {
		return invalid(field, "there are %d, %d at most", len(all), maxTransforms)
	}
	ctx, cancel := context.WithTimeout(d.stopping, transformCheck)
	defer cancel()
	for i, t := range all {
		switch t.Transform.(type) {
		case *pubsubpb.MessageTransform_JavascriptUdf:
		case nil:
			return invalid(field, "transform %d has no type: javascript_udf is expected", i)
		default:
			return unserved(field, "another transform than javascript_udf")
		}
		f := t.GetJavascriptUdf()
		named := func(other *pubsubpb.MessageTransform) bool {
			return other.GetJavascriptUdf().GetFunctionName() == f.GetFunctionName()
		}
		switch {
		case f.GetFunctionName() != "" && slices.ContainsFunc(all[:i], named):
			return invalid(field, "transform %d has the function_name %q of another: each has its own", i,
				f.GetFunctionName())
		case f.GetFunctionName() == "":
			return invalid(field, "transform %d has no function_name", i)
		case f.GetCode() == "":
			return invalid(field, "transform %d has no code", i)
		case len(f.GetCode()) > maxTransformCode:
			return invalid(field, "the code of transform %d has %d bytes, %d at most", i, len(f.Code), maxTransformCode)
		}
		err := d.functions.Check(ctx, javascript.Function{Name: f.GetFunctionName(), Code: f.GetCode()})
		var wrong *javascript.FunctionError
		if errors.As(err, &wrong) {
			return invalid(field, "transform %d: %v", i, err)
		}
		if err != nil {
			return d.transformError(err)
		}
	}
	return nil
}

// transformError is why functions could not be run at all.
func (d *Server) transformError(err error) error {
	switch {
	case errors.Is(err, javascript.ErrTooLarge):
		return invalid("messages", "%v", err)
	case errors.Is(err, javascript.ErrUnsupported):
		return unserved("message_transforms", "transforming messages on this system")
	case errors.Is(err, javascript.ErrClosed), d.stopping.Err() != nil:
		return errStopping
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	d.report(fmt.Errorf("pubsub door: %w", err))
	return status.Error(codes.Unavailable, "functions cannot be run now: the server's log says why")
}

// functionsOf are the functions of transforms that are not disabled.
func functionsOf(all []*pubsubpb.MessageTransform) (functions []javascript.Function) {
	for _, t := range all {
		if f := t.GetJavascriptUdf(); f != nil && !t.Disabled {
			functions = append(functions, javascript.Function{Name: f.FunctionName, Code: f.Code})
		}
	}
	return functions
}

// transformPublished gives what is published to the functions of its topic. ids are of all messages, kept those that no
// function dropped.
func (d *Server) transformPublished(
	ctx context.Context, t *topic, ms []message.Message,
) (kept []message.Message, ids []message.ID, err error) {
	if d.functions == nil {
		return nil, nil, unserved("message_transforms", "transforming messages")
	}
	given, now := make([]javascript.Message, len(ms)), d.now()
	for i := range ms {
		ms[i].ID = message.NewID()
		ids = append(ids, ms[i].ID)
		given[i] = scripted(&ms[i], ms[i].Body, now)
	}
	running, cancel := context.WithTimeout(ctx, transformPublish)
	defer cancel()
	results, err := d.functions.Run(running, t.functions, given)
	if err != nil {
		return nil, nil, d.transformError(err)
	}
	size := 0
	for i := range results {
		r, m := &results[i], &ms[i]
		switch {
		case errors.Is(r.Err, javascript.ErrLate):
			return nil, nil, context.DeadlineExceeded
		case r.Err != nil:
			return nil, nil, invalid("messages", "message %d: %v", i, r.Err)
		case r.Dropped:
			continue
		}
		m.Body, m.Attributes = r.Data, attributesOf(r.Attributes)
		if err := checkMessage(i, m); err != nil {
			return nil, nil, err
		}
		if size += m.Size(); size > maxPublishBytes {
			return nil, nil, invalid("messages", "the functions of the topic made more than %d bytes of them",
				maxPublishBytes)
		}
		kept = append(kept, *m)
	}
	return kept, ids, nil
}

// publishTransformed is publish for a topic with functions. A message that they drop is answered as if it were
// published.
func (d *Server) publishTransformed(ctx context.Context, r resource, t *topic, ms []message.Message) (*frame, error) {
	kept, ids, err := d.transformPublished(ctx, t, ms)
	if err != nil {
		return nil, err
	}
	if len(kept) > 0 {
		if _, err := d.store.PublishEach(ctx, t.name, kept); errors.Is(err, queue.ErrNotFound) {
			return nil, notFound(r)
		} else if err != nil {
			return nil, err
		}
	}
	return idsFrame(ids), nil
}

// scripted is a message as functions see it.
func scripted(m *message.Message, body []byte, at time.Time) javascript.Message {
	attributes := make(map[string]string, len(m.Attributes))
	for _, a := range m.Attributes {
		attributes[text(a.Name)] = attributeText(a.Value)
	}
	return javascript.Message{Data: body, Attributes: attributes, ID: m.ID.String(), Key: text(m.Key), Time: at}
}

func attributesOf(all map[string]string) (as message.Attributes) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		as = append(as, message.Attribute{Name: name, Value: message.String(all[name])})
	}
	return as
}

// current is what is known of a subscription now: whoever waited for messages may have an older one.
func (d *Server) current(ctx context.Context, s *subscription) (*subscription, error) {
	if s.changes == d.changes.Load() {
		return s, nil
	}
	ctx = context.WithoutCancel(ctx) // the turn may end; what was taken goes out all the same
	now, err := d.subscription(ctx, resource{s.name.Namespace, kindSubscription, s.name.Name})
	if isNotFound(err) || err == nil && now.detached() {
		return s, nil
	}
	return now, err
}

// transformed gives claims to the functions of their subscription and returns those that are to be handed out: what a
// function drops is settled, what it fails at goes back and counts, and what there was no time or room for goes back as
// if nobody had asked.
func (t *taker) transformed(
	ctx context.Context, s *subscription, claims []queue.Claim, b int, deadline time.Duration,
) ([]queue.Claim, error) {
	if t.d.functions == nil {
		t.d.untake(ctx, claims)
		return nil, unserved("message_transforms", "transforming messages")
	}
	given := make([]javascript.Message, len(claims))
	for i := range claims {
		given[i] = scripted(&claims[i].Message, claims[i].Body(), claims[i].Message.Time)
	}
	running, cancel := context.WithTimeout(ctx, deadline/2)
	defer cancel()
	results, err := t.d.functions.Run(running, s.functions, given)
	if err != nil {
		t.d.untake(ctx, claims)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return nil, nil // others had the processes all the time
		}
		return nil, t.d.transformError(err)
	}
	x := sorted{s: s, stuck: map[string]bool{}}
	for i := range claims {
		x.add(&claims[i], &results[i], b)
	}
	if _, err := t.d.store.Settle(context.WithoutCancel(ctx), x.ends); err != nil {
		t.d.untake(ctx, x.kept)
		return nil, err
	}
	t.d.untake(ctx, x.back)
	return x.kept, nil
}

// sorted are claims by what becomes of them.
type sorted struct {
	s     *subscription
	kept  []queue.Claim
	ends  []queue.Settlement
	back  []queue.Claim
	stuck map[string]bool // keys of which a message goes back: those behind it go with it
	bytes int
}

func (x *sorted) add(c *queue.Claim, r *javascript.Result, most int) {
	m := &c.Message
	key := m.Key
	if x.s.def.Unordered {
		key = ""
	}
	switch {
	case key != "" && x.stuck[key]:
	case r.Dropped:
		x.ends = append(x.ends, queue.Settlement{Token: c.Token, Kind: queue.Done})
	case errors.Is(r.Err, javascript.ErrLate), r.Err == nil && len(x.kept) > 0 && x.bytes+len(r.Data) > most:
		x.back, x.stuck[key] = append(x.back, *c), true
	case r.Err != nil:
		rest := max(x.s.retry.after(c.Attempt), transformRest.after(c.Attempt))
		x.ends, x.stuck[key] = append(x.ends, queue.Settlement{Token: c.Token, Kind: queue.Back, Delay: rest}), true
	default:
		m.Body, m.Row, m.Attributes = r.Data, nil, attributesOf(r.Attributes)
		x.bytes += len(r.Data)
		x.kept = append(x.kept, *c)
	}
}

// transformRest is how long a message rests at least that a function failed at: nobody but the server asks for it.
var transformRest = backoff{time.Second, time.Minute}
