package queue

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/tidwall/btree"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// snapshot is the state of one moment, on its way into a checkpoint. It begins in a few steps, however much there is:
// what is about to change for the first time since then leaves its old image (see saves), and all leaves in pieces.
type snapshot struct {
	s      *state
	now    int64
	epoch  uint32
	nextID uint32
	notes  *btree.BTreeG[Note]
	topics *btree.Map[uint32, *topicState]
	queues *btree.Map[uint32, *queueState]

	retired []retired
	done    int // checkpoints that were saved before
}

// savedQueue is a queue without its messages. What it points to is not changed any more.
type savedQueue struct {
	defined queueDefined
	former  []Name
	layouts []*layout
	totals  []uint64
	forget  []*remembered
	origins *btree.Map[string, *originState]
	pages   *btree.Map[uint64, *page]

	snapshots []*snapshotState
}

// snapshotVersion is that of checkpoints as they are written now. Those of oldestSnapshot, which lack what queues had
// before they could be renamed and altered with messages in them, are read as well, and those of before sharedLayouts,
// of which each layout stands for itself.
const (
	snapshotVersion = 6
	sharedLayouts   = 6
	oldestSnapshot  = 4
)

// beginSnapshot begins a snapshot of this moment. Call end when it is no longer needed.
func (s *state) beginSnapshot() *snapshot {
	s.saves.begin()
	return &snapshot{
		s: s, now: s.now, epoch: s.epoch, nextID: s.nextID, notes: s.notes.Copy(), topics: s.topicsByID.Copy(),
		queues:  s.queuesByID.Copy(),
		retired: s.saves.retired, done: s.saves.done,
	}
}

// end lets go of the snapshot.
func (sn *snapshot) end() { sn.s.saves.end() }

// small is what is neither a queue's nor a message, in parts, of which the notes' is written one by one: they may be
// much of what the memory has room for. It looks at a few topics under each hold of the lock.
func (sn *snapshot) small(locked func(look func())) (before, behind []byte) {
	b := putUint(nil, snapshotVersion)
	b = putInt(b, sn.now)
	b = putUint(b, uint64(sn.epoch))
	b = putUint(b, uint64(sn.nextID))
	b = putUint(b, uint64(sn.topics.Len()))
	for some := range slices.Chunk(sn.topics.Values(), topicsAtOnce) {
		saved := make([]*savedTopic, len(some))
		locked(func() {
			for i, t := range some {
				saved[i] = sn.s.saves.topic(t)
			}
		})
		for _, t := range saved {
			b = t.append(b)
		}
	}
	before = putUint(b, uint64(sn.notes.Len()))
	behind = appendRetired(nil, sn.retired, sn.done)
	return before, putUint(behind, uint64(sn.queues.Len()))
}

// eachNote calls f with what is written of each note. The bytes are good until f returns.
func (sn *snapshot) eachNote(f func(b []byte)) {
	var b []byte
	sn.notes.Scan(func(n Note) bool {
		b = putBytes(putString(putString(b[:0], n.Room), n.Key), n.Value)
		f(b)
		return true
	})
}

func (q *queueState) save() *savedQueue {
	q.prune()
	return &savedQueue{
		defined: queueDefined{queue: q.id, name: q.name, def: q.def},
		former:  q.former,
		layouts: q.layouts,
		totals:  []uint64{q.next, q.seen, q.put, q.duplicate, q.done, q.dead, q.expired, q.purged, q.claims},
		forget:  q.forget,
		origins: q.origins.Copy(),

		pages: q.all.pages.Copy(),

		snapshots: q.snapshots,
	}
}

