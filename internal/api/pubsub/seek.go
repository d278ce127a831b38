package pubsub

import (
	"context"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Seek takes a subscription to a time or a snapshot.
func (s subscriberService) Seek(ctx context.Context, req *pubsubpb.SeekRequest) (*pubsubpb.SeekResponse, error) {
	d := s.d
	r, err := parseResource("subscription", req.Subscription, kindSubscription)
	if err != nil {
		return nil, err
	}
	if err := d.allow(ctx, access.Admin, r); err != nil {
		return nil, err
	}
	sub, err := d.subscription(ctx, r)
	if err != nil {
		return nil, err
	}
	if sub.detached() {
		return nil, status.Errorf(codes.FailedPrecondition, "the subscription is detached from its topic: %s", r)
	}
	var to queue.SeekTo
	switch target := req.Target.(type) {
	case *pubsubpb.SeekRequest_Time:
		if err := target.Time.CheckValid(); err != nil {
			return nil, invalid("time", "%v", err)
		}
		if to.Time = target.Time.AsTime(); to.Time.IsZero() {
			to.Time = to.Time.Add(1) // the store takes the first moment of all for none
		}
	case *pubsubpb.SeekRequest_Snapshot:
		sr, err := parseResource("snapshot", target.Snapshot, kindSnapshot)
		if err != nil {
			return nil, err
		}
		// It may be of another subscription, and a seek shows what was not settled there.
		if err := d.seen(ctx, sr); err != nil {
			return nil, err
		}
		sn, err := d.snapshot(ctx, sr)
		if err != nil {
			return nil, err
		}
		if shared, err := d.shareTopic(ctx, sub, sn); err != nil {
			return nil, err
		} else if !shared {
			return nil, status.Errorf(codes.FailedPrecondition,
				"%s was made of a subscription of another topic than %s", sr, r)
		}
		to.Snapshot = sn.Name
	default:
		return nil, invalid("target", "a time or a snapshot is expected")
	}
	if _, err := d.store.Seek(ctx, sub.name, to); err != nil {
		return nil, err
	}
	d.used(sub.name)
	return &pubsubpb.SeekResponse{}, nil
}

// shareTopic tells whether a subscription is that of a snapshot, or of the same topic.
func (d *Server) shareTopic(ctx context.Context, sub *subscription, sn snapshot) (bool, error) {
	if sn.Queue == sub.name {
		return true, nil
	}
	of, err := d.subscription(ctx, resource{sn.Queue.Namespace, kindSubscription, sn.Queue.Name})
	if isNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return sub.def.Topic != "" && of.def.Topic == sub.def.Topic, nil
}
