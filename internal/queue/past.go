package queue

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// A settled message becomes one of the past while its queue has a history or a snapshot holds it: nobody sees it, its
// body stays in the journal, and a seek can bring it back. What is past at a place in the journal follows from the
// journal alone: a message that time has made forgettable is left out by every event that looks at the past, whether or
// not it was forgotten by then.

// snapshotState is what a queue had not settled at one place in the journal. It is not changed once it was made, but
// for going.
type snapshotState struct {
	name     Name
	number   uint64 // snapshots are numbered as they are made known
	queue    *queueState
	at       int64 // when it was taken
	expire   int64 // 0: never
	labels   map[string]string
	frontier uint64    // it holds everything from here on,
	before   sequences // and these before
	going    bool      // its end is on the way to the journal
}

// holds tells whether the snapshot has a message as not settled.
func (sn *snapshotState) holds(seq uint64) bool {
	return seq >= sn.frontier || sn.before.Has(seq)
}

// heldOnPage is what the snapshots of a queue hold of the page that was asked for last: neighbours are asked for
// together, and there may be thousands of snapshots.
type heldOnPage struct {
	known bool
	page  uint64
	slots bitmap
}

// held tells whether a snapshot of the queue holds a message.
func (q *queueState) held(seq uint64) bool {
	if len(q.snapshots) == 0 || seq >= q.snapshots[0].frontier { // the oldest has the least frontier
		return len(q.snapshots) > 0
	}
	h := &q.heldLast
	if number := pageOf(seq); !h.known || h.page != number {
		*h = heldOnPage{known: true, page: number}
		for _, sn := range q.snapshots {
			if slots, some := sn.before.blocks.Get(number); some {
				h.slots = h.slots.or(*slots)
			}
		}
	}
	return h.slots.has(slotOf(seq))
}

// pastUntil is when time makes a settled message forgettable; 0: nothing to wait for.
func (q *queueState) pastUntil(e entry) int64 {
	if q.def.History == 0 {
		return 0
	}
	return e.at() + q.def.History.Microseconds()
}

// keeps tells whether a settled message is kept for a seek.
func (q *queueState) keeps(e entry, now int64) bool {
	return q.def.History > 0 && q.pastUntil(e) > now || q.snapshots != nil && q.held(e.seq())
}

// fewSnapshots are asked whether they hold a message when it is settled, while a group has not asked many.
const fewSnapshots = 64

// doubts tells whether it would take long to know if a snapshot holds a message: it goes to the past then, and tick
// finds out. Nobody sees the past but by an event that finds out, too.
func (s *state) doubts(q *queueState, e entry) bool {
	if s.folding || len(q.snapshots) == 0 || q.heldLast.known && q.heldLast.page == e.page.number {
		return false
	}
	s.asked += len(q.snapshots)
	return len(q.snapshots) > fewSnapshots || s.asked > askedAtOnce
}

// settlePast removes a message that was settled: into the past if it is kept for a seek, or may be.
func (s *state) settlePast(q *queueState, e entry, at int64) {
	if q.def.History > 0 && q.pastUntil(e) > at || !s.doubts(q, e) {
		s.remove(q, e, q.keeps(e, at))
		return
	}
	s.remove(q, e, true)
	s.expireAt(q, e.page, s.now)
}

// oldestPast is when the oldest message of the past was put; 0: there is none.
func (q *queueState) oldestPast() (at int64) {
	number, some := q.all.pasts.Min()
	if !some {
		return 0
	}
	p, _ := q.all.pages.Get(number)
	return entry{p, uint8(p.past.next(0))}.at()
}

// dropPast forgets a message of the past for good.
func (s *state) dropPast(q *queueState, e entry) {
	q.pastBytes -= e.size()
	s.drop(q, e)
}

