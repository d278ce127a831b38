package queue

import "container/heap"

// alarm is a time at which a message has to be looked at, because it wakes or its lease ends, or a whole page, because
// some of it expires, or a snapshot, because its life ends. It names the message, so that one that is settled meanwhile
// is not kept in memory.
type alarm struct {
	when int64
	q    *queueState
	seq  uint64 // of a snapshot: its number
	of   alarmed
}

// alarmed is what an alarm is about.
type alarmed uint8

const (
	ofMessage  alarmed = iota
	ofPage             // all of seq's page
	ofSnapshot         // of q, with the number seq
	ofPast             // of q, from seq on
)

// alarms say what has to be looked at next. Those of leases stand in a line while they come in the order of their
// times, as leases of one length do, and mostly leave it in that order, when they are settled; the others are a heap.
// An alarm may be out of date; tick looks at what is true of its entry. When most of them are, all are looked at once,
// a few with each that goes out of date: no step looks at all of them.
type alarms struct {
	line     alarmLine
	set      alarmHeap
	leaving  alarmHeap // those that are looked at, one by one from its end, and moved to set
	sweep    int       // about so many at the front of line are looked at, too, and moved to set
	outdated int       // about how many are out of date
}

// Len is how many alarms are set, those out of date among them.
func (a *alarms) Len() int { return a.line.Len() + a.set.Len() + a.leaving.Len() }

// add is heap.Push, which would make an allocation of each.
func (a *alarms) add(x alarm) {
	a.set.append(x)
	heap.Fix(&a.set, a.set.Len()-1)
}

// addLease is add for the end of a lease.
func (a *alarms) addLease(x alarm) {
	switch n := a.line.Len(); {
	case n == 0 || !x.before(a.line.last()):
	case n == 1: // one long lease, behind which the others would find no place
		a.add(a.line.pop())
	default:
		a.add(x)
		return
	}
	a.line.push(x)
}

// first is the earliest alarm; nil when there is none.
func (a *alarms) first() *alarm {
	return earlier(earlier(a.line.first(), a.set.first()), a.leaving.first())
}

// pop takes the earliest alarm away. There has to be one.
func (a *alarms) pop() alarm {
	switch x := a.first(); {
	case x == a.line.first():
		return a.line.pop()
	case x == a.set.first():
		return heap.Pop(&a.set).(alarm)
	}
	return heap.Pop(&a.leaving).(alarm)
}

// Bounds of how alarms that are out of date are forgotten.
const (
	leastOutdated = 1024 // fewer may stay
	lookAtOnce    = 4    // alarms that are looked at with each that goes out of date
)

// outdate counts an alarm that nobody waits for any more, so that a fast queue with long leases keeps no more alarms
// than it has use for.
func (a *alarms) outdate() {
	a.outdated++
	looks := lookAtOnce
	for ; looks > 0 && a.line.Len() > 0 && !a.line.first().current(); looks-- {
		a.line.pop()
		if a.sweep > 0 {
			a.sweep--
		} else {
			a.outdated = max(0, a.outdated-1)
		}
	}
	if a.leaving.Len() == 0 && a.sweep == 0 && a.outdated >= leastOutdated && 2*a.outdated >= a.Len() {
		a.leaving, a.set, a.outdated = a.set, alarmHeap{}, 0
		a.sweep = a.line.Len()
	}
	for ; looks > 0 && a.leaving.Len() > 0; looks-- {
		if x := a.leaving.cut(); x.current() {
			a.add(x)
		}
	}
	for ; looks > 0 && a.sweep > 0; looks-- {
		if a.sweep = min(a.sweep, a.line.Len()) - 1; a.sweep < 0 {
			a.sweep = 0
			break
		}
		if x := a.line.pop(); x.current() {
			a.add(x)
		}
	}
}

// alarmHeap is a heap in pages, so that it never moves as a whole when it grows.
type alarmHeap struct {
	pages [][]alarm // full, but for the last
}

