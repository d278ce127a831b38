package queue

import (
	"context"
	"errors"
	"fmt"
	"runtime"

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

// target says what a put's name may mean.
type target bool

const (
	queueOnly  target = false
	topicFirst target = true
)

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
				if err := out.blocker.wait(ctx); err != nil && ctx.Err() != nil {
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
		}
		return out.results, out.settles, nil
	}
}

// checkChange refuses what no state of the Store could accept. It appends to puts one for each of c's, and to ids those
// of all messages: theirs, or new ones.
func (s *Store) checkChange(c *Change, puts []preparedPut, ids []message.ID) ([]preparedPut, []message.ID, error) {
	for i := range c.Puts {
		qp := &c.Puts[i]
		puts = append(puts, preparedPut{to: s.Resolve(qp.To), first: len(ids)})
		for j := range qp.Messages {
			m := &qp.Messages[j]
			if size := m.Size(); size > s.limits.MessageBytes && m.Death == nil {
				return nil, nil, fmt.Errorf("%w: message %d of %d has %d bytes, the limit is %d", ErrTooLarge, j+1,
					len(qp.Messages), size, s.limits.MessageBytes)
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
	}
	if len(ids) > s.limits.PutMessages {
		return nil, nil, fmt.Errorf("%w: %d messages in one group, the limit is %d", ErrTooLarge, len(ids),
			s.limits.PutMessages)
	}
	return puts, ids, checkNotes(c.Notes)
}

// prepared is a change and what was done for it without the lock: rows made of JSON bodies, bodies of dead letters
// read.
type prepared struct {
	change *Change
	where  target
	puts   []preparedPut       // for each of change.Puts
	ids    []message.ID        // of the messages of all puts
	dead   map[int]*deadLetter // by index in change.Settles
}

type preparedPut struct {
	to    Name
	first int // of its messages, in the change's ids
	topic *topicState
	queue *queueState
	rows  map[*queueState][][]message.Value // of queues with columns, a row a message
	// what the rows were made for: of a queue the first of its columns, which tells definitions apart; of a topic the
	// version of its subscriptions' columns
	columns *message.Column
	version uint64
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
	pp.topic, pp.queue = nil, nil
	if where == topicFirst {
		pp.topic = s.state.topicNames[pp.to]
	}
	if pp.topic == nil {
		pp.queue = s.state.queueNames[pp.to]
	}
	if pp.topic == nil && pp.queue == nil || s.changing(pp) != nil {
		return true
	}
	if pp.topic != nil {
		return pp.topic.subscribed.rows.Len() > 0 && pp.version != pp.topic.subscribed.version
	}
	return firstColumn(pp.queue) != pp.columns || pp.version != 0
}

func firstColumn(q *queueState) *message.Column {
	if q.def.Columns == nil {
		return nil
	}
	return &q.def.Columns[0]
}

// outdated refuses a put that was made for another definition of its queue than the one there is.
func outdated(qp *QueuePut, pp *preparedPut) error {
	if q := pp.queue; q != nil && qp.Version != 0 && qp.Version != q.version {
		return fmt.Errorf("%w: the definition of queue %s", ErrChanged, pp.to.Short())
	}
	return nil
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
	return s.makeRows(&p.change.Puts[i], pp)
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

// rowsFor makes each message the row that a queue with columns keeps: its own, or one of its JSON body.
func rowsFor(n Name, cs message.Columns, msgs []message.Message) ([][]message.Value, error) {
	rows := make([][]message.Value, len(msgs))
	for i := range msgs {
		m := &msgs[i]
		switch {
		case m.Row == nil:
			row, err := cs.FromJSON(m.Body)
			if err != nil && m.Death != nil {
				continue // a dead letter is kept as it is
			}
			if err != nil {
				return nil, fmt.Errorf("%w: queue %s, message %d of %d: %w", ErrMismatch, n.Short(), i+1, len(msgs),
					err)
			}
			rows[i] = row
		case len(m.Row) != len(cs):
			return nil, fmt.Errorf("%w: queue %s has %d columns, message %d of %d has %d values", ErrMismatch,
				n.Short(), len(cs), i+1, len(msgs), len(m.Row))
		default:
			rows[i] = m.Row
		}
	}
	return rows, nil
}

// launched is what became of a change that was sent to the journal.
type launched struct {
	flight  *flight     // nil: there was nothing to write
	results []PutResult // of all puts
	settles []error
	blocker *flight
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
		return launched{blocker: flightOf(pl.blocker)}, err
	}
	if pl.blocker, err = s.state.asExpected(p.change.If); err != nil {
		return fail(err)
	}
	for i := range p.puts {
		results, err = s.planPuts(pl, p, i, results)
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
	pl.observes = s.observe != nil
	out.settles, f.undo, err = pl.settles(p.change.Settles, p.dead, s.open)
	if err != nil {
		return fail(err)
	}
	f.addNotes(p.change.Notes)
	if len(pl.observed) > 0 {
		f.after = func() {
			for i := range pl.observed {
				o := &pl.observed[i]
				o.hops.Mark(message.Settled, s.clock())
				s.observe(o.name, &o.hops)
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

// planPuts plans the put at index i of a change and appends its results to those of the puts before it.
func (s *Store) planPuts(pl *plan, p *prepared, i int, results []PutResult) ([]PutResult, error) {
	pp := &p.puts[i]
	for j := range p.change.Puts[i].Messages {
		m := p.change.Puts[i].Messages[j]
		m.ID = p.ids[pp.first+j]
		if m.Time.IsZero() {
			m.Time = timeOf(pl.now)
		}
		var r PutResult
		var err error
		if pp.topic != nil {
			own := m // else every put would have its message on the heap
			r, err = pl.publish(pp.topic, &own, pp.rows, j)
		} else {
			if rs := pp.rows[pp.queue]; rs != nil {
				if m.Row = rs[j]; m.Row != nil {
					m.Body = nil
				}
			}
			r, err = pl.put(pp.queue, &m, m.Death != nil)
		}
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}
