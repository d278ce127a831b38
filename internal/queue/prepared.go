package queue

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/message"
)

// target says what a put's name may mean.
type target bool

const (
	queueOnly  target = false
	topicFirst target = true
)

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

	messages, bytes int // how many there are, and how long they are together
	topic           *topicState
	queue           *queueState
	rows            map[*queueState][][]message.Value // of queues with columns, a row a message
	// what the rows were made for: of a queue the first of its columns, which tells definitions apart; of a topic the
	// version of its subscriptions' columns
	columns *message.Column
	version uint64
	filters filtered
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

// puts plans the put at index i of a change and appends its results to those of the puts before it.
func (p *plan) puts(c *prepared, i int, results []PutResult) ([]PutResult, error) {
	pp := &c.puts[i]
	for j := range c.change.Puts[i].Messages {
		m := c.change.Puts[i].Messages[j]
		m.ID = c.ids[pp.first+j]
		if m.Time.IsZero() {
			m.Time = timeOf(p.now)
		}
		var r PutResult
		var err error
		if pp.topic != nil {
			own := m // else every put would have its message on the heap
			r, err = p.publish(pp, &own, j)
		} else {
			if rs := pp.rows[pp.queue]; rs != nil {
				if m.Row = rs[j]; m.Row != nil {
					m.Body = nil
				}
			}
			r, err = p.put(pp.queue, &m, m.Death != nil)
		}
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// findPut finds where a put goes: to a topic, to a queue, or nowhere yet.
func (s *state) findPut(pp *preparedPut, where target) {
	pp.topic, pp.queue = nil, nil
	if where == topicFirst {
		pp.topic = s.topicNames[pp.to]
	}
	if pp.topic == nil {
		pp.queue = s.queueNames[pp.to]
	}
}

// lacksRows tells whether rows have to be made, or made anew, for where the put goes.
func (pp *preparedPut) lacksRows() bool {
	if pp.topic != nil {
		return pp.topic.subscribed.rows.Len() > 0 && pp.version != pp.topic.subscribed.version
	}
	return firstColumn(pp.queue) != pp.columns || pp.version != 0
}
