package pubsub

import (
	"context"
	"errors"
	"slices"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// minSnapshotLife: the service refuses a snapshot that would expire sooner.
const minSnapshotLife = time.Hour

// snapshot is what the store and the note say of one.
type snapshot struct {
	queue.Snapshot
	note *pubsubpb.Snapshot // nil: another door made it, or it is as it was made
	kept queue.NoteIs       // the note as it is kept
}

// expires is when it ends: when the store says, or before, if an update said so.
func (s snapshot) expires() time.Time {
	if at := s.note.GetExpireTime(); at != nil && (s.Expires.IsZero() || at.AsTime().Before(s.Expires)) {
		return at.AsTime()
	}
	return s.Expires
}

// over tells whether it has ended by what an update said. The store has it until tidy looks for it.
func (d *Server) over(s snapshot) bool {
	at := s.note.GetExpireTime()
	return at != nil && !d.now().Before(at.AsTime())
}

// noted adds to a snapshot what its note says.
func (d *Server) noted(ctx context.Context, sn queue.Snapshot) (snapshot, error) {
	s, note := snapshot{Snapshot: sn}, new(pubsubpb.Snapshot)
	var err error
	if s.kept, err = d.recall(ctx, noteKey(kindSnapshot, sn.Name), note); err != nil {
		return snapshot{}, err
	}
	if s.kept.Value != nil {
		s.note = note
	}
	return s, nil
}

func (d *Server) snapshot(ctx context.Context, r resource) (snapshot, error) {
	n := d.store.Resolve(r.name())
	list, err := d.store.Snapshots(ctx)
	if err != nil {
		return snapshot{}, err
	}
	i := slices.IndexFunc(list, func(s queue.Snapshot) bool { return s.Name == n })
	if i < 0 {
		return snapshot{}, notFound(r)
	}
	s, err := d.noted(ctx, list[i])
	if err == nil && d.over(s) {
		return s, notFound(r)
	}
	return s, err
}

// endedSnapshots are those that have ended by what an update said, of those that there are notes of.
func (d *Server) endedSnapshots(ctx context.Context) (map[queue.Name]snapshot, error) {
	names, err := d.notedNames(ctx, kindSnapshot)
	if err != nil {
		return nil, err
	}
	ended := map[queue.Name]snapshot{}
	for _, n := range names {
		s, err := d.noted(ctx, queue.Snapshot{Name: n})
		if err != nil {
			return nil, err
		}
		if d.over(s) {
			ended[n] = s
		}
	}
	return ended, nil
}

// endSnapshots deletes those.
func (d *Server) endSnapshots(ctx context.Context) error {
	ended, err := d.endedSnapshots(ctx)
	for _, s := range ended {
		if err := d.endSnapshot(ctx, s); err != nil {
			return err
		}
	}
	return err
}

// endSnapshot deletes one that has ended, and what is known of it.
func (d *Server) endSnapshot(ctx context.Context, s snapshot) error {
	if err := d.store.DeleteSnapshot(ctx, s.Name); err != nil && !errors.Is(err, queue.ErrNotFound) {
		return err
	}
	return d.forget(ctx, []queue.NoteIs{s.kept})
}

// topicOfSnapshot is the topic whose messages a snapshot keeps.
func (d *Server) topicOfSnapshot(ctx context.Context, s snapshot, project string) (string, error) {
	sub, err := d.subscription(ctx, resource{s.Queue.Namespace, kindSubscription, s.Queue.Name})
	if isNotFound(err) {
		return deletedTopic, nil
	}
	if err != nil {
		return "", err
	}
	return d.topicOf(sub, project), nil
}

func (d *Server) describeSnapshot(ctx context.Context, s snapshot, r resource) (*pubsubpb.Snapshot, error) {
	topic, err := d.topicOfSnapshot(ctx, s, r.project)
	if err != nil {
		return nil, err
	}
	p := &pubsubpb.Snapshot{Name: r.String(), Topic: topic, Labels: s.Labels}
	if s.note != nil {
		p.Labels = s.note.Labels
	}
	if at := s.expires(); !at.IsZero() {
		p.ExpireTime = timestamppb.New(at)
	}
	return p, nil
}

// CreateSnapshot remembers which messages of a subscription are not acknowledged.
func (s subscriberService) CreateSnapshot(ctx context.Context, req *pubsubpb.CreateSnapshotRequest) (*pubsubpb.Snapshot,
	error) {
	d := s.d
	of, err := parseResource("subscription", req.Subscription, kindSubscription)
	if err != nil {
		return nil, err
	}
	name := req.Name
	if name == "" {
		name = of.of(kindSnapshot, newID()).String()
	}
	r, err := parseResource("name", name, kindSnapshot)
	if err != nil {
		return nil, err
	}
	if err := r.checkNew("name"); err != nil {
		return nil, err
	}
	if err := d.allow(ctx, access.Admin, of); err != nil {
		return nil, err
	}
	if err := d.allow(ctx, access.Admin, r); err != nil {
		return nil, err
	}
	d.admin.Lock()
	defer d.admin.Unlock()
	sub, err := d.subscription(ctx, of)
	if err != nil {
		return nil, err
	}
	if err := checkLabels(req.Labels); err != nil {
		return nil, err
	}
	if sub.detached() {
		return nil, status.Errorf(codes.FailedPrecondition, "the subscription is detached from its topic: %s", of)
	}
	life, err := d.snapshotLife(ctx, sub)
	if err != nil {
		return nil, err
	}
	if was, err := d.snapshot(ctx, r); err == nil {
		return nil, exists(r)
	} else if !isNotFound(err) {
		return nil, err
	} else if d.over(was) {
		if err := d.endSnapshot(ctx, was); err != nil {
			return nil, err
		}
	}
	expired, err := d.kept(ctx, noteKey(kindSnapshot, d.store.Resolve(r.name())))
	if err != nil {
		return nil, err
	}
	if err := d.forget(ctx, expired); err != nil {
		return nil, err
	}
	made, err := d.store.TakeSnapshot(ctx, r.name(), sub.name, queue.SnapshotOptions{Life: life, Labels: req.Labels})
	if errors.Is(err, queue.ErrSnapshot) {
		return nil, exists(r)
	}
	if err != nil {
		return nil, err
	}
	return d.describeSnapshot(ctx, snapshot{Snapshot: made}, r)
}

// snapshotLife is seven days less the age of the oldest message that is not acknowledged.
func (d *Server) snapshotLife(ctx context.Context, sub *subscription) (time.Duration, error) {
	oldest, err := d.store.Peek(ctx, sub.name, queue.PeekRequest{Max: 1, NoBody: true})
	if err != nil {
		return 0, err
	}
	life := queue.DefaultSnapshotLife
	if len(oldest) > 0 {
		life -= max(0, d.now().Sub(oldest[0].Message.Time))
	}
	if life < minSnapshotLife {
		return 0, status.Errorf(codes.FailedPrecondition, "the oldest message of %s is so old that the snapshot "+
			"would expire in less than an hour", sub.name)
	}
	return life, nil
}

// GetSnapshot describes a snapshot.
func (s subscriberService) GetSnapshot(ctx context.Context, req *pubsubpb.GetSnapshotRequest) (*pubsubpb.Snapshot,
	error) {
	r, err := parseResource("snapshot", req.Snapshot, kindSnapshot)
	if err != nil {
		return nil, err
	}
	if err := s.d.seen(ctx, r); err != nil {
		return nil, err
	}
	sn, err := s.d.snapshot(ctx, r)
	if err != nil {
		return nil, err
	}
	size, err := s.d.snapshotSize(ctx, sn.Snapshot)
	if err != nil {
		return nil, err
	}
	if err := roomFor(ctx, size); err != nil {
		return nil, err
	}
	return s.d.describeSnapshot(ctx, sn, r)
}

// UpdateSnapshot changes the labels of a snapshot, and lets it end sooner than it was made to.
func (s subscriberService) UpdateSnapshot(ctx context.Context, req *pubsubpb.UpdateSnapshotRequest) (*pubsubpb.Snapshot,
	error) {
	d := s.d
	if req.Snapshot == nil {
		return nil, invalid("snapshot", "is missing")
	}
	r, end, err := d.administer(ctx, "snapshot.name", req.Snapshot.Name, kindSnapshot)
	if err != nil {
		return nil, err
	}
	defer end()
	return anew(func() (*pubsubpb.Snapshot, error) {
		sn, err := d.snapshot(ctx, r)
		if err != nil {
			return nil, err
		}
		now, err := d.describeSnapshot(ctx, sn, r)
		if err != nil {
			return nil, err
		}
		was := proto.CloneOf(now)
		if err := applyMask("update_mask", req.UpdateMask, req.Snapshot, now, snapshotFields); err != nil {
			return nil, err
		}
		note := &pubsubpb.Snapshot{ExpireTime: sn.note.GetExpireTime()}
		if !proto.Equal(was.ExpireTime, now.ExpireTime) {
			if err := d.checkExpiry(now.ExpireTime, sn); err != nil {
				return nil, err
			}
			note.ExpireTime = now.ExpireTime
		}
		if err := checkLabels(now.Labels); err != nil {
			return nil, err
		}
		note.Labels = now.Labels
		return now, d.remember(ctx, sn.kept, d.commit, note)
	})
}

// checkExpiry looks at an expiry that a snapshot is to have: its messages are kept until the one that it was made with,
// and no longer.
func (d *Server) checkExpiry(at *timestamppb.Timestamp, sn snapshot) error {
	const field = "expire_time"
	if at == nil {
		return invalid(field, "is missing")
	}
	switch err := at.CheckValid(); {
	case err != nil:
		return invalid(field, "%v", err)
	case !at.AsTime().After(d.now()):
		return invalid(field, "is not in the future")
	case !sn.Expires.IsZero() && at.AsTime().After(sn.Expires):
		return invalid(field, "is later than %s, to which the snapshot was made",
			sn.Expires.UTC().Format(time.RFC3339Nano))
	}
	return nil
}

// DeleteSnapshot forgets a snapshot.
func (s subscriberService) DeleteSnapshot(ctx context.Context, req *pubsubpb.DeleteSnapshotRequest) (*emptypb.Empty,
	error) {
	d := s.d
	r, end, err := d.administer(ctx, "snapshot", req.Snapshot, kindSnapshot)
	if err != nil {
		return nil, err
	}
	defer end()
	if _, err := d.snapshot(ctx, r); err != nil {
		return nil, err
	}
	n := d.store.Resolve(r.name())
	kept, err := d.kept(ctx, noteKey(kindSnapshot, n), policyKey(r, n))
	if err != nil {
		return nil, err
	}
	if err := d.store.DeleteSnapshot(ctx, n); errors.Is(err, queue.ErrNotFound) {
		return nil, notFound(r)
	} else if err != nil {
		return nil, err
	}
	if err := d.forget(ctx, kept); err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}

// ListSnapshots lists the snapshots of a project.
func (s subscriberService) ListSnapshots(ctx context.Context,
	req *pubsubpb.ListSnapshotsRequest) (*pubsubpb.ListSnapshotsResponse, error) {
	d := s.d
	project, err := parseProject("project", req.Project)
	if err != nil {
		return nil, err
	}
	all, err := d.store.Snapshots(ctx)
	if err != nil {
		return nil, err
	}
	ended, err := d.endedSnapshots(ctx)
	if err != nil {
		return nil, err
	}
	namespace := d.store.Resolve(queue.Name{Namespace: project, Name: "x"}).Namespace
	all = slices.DeleteFunc(all, func(s queue.Snapshot) bool {
		_, over := ended[s.Name]
		return over || s.Name.Namespace != namespace || !d.visible(ctx, resource{project, kindSnapshot, s.Name.Name})
	})
	res := new(pubsubpb.ListSnapshotsResponse)
	res.Snapshots, res.NextPageToken, err = gather(ctx, req, all, listing[queue.Snapshot, *pubsubpb.Snapshot]{
		key:  snapshotKey,
		size: func(sn queue.Snapshot) (int64, error) { return d.snapshotSize(ctx, sn) },
		make: func(sn queue.Snapshot) (*pubsubpb.Snapshot, error) {
			noted, err := d.noted(ctx, sn)
			if err != nil {
				return nil, err
			}
			return d.describeSnapshot(ctx, noted, resource{project, kindSnapshot, sn.Name.Name})
		},
	})
	if err != nil {
		return nil, err
	}
	return res, nil
}

// snapshotSize is about how many bytes the description of a snapshot has.
func (d *Server) snapshotSize(ctx context.Context, sn queue.Snapshot) (int64, error) {
	size, err := d.noteSize(ctx, noteKey(kindSnapshot, sn.Name))
	return size + labelBytes(sn.Labels), err
}

func snapshotKey(s queue.Snapshot) string { return s.Name.String() }

// ListTopicSnapshots lists the names of the snapshots of a topic's messages.
func (s publisherService) ListTopicSnapshots(ctx context.Context,
	req *pubsubpb.ListTopicSnapshotsRequest) (*pubsubpb.ListTopicSnapshotsResponse, error) {
	d := s.d
	r, err := parseResource("topic", req.Topic, kindTopic)
	if err != nil {
		return nil, err
	}
	if err := d.seen(ctx, r); err != nil {
		return nil, err
	}
	subscribers, err := d.subscribers(ctx, r)
	if err != nil {
		return nil, err
	}
	all, err := d.store.Snapshots(ctx)
	if err != nil {
		return nil, err
	}
	ended, err := d.endedSnapshots(ctx)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s queue.Snapshot) bool {
		_, over := ended[s.Name]
		return over || !slices.Contains(subscribers, s.Queue) || !d.visibleName(ctx, s.Name)
	})
	res := new(pubsubpb.ListTopicSnapshotsResponse)
	res.Snapshots, res.NextPageToken, err = gather(ctx, req, all, listing[queue.Snapshot, string]{
		key:  snapshotKey,
		size: func(queue.Snapshot) (int64, error) { return entryBytes, nil },
		make: func(s queue.Snapshot) (string, error) {
			return d.resourceOf(s.Name, kindSnapshot, r.project).String(), nil
		},
	})
	if err != nil {
		return nil, err
	}
	return res, nil
}
