package queue

import "github.com/hikyaku/hikyaku/internal/message"

// What is published is asked the filter of each subscription of its topic. That is done under the lock, as part of the
// change, when it is little; else before, as rows are made before.

// littleFilters is the most that filters are asked under the lock for one put, in steps: some 0.6 ms.
const littleFilters = 16 * lightEffort

// filtered is what the filters of a topic's subscriptions say of the messages of a put.
type filtered struct {
	met     map[*queueState]metFilter
	version uint64 // of the subscriptions that were asked
}

// metFilter is what one says of them, of rows of these columns.
type metFilter struct {
	columns *message.Column // the first: see firstColumn
	met     []bool
}

// lacksAnswers tells whether filters have to be asked about a put before it can be planned. The lock is held.
func (pp *preparedPut) lacksAnswers() bool {
	t := pp.topic
	return t != nil && pp.filters.version != t.subscribed.version &&
		t.subscribed.filters.OnAll(pp.messages, pp.bytes) > littleFilters
}

// goesTo tells whether a subscription takes the message, whose row is the one that it would get.
func (c *copying) goesTo(q *queueState, m *message.Message) bool {
	if q.filter == nil {
		return true
	}
	if of, ok := c.filters[q]; ok {
		return of.met[c.at]
	}
	return q.filter.Match(&messageEnv{columns: q.def.Columns, m: m})
}
