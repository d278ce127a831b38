package pubsub

import (
	"context"
	"errors"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// The service's limits of what is published.
const (
	maxPublishMessages = 1000
	maxPublishBytes    = 10_000_000 // a request
	maxAttributes      = 100
	maxAttributeName   = 256
	maxAttributeValue  = 1024
	maxKey             = 1024
)

// publish answers Publish. What it answers is durable.
func (d *Server) publish(ctx context.Context, req *publishRequest) (*frame, error) {
	r, err := parseResource("topic", req.topic, kindTopic)
	if err != nil {
		return nil, err
	}
	if err := d.allow(ctx, access.Put, r); err != nil {
		return nil, err
	}
	t, err := d.topic(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := req.check(); err != nil {
		return nil, err
	}
	if t.schema != nil {
		if err := t.schema.check(ctx, req.messages); err != nil {
			return nil, err
		}
	}
	d.carry(ctx, req.messages)
	if t.functions != nil {
		return d.publishTransformed(ctx, r, t, req.messages)
	}
	results, err := d.store.PublishEach(ctx, t.name, req.messages)
	if errors.Is(err, queue.ErrNotFound) {
		return nil, notFound(r)
	}
	if err != nil {
		return nil, err
	}
	ids := make([]message.ID, len(results))
	for i := range results {
		ids[i] = results[i].ID
	}
	return idsFrame(ids), nil
}

// carry lets messages keep the context of the request, which is in the metadata of a call as in the headers of REST.
func (d *Server) carry(ctx context.Context, ms []message.Message) {
	if d.spans == nil {
		return
	}
	parent := metadata.ValueFromIncomingContext(ctx, "traceparent")
	if len(parent) != 1 {
		return
	}
	state := strings.Join(metadata.ValueFromIncomingContext(ctx, "tracestate"), ",")
	for i := range ms {
		d.spans.Carry(&ms[i], parent[0], state)
	}
}

// check holds a request to the service's limits.
func (r *publishRequest) check() error {
	switch n := len(r.messages); {
	case n == 0:
		return invalid("messages", "there are none")
	case n > maxPublishMessages:
		return invalid("messages", "there are more than %d messages in one request", maxPublishMessages)
	case r.size > maxPublishBytes:
		return invalid("messages", "the request has %d bytes, %d at most", r.size, maxPublishBytes)
	}
	for i := range r.messages {
		m := &r.messages[i]
		if m.Key != r.messages[0].Key {
			return status.Errorf(codes.FailedPrecondition, "message %d has another ordering key than the first: in a "+
				"single publish request all messages must have the same one, or none", i)
		}
		if err := checkMessage(i, m); err != nil {
			return err
		}
	}
	return nil
}

func checkMessage(i int, m *message.Message) error {
	switch {
	case len(m.Body) == 0 && len(m.Attributes) == 0:
		return invalid("messages", "message %d is empty: it needs data or an attribute", i)
	case len(m.Key) > maxKey:
		return invalid("messages", "the ordering key of message %d has %d bytes, %d at most", i, len(m.Key), maxKey)
	case len(m.Attributes) > maxAttributes:
		return invalid("messages", "message %d has %d attributes, %d at most", i, len(m.Attributes), maxAttributes)
	}
	for _, a := range m.Attributes {
		switch value := a.Value.AsString(); {
		case a.Name == "":
			return invalid("messages", "an attribute of message %d has no name", i)
		case len(a.Name) > maxAttributeName:
			return invalid("messages", "an attribute of message %d has a name of %d bytes, %d at most", i, len(a.Name),
				maxAttributeName)
		case len(value) > maxAttributeValue:
			return invalid("messages", "attribute %q of message %d has %d bytes, %d at most", a.Name, i, len(value),
				maxAttributeValue)
		}
	}
	return nil
}
