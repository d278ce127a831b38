package queue

import "container/heap"

// alarm is a time at which a message has to be looked at: it wakes, its lease ends, or it expires. It names the message, so that one
// that is settled meanwhile is not kept in memory.
type alarm struct {
	when int64
	q    *queueState
	seq  uint64
}

// alarms is a heap, the earliest first. An alarm may be out of date; tick looks at what is true of its entry.
type alarms []alarm

func (a alarms) Len() int      { return len(a) }
func (a alarms) Swap(i, j int) { a[i], a[j] = a[j], a[i] }

// Less puts of equal times the older message first: when leases of one key end together, the first takes the others back with it.
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

// nextDue is when something next has to happen to e; 0: never.
func (e *entry) nextDue() int64 {
	switch {
	case e.claim != nil && e.claim.settling:
		return 0
	case e.claim != nil:
		return e.claim.deadline
	case e.wake != 0 && e.expire != 0:
		return min(e.wake, e.expire)
	case e.wake != 0:
		return e.wake
	}
	return e.expire
}

// wakeAt sees to it that tick looks at e in time. An alarm that is early enough serves.
func (s *state) wakeAt(q *queueState, e *entry) {
	due := e.nextDue()
	if s.folding || due == 0 || e.alarm != 0 && e.alarm <= due {
		return
	}
	e.alarm = due
	heap.Push(&s.alarms, alarm{due, q, e.seq})
}

// due is when tick should be called next; 0: nothing is waiting for a time.
func (s *state) due() int64 {
	if len(s.alarms) == 0 {
		return 0
	}
	return s.alarms[0].when
}

// tick does what journaled time has made due: it wakes sleepers, ends leases, and reports the messages that have expired and
// wait for their record. At most limit alarms are handled; call again while due is not in the future.
func (s *state) tick(limit int) {
	for ; limit > 0 && len(s.alarms) > 0 && s.alarms[0].when <= s.now; limit-- {
		a := heap.Pop(&s.alarms).(alarm)
		q := a.q
		e, there := q.all.Get(a.seq)
		if !there {
			continue
		}
		if e.alarm == a.when {
			e.alarm = 0
		}
		if e.claim != nil && e.claim.settling {
			continue
		}
		switch {
		case e.claim != nil:
			if d := e.claim.deadline; d != 0 && d <= s.now {
				s.lapse(q, e)
			}
		case e.expire != 0 && e.expire <= s.now:
			s.doom(q, e, &s.overdue)
			continue
		case e.wake != 0 && e.wake <= s.now:
			q.delayed--
			e.wake, e.retry = 0, false
			s.changed(q, e)
		}
		s.wakeAt(q, e)
	}
}

// lapse ends a claim whose lease or owner has ended, and tells with which events.
func (s *state) lapse(q *queueState, e *entry) {
	for _, later := range q.behind(e) {
		s.lapsed = append(s.lapsed, &settled{queue: q.id, seq: later.seq, end: endBack, uncounted: true})
	}
	s.lapsed = append(s.lapsed, &settled{queue: q.id, seq: e.seq, end: endBack})
	s.back(q, e, 0, false)
}

// doomed is a message that the Store has to end with a record of its own.
type doomed struct {
	q *queueState
	e *entry
}

// doom keeps e from every reader and puts it on a list of the Store's work.
func (s *state) doom(q *queueState, e *entry, list *[]doomed) {
	s.hide(q, e)
	e.claim = &claimState{epoch: s.epoch, settling: true, wake: e.wake, retry: e.retry}
	if e.wake != 0 {
		q.delayed--
		e.wake, e.retry = 0, false
	}
	q.claimed++
	*list = append(*list, doomed{q, e})
	if e.group != nil {
		s.regroup(q, e.group)
	}
}

// relent takes a doom back.
func (s *state) relent(q *queueState, e *entry) {
	if c := e.claim; c.wake > s.now {
		q.delayed++
		e.wake, e.retry = c.wake, c.retry
	}
	s.unclaim(q, e)
	s.wakeAt(q, e)
	s.changed(q, e)
}

// spent tells whether e has been handed out as often as its queue allows.
func (q *queueState) spent(e *entry) bool {
	return q.def.MaxAttempts > 0 && int(e.attempts) >= q.def.MaxAttempts
}