// alarmPage is how many alarms stand in a page.
const alarmPage = 1 << 9

// first is the earliest; nil when there is none.
func (h *alarmHeap) first() *alarm {
	if h.Len() == 0 {
		return nil
	}
	return h.at(0)
}

func (h *alarmHeap) at(i int) *alarm { return &h.pages[i/alarmPage][i%alarmPage] }

// append adds an alarm at the end, where it may be out of its place.
func (h *alarmHeap) append(x alarm) {
	last := len(h.pages) - 1
	if last < 0 || len(h.pages[last]) == alarmPage {
		h.pages = append(h.pages, nil)
		last++
	}
	h.pages[last] = append(h.pages[last], x)
}

// cut takes the alarm at the end away.
func (h *alarmHeap) cut() alarm {
	last := len(h.pages) - 1
	p := h.pages[last]
	x := p[len(p)-1]
	p[len(p)-1] = alarm{}
	if h.pages[last] = p[:len(p)-1]; len(p) == 1 && last > 0 { // the first page stays: it is used all the time
		h.pages[last] = nil
		h.pages = h.pages[:last]
	}
	return x
}

func (h *alarmHeap) Len() int {
	last := len(h.pages) - 1
	if last < 0 {
		return 0
	}
	return last*alarmPage + len(h.pages[last])
}

func (h *alarmHeap) Swap(i, j int) {
	a, b := h.at(i), h.at(j)
	*a, *b = *b, *a
}

func (h *alarmHeap) Less(i, j int) bool { return h.at(i).before(h.at(j)) }
func (h *alarmHeap) Push(x any)         { h.append(x.(alarm)) }
func (h *alarmHeap) Pop() any           { return h.cut() }

// alarmLine is a line in pages. Who is taken away stands at its front.
type alarmLine struct {
	pages [][]alarm // full, but for the last
	front int       // of the first page, what has been taken away
	spare []alarm   // an empty page, so that a line that is used all the time makes none
}

func (l *alarmLine) Len() int {
	last := len(l.pages) - 1
	if last < 0 {
		return 0
	}
	return last*alarmPage + len(l.pages[last]) - l.front
}

// first is the alarm at the front; nil when there is none.
func (l *alarmLine) first() *alarm {
	if l.Len() == 0 {
		return nil
	}
	return &l.pages[0][l.front]
}

// last is the alarm at the end. There has to be one.
func (l *alarmLine) last() *alarm {
	p := l.pages[len(l.pages)-1]
	return &p[len(p)-1]
}

// push adds an alarm at the end.
func (l *alarmLine) push(x alarm) {
	last := len(l.pages) - 1
	if last < 0 || len(l.pages[last]) == alarmPage {
		l.pages = append(l.pages, l.spare)
		l.spare = nil
		last++
	}
	l.pages[last] = append(l.pages[last], x)
}

// pop takes the alarm at the front away. There has to be one.
func (l *alarmLine) pop() alarm {
	p := l.pages[0]
	x := p[l.front]
	p[l.front] = alarm{}
	if l.front++; l.front < len(p) {
		return x
	}
	l.front = 0
	if l.pages[0] = p[:0]; len(l.pages) > 1 {
		l.pages[0] = nil
		l.pages, l.spare = l.pages[1:], p[:0]
	}
	return x
}

// before puts of equal times the older message first: when leases of one key end together, the first takes the others
// back with it.
func (a *alarm) before(b *alarm) bool {
	return a.when < b.when || a.when == b.when && a.seq < b.seq
}

// earlier is the one of two that comes first; nil is none.
func earlier(a, b *alarm) *alarm {
	if a == nil || b != nil && b.before(a) {
		return b
	}
	return a
}

// nextDue is when e wakes or its lease ends; 0: never.
func (x *extra) nextDue() int64 {
	if x.claim == nil {
		return x.wake
	}
	if x.claim.settling {
		return 0
	}
	return x.claim.deadline
}