// redefinePast comes before a change of the definition: what the rule in force has made forgettable must not come back
// by a longer history. By a shorter one more is forgettable, which is forgotten in time.
func (s *state) redefinePast(q *queueState, e *queueDefined, at int64) {
	switch def := &e.def; {
	case def.History > q.def.History:
		if !e.forgotten {
			s.forgetPast(q, at)
		}
		s.sweepFrom(q) // for the times at which the rest is to be looked at
	case def.History < q.def.History:
		s.sweepFrom(q)
	}
}

// forgetPast forgets what is not kept any more at a time.
func (s *state) forgetPast(q *queueState, now int64) {
	if q.all.past == 0 {
		return
	}
	for p := range q.all.pagesFrom(0) {
		s.forgetPastOf(q, p, now)
	}
}

// forgetPastOf is forgetPast for a page.
func (s *state) forgetPastOf(q *queueState, p *page, now int64) {
	past := p.past
	for slot := past.next(0); slot < pageSize; slot = past.next(slot + 1) {
		if e := (entry{p, uint8(slot)}); !q.keeps(e, now) {
			s.dropPast(q, e)
		}
	}
}

// sweepFrom has tick look at all of a queue's past, a page at a time. What is forgettable may wait for it: nobody sees
// it.
func (s *state) sweepFrom(q *queueState) {
	if q.sweep, q.late = 0, false; s.folding || q.all.past == 0 {
		return
	}
	q.sweeping = true
	s.alarms.add(alarm{when: s.now, q: q, of: ofPast})
}

// sweepPast looks at the next page of a queue's past.
func (s *state) sweepPast(q *queueState) {
	q.sweeping = false
	for p := range q.all.pagesFrom(pageOf(q.sweep)) {
		s.forgetPage(q, p)
		q.sweeping, q.sweep = true, (p.number+1)*pageSize
		s.alarms.add(alarm{when: s.now, q: q, seq: q.sweep, of: ofPast})
		break
	}
}

// forgetPage forgets what is not kept any more of a page's past, and sees to it that the rest is looked at in time.
func (s *state) forgetPage(q *queueState, p *page) {
	past := p.past
	for slot := past.next(0); slot < pageSize; slot = past.next(slot + 1) {
		e := entry{p, uint8(slot)}
		until := q.pastUntil(e)
		switch {
		case q.seeking > 0 && until <= s.now: // what the seek finds is decided by its own time
			q.late = true
			s.expireAt(q, p, s.now+seekPatience)
		case !q.keeps(e, s.now):
			s.dropPast(q, e)
		case until > s.now:
			s.expireAt(q, p, until)
		}
	}
}

// seekPatience is when the past is looked at again after a seek that was under way, µs.
const seekPatience = 1_000_000

// applySought settles what is there and does not stay, and brings back what is past and stays.
func (s *state) applySought(e *sought, at int64) {
	q := s.queues[e.queue]
	if q == nil {
		return
	}
	sn := s.snapshot(e.snapshot)
	if e.snapshot != (Name{}) && (sn == nil || sn.queue != q && e.goes == nil) {
		return // it was deleted before
	}
	q.touch()
	stays := func(x entry) bool { return x.at() >= e.to }
	if e.goes != nil {
		stays = func(x entry) bool { return !e.goes.Has(x.seq()) }
	} else if sn != nil {
		stays = func(x entry) bool { return sn.holds(x.seq()) }
	}
	q.purgedTo = 0
	upto := e.upto
	if upto == 0 {
		upto = ^uint64(0)
	}
	for p := range q.all.pagesFrom(pageOf(e.from)) {
		if p.number*pageSize >= upto {
			break
		}
		s.forgetPastOf(q, p, at)
		there, past := p.there, p.past
		kept := p.kept()
		for slot := kept.next(0); slot < pageSize; slot = kept.next(slot + 1) {
			switch x, stay := (entry{p, uint8(slot)}), stays(entry{p, uint8(slot)}); {
			case x.seq() < e.from || x.seq() >= upto:
			case there.has(uint8(slot)) && !stay:
				s.remove(q, x, q.keeps(x, at))
				e.settled++
			case past.has(uint8(slot)) && stay:
				s.bringBack(q, x)
				e.back++
			}
		}
	}
	q.done += uint64(e.settled)
}

