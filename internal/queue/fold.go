package queue

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// fold makes the state that a journal tells: its newest checkpoint and every group after it.
func fold(ctx context.Context, j journal.Journal) (*state, error) {
	s := newState()
	s.folding = true
	at, r, _, err := j.LoadCheckpoint(ctx)
	switch {
	case errors.Is(err, journal.ErrNoCheckpoint):
	case err != nil:
		return nil, err
	default:
		bodies := map[journal.Address]*sharedBody{}
		err := s.restore(bufio.NewReaderSize(r, 1<<20), bodies)
		if err2 := r.Close(); err == nil {
			err = err2
		}
		if err == nil {
			err = s.readPages(ctx, j, bodies)
		}
		if err != nil {
			return nil, fmt.Errorf("checkpoint at %d: %w", at, err)
		}
	}
	for g, err := range j.Scan(ctx, at) {
		if err != nil {
			return nil, err
		}
		group := make([]applied, len(g.Records))
		for i := range g.Records {
			when, e, err := decodeEvent(g.Records[i].Head)
			if err != nil {
				return nil, fmt.Errorf("record %d of group %d: %w", i, g.Position, err)
			}
			group[i] = applied{at: when, event: e, addr: journal.Address{Position: g.Position, Index: uint32(i)}}
		}
		if err := s.apply(group, 0); err != nil {
			return nil, later("the log", "a record", err)
		}
		s.takeReleased() // Keep tells the journal what is needed
	}
	s.folding = false
	return s, nil
}

// settleDown makes, after a fold, what the fold left out: who can be claimed, what time makes due. Claims that ended
// with their owner go back; all others stay until their deadline.
func (s *state) settleDown() {
	for _, q := range s.queues {
		s.forgetOld(q, len(q.forget))
		s.reopen(q)
		for _, sn := range q.snapshots {
			s.endAt(sn, sn.expire)
		}
		for p := range q.all.pagesFrom(0) {
			if p.attempts == nil && len(p.extras) == 0 && p.expires == nil && p.past.empty() {
				q.ready.addPage(p.number, p.there) // nothing holds them up
			} else {
				s.settlePage(q, p)
			}
		}
		for _, g := range q.keys {
			s.regroup(q, g)
		}
	}
}

// settlePage is settleDown for the messages of a page.
func (s *state) settlePage(q *queueState, p *page) {
	for slot := p.there.next(0); slot < pageSize; slot = p.there.next(slot + 1) {
		e := entry{p, uint8(slot)}
		if c := e.claim(); c != nil && c.owned {
			s.unclaim(q, e)
		}
		if e.claim() == nil && q.spent(e) {
			s.doom(q, e, &s.exhausted)
		}
		s.wakeAt(q, e)
		if e.group() == nil && s.eligible(q, e) {
			q.ready.Add(e.seq())
		}
	}
	s.forgetPage(q, p)
}

// live are the addresses of everything the state still needs.
func (s *state) live() iter.Seq[journal.Address] {
	return func(yield func(journal.Address) bool) {
		for _, r := range s.saves.retired {
			if !yield(r.record) {
				return
			}
		}
		bodies := map[*sharedBody]bool{}
		for _, q := range s.queues {
			more := true
			for p := range q.all.pagesFrom(0) {
				if p.record != (journal.Address{}) {
					more = yield(p.record)
				}
				kept := p.kept()
				for slot := kept.next(0); more && slot < pageSize; slot = kept.next(slot + 1) {
					e := entry{p, uint8(slot)}
					more = yield(e.addr())
					if b := e.shared(); more && b != nil && !bodies[b] {
						bodies[b] = true
						more = yield(b.addr)
					}
				}
				if !more {
					return
				}
			}
		}
	}
}

// checkpointLook is how often the Store looks whether a checkpoint is due.
const checkpointLook = time.Second

// keepCheckpoints saves the state from time to time, so that a start has little to fold and old segments can go.
func (s *Store) keepCheckpoints() {
	defer s.ending.Done()
	tick := time.NewTimer(checkpointLook)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
		st := s.journal.Stats()
		s.mu.Lock()
		due := s.pressed > 0 || st.Bytes-s.checkpointed >= max(s.every, 2*s.checkpointSize)
		s.pressed = max(0, s.pressed-1)
		s.mu.Unlock()
		if due {
			// A failure is not the end: the next one may succeed, and until then a start has more to fold.
			_ = s.checkpoint(s.ctx)
		}
		tick.Reset(checkpointLook)
	}
}

// checkpoint writes the pages that are complete, waits until no group is under way, begins a snapshot, lets work go on,
// and saves it.
func (s *Store) checkpoint(ctx context.Context) error {
	if err := s.recordPages(ctx); err != nil && !errors.Is(err, ErrClosed) {
		return err
	}
	s.mu.Lock()
	if s.failed != nil {
		s.mu.Unlock()
		return s.failed
	}
	s.paused++
	if err := s.flushPaused(); err != nil {
		s.goOnPutting()
		s.mu.Unlock()
		return err
	}
	at := s.journal.End()
	snap := s.state.beginSnapshot()
	appended := s.journal.Stats().Bytes
	s.goOnPutting()
	s.mu.Unlock()
	var size uint64
	err := s.journal.Sync(ctx)
	if err == nil {
		err = s.journal.SaveCheckpoint(ctx, at, func(w io.Writer) (err error) {
			size, err = snap.writeTo(w, &s.mu)
			return err
		})
	}
	s.mu.Lock()
	snap.end()
	if err == nil {
		s.state.saves.done++
		s.checkpointed, s.checkpointSize = appended, size
	}
	s.mu.Unlock()
	for more := err == nil; more; {
		s.mu.Lock()
		more = s.state.releaseRetired(walkPiece)
		s.settleUp()
		s.mu.Unlock()
		runtime.Gosched() // whoever waits for the lock gets it before the next piece
	}
	return err
}

// flushPaused returns during a pause when no group is under way and all that was written is in the journal, so that its
// end is known without its medium. The lock is held before and after.
func (s *Store) flushPaused() error {
	for {
		for s.flights > 0 {
			s.landing.Wait()
		}
		s.mu.Unlock()
		err := s.journal.Flush()
		s.mu.Lock()
		if err != nil {
			return s.journalError(err)
		}
		if s.flights == 0 { // else another pause has ended in a group
			return nil
		}
	}
}
