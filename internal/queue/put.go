package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/message"
)

// Put adds messages to a queue as one atomic group and returns when they are durable. Messages without an id get one. Dead letters
// (Message.Death is set) are kept whatever the bounds and the columns are: nobody else would keep them.
//
// Errors: ErrNotFound, ErrTooLarge, ErrMismatch (a *message.ColumnError is in its chain), ErrQueueFull (*FullError), ErrNoRoom,
// ErrUnavailable, ErrClosed: nothing was put. After ctx's error the messages may or may not appear.
func (s *Store) Put(ctx context.Context, n Name, msgs []message.Message) ([]PutResult, error) {
	results, _, err := s.commit(ctx, Change{Puts: []QueuePut{{To: n, Messages: msgs}}}, queueOnly)
	if err != nil {
		return nil, err
	}
	return results[0], nil
}

// Publish gives messages to every subscription of the topic of that name, or, where there is no such topic, puts them into the
// queue of that name. One full subscription refuses the whole. Errors are Put's.
func (s *Store) Publish(ctx context.Context, n Name, msgs []message.Message) ([]PutResult, error) {
	results, _, err := s.Commit(ctx, Change{Puts: []QueuePut{{To: n, Messages: msgs}}})
	if err != nil {
		return nil, err
	}
	return results[0], nil
}

// Commit makes several changes as one atomic group. Its puts go where Publish's go. It returns the puts' results, and for each
// settlement nil or why it had no effect (ErrStale): a stale one does not stop the rest. Errors of the whole are Put's.
func (s *Store) Commit(ctx context.Context, c Change) ([][]PutResult, []error, error) {
	return s.commit(ctx, c, topicFirst)
}

// target says what a put's name may mean.
type target bool

const (
	queueOnly  target = false
	topicFirst target = true
)

func (s *Store) commit(ctx context.Context, c Change, where target) ([][]PutResult, []error, error) {
	if err := s.checkChange(&c); err != nil {
		return nil, nil, err
	}
	for {
		prep, err := s.prepare(ctx, &c, where)
		if err != nil {
			return nil, nil, err
		}
		if err := s.enter(ctx); err != nil {
			return nil, nil, err
		}
		out, err := s.launch(prep)
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
			if err := out.flight.wait(ctx); err != nil {
				return nil, nil, err
			}
		}
		return out.results, out.settles, nil
	}
}

// checkChange refuses what no state of the Store could accept, and gives ids. It copies the messages it completes.
func (s *Store) checkChange(c *Change) error {
	total := 0
	puts := make([]QueuePut, len(c.Puts))
	for i, p := range c.Puts {
		puts[i] = QueuePut{To: s.Resolve(p.To), Messages: append([]message.Message(nil), p.Messages...)}
		if err := puts[i].To.Check(); err != nil {
			return err
		}
		total += len(p.Messages)
		for j := range puts[i].Messages {
			m := &puts[i].Messages[j]
			if size := m.Size(); size > s.limits.MessageBytes && m.Death == nil {
				return fmt.Errorf("%w: message %d of %d has %d bytes, the limit is %d", ErrTooLarge, j+1, len(p.Messages), size, s.limits.MessageBytes)
			}
			if m.ID.IsZero() {
				m.ID = message.NewID()
			}
		}
	}
	if total > s.limits.PutMessages {
		return fmt.Errorf("%w: %d messages in one group, the limit is %d", ErrTooLarge, total, s.limits.PutMessages)
	}
	for _, n := range c.Notes {
		if len(n.Value) > MaxNoteBytes {
			return fmt.Errorf("%w: note %s %q has %d bytes, the limit is %d", ErrTooLarge, n.Room, n.Key, len(n.Value), MaxNoteBytes)
		}
	}
	c.Puts = puts
	return nil
}

// errAgain: something changed between preparing and launching.
var errAgain = errors.New("prepare again")

// prepared is a change with everything done that needs no lock: rows made of JSON bodies, bodies of dead letters read.
type prepared struct {
	change *Change
	puts   []preparedPut
	dead   map[int]*deadLetter // by index in change.Settles
}

type preparedPut struct {
	topic   *topicState
	queue   *queueState
	rows    map[*queueState][][]message.Value // of queues with columns, a row a message
	columns map[*queueState]*message.Column   // the first of the columns that the rows were made for: it tells definitions apart
}

func (s *Store) prepare(ctx context.Context, c *Change, where target) (*prepared, error) {
	p := &prepared{change: c, puts: make([]preparedPut, len(c.Puts))}
	for i := range c.Puts {
		if err := s.preparePut(ctx, &c.Puts[i], &p.puts[i], where); err != nil {
			return nil, err
		}
	}
	return p, s.prepareDead(ctx, p)
}