// append writes the queue behind b. now is the time of the snapshot.
func (sq *savedQueue) append(b []byte, now int64) []byte {
	b = sq.defined.append(b)
	for _, n := range sq.totals {
		b = putUint(b, n)
	}
	known := 0 // an id that was taken again stands there twice, but only once with a window that has not ended
	for _, r := range sq.forget {
		if r.until > now {
			known++
		}
	}
	b = putUint(b, uint64(known))
	for _, r := range sq.forget {
		if r.until > now {
			b = putString(b, r.dedup)
			b = putUint(b, r.seq)
			b = append(b, r.id[:]...)
			b = putInt(b, r.until)
		}
	}
	b = putUint(b, uint64(sq.origins.Len()))
	sq.origins.Scan(func(source string, o *originState) bool {
		b = putString(b, source)
		b = putUint(b, o.mark)
		n := 0
		o.above(func(originPlace) { n++ })
		b = putUint(b, uint64(n))
		o.above(func(p originPlace) { b = putUint(putUint(b, p.offset), p.part) })
		return true
	})
	b = putUint(b, uint64(len(sq.snapshots)))
	for _, sn := range sq.snapshots {
		b = sn.append(b)
	}
	b = putUint(b, uint64(len(sq.former)))
	for _, n := range sq.former {
		b = putString(putString(b, n.Namespace), n.Name)
	}
	return appendLayouts(b, sq.layouts)
}

// How much is copied while the lock is held: some microseconds.
const (
	pagesAtOnce  = 8
	queuesAtOnce = 32
	topicsAtOnce = 32
)

// writeTo writes the snapshot as frames of a length and bytes, so that reading needs little memory. It looks at the
// state only in what it gives to locked, which calls that at once, with the lock held: a little at a time.
func (sn *snapshot) writeTo(w io.Writer, locked func(look func())) (size uint64, err error) {
	bw := bufio.NewWriterSize(w, 1<<20)
	begin := func(n int) {
		if err == nil && n > maxFrame {
			err = fmt.Errorf("a part of the checkpoint has %d bytes, at most %d could be read back", n, maxFrame)
		}
		if err == nil {
			_, err = bw.Write(putUint(nil, uint64(n)))
		}
		size += uint64(n) + 2
	}
	write := func(b []byte) {
		if err == nil {
			_, err = bw.Write(b)
		}
	}
	frame := func(b []byte) {
		begin(len(b))
		write(b)
	}
	before, behind := sn.small(locked)
	n := len(before) + len(behind)
	sn.eachNote(func(b []byte) { n += len(b) })
	begin(n)
	write(before)
	sn.eachNote(write)
	write(behind)
	var b []byte
	all := sn.queues.Values()
	saved := make([]*savedQueue, 0, len(all))
	for some := range slices.Chunk(all, queuesAtOnce) {
		locked(func() {
			for _, q := range some {
				saved = append(saved, sn.s.saves.queue(q))
			}
		})
		for _, sq := range saved[len(saved)-len(some):] {
			b = sq.append(b[:0], sn.now)
			frame(b)
		}
		if err != nil {
			return size, err
		}
	}
	for pages := range chunks(saved) {
		locked(func() {
			for i, p := range pages {
				pages[i] = sn.s.saves.page(p)
			}
		})
		for _, p := range pages {
			b = p.appendImage(b[:0])
			frame(b)
		}
		if err != nil {
			return size, err
		}
	}
	frame(nil)
	if err == nil {
		err = bw.Flush()
	}
	return size, err
}

// chunks are the pages of queues, a few at a time.
func chunks(queues []*savedQueue) iter.Seq[[]*page] {
	return func(yield func([]*page) bool) {
		some := make([]*page, 0, pagesAtOnce)
		for _, sq := range queues {
			more := true
			sq.pages.Scan(func(_ uint64, p *page) bool {
				if some = append(some, p); len(some) == pagesAtOnce {
					more = yield(some)
					some = some[:0]
				}
				return more
			})
			if !more {
				return
			}
		}
		if len(some) > 0 {
			yield(some)
		}
	}
}

// restore reads what writeTo wrote, and the journal has checked, into an empty state.
func (s *state) restore(in *bufio.Reader, bodies map[journal.Address]*sharedBody) error {
	return later("its state", "the state of the queues", s.restoreAll(in, bodies))
}