// wakeAt sees to it that tick looks at e in time. An alarm that is early enough serves.
func (s *state) wakeAt(q *queueState, e entry) {
	if s.folding {
		return
	}
	x := e.extra()
	if due := x.nextDue(); due != 0 && (x.alarm == 0 || x.alarm > due) {
		if x.alarm != 0 {
			s.alarms.outdate()
		}
		e.setAlarm(due)
		if a := (alarm{when: due, q: q, seq: e.seq()}); x.claim != nil {
			s.alarms.addLease(a)
		} else {
			s.alarms.add(a)
		}
	}
	if x.claim == nil {
		s.expireAt(q, e.page, e.expire())
	}
}

// expireAt sees to it that tick looks at a page in time for a message that expires then; 0: never.
func (s *state) expireAt(q *queueState, p *page, when int64) {
	if s.folding || when == 0 || p.alarm != 0 && p.alarm <= when {
		return
	}
	if p.alarm != 0 {
		s.alarms.outdate()
	}
	p.alarm = when
	s.alarms.add(alarm{when: when, q: q, seq: p.number * pageSize, of: ofPage})
}

// current tells whether somebody waits for the alarm.
func (a *alarm) current() bool {
	if a.q.gone {
		return false
	}
	switch a.of {
	case ofPage:
		p, there := a.q.all.pages.Get(pageOf(a.seq))
		return there && p.alarm == a.when
	case ofSnapshot:
		sn := a.q.snapshotNumbered(a.seq)
		return sn != nil && !sn.going
	case ofPast:
		return a.q.sweeping && a.q.sweep == a.seq
	}
	e, there := a.q.all.Get(a.seq)
	return there && e.extra().alarm == a.when
}

// due is when tick should be called next; 0: nothing is waiting for a time. It looks at what is first, however much
// waits.
func (s *state) due() (when int64) {
	if a := s.alarms.first(); a != nil {
		when = a.when
	}
	if w := s.windows.due(); w != 0 && (when == 0 || w < when) {
		when = w
	}
	return when
}

// tick does what journaled time has made due: it wakes sleepers, ends leases, and reports the messages that have
// expired and wait for their record, and the snapshots whose life has ended. At most limit alarms are handled, fewer
// when pages are copied for a checkpoint, and as many deduplication ids; call again while due is not in the future.
func (s *state) tick(limit int) {
	if w := s.windows.due(); w != 0 && w <= s.now {
		s.forgetDue(limit)
	}
	copied := s.saves.copied
	for ; limit > s.saves.copied-copied; limit-- {
		if a := s.alarms.first(); a == nil || a.when > s.now {
			return
		}
		a := s.alarms.pop()
		if !a.current() {
			s.alarms.outdated = max(0, s.alarms.outdated-1)
			continue
		}
		switch a.of {
		case ofPage:
			s.expire(a.q, a.seq)
			limit -= pageSize - 1 + len(a.q.snapshots) // it may have looked at so many messages, and snapshots
			continue
		case ofSnapshot:
			sn := a.q.snapshotNumbered(a.seq)
			sn.going = true
			s.over = append(s.over, sn)
			continue
		case ofPast:
			s.sweepPast(a.q)
			limit -= pageSize - 1 + len(a.q.snapshots)
			continue
		}
		q := a.q
		e, _ := q.all.Get(a.seq)
		e.setAlarm(0)
		if e.extra().nextDue() > a.when { // its time has moved: it may be due all the same, but after others
			s.wakeAt(q, e)
			continue
		}
		switch c, wake := e.claim(), e.wake(); {
		case c != nil && c.settling:
			continue
		case c != nil && s.ended(c):
			limit -= s.lapse(q, e, tickBatch)
		case c != nil && c.deadline != 0 && c.deadline <= s.now: // it was spared
			e.setAlarm(s.sparedTill)
			s.alarms.add(alarm{when: s.sparedTill, q: q, seq: e.seq()})
			continue
		case c == nil && wake != 0 && wake <= s.now:
			q.delayed--
			e.setWake(0, false)
			s.changed(q, e)
		}
		if e.there() {
			s.wakeAt(q, e)
		}
	}
}

