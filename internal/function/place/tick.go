package place

import "time"

// Tick does what time alone brings: it starts what is provisioned, stops what has been idle for too long, and stops
// waiting for what ought to have come back. Next says when it is wanted again.
func (p *Placer) Tick(now time.Duration) {
	if p.closed {
		return
	}
	if p.policy.Kind == Ahead {
		p.forecast.turn(now, p.policy.Window)
	}
	for i := range p.machines {
		p.balance(now, i)
		p.reap(now, i)
	}
	p.prepare(now)
}

// reap stops idle instances whose time is over, beyond those that the policy keeps, and names those to be frozen.
func (p *Placer) reap(now time.Duration, machine int) {
	m := &p.machines[machine]
	keep := 0
	if machine == 0 {
		keep = p.wanted()
	}
	for len(m.idle) > 0 && len(m.slots)-m.stopping > keep {
		s := m.oldest(p.policy.Provisioned > 0 && p.provisioned() <= p.policy.Provisioned)
		if s == nil || now-s.Since < p.policy.Idle {
			break
		}
		p.end(now, s)
	}
	if p.policy.Freeze <= 0 {
		return
	}
	for _, s := range m.idle {
		if now-s.Since < p.policy.Freeze {
			break
		}
		if !s.Frozen {
			s.Frozen = true
			p.freeze = append(p.freeze, s)
		}
	}
}

// oldest is the instance that has been idle longest; with spare set, of those that are not provisioned.
func (m *machine) oldest(spare bool) *Slot {
	for _, s := range m.idle {
		if !spare || !s.Provisioned {
			return s
		}
	}
	return nil
}

// Next is how long from now Tick has something to do, if nothing happens before; ok is false when it never has.
func (p *Placer) Next(now time.Duration) (in time.Duration, ok bool) {
	if p.closed {
		return 0, false
	}
	at := func(t time.Duration) {
		if d := max(t-now, 0); !ok || d < in {
			in, ok = d, true
		}
	}
	for i := range p.machines {
		m := &p.machines[i]
		if len(m.waiting) > m.starting && m.answered > 0 {
			for _, s := range m.slots {
				if s.State == Answered && now-s.Since < p.patience() {
					at(s.Since + p.patience())
				}
			}
		}
		if len(m.idle) > 0 {
			at(max(m.idle[0].Since+p.policy.Idle, now+p.policy.Idle/16))
			if p.policy.Freeze > 0 {
				for _, s := range m.idle {
					if !s.Frozen {
						at(s.Since + p.policy.Freeze)
						break
					}
				}
			}
		}
	}
	if p.paused > now {
		at(p.paused)
	}
	return in, ok
}

// Changes returns the slots whose instances are to be started, stopped and frozen now; each is named once. The slices
// are good until the next call of any method.
func (p *Placer) Changes() (start, stop, freeze []*Slot) {
	start, stop, freeze = p.start, p.stop, p.freeze
	p.start, p.stop, p.freeze = p.start[:0], p.stop[:0], p.freeze[:0]
	return start, stop, freeze
}

// Counts are how many instances are in each state, and how many invocations run and wait.
type Counts struct {
	Starting, Idle, Busy, Finishing, Stopping int
	Running, Waiting                          int
}

// Counts counts.
func (p *Placer) Counts() (c Counts) {
	for i := range p.machines {
		m := &p.machines[i]
		c.Starting += m.starting
		c.Idle += len(m.idle)
		c.Finishing += m.answered
		c.Stopping += m.stopping
		c.Waiting += len(m.waiting)
		c.Busy += len(m.slots) - m.starting - len(m.idle) - m.answered - m.stopping
	}
	c.Running = p.inflight - c.Waiting
	return c
}

// Slots calls yield for each instance, until it says false. The placer must not be changed meanwhile.
func (p *Placer) Slots(yield func(*Slot) bool) {
	for i := range p.machines {
		for _, s := range p.machines[i].slots {
			if !yield(s) {
				return
			}
		}
	}
}

// Waiting is how many invocations wait.
func (p *Placer) Waiting() (n int) {
	for i := range p.machines {
		n += len(p.machines[i].waiting)
	}
	return n
}
