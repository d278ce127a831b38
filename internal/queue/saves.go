package queue

import "github.com/tidwall/btree"

// saves lets a checkpoint be taken beside the work: it is of one moment, and yet nobody waits for all of it to be
// copied. A page that is about to change for the first time since that moment leaves its image here; all others are
// still as they were when their turn comes.
type saves struct {
	number  uint64                      // of the checkpoint begun last
	images  map[*page][]byte            // while one is being taken: of pages that have changed since it began; else nil
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
	if s == nil || s.images == nil || p.saved == s.number {
		return
	}
	s.images[p] = p.appendImage(nil)
	p.saved = s.number
}

// image is the page as it was when the checkpoint began; b is room for it.
func (s *saves) image(p *page, b []byte) []byte {
	if p.saved == s.number {
		image := s.images[p]
		delete(s.images, p)
		return image
	}
	p.saved = s.number
	return p.appendImage(b)
}

// begin begins a checkpoint of this moment.
func (s *saves) begin() {
	s.number++
	s.images, s.queues, s.topics = map[*page][]byte{}, map[*queueState]*savedQueue{}, map[*topicState]*savedTopic{}
}

// end lets go of what was kept for the checkpoint.
func (s *saves) end() { s.images, s.queues, s.topics = nil, nil, nil }

// touch has to be called before anything of the queue changes that a checkpoint keeps, which pages come and go
// included.
func (q *queueState) touch() {
	s := q.all.saves
	if s == nil || s.images == nil || q.saved == s.number {
		return
	}
	s.queues[q] = q.save()
	q.saved = s.number
}

// touch has to be called before anything of the topic changes.
func (t *topicState) touch(s *saves) {
	if s.images == nil || t.saved == s.number {
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
