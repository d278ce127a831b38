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
	Time time.Time // messages put from then on wait again, earlier ones are settled
	// What was not settled when it was taken, and what came since, waits again; all else is settled. It is of this
	// queue, or of another subscription of its topic; what comes back is in either case what this queue kept.
	Snapshot Name
}

// Sought tells what a seek did.
type Sought struct {
	Back    int // settled messages that wait again
	Settled int // waiting or claimed ones that are settled now
}

// SnapshotOptions say how long a snapshot stays.
type SnapshotOptions struct {
	Life   time.Duration // 0: DefaultSnapshotLife
	Labels map[string]string
}

// Seek takes a queue to a time or a snapshot: what was settled since comes back, as if it had never been handed
// out, and what was there before is settled. What comes back is what the queue's history (Definition.History) or a
// snapshot kept. It goes through what the queue has when it is called in pieces, the oldest first, each as one step
// that is journaled: others work meanwhile, and after an error or a crash a part is done; the result counts it.
// Claims of messages that stay go on; those of messages that are settled by it go stale. Errors: ErrNotFound,
// ErrDefinition for a snapshot of a queue that is no subscription of the same topic, or a target that says nothing,
// ErrNoRoom, ErrUnavailable, ErrClosed.
func (s *Store) Seek(ctx context.Context, n Name, to SeekTo) (done Sought, err error) {
	if to.Time.IsZero() == (to.Snapshot == Name{}) {
		return done, fmt.Errorf("%w: seek %s: say either a time or a snapshot", ErrDefinition, n.Short())
	}
	s.mu.Lock()
	q, err := s.queueOf(n)
	if err != nil {
		s.mu.Unlock()
		return done, err
	}
	if to.Snapshot != (Name{}) {
		to.Snapshot = s.Resolve(to.Snapshot)
	}
	end := q.next
	q.seeking++ // what is past is decided by the times of the pieces: nothing is forgotten meanwhile
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.sought(q)
		s.mu.Unlock()
	}()
	for from := uint64(0); ; {
		e, err := s.seekPiece(ctx, q, n, to, from, end)
		if err != nil {
			return done, err
		}
		done.Back += e.back
		done.Settled += e.settled
		if from = e.upto; from == end {
			return done, nil
		}
	}
}

// seekPiece is Seek for the messages from a sequence on, as many as one step concerns.
func (s *Store) seekPiece(ctx context.Context, q *queueState, n Name, to SeekTo, from, end uint64) (*sought, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	if err := s.state.seekable(q, n, to.Snapshot); err != nil {
		s.leave()
		return nil, err
	}
	e := s.state.toSeek(q, microsOf(to.Time), to.Snapshot, from, end)
	f := newFlight(e)
	q.seeking++ // also when the caller goes away
	over := func() { s.sought(q) }
	f.undo, f.after = over, over
	if err := s.submit(f); err != nil {
		over()
		s.leave()
		return nil, err
	}
	s.mu.Unlock()
	return e, f.wait(ctx)
}

// sought ends what seeking began. The lock is held.
func (s *Store) sought(q *queueState) {
	if q.seeking--; q.seeking == 0 {
		s.landing.Broadcast()
	}
}

// TakeSnapshot makes a snapshot of a queue and returns when it is durable. ErrSnapshot: there is one of that name.
func (s *Store) TakeSnapshot(ctx context.Context, name, of Name, o SnapshotOptions) (Snapshot, error) {
	name = s.Resolve(name)
	if err := name.Check(); err != nil {
		return Snapshot{}, err
	}
	if o.Life < 0 {
		return Snapshot{}, fmt.Errorf("%w: snapshot %s: its life is %v: it cannot be negative", ErrDefinition,
			name.Short(), o.Life)
	}
	if o.Life == 0 {
		o.Life = DefaultSnapshotLife
	}
	over, err := s.copyAhead(ctx, of)
	defer over()
	if err != nil {
		return Snapshot{}, err
	}
	given := func() {}
	err = s.define(ctx, func() (event, error) {
		q := s.state.queueNames[s.Resolve(of)]
		err := s.state.mayTake(name, q, of)
		if err != nil {
			return nil, err
		}
		grown := q.snapshotResident(name, o.Labels)
		if given, err = s.reserve(grown, false, &s.state.comingSnapshots); err != nil {
			return nil, err
		}
		return &snapshotTaken{queue: q.id, name: name, expire: s.advance() + o.Life.Microseconds(),
			labels: maps.Clone(o.Labels)}, nil
	}, snapshotName(name), "", func() { given() })
	if err != nil {
		return Snapshot{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if sn := s.state.snapshot(name); sn != nil {
		return s.state.describe(sn), nil
	}
	return Snapshot{}, fmt.Errorf("%w: snapshot %s was deleted at once, or its queue was", ErrNotFound, name.Short())
}

// HasSnapshot tells whether there is a snapshot of that name. It costs a look into a table.
func (s *Store) HasSnapshot(_ context.Context, name Name) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.snapshot(s.Resolve(name)) != nil, s.usable()
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
		if sn := s.state.snapshot(name); sn == nil || only != nil && sn != only {
			return nil, fmt.Errorf("%w: snapshot %s", ErrNotFound, name.Short())
		}
		return &snapshotGone{name}, nil
	}, snapshotName(name), "")
}

// endSnapshots deletes snapshots whose life has ended and returns those that are left over, because the journal did not
// take it.
func (s *Store) endSnapshots(ctx context.Context, over []*snapshotState) (again []*snapshotState) {
	for _, sn := range over {
		if err := s.deleteSnapshot(ctx, sn.name, sn); err != nil && !errors.Is(err, ErrNotFound) {
			again = append(again, sn)
		}
	}
	return again
}
