package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// AlterQueue changes a queue's definition. Topic and filter are fixed, ordering can change only while the queue is
// empty. Other columns are those of AlterColumns, each being the old one of its name.
func (s *Store) AlterQueue(ctx context.Context, n Name, d Definition) error {
	return s.alter(ctx, n, alteration{d: d})
}

// AlterColumns is AlterQueue that says where columns come from: from[i] is the place, among the columns until now, of
// the column d.Columns[i], and -1 that it is new. version is that of the definition (see Definition) which the caller
// has seen: when it is another one by now nothing is changed and the error is ErrChanged; 0 is any.
//
// Messages stay where and as they are, also those that are claimed. From then on each is shown by the new columns: a
// value that has become one of another type is converted as a put would (message.Column.Convert); a new column has its
// default, or null, or what MySQL gives rows that are there when it is not null and has no default. A value that does
// not fit its new column refuses the whole; the error, ErrMismatch, names the column (*message.ColumnError), the
// message and the reason. To see whether all fit, values of columns that change their type are looked at one by one,
// beside the queue; only what is put during the last moment of that waits. Nothing has to be looked at where all must
// fit: columns added, dropped, renamed, moved or made wider.
//
// Waiting claims go on, by the new columns; those whose condition names a column that is not there any more end with
// ErrCondition. The bytes that messages count stay those of their put. Errors besides: ErrNotFound; ErrDefinition, also
// for a queue with messages that shall have columns for the first time or have none any more, and when messages from
// before 200 alterations are still there; ErrNoRoom, ErrUnavailable, ErrClosed.
func (s *Store) AlterColumns(ctx context.Context, n Name, d Definition, from []int, version uint64) error {
	if from == nil {
		from = []int{}
	}
	return s.alter(ctx, n, alteration{d: d, from: slices.Clone(from), version: version})
}

// alteration is what a caller wants.
type alteration struct {
	d       Definition
	from    []int  // nil: by their names
	version uint64 // 0: any
	terms
}

// alter makes an alteration: it sees whether what is there fits, makes puts wait to see the rest of it, and journals
// the change.
func (s *Store) alter(ctx context.Context, n Name, a alteration) error {
	n = s.Resolve(n)
	if err := checkNotes(a.notes); err != nil {
		return err
	}
	for {
		if err := s.awaitNotes(ctx, a.is); err != nil {
			return err
		}
		f, err := s.beginFitting(n, &a)
		if err != nil {
			return err
		}
		if err = f.most(ctx); err == nil {
			err = s.alterNow(ctx, n, &a, f)
		}
		if errors.Is(err, errAgain) { // somebody else has altered or renamed it meanwhile
			if err = ctx.Err(); err == nil {
				continue
			}
		}
		return err
	}
}

// beginFitting begins to look whether the messages of a queue fit what it shall be.
func (s *Store) beginFitting(n Name, a *alteration) (*fitting, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q := s.state.queueNames[n]; q != nil && q.all.past > 0 && len(q.snapshots) > 0 {
		s.catchUpWholly() // some of its past may not be kept, see doubts
	}
	if err := s.usable(); err != nil {
		return nil, err
	}
	q := s.state.queueNames[n]
	if q == nil {
		return nil, fmt.Errorf("%w: %s", ErrNotFound, n.Short())
	}
	d, from, err := q.altered(s.normal(q.name, a.d), a.version, a.from)
	if err != nil {
		return nil, err
	}
	if a.from != nil {
		a.version = q.version // the places are among these columns
	}
	f := &fitting{s: s, q: q, old: q.def.Columns, now: d.Columns, from: from}
	f.begin()
	return f, nil
}

// alterNow journals an alteration. Who puts to the queue waits from now on; what has come since most of it was looked
// at is looked at first.
func (s *Store) alterNow(ctx context.Context, n Name, a *alteration, f *fitting) error {
	fl, err := s.stopPuts(ctx, n, f.q) // returns with the lock
	if err != nil {
		return err
	}
	forgotten := false
	if err = s.fitRest(ctx, f); err == nil && s.normal(n, a.d).History > f.q.def.History {
		err = s.forgetFirst(ctx, f.q)
		forgotten = err == nil
	}
	if err == nil {
		err = s.planAlteration(fl, a, f, forgotten)
	}
	if err == nil {
		err = s.submit(fl)
	}
	if forgotten {
		s.goOnPutting()
	}
	if err != nil {
		fl.giveUp()
		s.endDefining(fl)
		s.leave()
		close(fl.done)
		return err
	}
	s.mu.Unlock()
	return fl.wait(ctx)
}

// stopPuts lets puts to a queue, and other definitions of it, wait for a flight that is still to be filled. On success
// the lock is held, as by enter. errAgain: somebody else has defined it meanwhile.
func (s *Store) stopPuts(ctx context.Context, n Name, q *queueState) (*flight, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	other := s.defining[n]
	if other == nil {
		other = s.definingTopic(q)
	}
	switch {
	case other != nil:
		s.leave()
		if err := other.wait(ctx); err != nil && ctx.Err() != nil {
			return nil, err
		}
		return nil, errAgain
	case s.state.queueNames[n] != q:
		s.leave()
		return nil, errAgain
	}
	fl := newFlight()
	s.beginDefining(fl, n)
	return fl, nil
}

// fitRest looks at what has come since most was looked at, while nothing more comes. The lock is held before and after.
func (s *Store) fitRest(ctx context.Context, f *fitting) error {
	if f.tests != nil {
		if err := s.drain(ctx, f.q); err != nil {
			return err
		}
		s.mu.Unlock()
		err := f.rest(ctx)
		s.mu.Lock()
		if err != nil {
			return err
		}
	}
	for s.paused > 0 && !s.closed {
		s.landing.Wait()
	}
	s.advance()
	return s.usable()
}

// planAlteration fills a flight. The lock is held.
func (s *Store) planAlteration(fl *flight, a *alteration, f *fitting, forgotten bool) error {
	q := f.q
	// its topic is going: what will it subscribe to?
	if going := s.definingTopic(q); going != nil && going != fl || !f.current() {
		return errAgain
	}
	if _, err := s.state.asExpected(a.is); err != nil {
		return err
	}
	d, from, err := q.altered(s.normal(q.name, a.d), a.version, a.from)
	if err != nil {
		return err
	}
	e, grown := q.toAlter(d, from, forgotten)
	over, err := s.reserve(grown, a.needed)
	if err != nil {
		return err
	}
	fl.add(e)
	q.seeking++ // what is past is decided by the time of the change: nothing is forgotten meanwhile
	end := func() {
		s.sought(q)
		over()
		s.endDefining(fl)
	}
	fl.undo, fl.after = end, end
	return s.addNotes(fl, a.notes)
}

// definingTopic is the definition that is on its way of the topic to which a queue subscribes; nil: none. The lock is
// held.
func (s *Store) definingTopic(q *queueState) *flight {
	topic, err := ParseName(q.def.Topic)
	if err != nil {
		return nil
	}
	return s.defining[topic]
}

// drain waits until nothing is on its way into a queue whose puts wait. The lock is held.
func (s *Store) drain(ctx context.Context, q *queueState) error {
	stop := context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.landing.Broadcast()
	})
	defer stop()
	s.draining++
	defer func() { s.draining-- }()
	for q.reserved > 0 {
		if err := errors.Join(s.usable(), ctx.Err()); err != nil {
			return err
		}
		s.landing.Wait()
	}
	return s.usable()
}
