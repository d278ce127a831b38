package queue

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
)

// Put adds messages to a queue as one atomic group and returns when they are durable. Messages without an id get one.
// Dead letters (Message.Death is set) are kept whatever the bounds and the columns are: nobody else would keep them.
//
// Errors: ErrNotFound, ErrTooLarge, ErrMismatch (a *message.ColumnError is in its chain), ErrQueueFull (*FullError),
// ErrNoRoom, ErrUnavailable, ErrClosed: nothing was put. After ctx's error the messages may or may not appear.
func (s *Store) Put(ctx context.Context, n Name, msgs []message.Message) ([]PutResult, error) {
	results, _, err := s.commit(ctx, Change{Puts: []QueuePut{{To: n, Messages: msgs}}}, queueOnly)
	return results, err
}

// Publish gives messages to every subscription of the topic of that name, or, where there is no such topic, puts them
// into the queue of that name. One full subscription refuses the whole. Errors are Put's; more copies for subscriptions
// than Limits.Copies, made of more than one message, are a *CopiesError.
func (s *Store) Publish(ctx context.Context, n Name, msgs []message.Message) ([]PutResult, error) {
	results, _, err := s.commit(ctx, Change{Puts: []QueuePut{{To: n, Messages: msgs}}}, topicFirst)
	return results, err
}

// Commit makes several changes as one atomic group. Its puts go where Publish's go. It returns the puts' results, and
// for each settlement nil or why it had no effect (ErrStale): a stale one does not stop the rest. Errors of the whole
// are Publish's, and ErrChanged when a note is not as Change.If expects it: then nothing was done. Between that look
// and the change no other change comes in.
func (s *Store) Commit(ctx context.Context, c Change) ([][]PutResult, []error, error) {
	flat, settles, err := s.commit(ctx, c, topicFirst)
	if err != nil {
		return nil, nil, err
	}
	var results [][]PutResult
	for i := range c.Puts {
		n := len(c.Puts[i].Messages)
		results, flat = append(results, flat[:n:n]), flat[n:]
	}
	return results, settles, nil
}

// commit is Commit with the results of all puts in one row.
func (s *Store) commit(ctx context.Context, c Change, where target) ([]PutResult, []error, error) {
	var onePut [1]preparedPut // room for the usual change, on the stack
	var oneID [1]message.ID
	puts, ids, err := s.checkChange(&c, onePut[:0], oneID[:0])
	if err != nil {
		return nil, nil, err
	}
	p := prepared{change: &c, where: where, puts: puts, ids: ids}
	for {
		f := newFlight()
		f.takesTurn = true
		if n := c.records(); n > len(f.one) {
			f.group = make([]applied, 0, n)
		}
		results := make([]PutResult, 0, len(ids))
		if err := s.prepare(ctx, &p); err != nil {
			return nil, nil, err
		}
		out, err := s.launch(&p, f, results)
		switch {
		case errors.Is(err, errAgain):
			if out.blocker != nil {
				if err := await(ctx, out.blocker); err != nil {
					return nil, nil, err
				}
			}
			continue
		case err != nil:
			return nil, nil, err
		}
		if out.flight != nil {
			if out.flight.turn != nil {
				out.flight.turn()
			}
			if out.flight.large { // the bodies are the caller's again when this returns
				<-out.flight.done
			}
			if err := out.flight.wait(ctx); err != nil {
				return nil, nil, err
			}
		} else if err := s.owns(); err != nil {
			return nil, nil, err
		}
		if s.tells() {
			s.tellChange(ctx, &c, &out)
		}
		return out.results, out.settles, nil
	}
}

// owns waits until it is certain that nobody else has the log, where no record that is written says so: a store that
// has lost it and does not know refuses claims that the next owner has handed out. It is called without the lock.
func (s *Store) owns() error {
	err := s.journal.Flush()
	if err == nil || errors.Is(err, journal.ErrFull) || errors.Is(err, journal.ErrRefused) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.journalError(err)
}

