package queue

import (
	"context"
	"runtime"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// flight is a group on its way to the journal.
type flight struct {
	draft

	plan    plan     // of what it puts
	err     error    // once done is closed
	undo    func()   // under the lock, when the group did not get there; may be nil
	after   func()   // under the lock, when it is durable and applied; may be nil
	defines *defines // nil: nothing
	// turn is the sync of the group, when the journal left it to who submitted the group with takesTurn; nil: the
	// journal makes it.
	turn      func()
	takesTurn bool
	large     bool // the journal uses the bodies until it is done
}

// await waits until a group is over that others sent, whatever became of it, or ctx ends.
func await(ctx context.Context, d *draft) error {
	select {
	case <-d.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// defines is what a flight defines.
type defines struct {
	names  []Name
	topics []*topicState // to which that subscribes
}

func newFlight(events ...event) *flight {
	f := &flight{}
	f.done, f.group = make(chan struct{}), f.one[:0]
	for _, e := range events {
		f.add(e)
	}
	return f
}

// giveUp undoes what was done for a group that is not kept. The lock is held.
func (f *flight) giveUp() {
	f.plan.giveBack()
	if f.undo != nil {
		f.undo()
	}
}

// finish does what is left to do for a group that is durable. The lock is held.
func (f *flight) finish() {
	f.plan.giveBack()
	f.plan.count()
	if f.after != nil {
		f.after()
	}
}

// wait returns when the group is durable and applied, or has failed, or ctx ends: then its fate is open.
func (f *flight) wait(ctx context.Context) error {
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		select {
		case <-f.done:
			return f.err
		default:
			return ctx.Err()
		}
	}
}

// submit sends a group to the journal. The lock is held, by enter's caller; it stays so. Who takes a turn has to look,
// once the lock is given up, whether there is one.
func (s *Store) submit(f *flight) error {
	at := s.state.now
	size := 0
	for i := range f.group {
		f.group[i].at = at
		size += s.packing.add(at, f.group[i].event)
	}
	f.large = size > journal.SmallGroup
	done := func(p journal.Position, err error, left int) { s.arrive(arrived{f, p, err}, left) }
	var err error
	if f.takesTurn {
		f.turn, err = s.journal.AppendTurn(s.packing.records, done)
	} else {
		err = s.journal.Append(s.packing.records, done)
	}
	s.packing.reset()
	if err != nil {
		return s.journalError(err)
	}
	for _, k := range f.keys {
		s.state.pending[k] = &f.draft
	}
	s.flights++
	return nil
}

// arrived is what the journal said of a flight.
type arrived struct {
	flight *flight
	at     journal.Position
	err    error
}

// An eighth of a sync's groups, at most so many, lands under one hold of the lock: the first writers are answered, and
// come back, while the others land. With so many records the next hold is due.
const (
	landShare   = 8
	landFlights = 32
	landRecords = 64
)

// arrive takes the journal's answer for a group, which so many others follow. What several groups have in common is
// done once under one hold of the lock.
func (s *Store) arrive(a arrived, left int) {
	if len(s.arrived) == 0 {
		s.arrivedMost = min(left/landShare+1, landFlights)
	}
	s.arrived = append(s.arrived, a)
	s.arrivedRecords += len(a.flight.group)
	if left == 0 || len(s.arrived) >= s.arrivedMost || s.arrivedRecords >= landRecords {
		s.mu.Lock()
		s.land(s.arrived)
		clear(s.arrived)
		s.arrived, s.arrivedRecords = s.arrived[:0], 0
	}
}

// land applies flights that the journal has answered for, and ends them. It is called with the lock and gives it up.
func (s *Store) land(all []arrived) {
	now := s.advance()
	n := 0
	for _, a := range all {
		before := len(s.state.postponed)
		if a.err == nil {
			for i := range a.flight.group {
				a.flight.group[i].addr = journal.Address{Position: a.at, Index: uint32(i)}
			}
			a.err = s.state.applyMost(a.flight.group, now)
		}
		if len(s.state.postponed) > before { // the answers of others need not wait for that
			go func() { // Close waits for it: the group is under way
				s.applyRest()
				s.mu.Lock()
				s.landed(a)
				s.afterLanding(a)
			}()
			continue
		}
		s.landed(a)
		all[n], n = a, n+1
	}
	s.afterLanding(all[:n]...)
}

// landed is the end of a flight that was applied, or failed, for the state. The lock is held.
func (s *Store) landed(a arrived) {
	f := a.flight
	for _, k := range f.keys {
		if s.state.pending[k] == &f.draft { // else a later group has a note of that key, too
			delete(s.state.pending, k)
		}
	}
	if a.err != nil {
		f.err = s.journalError(a.err)
		f.giveUp()
	} else {
		f.finish()
	}
}

// afterLanding hands out what flights brought, and tells those who wait for them. It is called with the lock and gives
// it up.
func (s *Store) afterLanding(all ...arrived) {
	s.state.serve()
	released := s.state.takeReleased()
	s.settleUp()
	s.flights -= len(all)
	if s.flights == 0 || s.closed || s.draining > 0 {
		s.landing.Broadcast()
	}
	s.mu.Unlock()
	if len(released) > 0 {
		s.journal.Release(released...)
	}
	for _, a := range all {
		<-s.room
		close(a.flight.done)
	}
}

// applyRest does what applyMost left to be done, a piece under each hold of the lock. It is called without the lock.
func (s *Store) applyRest() {
	var released []journal.Address
	for more := true; more; {
		runtime.Gosched() // whoever waits for the lock gets it before the next piece
		s.mu.Lock()
		if more = s.state.doPostponed(); !more {
			released = s.state.takeReleased()
		}
		s.handOver()
		s.mu.Unlock()
	}
	s.journal.Release(released...)
}