// bringBack makes one of the past claimable again, as if it had never been handed out.
func (s *state) bringBack(q *queueState, e entry) {
	e.revive()
	q.pastBytes -= e.size()
	q.bytes += e.size()
	if h := readHead(&reader{b: e.head()}); len(h.key) > 0 && !q.def.Unordered {
		q.join(e, string(h.key))
	}
	s.wakeAt(q, e)
	s.changed(q, e)
}

func (s *state) applySnapshot(e *snapshotTaken, at int64) {
	q := s.queues[e.queue]
	if q == nil || s.snapshot(e.name) != nil {
		return
	}
	sn := &snapshotState{name: e.name, at: at, expire: e.expire, labels: e.labels, frontier: q.seen,
		before: q.all.sequences()}
	s.addSnapshot(q, sn)
}

// snapshot finds a snapshot; nil: there is none, or its queue is gone.
func (s *state) snapshot(n Name) *snapshotState {
	if sn := s.snapshots[n]; sn != nil && !sn.queue.gone {
		return sn
	}
	return nil
}

// forgetSnapshot forgets a snapshot. One of its name may have been taken since, when its queue is gone.
func (s *state) forgetSnapshot(sn *snapshotState) {
	s.idBytes -= sn.bytes()
	s.resident -= snapshotWeight(sn.name, sn.labels)
	if s.snapshots[sn.name] == sn {
		delete(s.snapshots, sn.name)
		s.snapshotList.Delete(sn)
	}
}

// bytes is about what its bitmaps take in memory, which counts against the bound of bytes, too.
func (sn *snapshotState) bytes() int64 { return blockResident * int64(sn.before.blocks.Len()) }

func (s *state) addSnapshot(q *queueState, sn *snapshotState) {
	q.touch()
	sn.queue = q
	s.snapshotsTaken++
	sn.number = s.snapshotsTaken
	s.idBytes += sn.bytes()
	s.resident += snapshotWeight(sn.name, sn.labels)
	q.snapshots, q.heldLast.known = append(q.snapshots, sn), false
	s.snapshots[sn.name] = sn
	s.snapshotList.Set(sn)
	s.endAt(sn, sn.expire)
}

// endAt sees to it that tick reports the snapshot then; 0: never.
func (s *state) endAt(sn *snapshotState, when int64) {
	if !s.folding && when != 0 {
		s.alarms.add(alarm{when: when, q: sn.queue, seq: sn.number, of: ofSnapshot})
	}
}

// snapshotNumbered finds a snapshot of the queue; nil: it is gone.
func (q *queueState) snapshotNumbered(number uint64) *snapshotState {
	i, there := slices.BinarySearchFunc(q.snapshots, number, besideNumber)
	if !there {
		return nil
	}
	return q.snapshots[i]
}

func besideNumber(sn *snapshotState, number uint64) int { return cmp.Compare(sn.number, number) }

func (s *state) applySnapshotGone(e *snapshotGone) {
	sn := s.snapshot(e.name)
	if sn == nil {
		return
	}
	s.forgetSnapshot(sn)
	if sn.expire != 0 && !sn.going {
		s.alarms.outdate() // its alarm
	}
	q := sn.queue
	q.touch()
	q.snapshots = slices.DeleteFunc(slices.Clone(q.snapshots), func(x *snapshotState) bool { return x == sn })
	if q.heldLast.known = false; len(q.snapshots) == 0 {
		q.snapshots = nil
	}
	q.purgedTo = 0 // what it held and a history keeps is not what the next purge keeps
	s.sweepFrom(q)
}