func (s *Store) preparePut(ctx context.Context, qp *QueuePut, pp *preparedPut, where target) error {
	for {
		s.mu.Lock()
		if f := s.defining[qp.To]; f != nil {
			s.mu.Unlock()
			if err := f.wait(ctx); err != nil && ctx.Err() != nil {
				return err
			}
			continue
		}
		if where == topicFirst {
			pp.topic = s.state.topicNames[qp.To]
		}
		if pp.topic == nil {
			pp.queue = s.state.queueNames[qp.To]
		}
		var columns map[*queueState]message.Columns
		for _, q := range pp.queues() {
			if q.def.Columns == nil {
				continue
			}
			if columns == nil {
				columns, pp.columns = map[*queueState]message.Columns{}, map[*queueState]*message.Column{}
			}
			columns[q] = q.def.Columns
			pp.columns[q] = &q.def.Columns[0]
		}
		s.mu.Unlock()
		if pp.topic == nil && pp.queue == nil {
			if !s.demand {
				return fmt.Errorf("%w: %s", ErrNotFound, qp.To.Short())
			}
			if _, err := s.CreateQueue(ctx, qp.To, Definition{}); err != nil && !errors.Is(err, ErrExists) {
				return err
			}
			continue
		}
		pp.rows = nil
		for q, cs := range columns {
			if pp.rows == nil {
				pp.rows = map[*queueState][][]message.Value{}
			}
			rows, err := rowsFor(q.name, cs, qp.Messages)
			if err != nil {
				return err
			}
			pp.rows[q] = rows
		}
		return nil
	}
}

func (pp *preparedPut) queues() []*queueState {
	if pp.topic != nil {
		return pp.topic.subscribed
	}
	if pp.queue != nil {
		return []*queueState{pp.queue}
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
				return nil, fmt.Errorf("%w: queue %s, message %d of %d: %w", ErrMismatch, n.Short(), i+1, len(msgs), err)
			}
			rows[i] = row
		case len(m.Row) != len(cs):
			return nil, fmt.Errorf("%w: queue %s has %d columns, message %d of %d has %d values", ErrMismatch, n.Short(), len(cs), i+1, len(msgs), len(m.Row))
		default:
			rows[i] = m.Row
		}
	}
	return rows, nil
}

// records is about how many records a change makes.
func (c *Change) records() int {
	n := len(c.Settles) + len(c.Notes)
	for i := range c.Puts {
		n += len(c.Puts[i].Messages)
	}
	return n
}

// launched is what became of a change that was sent to the journal.
type launched struct {
	flight  *flight // nil: there was nothing to write
	results [][]PutResult
	settles []error
	blocker *flight
}

// launch plans a prepared change and sends it to the journal. It is called with the lock held by enter and gives it up.
func (s *Store) launch(p *prepared) (out launched, err error) {
	f := newFlight()
	if n := p.change.records(); n > len(f.one) {
		f.group = make([]applied, 0, n)
	}
	pl := &f.plan
	*pl = plan{s: s.state, now: s.state.now, limits: &s.limits, flight: f, pending: s.pending}
	fail := func(err error) (launched, error) {
		f.giveUp()
		s.state.serve()
		s.settleUp()
		s.leave()
		return launched{blocker: pl.blocker}, err
	}
	for i := range p.puts {
		results, err := s.planPuts(pl, &p.change.Puts[i], &p.puts[i])
		if pl.blocker != nil { // also when there is no room: a duplicate needs none
			err = errAgain
		}
		if err != nil {
			return fail(err)
		}
		out.results = append(out.results, results)
	}
	var observed []func()
	out.settles, observed, f.undo, err = s.planSettles(pl, p)
	if err != nil {
		return fail(err)
	}
	for _, n := range p.change.Notes {
		f.add(&noted{note: Note{n.Room, n.Key, bytes.Clone(n.Value)}, gone: n.Value == nil})
	}
	if len(observed) > 0 {
		f.after = func() {
			for _, o := range observed {
				o()
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

// planPuts plans the messages for one name. A definition that has changed since the rows were made asks for another round.
func (s *Store) planPuts(pl *plan, qp *QueuePut, pp *preparedPut) ([]PutResult, error) {
	if s.defining[qp.To] != nil {
		return nil, errAgain
	}
	if t := pp.topic; t != nil && s.state.topicNames[qp.To] != t {
		return nil, errAgain
	}
	if q := pp.queue; q != nil && (q.gone || s.state.queueNames[qp.To] != q) {
		return nil, errAgain
	}
	for _, q := range pp.queues() {
		if f := s.defining[q.name]; f != nil { // a subscription that is being altered or deleted
			pl.blocker = f
			return nil, errAgain
		}
		if made := pp.columns[q]; made == nil && q.def.Columns != nil || made != nil && (q.def.Columns == nil || made != &q.def.Columns[0]) {
			return nil, errAgain
		}
	}
	results := make([]PutResult, len(qp.Messages))
	for i := range qp.Messages {
		m := &qp.Messages[i]
		if m.Time.IsZero() {
			m.Time = timeOf(pl.now)
		}
		var err error
		if pp.topic != nil {
			results[i], err = pl.publish(pp.topic, m, func(q *queueState) []message.Value { return pp.rows[q][i] })
		} else {
			if rs := pp.rows[pp.queue]; rs != nil {
				own := *m
				if own.Row = rs[i]; rs[i] != nil {
					own.Body = nil
				}
				m = &own
			}
			results[i], err = pl.put(pp.queue, m, m.Death != nil)
		}
		if err != nil {
			return nil, err
		}
	}
	return results, nil
}