// checkChange refuses what no state of the Store could accept. It appends to puts one for each of c's, and to ids those
// of all messages: theirs, or new ones.
func (s *Store) checkChange(c *Change, puts []preparedPut, ids []message.ID) ([]preparedPut, []message.ID, error) {
	for i := range c.Puts {
		qp := &c.Puts[i]
		pp := preparedPut{to: s.Resolve(qp.To), first: len(ids), messages: len(qp.Messages)}
		for j := range qp.Messages {
			m := &qp.Messages[j]
			size := m.Size()
			pp.bytes += size
			if size > s.limits.MessageBytes && m.Death == nil {
				return nil, nil, fmt.Errorf("%w: message %d of %d has %d bytes, the limit is %d", ErrTooLarge, j+1,
					len(qp.Messages), size, s.limits.MessageBytes)
			}
			if n := len(m.Attributes); n > message.MaxAttributes && m.Death == nil {
				return nil, nil, fmt.Errorf("%w: message %d of %d has %d attributes, the limit is %d", ErrTooLarge, j+1,
					len(qp.Messages), n, message.MaxAttributes)
			}
			if err := s.groups.fits(m); err != nil && m.Death == nil {
				return nil, nil, fmt.Errorf("%w: message %d of %d has %w", ErrTooLarge, j+1, len(qp.Messages), err)
			}
			id := m.ID
			if id.IsZero() {
				id = message.NewID()
			}
			ids = append(ids, id)
		}
		puts = append(puts, pp)
	}
	if len(ids) > s.limits.PutMessages {
		return nil, nil, fmt.Errorf("%w: %d messages in one group, the limit is %d", ErrTooLarge, len(ids),
			s.limits.PutMessages)
	}
	return puts, ids, checkNotes(c.Notes)
}

// prepare does for a change what cannot be done under the lock. On success it is held, by enter, and nothing is left to
// do.
func (s *Store) prepare(ctx context.Context, p *prepared) error {
	if err := s.prepareDead(ctx, p); err != nil {
		return err
	}
	for {
		if err := s.enter(ctx); err != nil {
			return err
		}
		if shed, err := s.shed(p.change); shed {
			s.leave()
			if err != nil {
				return err
			}
			runtime.Gosched()
			continue
		}
		i := 0
		for ; i < len(p.puts); i++ {
			lacking := s.lacking(&p.puts[i], p.where)
			if err := outdated(&p.change.Puts[i], &p.puts[i]); err != nil {
				s.leave()
				return err
			}
			if lacking {
				break
			}
		}
		if i == len(p.puts) {
			err := s.fewCopies(p)
			if err != nil {
				s.leave()
			}
			return err
		}
		if err := s.supply(ctx, p, i); err != nil {
			return err
		}
	}
}

// lacking finds where a put goes, and tells whether it has to be supplied with something before it can be planned. The
// lock is held.
func (s *Store) lacking(pp *preparedPut, where target) bool {
	s.state.findPut(pp, where)
	return pp.topic == nil && pp.queue == nil || s.changing(pp) != nil || pp.lacksRows() || pp.lacksAnswers()
}

// changing is the definition under way of a queue or topic that a put concerns. The lock is held.
func (s *Store) changing(pp *preparedPut) *flight {
	if len(s.defining) == 0 {
		return nil
	}
	if f := s.defining[pp.to]; f != nil {
		return f
	}
	if pp.topic != nil {
		for f := range s.redefining[pp.topic] { // a subscription is being altered or deleted
			return f
		}
		return nil
	}
	if pp.queue == nil {
		return nil
	}
	return s.defining[pp.queue.name]
}