// expire reports the messages of a page that have expired unclaimed, and forgets its past.
func (s *state) expire(q *queueState, seq uint64) {
	p, _ := q.all.pages.Get(pageOf(seq))
	p.alarm = 0
	next := int64(0)
	for slot := p.there.next(0); slot < pageSize; slot = p.there.next(slot + 1) {
		e := entry{p, uint8(slot)}
		switch when := e.expire(); {
		case when == 0 || e.claim() != nil: // one that is put back is looked at again
		case when <= s.now:
			s.doom(q, e, &s.overdue)
		case next == 0 || when < next:
			next = when
		}
	}
	s.expireAt(q, p, next)
	s.forgetPage(q, p)
}

// lapse ends a claim whose lease or owner has ended, and tells with which events. Those of its key that were handed out
// after it go back first, at most so many at once: while some are left the claim stays, and so holds the key, and its
// alarm rings again. It returns how many it looked at.
func (s *state) lapse(q *queueState, e entry, most int) (looked int) {
	c := e.claim()
	later := q.behind(e, c.lapsed, most)
	for _, x := range later {
		c.lapsed = x.seq()
		if x.claim().stays(c, s.now) {
			continue
		}
		s.lapsed = append(s.lapsed, &settled{queue: q.id, seq: x.seq(), end: endBack, uncounted: true})
		s.backAlone(q, x, 0, true)
	}
	if len(later) == most {
		return most
	}
	s.lapsed = append(s.lapsed, &settled{queue: q.id, seq: e.seq(), end: endBack})
	if s.traced && len(s.lapses) < tickBatch { // who takes them may be late: of very many some are not told
		o := observedOf(q, e)
		o.time = s.now
		s.lapses = append(s.lapses, o)
	}
	s.backAlone(q, e, 0, false)
	return len(later)
}

// doomed is a message that the Store has to end with a record of its own.
type doomed struct {
	q    *queueState
	e    entry
	size int64 // of e
}

// doom keeps e from every reader and puts it on a list of the Store's work.
func (s *state) doom(q *queueState, e entry, list *[]doomed) {
	s.hide(q, e)
	e.setClaim(claimState{epoch: s.epoch, settling: true, wake: e.wake(), retry: e.retry()})
	if e.wake() != 0 {
		q.delayed--
		e.setWake(0, false)
	}
	q.claimed++
	*list = append(*list, doomed{q, e, e.size()})
	if g := e.group(); g != nil {
		s.regroup(q, g)
	}
}

// relent takes a doom back.
func (s *state) relent(q *queueState, e entry) {
	if c := e.claim(); c.wake > s.now {
		q.delayed++
		e.setWake(c.wake, c.retry)
	}
	s.unclaim(q, e)
	s.wakeAt(q, e)
	s.changed(q, e)
}

// spent tells whether e has been handed out as often as its queue allows.
func (q *queueState) spent(e entry) bool {
	return q.def.MaxAttempts > 0 && int(e.attempts()) >= q.def.MaxAttempts
}

// there tells whether a message is still doomed: it may have been purged meanwhile, or settled and brought back by
// seeks. The lock is held.
func (d doomed) there() bool { return !d.q.gone && d.e.doomed() }

func (e entry) doomed() bool {
	if !e.there() {
		return false
	}
	c := e.claim()
	return c != nil && c.doomed()
}

// tickBatch bounds how long the lock is held for things that have become due.
const tickBatch = 1000

// relentAll takes the dooms of messages back that are still there.
func (s *state) relentAll(q *queueState, es []entry) {
	for _, e := range es {
		if e.doomed() {
			s.relent(q, e)
		}
	}
}
