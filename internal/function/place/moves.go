package place

import "time"

// serve gives an instance to an invocation. The slot is on none of the machine's lists any more.
func (p *Placer) serve(now time.Duration, s *Slot, t *Ticket) {
	m := &p.machines[s.Machine]
	if s.State == Starting {
		m.starting--
	}
	if s.State == Answered {
		m.answered--
	}
	t.Slot, t.waiting = s, false
	s.State, s.Since = Busy, now
}

// take removes the invocation that has waited longest on a machine; nil: none waits.
func (p *Placer) take(machine int) *Ticket {
	m := &p.machines[machine]
	if len(m.waiting) == 0 {
		return nil
	}
	t := m.waiting[0]
	m.waiting[0] = nil
	if m.waiting = m.waiting[1:]; len(m.waiting) == 0 {
		m.waiting = nil
	}
	t.waiting = false
	return t
}

// offer gives an instance that can work to who waits, or lays it aside.
func (p *Placer) offer(now time.Duration, s *Slot) *Ticket {
	m := &p.machines[s.Machine]
	if s.State == Starting || p.policy.Kind != Spread || len(m.waiting) > m.starting {
		if t := p.take(s.Machine); t != nil {
			p.serve(now, s, t)
			return t
		}
	}
	p.leave(m, s)
	s.State, s.Since, s.Frozen = Idle, now, false
	m.idle = append(m.idle, s)
	if p.closed {
		p.end(now, s)
	}
	return nil
}

// leave takes a slot from the list or the count that its state put it on.
func (p *Placer) leave(m *machine, s *Slot) {
	switch s.State {
	case Starting:
		m.starting--
	case Answered:
		m.answered--
	case Stopping:
		m.stopping--
	case Idle:
		for i, o := range m.idle {
			if o == s {
				m.idle = append(m.idle[:i], m.idle[i+1:]...)
				break
			}
		}
	}
}

// enter counts an invocation in (1) or out (-1).
func (p *Placer) enter(now time.Duration, m *machine, by int) {
	m.inflight += by
	p.inflight += by
	if p.policy.Kind == Ahead {
		p.forecast.demand(now, p.inflight, p.lead, p.policy.Window)
	}
}

// balance starts as many instances on a machine as those who wait need, beyond those that are coming.
func (p *Placer) balance(now time.Duration, machine int) {
	m := &p.machines[machine]
	if len(m.waiting) == 0 {
		return
	}
	coming := m.starting
	if m.answered > 0 {
		for _, s := range m.slots {
			if s.State == Answered && now-s.Since < p.patience() {
				coming++
			}
		}
	}
	for n := len(m.waiting) - coming; n > 0 && !p.full(m); n-- {
		p.begin(now, machine, false)
	}
}

// patience is how long an instance that has answered is waited for before another is started.
func (p *Placer) patience() time.Duration {
	if p.late {
		return p.lead
	}
	return max(p.lead, soon)
}

// full tells whether there are as many instances as may work at once: one more could not work before another has come
// back or ended.
func (p *Placer) full(m *machine) bool {
	return p.policy.Limit >= 0 && len(p.machines) == 1 && len(m.slots)-m.stopping >= p.policy.Limit
}

// prepare starts what the policy wants before it is needed.
func (p *Placer) prepare(now time.Duration) {
	if p.closed || now < p.paused {
		return
	}
	m := &p.machines[0]
	for len(m.slots)-m.stopping < p.wanted() {
		p.begin(now, 0, p.provisioned() < p.policy.Provisioned)
	}
}

// wanted is how many instances there should be at least.
func (p *Placer) wanted() int {
	n := p.policy.Provisioned
	if p.policy.Kind == Ahead {
		n = max(n, p.forecast.target(p.inflight))
	}
	if p.policy.Limit >= 0 {
		n = min(n, max(p.policy.Limit, p.policy.Provisioned))
	}
	return n
}

func (p *Placer) provisioned() (n int) {
	if p.policy.Provisioned > 0 {
		for _, s := range p.machines[0].slots {
			if s.Provisioned && s.State != Stopping {
				n++
			}
		}
	}
	return n
}

func (p *Placer) begin(now time.Duration, machine int, provisioned bool) {
	m := &p.machines[machine]
	s := &Slot{Machine: machine, State: Starting, Since: now, Provisioned: provisioned, index: len(m.slots)}
	m.slots = append(m.slots, s)
	m.starting++
	p.start = append(p.start, s)
}

// end asks for an instance to be stopped. The slot stays until it is gone.
func (p *Placer) end(now time.Duration, s *Slot) {
	p.leave(&p.machines[s.Machine], s)
	s.State, s.Since = Stopping, now
	p.machines[s.Machine].stopping++
	p.stop = append(p.stop, s)
}

// learn remembers how long starting takes: about the mean of the last ones.
func (p *Placer) learn(took time.Duration) {
	took = min(max(took, minLead), maxLead)
	if !p.started {
		p.lead, p.started = took, true
		return
	}
	p.lead += (took - p.lead) / 4
}
