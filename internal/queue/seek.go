package queue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"
)

// SeekTo is where a queue is taken: exactly one of the fields is set.
type SeekTo struct {
	Time     time.Time // messages put from then on wait again, earlier ones are settled
	Snapshot Name      // what was not settled when it was taken, and what came since, waits again; all else is settled
}

// Sought tells what a seek did.
type Sought struct {
	Back    int // settled messages that wait again
	Settled int // waiting or claimed ones that are settled now
}

// Snapshot remembers which messages of a queue were not settled at one moment. They, and all that came later, are kept while it exists,
// also when they are
// settled or purged meanwhile. A message that expires is gone all the same.
type Snapshot struct {
	Name    Name
	Queue   Name
	Time    time.Time // when it was taken
	Expires time.Time // zero: never
	Labels  map[string]string
}

// SnapshotOptions say how long a snapshot stays.
type SnapshotOptions struct {
	Life   time.Duration // 0: DefaultSnapshotLife
	Labels map[string]string
}

// Bounds of snapshots.
const (
	DefaultSnapshotLife = 7 * 24 * time.Hour
	MaxSnapshots        = 5000
)

// Seek takes a queue to a time or a snapshot, as one step that is journaled: what was settled since comes back, as if it had never been handed
// out, and what was there before is settled. What comes back is what the queue's history (Definition.History) or a snapshot kept.
// Claims of messages that stay go on; those of messages that are settled by it go stale. Errors: ErrNotFound, ErrDefinition for a
// snapshot of another queue or a target that says nothing, ErrNoRoom, ErrUnavailable, ErrClosed.
func (s *Store) Seek(ctx context.Context, n Name, to SeekTo) (Sought, error) {
	if to.Time.IsZero() == (to.Snapshot == Name{}) {
		return Sought{}, fmt.Errorf("%w: seek %s: say either a time or a snapshot", ErrDefinition, n.Short())
	}
	if err := s.enter(ctx); err != nil {
		return Sought{}, err
	}
	q, err := s.queueOf(n)
	if err == nil && to.Snapshot != (Name{}) {
		to.Snapshot = s.Resolve(to.Snapshot)
		switch sn := s.state.snapshots[to.Snapshot]; {
		case sn == nil || sn.going:
			err = fmt.Errorf("%w: snapshot %s", ErrNotFound, to.Snapshot.Short())
		case sn.queue != q:
			err = fmt.Errorf("%w: snapshot %s is of queue %s, not of %s", ErrDefinition, to.Snapshot.Short(), sn.queue.name.Short(), q.name.Short())
		}
	}
	if err != nil {
		s.leave()
		return Sought{}, err
	}
	e := &sought{queue: q.id, to: microsOf(to.Time), snapshot: to.Snapshot}
	f := newFlight(e)
	q.seeking++
	end := func() { q.seeking-- }
	f.undo, f.after = end, end
	if err := s.submit(f); err != nil {
		end()
		s.leave()
		return Sought{}, err
	}
	s.mu.Unlock()
	if err := f.wait(ctx); err != nil {
		return Sought{}, err
	}
	return Sought{e.back, e.settled}, nil
}

// TakeSnapshot makes a snapshot of a queue and returns when it is durable. ErrSnapshot: there is one of that name.
func (s *Store) TakeSnapshot(ctx context.Context, name, of Name, o SnapshotOptions) (Snapshot, error) {
	name = s.Resolve(name)
	if err := name.Check(); err != nil {
		return Snapshot{}, err
	}
	if o.Life < 0 {
		return Snapshot{}, fmt.Errorf("%w: snapshot %s: its life is %v: it cannot be negative", ErrDefinition, name.Short(), o.Life)
	}
	if o.Life == 0 {
		o.Life = DefaultSnapshotLife
	}
	err := s.define(ctx, func() (event, error) {
		q := s.state.queueNames[s.Resolve(of)]
		switch {
		case q == nil:
			return nil, fmt.Errorf("%w: %s", ErrNotFound, of.Short())
		case s.state.snapshots[name] != nil:
			return nil, fmt.Errorf("%w: %s", ErrSnapshot, name.Short())
		case len(s.state.snapshots) >= MaxSnapshots:
			return nil, fmt.Errorf("%w: the limit of %d snapshots is reached", ErrDefinition, MaxSnapshots)
		}
		return &snapshotTaken{queue: q.id, name: name, expire: s.state.advance(s.clock()) + o.Life.Microseconds(), labels: maps.Clone(o.Labels)}, nil
	}, snapshotName(name), "")
	if err != nil {
		return Snapshot{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if sn := s.state.snapshots[name]; sn != nil {
		return s.state.describe(sn), nil
	}
	return Snapshot{}, fmt.Errorf("%w: snapshot %s was deleted at once, or its queue was", ErrNotFound, name.Short())
}

// snapshotName keeps definitions of snapshots apart from those of queues.
func snapshotName(n Name) Name { return Name{n.Namespace, "snapshot " + n.Name} }

// DeleteSnapshot forgets a snapshot, and with it the settled messages that nothing else keeps.
func (s *Store) DeleteSnapshot(ctx context.Context, name Name) error {
	return s.deleteSnapshot(ctx, s.Resolve(name), nil)
}

// deleteSnapshot is DeleteSnapshot; when only is not nil, for that snapshot and no other one of its name.
func (s *Store) deleteSnapshot(ctx context.Context, name Name, only *snapshotState) error {
	return s.define(ctx, func() (event, error) {
		if sn := s.state.snapshots[name]; sn == nil || only != nil && sn != only {
			return nil, fmt.Errorf("%w: snapshot %s", ErrNotFound, name.Short())
		}
		return &snapshotGone{name}, nil
	}, snapshotName(name), "")
}

func (s *state) describe(sn *snapshotState) Snapshot {
	return Snapshot{Name: sn.name, Queue: sn.queue.name, Time: timeOf(sn.at), Expires: s.time.shown(sn.expire, s.now), Labels: maps.Clone(sn.labels)}
}

// endSnapshots deletes snapshots whose life has ended and returns those that are left over, because the journal did not take it.
func (s *Store) endSnapshots(ctx context.Context, over []*snapshotState) (again []*snapshotState) {
	for _, sn := range over {
		if err := s.deleteSnapshot(ctx, sn.name, sn); err != nil && !errors.Is(err, ErrNotFound) {
			again = append(again, sn)
		}
	}
	return again
}
