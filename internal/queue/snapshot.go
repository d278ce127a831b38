package queue

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// snapshot is a copy of the state, made quickly under the lock and written out without it. Heads and definitions are shared: nobody changes them.
type snapshot struct {
	small   []byte // everything but the messages
	queues  []uint32
	entries [][]savedEntry
}

// savedEntry is what a checkpoint keeps of a message.
type savedEntry struct {
	entry
	claim *claimState
	body  int // index among shared bodies, from 1; 0: none
	first bool
}

const snapshotVersion = 1

func (s *state) snapshot() *snapshot {
	sn := &snapshot{}
	b := putUint(nil, snapshotVersion)
	b = putInt(b, s.now)
	b = putUint(b, uint64(s.epoch))
	b = putUint(b, uint64(s.nextID))
	b = putUint(b, uint64(len(s.topics)))
	for _, t := range s.topics {
		b = (&topicDefined{t.id, t.name, t.labels}).append(b)
		for _, n := range []uint64{t.publishes, t.published, t.dropped} {
			b = putUint(b, n)
		}
		b = putUint(b, uint64(len(t.subscribed)))
		for _, q := range t.subscribed {
			b = putUint(b, uint64(q.id))
		}
	}
	b = putUint(b, uint64(len(s.notes)))
	for k, v := range s.notes {
		b = putBytes(putString(putString(b, k.room), k.key), v)
	}
	b = putUint(b, uint64(len(s.queues)))
	bodies := map[*sharedBody]int{}
	for _, q := range s.queues {
		b = q.appendSmall(b)
		sn.queues = append(sn.queues, q.id)
		es := make([]savedEntry, 0, q.all.Len())
		q.all.Scan(func(_ uint64, e *entry) bool {
			sv := savedEntry{entry: *e}
			switch {
			case e.claim == nil:
			case isDoomed(e):
				sv.wake, sv.retry = e.claim.wake, e.claim.retry
			default:
				c := *e.claim
				sv.claim = &c
			}
			if e.shared != nil {
				if bodies[e.shared] == 0 {
					bodies[e.shared] = len(bodies) + 1
					sv.first = true
				}
				sv.body = bodies[e.shared]
			}
			es = append(es, sv)
			return true
		})
		sn.entries = append(sn.entries, es)
	}
	sn.small = b
	return sn
}

// isDoomed tells a claim that only keeps readers away from one that was handed out.
func isDoomed(e *entry) bool {
	return e.claim.settling && e.claim.owner == nil && e.claim.at == 0 && e.claim.deadline == 0
}

func (q *queueState) appendSmall(b []byte) []byte {
	b = (&queueDefined{q.id, q.name, q.def}).append(b)
	for _, n := range []uint64{q.next, q.put, q.duplicate, q.done, q.dead, q.expired, q.purged, q.claims} {
		b = putUint(b, n)
	}
	var known []dedupExpiry // in the order in which they end; an id that was taken again stands there twice
	for _, f := range q.forget {
		if r, ok := q.dedup[f.id]; ok && r.until == f.until {
			known = append(known, f)
		}
	}
	b = putUint(b, uint64(len(known)))
	for _, f := range known {
		r := q.dedup[f.id]
		b = putString(b, f.id)
		b = putUint(b, r.seq)
		b = append(b, r.id[:]...)
		b = putInt(b, r.until)
	}
	b = putUint(b, uint64(len(q.origins)))
	for source, o := range q.origins {
		b = putString(b, source)
		b = putUint(b, o.mark)
		b = putUint(b, uint64(o.taken.Len()))
		o.taken.Scan(func(p originPlace) bool {
			b = putUint(putUint(b, p.offset), p.part)
			return true
		})
	}
	return b
}

// writeTo writes the snapshot as frames of a length and bytes, so that reading needs little memory.
func (sn *snapshot) writeTo(w io.Writer) (size uint64, err error) {
	bw := bufio.NewWriterSize(w, 1<<20)
	frame := func(b []byte) {
		if err == nil {
			_, err = bw.Write(putUint(nil, uint64(len(b))))
		}
		if err == nil {
			_, err = bw.Write(b)
		}
		size += uint64(len(b)) + 2
	}
	frame(sn.small)
	var b []byte
	for i, id := range sn.queues {
		for j := range sn.entries[i] {
			b = appendSaved(b[:0], id, &sn.entries[i][j])
			frame(b)
		}
	}
	frame(nil)
	if err == nil {
		err = bw.Flush()
	}
	return size, err
}

const (
	savedShared = 1 << iota
	savedHead
	savedClaim
	savedRetry
)

func appendSaved(b []byte, queue uint32, e *savedEntry) []byte {
	flags := byte(0)
	if e.shared != nil {
		flags |= savedShared
	}
	if e.shared == nil || e.first {
		flags |= savedHead
	}
	if e.claim != nil {
		flags |= savedClaim
	}
	if e.retry {
		flags |= savedRetry
	}
	b = putUint(b, uint64(queue))
	b = putUint(b, e.seq)
	b = append(b, flags)
	b = appendAddress(b, e.addr)
	for _, t := range []int64{e.at, e.wake, e.expire} {
		b = putInt(b, t)
	}
	for _, n := range []uint32{e.size, e.attempts, e.durable} {
		b = putUint(b, uint64(n))
	}
	if e.shared != nil {
		b = putUint(b, uint64(e.body))
		b = appendAddress(b, e.shared.addr)
	}
	if c := e.claim; c != nil {
		b = putUint(b, uint64(c.epoch))
		b = putUint(b, uint64(c.serial))
		b = putInt(b, c.deadline)
		b = putBool(b, c.owned)
	}
	if flags&savedHead != 0 {
		b = putBytes(b, e.head)
	}
	return b
}