// supply does what lacking found to be lacking for the put at index i. It is called with the lock held by enter and
// gives it up.
func (s *Store) supply(ctx context.Context, p *prepared, i int) error {
	pp := &p.puts[i]
	if f := s.changing(pp); f != nil {
		s.leave()
		if err := f.wait(ctx); err != nil && ctx.Err() != nil {
			return err
		}
		return nil
	}
	if pp.topic == nil && pp.queue == nil {
		s.leave()
		if err := pp.to.Check(); err != nil {
			return err
		}
		if !s.demand || p.change.Existing {
			return fmt.Errorf("%w: %s", ErrNotFound, pp.to.Short())
		}
		if _, err := s.CreateQueue(ctx, pp.to, Definition{}); err != nil && !errors.Is(err, ErrExists) {
			return err
		}
		return nil
	}
	if pp.lacksRows() {
		return s.makeRows(&p.change.Puts[i], pp)
	}
	return s.askFilters(ctx, p, i)
}

// makeRows makes the rows of a put for the columns that there are. It is called with the lock held by enter and gives
// it up.
func (s *Store) makeRows(qp *QueuePut, pp *preparedPut) error {
	type rowsOf struct {
		queue   *queueState
		name    Name
		columns message.Columns
	}
	var all []rowsOf
	add := func(q *queueState) {
		if !q.gone && q.def.Columns != nil {
			all = append(all, rowsOf{q, q.name, q.def.Columns})
		}
	}
	if t := pp.topic; t != nil {
		pp.columns, pp.version = nil, t.subscribed.version
		rows := t.subscribed.rows.Copy()
		s.leave()
		all = make([]rowsOf, 0, rows.Len())
		s.inPieces(rows.Values(), add) // where columns are altered meanwhile, the version is another one
	} else {
		q := pp.queue
		if pp.columns, pp.version = firstColumn(q), 0; pp.columns != nil {
			add(q)
		}
		s.leave()
	}
	pp.rows = make(map[*queueState][][]message.Value, len(all))
	for _, of := range all {
		rows, err := rowsFor(of.name, of.columns, qp.Messages)
		if err != nil {
			return err
		}
		pp.rows[of.queue] = rows
	}
	return nil
}

// launched is what became of a change that was sent to the journal.
type launched struct {
	flight  *flight     // nil: there was nothing to write
	results []PutResult // of all puts
	settles []error
	seen    []observed // of the settlements, those that somebody wants to know of
	blocker *draft
}

// launch plans a prepared change and sends it to the journal. It is called with the lock held by enter and gives it up.
// f and results, empty and with room for the change, were made before: not under the lock.
func (s *Store) launch(p *prepared, f *flight, results []PutResult) (out launched, err error) {
	pl := &f.plan
	*pl = plan{s: s.state, now: s.state.now, draft: &f.draft}
	fail := func(err error) (launched, error) {
		f.giveUp()
		s.state.serve()
		s.settleUp()
		s.leave()
		return launched{blocker: pl.blocker}, err
	}
	if pl.blocker, err = s.state.asExpected(p.change.If); err != nil {
		return fail(err)
	}
	for i := range p.puts {
		results, err = pl.puts(p, i, results)
		if pl.blocker != nil { // also when there is no room: a duplicate needs none
			err = errAgain
		}
		if err != nil {
			return fail(err)
		}
	}
	out.results = results
	if err := pl.notes(p.change); err != nil {
		return fail(err)
	}
	var seen []observed
	out.settles, seen, f.undo, err = pl.settles(p.change.Settles, p.dead, s.open, s.observe != nil)
	if err != nil {
		return fail(err)
	}
	f.addNotes(p.change.Notes)
	if out.seen = seen; len(seen) > 0 && s.observe != nil {
		f.after = func() {
			for i := range seen {
				if o := &seen[i]; o.kind == Done {
					o.hops.Mark(message.Settled, s.clock())
					s.observe(o.name, &o.hops)
				}
			}
		}
	}
	if len(f.group) == 0 {
		f.finish()
		s.leave()
		return out, nil
	}
	if err := s.submit(f); err != nil {
		return fail(err)
	}
	s.mu.Unlock()
	out.flight = f
	return out, nil
}
