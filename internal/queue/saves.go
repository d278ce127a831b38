package queue

import (
	"slices"

	"github.com/tidwall/btree"
)

// saves lets a checkpoint be taken beside the work: it is of one moment, and yet nobody waits for all of it to be
// copied. A page that is about to change for the first time since that moment leaves a copy here; all others are still
// as they were when their turn comes.
type saves struct {
	number  uint64                      // of the checkpoint begun last
	pages   map[*page]*page             // while one is being taken: those that have changed since, as they were
	copied  int                         // what was copied of pages, in messages: whoever works in pieces counts it too
	queues  map[*queueState]*savedQueue // likewise, of queues without their messages
	topics  map[*topicState]*savedTopic // and of topics
	done    int                         // checkpoints that were saved
	retired []retired                   // in the order in which they were
}

// newest is the number that a page has to bear which no checkpoint under way needs.
func (s *saves) newest() uint64 {
	if s == nil {
		return 0
	}
	return s.number
}

// touch has to be called before anything of the page changes.
func (p *page) touch() {
	p.of.copied.changes(p.number)
	s := p.of.saves
	if s == nil || s.pages == nil || p.saved == s.number {
		return
	}
	s.pages[p] = p.copy()
	s.copied += 1 + len(p.extras)
	p.saved = s.number
}

// page is a page as it was when the checkpoint began. The caller has it alone, also without the lock.
func (s *saves) page(p *page) *page {
	if p.saved == s.number {
		was := s.pages[p]
		delete(s.pages, p)
		return was
	}
	p.saved = s.number
	return p.copy()
}

// copy is the page as it is now, and stays so when the page changes. It takes a few steps, and some for each message
// that has something beyond the usual: the arrays that only grow are shared.
func (p *page) copy() *page {
	c := *p
	c.attempts = slices.Clone(p.attempts)
	if len(p.extras) == 0 {
		c.extras = nil
		return &c
	}
	extras := make([]struct {
		extra
		of claimState
	}, len(p.extras))
	c.extras = make([]*extra, len(p.extras))
	for i, x := range p.extras {
		to := &extras[i]
		if to.extra = *x; x.claim != nil {
			to.of = *x.claim
			to.extra.claim = &to.of
		}
		c.extras[i] = &to.extra
	}
	return &c
}

// begin begins a checkpoint of this moment.
func (s *saves) begin() {
	s.number++
	s.pages, s.queues, s.topics = map[*page]*page{}, map[*queueState]*savedQueue{}, map[*topicState]*savedTopic{}
}

// end lets go of what was kept for the checkpoint.
func (s *saves) end() { s.pages, s.queues, s.topics = nil, nil, nil }

// touch has to be called before anything of the queue changes that a checkpoint keeps, which pages come and go
// included.
func (q *queueState) touch() {
	s := q.all.saves
	if s == nil || s.pages == nil || q.saved == s.number {
		return
	}
	s.queues[q] = q.save()
	q.saved = s.number
}

// touch has to be called before anything of the topic changes.
func (t *topicState) touch(s *saves) {
	if s.pages == nil || t.saved == s.number {
		return
	}
	s.topics[t] = t.save()
	t.saved = s.number
}

// queue is the queue as it was when the checkpoint began.
func (s *saves) queue(q *queueState) *savedQueue {
	if q.saved == s.number {
		saved := s.queues[q]
		delete(s.queues, q)
		return saved
	}
	q.saved = s.number
	return q.save()
}

// topic is the topic as it was when the checkpoint began.
func (s *saves) topic(t *topicState) *savedTopic {
	if t.saved == s.number {
		saved := s.topics[t]
		delete(s.topics, t)
		return saved
	}
	t.saved = s.number
	return t.save()
}

// savedTopic is a topic as it was. What it points to is not changed any more.
type savedTopic struct {
	defined    topicDefined
	totals     [3]uint64
	subscribed *btree.Map[uint32, *queueState]
}

func (t *topicState) save() *savedTopic {
	return &savedTopic{topicDefined{t.id, t.name, t.labels}, [...]uint64{t.publishes, t.published, t.dropped},
		t.subscribed.all.Copy()}
}

// append writes the topic behind b.
func (t *savedTopic) append(b []byte) []byte {
	b = t.defined.append(b)
	for _, n := range t.totals {
		b = putUint(b, n)
	}
	b = putUint(b, uint64(t.subscribed.Len()))
	for _, id := range t.subscribed.Keys() {
		b = putUint(b, uint64(id))
	}
	return b
}