func appendAddress(b []byte, a journal.Address) []byte {
	return putUint(putUint(b, uint64(a.Position)), uint64(a.Index))
}

func (r *reader) address() journal.Address {
	return journal.Address{Position: journal.Position(r.uint()), Index: r.uint32()}
}

// restore reads what writeTo wrote into an empty state.
func (s *state) restore(in *bufio.Reader) error {
	small, err := readFrame(in)
	if err != nil {
		return err
	}
	r := &reader{b: small}
	if v := r.uint(); r.err == nil && v != snapshotVersion {
		return fmt.Errorf("it has version %d, this program knows %d", v, snapshotVersion)
	}
	s.now, s.epoch, s.nextID = r.int(), r.uint32(), r.uint32()
	subscribed := map[*topicState][]uint32{}
	for range r.count(5) {
		var e topicDefined
		e.read(r)
		t := &topicState{id: e.topic, name: e.name, labels: e.labels, publishes: r.uint(), published: r.uint(), dropped: r.uint()}
		s.topics[t.id], s.topicNames[t.name] = t, t
		for range r.count(1) {
			subscribed[t] = append(subscribed[t], r.uint32())
		}
	}
	for range r.count(3) {
		k := noteKey{r.string(), r.string()}
		s.notes[k] = slices.Clone(r.bytes())
	}
	for range r.count(10) {
		q := readSmall(r)
		s.queues[q.id], s.queueNames[q.name] = q, q
	}
	for t, ids := range subscribed {
		for _, id := range ids {
			if q := s.queues[id]; q != nil {
				t.subscribed = append(t.subscribed, q)
			}
		}
	}
	if err := r.done(); err != nil {
		return err
	}
	bodies := map[uint64]*sharedBody{}
	for {
		b, err := readFrame(in)
		if err != nil {
			return err
		}
		if len(b) == 0 {
			return nil
		}
		if err := s.restoreEntry(&reader{b: b}, bodies); err != nil {
			return err
		}
	}
}

func readSmall(r *reader) *queueState {
	var e queueDefined
	e.read(r)
	q := newQueueState(e.queue, e.name, e.def)
	for _, n := range []*uint64{&q.next, &q.put, &q.duplicate, &q.done, &q.dead, &q.expired, &q.purged, &q.claims} {
		*n = r.uint()
	}
	for range r.count(19) {
		id := r.string()
		m := remembered{seq: r.uint()}
		copy(m.id[:], r.take(16))
		m.until = r.int()
		q.dedup[id] = m
		q.forget = append(q.forget, dedupExpiry{id, m.until})
	}
	for range r.count(3) {
		source := r.string()
		o := newOriginState()
		o.mark = r.uint()
		for range r.count(2) {
			o.taken.Set(originPlace{r.uint(), r.uint()})
		}
		q.origins[source] = o
	}
	return q
}

func (s *state) restoreEntry(r *reader, bodies map[uint64]*sharedBody) error {
	id := r.uint32()
	e := &entry{seq: r.uint()}
	flags := r.byte()
	e.addr = r.address()
	e.at, e.wake, e.expire = r.int(), r.int(), r.int()
	e.size, e.attempts, e.durable = r.uint32(), r.uint32(), r.uint32()
	e.retry = flags&savedRetry != 0
	var body uint64
	var bodyAt journal.Address
	if flags&savedShared != 0 {
		body, bodyAt = r.uint(), r.address()
	}
	if flags&savedClaim != 0 {
		e.claim = &claimState{epoch: r.uint32(), serial: r.uint32(), deadline: r.int(), owned: r.bool()}
	}
	if flags&savedHead != 0 {
		e.head = slices.Clone(r.bytes())
	}
	if err := r.done(); err != nil {
		return err
	}
	q := s.queues[id]
	if q == nil {
		return fmt.Errorf("%w: a message of queue %d, which is not there", errTruncated, id)
	}
	if body != 0 {
		b := bodies[body]
		if b == nil {
			b = &sharedBody{addr: bodyAt, head: e.head}
			bodies[body] = b
		}
		b.refs++
		e.shared, e.head = b, b.head
	}
	q.all.Set(e.seq, e)
	q.bytes += int64(e.size)
	s.messages++
	s.bytes += int64(e.size)
	if e.claim != nil {
		q.claimed++
	}
	if e.wake != 0 {
		q.delayed++
	}
	h := readHead(&reader{b: e.head})
	if len(h.key) > 0 && !q.def.Unordered {
		q.join(e, string(h.key))
	}
	return nil
}

// maxFrame bounds what a damaged length can ask for.
const maxFrame = 1 << 32

func readFrame(in *bufio.Reader) ([]byte, error) {
	n, err := binary.ReadUvarint(in)
	if err != nil {
		return nil, fmt.Errorf("checkpoint ends early: %w", err)
	}
	if n > maxFrame {
		return nil, errTruncated
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(in, b); err != nil {
		return nil, fmt.Errorf("checkpoint ends early: %w", err)
	}
	return b, nil
}
