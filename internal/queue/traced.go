package queue

import "github.com/hikyaku/hikyaku/internal/message"

// observed is a message whose claim ends, or goes on, for who wants to know.
type observed struct {
	name    Name
	id      message.ID
	hops    message.Hops
	attempt uint32
	kind    SettleKind
	at      int   // of a settlement its index
	time    int64 // of a lapse, µs
}

// observedOf is what is told of e, which is in q.
func observedOf(q *queueState, e entry) observed {
	o := observed{name: q.name, hops: e.hops(), attempt: e.attempts()}
	copy(o.id[:], e.head()) // a head begins with it
	return o
}