func (s *state) restoreAll(in *bufio.Reader, bodies map[journal.Address]*sharedBody) error {
	small, err := readFrame(in, nil)
	if err != nil {
		return err
	}
	r := &reader{b: small}
	version := r.uint()
	if r.err == nil && (version < oldestSnapshot || version > snapshotVersion) {
		return &journal.FormatError{Where: "its state", What: "the state of the queues", Found: version,
			Oldest: oldestSnapshot, Known: snapshotVersion}
	}
	s.now, s.epoch, s.nextID = r.int(), r.uint32(), r.uint32()
	subscribed := map[*topicState][]uint32{}
	for range r.count(5) {
		var e topicDefined
		e.read(r)
		t := &topicState{id: e.topic, name: e.name, labels: e.labels, publishes: r.uint(), published: r.uint(),
			dropped: r.uint()}
		s.weighTopic(t)
		s.topics[t.id], s.topicNames[t.name] = t, t
		s.topicList.Set(t.name)
		s.topicsByID.Set(t.id, t)
		for range r.count(1) {
			subscribed[t] = append(subscribed[t], r.uint32())
		}
	}
	for range r.count(3) {
		s.setNote(Note{r.string(), r.string(), slices.Clone(r.bytes())})
	}
	s.saves.restoreRetired(r)
	queues := r.uint()
	if err := r.done(); err != nil {
		return err
	}
	for range queues {
		if err := s.restoreQueue(in, version); err != nil {
			return err
		}
	}
	for t, ids := range subscribed {
		for _, id := range ids {
			if q := s.queues[id]; q != nil {
				t.subscribed.add(q)
				s.newColumns(q)
			}
		}
	}
	var b []byte
	for {
		b, err = readFrame(in, b)
		if err != nil {
			return err
		}
		if len(b) == 0 {
			if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
				return cmp.Or(err, fmt.Errorf("%w: there is more behind its end", errTruncated))
			}
			return nil
		}
		if err := s.restorePage(&reader{b: b}, bodies); err != nil {
			return err
		}
	}
}

// restoreQueue reads a queue without its messages.
func (s *state) restoreQueue(in *bufio.Reader, version uint64) error {
	b, err := readFrame(in, nil)
	if err != nil {
		return err
	}
	r := &reader{b: b}
	var e queueDefined
	e.read(r)
	q := s.newQueueState(e.queue, e.name, e.def)
	for _, n := range []*uint64{&q.next, &q.seen, &q.put, &q.duplicate, &q.done, &q.dead, &q.expired, &q.purged,
		&q.claims} {
		*n = r.uint()
	}
	for range r.count(19) {
		m := &remembered{dedup: r.string(), seq: r.uint()}
		copy(m.id[:], r.take(16))
		m.until = r.int()
		q.dedup[m.dedup] = m
		q.forget = append(q.forget, m)
		s.rememberBytes(q, m.bytes())
	}
	for range r.count(3) {
		source := r.string()
		o := newOriginState(s.saves.newest())
		o.mark = r.uint()
		for range r.count(2) {
			o.taken.Set(originPlace{r.uint(), r.uint()})
		}
		q.origins.Set(source, o)
		s.rememberBytes(q, originBytes+int64(len(source))+placeBytes*int64(o.taken.Len()))
	}
	for range r.count(4) {
		s.addSnapshot(q, readSnapshot(r))
	}
	if version > oldestSnapshot {
		for range r.count(2) {
			n := Name{r.string(), r.string()}
			q.former = append(q.former, n)
			s.former[n] = q
		}
		q.layouts = readLayouts(r, q.def.Columns, version < sharedLayouts)
	}
	q.weigh()
	s.queues[q.id], s.queueNames[q.name] = q, q
	s.queueList.Set(q.name)
	s.queuesByID.Set(q.id, q)
	return r.done()
}

// maxFrame bounds what a damaged length can ask for.
const maxFrame = 1 << 32

// readFrame reads a frame into b, which it grows if it has to.
func readFrame(in *bufio.Reader, b []byte) ([]byte, error) {
	n, err := binary.ReadUvarint(in)
	if err != nil {
		return nil, endsEarly(err)
	}
	if n > maxFrame {
		return nil, errTruncated
	}
	if uint64(cap(b)) < n {
		b = make([]byte, n)
	}
	b = b[:n]
	if _, err := io.ReadFull(in, b); err != nil {
		return nil, endsEarly(err)
	}
	return b, nil
}

// endsEarly tells the end of a checkpoint from a disk that cannot be read.
func endsEarly(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it ends early", errTruncated)
	}
	return fmt.Errorf("read checkpoint: %w", err)
}
