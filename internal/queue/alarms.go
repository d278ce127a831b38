package queue

import (
	"container/heap"
	"slices"
)

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

// alarms is a heap, the earliest first. An alarm may be out of date; tick looks at what is true of its entry.
type alarms []alarm

func (a alarms) Len() int      { return len(a) }
func (a alarms) Swap(i, j int) { a[i], a[j] = a[j], a[i] }

// Less puts of equal times the older message first: when leases of one key end together, the first takes the others
// back with it.
func (a alarms) Less(i, j int) bool {
	return a[i].when < a[j].when || a[i].when == a[j].when && a[i].seq < a[j].seq
}

func (a *alarms) Push(x any) { *a = append(*a, x.(alarm)) }
func (a *alarms) Pop() any {
	old := *a
	x := old[len(old)-1]
	old[len(old)-1] = alarm{}
	*a = old[:len(old)-1]
	return x
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
			s.outdate()
		}
		e.setAlarm(due)
		s.setAlarm(alarm{when: due, q: q, seq: e.seq()})
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
		s.outdate()
	}
	p.alarm = when
	s.setAlarm(alarm{when: when, q: q, seq: p.number * pageSize, of: ofPage})
}

// setAlarm is heap.Push, which would make an allocation of each.
func (s *state) setAlarm(a alarm) {
	s.alarms = append(s.alarms, a)
	heap.Fix(&s.alarms, len(s.alarms)-1)
}

// outdate counts an alarm that nobody waits for any more. When they are most of all they go, so that a fast queue with
// long leases keeps no more alarms than it has use for.
func (s *state) outdate() {
	if s.outdated++; s.outdated < 1024 || 2*s.outdated < len(s.alarms) {
		return
	}
	s.alarms = slices.DeleteFunc(s.alarms, func(a alarm) bool { return !a.current() })
	heap.Init(&s.alarms)
	s.outdated = 0
}

// current tells whether somebody waits for the alarm.
func (a *alarm) current() bool {
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
	if len(s.alarms) > 0 {
		when = s.alarms[0].when
	}
	if w := s.windows.due(); w != 0 && (when == 0 || w < when) {
		when = w
	}
	return when
}

// tick does what journaled time has made due: it wakes sleepers, ends leases, and reports the messages that have
// expired and wait for their record, and the snapshots whose life has ended. At most limit alarms are handled, and as
// many deduplication ids; call again while due is not in the future.
func (s *state) tick(limit int) {
	if w := s.windows.due(); w != 0 && w <= s.now {
		s.forgetDue(limit)
	}
	for ; limit > 0 && len(s.alarms) > 0 && s.alarms[0].when <= s.now; limit-- {
		a := heap.Pop(&s.alarms).(alarm)
		if !a.current() {
			s.outdated = max(0, s.outdated-1)
			continue
		}
		switch a.of {
		case ofPage:
			s.expire(a.q, a.seq)
			limit -= pageSize - 1 // it may have looked at so many messages
			continue
		case ofSnapshot:
			sn := a.q.snapshotNumbered(a.seq)
			sn.going = true
			s.over = append(s.over, sn)
			continue
		case ofPast:
			s.sweepPast(a.q)
			limit -= pageSize - 1
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
		case c != nil && c.deadline != 0 && c.deadline <= s.now:
			s.lapse(q, e)
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

// lapse ends a claim whose lease or owner has ended, and tells with which events.
func (s *state) lapse(q *queueState, e entry) {
	for _, later := range q.behind(e) {
		if later.claim().stays(e.claim(), s.now) {
			continue
		}
		s.lapsed = append(s.lapsed, &settled{queue: q.id, seq: later.seq(), end: endBack, uncounted: true})
	}
	s.lapsed = append(s.lapsed, &settled{queue: q.id, seq: e.seq(), end: endBack})
	s.back(q, e, 0, false)
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
	e.setClaim(&claimState{epoch: s.epoch, settling: true, wake: e.wake(), retry: e.retry()})
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