// append writes the snapshot behind b, for a checkpoint.
func (sn *snapshotState) append(b []byte) []byte {
	b = putString(b, sn.name.Namespace)
	b = putString(b, sn.name.Name)
	b = putInt(b, sn.at)
	b = putInt(b, sn.expire)
	b = appendLabels(b, sn.labels)
	b = putUint(b, sn.frontier)
	return sn.before.append(b)
}

// readSnapshot reads what append wrote.
func readSnapshot(r *reader) *snapshotState {
	sn := &snapshotState{name: Name{r.string(), r.string()}, at: r.int(), expire: r.int(), labels: readLabels(r),
		frontier: r.uint()}
	sn.before.read(r)
	return sn
}

// behind tells whether something is due that tick has not done yet.
func (s *state) behind() bool {
	due := s.due()
	return due != 0 && due <= s.now
}

// stretch is how many pages a purge or a seek concerns as one step: it holds the lock for so long. Of each page all
// snapshots may have to be asked: where there are many of them the steps are shorter.
const (
	stretch     = 8
	askedAtOnce = 4096 // snapshots that are asked in one step, or all of them for one page
)

// stretch is where a stretch of pages that begins at a sequence ends, at most at end.
func (q *queueState) stretch(from, end uint64) uint64 {
	n, most := 0, stretch
	if k := len(q.snapshots); k > 0 {
		most = max(1, min(stretch, askedAtOnce/k))
	}
	for p := range q.all.pagesFrom(pageOf(from)) {
		if n++; n > most {
			return min(end, p.number*pageSize)
		}
		if p.number >= pageOf(end) {
			break
		}
	}
	return end
}

func (s *state) describe(sn *snapshotState) Snapshot {
	return Snapshot{Name: sn.name, Queue: sn.queue.name, Time: timeOf(sn.at), Expires: s.time.shown(sn.expire, s.now),
		Labels: maps.Clone(sn.labels)}
}

// seekable tells whether a queue can be taken to a snapshot, if one is named.
func (s *state) seekable(q *queueState, n, snapshot Name) error {
	switch sn := s.snapshot(snapshot); {
	case q.gone:
		return fmt.Errorf("%w: %s", ErrNotFound, n.Short())
	case snapshot == Name{}:
	case sn == nil || sn.going:
		return fmt.Errorf("%w: snapshot %s", ErrNotFound, snapshot.Short())
	case sn.queue != q && (q.def.Topic == "" || sn.queue.def.Topic != q.def.Topic):
		return fmt.Errorf("%w: snapshot %s is of queue %s, which has no topic in common with %s", ErrDefinition,
			snapshot.Short(), sn.queue.name.Short(),
			q.name.Short())
	}
	return nil
}

// toSeek is the event that takes the messages of q from a sequence on to a time (µs) or a snapshot: as many, before
// end, as one step concerns.
func (s *state) toSeek(q *queueState, to int64, snapshot Name, from, end uint64) *sought {
	e := &sought{queue: q.id, to: to, snapshot: snapshot, from: from, upto: q.stretch(from, end)}
	if sn := s.snapshot(snapshot); sn != nil && sn.queue != q {
		e.goes, e.upto = q.across(sn, e.from, e.upto)
	}
	return e
}

// mayTake tells whether a snapshot of q can be taken, which was found by the name of; nil: it was not.
func (s *state) mayTake(snapshot Name, q *queueState, of Name) error {
	switch {
	case q == nil:
		return fmt.Errorf("%w: %s", ErrNotFound, of.Short())
	case s.snapshot(snapshot) != nil:
		return fmt.Errorf("%w: %s", ErrSnapshot, snapshot.Short())
	case len(s.snapshots)+s.comingSnapshots >= MaxSnapshots:
		return fmt.Errorf("%w: the limit of %d snapshots is reached", ErrDefinition, MaxSnapshots)
	}
	return nil
}

// snapshotResident is about what a snapshot of q takes in memory.
func (q *queueState) snapshotResident(name Name, labels map[string]string) int64 {
	return snapshotWeight(name, labels) + blockResident*int64(q.all.pages.Len())
}
