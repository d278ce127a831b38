package queue

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

// retryWork is how long the Store waits before it tries work of its own again that the journal did not take.
const retryWork = time.Second

// longestSleep is how long the Store does not look at the clock, at most: nobody tells it that the clock was set, or
// that the machine was suspended.
const longestSleep = 10 * time.Second

// keepTime does what time makes due: leases, delays, expiry, dead letters.
func (s *Store) keepTime() {
	defer s.ending.Done()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var exhausted, overdue []doomed // what the journal did not take yet
	var over []*snapshotState       // likewise
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.alarm:
		case <-timer.C:
		}
		s.mu.Lock()
		for s.paused > 0 && !s.closed {
			s.landing.Wait()
		}
		s.catchUp()
		exhausted = append(exhausted, s.state.exhausted...)
		overdue = append(overdue, s.state.overdue...)
		over = append(over, s.state.over...)
		s.state.exhausted, s.state.overdue, s.state.over = nil, nil, nil
		released := s.state.takeReleased()
		notices := s.state.time.takeNotices()
		lapses := s.state.lapses
		s.state.lapses = nil
		s.mu.Unlock()
		if s.noticed != nil {
			for _, n := range notices {
				s.noticed(n)
			}
		}
		s.keepShown()
		s.tellLapses(lapses)
		s.journal.Release(released...)
		exhausted, overdue = s.buryAll(exhausted), s.expireAll(overdue)
		over = s.endSnapshots(s.ctx, over)
		timer.Reset(s.sleep(len(exhausted)+len(overdue)+len(over) > 0))
	}
}

// catchUp does what is due by now, so that what is shown is true of this moment. The lock is held.
func (s *Store) catchUp() {
	s.advance()
	s.tick()
	s.state.serve()
	s.settleUp()
}

// tick does what is due and writes down which leases have ended, before anything that follows from it is written:
// whether a hand-out counted depends on what else of its key was handed out at that moment, which a later start cannot
// find out. The lock is held.
func (s *Store) tick() {
	s.state.tick(tickBatch)
	s.writeLapsed()
}

func (s *Store) writeLapsed() {
	for some := range slices.Chunk(s.state.lapsed, min(tickBatch, s.groups.passing)) {
		if s.failed != nil {
			break
		}
		for _, e := range some {
			s.packing.add(s.state.now, e)
		}
		if err := s.writePacked(); err != nil {
			_ = s.journalError(err) // the leases have ended all the same: a start ends them again by their deadlines
		}
	}
	s.state.lapsed = nil
}

// keepShown lets the ends of leases that were found out survive the death of the process, before anybody is shown what
// became of the messages. It is called without the lock.
func (s *Store) keepShown() {
	_ = s.journal.Flush() // a disk that takes nothing is told to who has something to lose by it
}

// sleep says how long keepTime has nothing to do.
func (s *Store) sleep(unfinished bool) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, wait := s.advance(), longestSleep
	if due := s.state.due(); due != 0 {
		wait = min(wait, time.Duration(due-now)*time.Microsecond)
	}
	wait = max(wait, 0)
	if unfinished {
		wait = min(max(wait, 10*time.Millisecond), retryWork)
	}
	s.late.sleep = s.late.seen.Add(wait)
	s.sleeping = now + wait.Microseconds()
	// what is known now is no reason to wake up earlier, nor is work that fails again
	if due := s.state.due(); due != 0 {
		s.sleeping = min(s.sleeping, due)
	}
	return wait
}

// buryAll moves messages that are out of attempts to their dead-letter queues and returns those that could not be moved
// now.
func (s *Store) buryAll(ds []doomed) (again []doomed) {
	for len(ds) > 0 {
		n, size := 1, ds[0].size
		for n < min(len(ds), s.groups.moved) && size+ds[n].size <= int64(s.groups.movedBytes) {
			size += ds[n].size
			n++
		}
		again = append(again, s.bury(s.ctx, ds[:n])...)
		ds = ds[n:]
	}
	return again
}

// bury makes dead letters of messages, in one group if it can be, so that leases and delays need not wait long for
// keepTime.
func (s *Store) bury(ctx context.Context, ds []doomed) (again []doomed) {
	for len(ds) > 0 {
		b := s.lettersOf(ctx, ds)
		ds, again = b.rest, append(again, b.failed...)
		if len(b.there) == 0 {
			continue
		}
		_, err := s.end(ctx, b.there, endDead, nil, func(pl *plan, i int) error {
			if !s.open(b.letters[i]) {
				return errAgain
			}
			return pl.putLetter(b.letters[i])
		})
		switch {
		case err == nil:
			s.tellBuried(b.letters)
		case errors.Is(err, errAgain):
			ds = append(b.there, ds...)
		case errors.Is(err, ErrTooLarge) && len(b.there) > 1:
			for i := range b.there {
				again = append(again, s.bury(ctx, b.there[i:i+1])...)
			}
		default:
			again = append(again, b.there...)
		}
	}
	return again
}

// burial are messages that become dead letters in one group.
type burial struct {
	there   []doomed
	letters []*deadLetter // of each
	failed  []doomed      // of which none could be made
	rest    []doomed      // for which there is no room in the group
}

// lettersOf makes the dead letters of messages, as many as go into one group.
func (s *Store) lettersOf(ctx context.Context, ds []doomed) (b burial) {
	copies := 0
	for i, d := range ds {
		s.mu.Lock()
		gone := !d.there()
		s.mu.Unlock()
		if gone {
			continue
		}
		l, err := s.letter(ctx, d.q, d.e, message.Death{Reason: "out of attempts"})
		if err != nil {
			b.failed = append(b.failed, d)
			continue
		}
		if copies += len(l.copies); s.limits.tooMany(len(b.there)+1, copies) != nil {
			b.rest = ds[i:]
			break
		}
		b.there, b.letters = append(b.there, d), append(b.letters, l)
	}
	return b
}

// expireAll writes down that messages have expired and returns those that could not be now.
func (s *Store) expireAll(ds []doomed) (again []doomed) {
	for len(ds) > 0 {
		n := min(len(ds), tickBatch, s.groups.passing)
		seen := s.seen(ds[:n])
		if _, err := s.end(s.ctx, ds[:n], endExpired, nil, func(*plan, int) error { return nil }); err != nil {
			again = append(again, ds[:n]...)
		} else {
			s.tellExpired(seen)
		}
		ds = ds[n:]
	}
	return again
}

// end removes doomed messages, in one group with what each plans for them by index. It returns how many went on their
// way: when there are some, an error is the journal's or ctx's, and failed was or will be called, under the lock, if
// the journal does not keep the group.
func (s *Store) end(ctx context.Context, ds []doomed, how ending, failed func(), each func(*plan, int) error) (sent int,
	err error) {
	if err := s.enter(ctx); err != nil {
		return 0, err
	}
	f := newFlight()
	pl := &f.plan
	*pl = plan{s: s.state, now: s.state.now, draft: &f.draft}
	sent, err = pl.ends(ds, how, each)
	if err == nil && sent > 0 {
		f.undo = failed
		err = s.submit(f)
	}
	if err != nil || sent == 0 {
		pl.giveBack()
		s.leave()
		return 0, err
	}
	s.mu.Unlock()
	return sent, f.wait(ctx)
}
