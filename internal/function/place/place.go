// Package place decides which instance serves an invocation, when another one is started and when one is stopped. It is
// a state that is told what happened and asked what to do: no process, no clock, no lock.
//
//	p := place.New(place.Policy{Kind: place.Warm})
//	t := &place.Ticket{}
//	switch p.Arrive(now, t) {
//	case place.Use:    // t.Slot is idle and ours
//	case place.Wait:   // one of Ready, Free, Failed returns t later
//	case place.Refuse: // too many at once
//	}
//	start, stop, freeze := p.Changes() // to be done now
//
// Now is a duration since any fixed moment; it never runs backwards.
//
// # What the policies do
//
// Warm takes the instance that was used last and starts one only when all are busy. Spread is a load balancer that
// knows nothing of instances: it deals invocations out to machines in turn, each of which is warm by itself. Ahead is
// Warm that learns: for each number of instances it remembers at which number of invocations it ought to have started
// that many, so as to be ready in time, judged by the last minutes; and it starts them there the next time.
//
// An invocation that finds every instance busy waits for whichever comes first: the one that is started for it, or one
// that becomes free. With Spread it waits for the one that is started. An instance that has answered but has not come
// back yet is waited for before one is started: as long as starting one takes, or, as those that answer use to come
// back soon, for a second. So somebody who asks again as soon as there is an answer gets the same instance, however
// busy the machine is.
package place

import "time"

// Kind is the kind of a policy.
type Kind string

const (
	Warm   Kind = "warm"
	Spread Kind = "spread"
	Ahead  Kind = "ahead"
)

// Policy says how instances are chosen.
type Policy struct {
	Kind Kind // "" means Warm
	// Machines is how many machines Spread deals to; 0 means 2.
	Machines int
	// Provisioned is how many instances are started before anybody asks, and kept.
	Provisioned int
	// Limit is how many invocations may run or wait at once; below 0 means any number, 0 none.
	Limit int
	// Idle is how long an instance stays without work; 0 means 10 minutes.
	Idle time.Duration
	// Window is how long Ahead remembers, at least; 0 means 5 minutes.
	Window time.Duration
	// Freeze is how long an idle instance runs before it is frozen; 0 means that it is not.
	Freeze time.Duration
}

// State is what a slot is doing.
type State uint8

const (
	Starting State = iota
	Idle
	Busy
	Answered // the caller has its answer; the instance has not asked for more yet
	Stopping
	Over
)

func (s State) String() string {
	return [...]string{"starting", "idle", "busy", "finishing", "stopping", "over"}[s]
}

// Slot is the place of one instance. Only Value may be set by others.
type Slot struct {
	Value   any // the instance
	Machine int
	State   State
	Since   time.Duration // when State began
	Frozen  bool          // only while it is idle: thaw it when it is used
	// Provisioned tells that it was started before anybody asked.
	Provisioned bool
	index       int // in its machine's slots
}

// Ticket is the place of one invocation. Only Value may be set by others.
type Ticket struct {
	Value   any // the invocation
	Slot    *Slot
	machine int
	waiting bool
}

// Verdict is what Arrive says.
type Verdict uint8

const (
	Use Verdict = iota
	Wait
	Refuse
)

// The lead that is assumed until an instance has started, and the bounds of what is learned.
const (
	firstLead = 100 * time.Millisecond
	minLead   = 2 * time.Millisecond
	maxLead   = 10 * time.Second
)

// soon is how quickly an instance comes back as a rule that has answered.
const soon = time.Second

// How long nobody starts an instance ahead of need after one failed to start: doubled each time, from the first to the
// last.
const (
	firstPause = time.Second
	lastPause  = time.Minute
)

// Placer places the invocations of one function. It is not safe for concurrent use.
type Placer struct {
	policy   Policy
	machines []machine
	turn     int // the machine whose turn it is
	inflight int // invocations that run or wait
	lead     time.Duration
	started  bool // lead was measured
	late     bool // the last instance that has answered was not back soon
	pause    time.Duration
	paused   time.Duration // until then
	closed   bool
	forecast forecast

	start, stop, freeze []*Slot
}

// machine is what the placer knows of one machine.
type machine struct {
	slots    []*Slot
	idle     []*Slot // the one used last at the end
	waiting  []*Ticket
	starting int
	answered int
	stopping int
	inflight int
}

// New makes a placer without instances. Tick starts what the policy provisions.
func New(policy Policy) *Placer {
	if policy.Kind == "" {
		policy.Kind = Warm
	}
	n := 1
	if policy.Kind == Spread {
		if n = policy.Machines; n <= 0 {
			n = 2
		}
	}
	if policy.Idle <= 0 {
		policy.Idle = 10 * time.Minute
	}
	if policy.Window <= 0 {
		policy.Window = 5 * time.Minute
	}
	return &Placer{policy: policy, machines: make([]machine, n), lead: firstLead}
}

// Arrive places an invocation.
func (p *Placer) Arrive(now time.Duration, t *Ticket) Verdict {
	if p.closed || p.policy.Limit >= 0 && p.inflight >= p.policy.Limit {
		return Refuse
	}
	t.machine = p.turn
	p.turn = (p.turn + 1) % len(p.machines)
	m := &p.machines[t.machine]
	p.enter(now, m, 1)
	if n := len(m.idle); n > 0 {
		s := m.idle[n-1]
		m.idle = m.idle[:n-1]
		p.serve(now, s, t)
		p.prepare(now)
		return Use
	}
	t.waiting = true
	m.waiting = append(m.waiting, t)
	p.balance(now, t.machine)
	p.prepare(now)
	return Wait
}

// Ready says that an instance has started, which took that long. It returns who is served by it; nil: nobody, it is
// idle.
func (p *Placer) Ready(now time.Duration, s *Slot, took time.Duration) *Ticket {
	if s.State != Starting {
		return nil
	}
	p.learn(took)
	p.pause = 0
	return p.offer(now, s)
}

// Answered says that a busy instance has given its answer, so that its invocation is over.
func (p *Placer) Answered(now time.Duration, s *Slot) {
	if s.State != Busy {
		return
	}
	m := &p.machines[s.Machine]
	p.enter(now, m, -1)
	s.State, s.Since = Answered, now
	m.answered++
}

// Free says that an instance asks for work. It returns who is served by it; nil: nobody, it is idle.
func (p *Placer) Free(now time.Duration, s *Slot) *Ticket {
	if s.State == Busy {
		p.Answered(now, s)
	}
	if s.State != Answered {
		return nil
	}
	late := now-s.Since > soon
	hurry := late && !p.late
	p.late = late
	t := p.offer(now, s)
	if hurry { // others that have answered are not waited for as long as it was thought
		for i := range p.machines {
			p.balance(now, i)
		}
	}
	return t
}

// Failed says that an instance could not start. It returns an invocation that was waiting: the instance is started once
// more for it, as a part of it. Without one the slot is over.
func (p *Placer) Failed(now time.Duration, s *Slot) *Ticket {
	if s.State != Starting {
		return nil
	}
	if t := p.take(s.Machine); t != nil {
		p.serve(now, s, t)
		return t
	}
	p.pause = min(max(2*p.pause, firstPause), lastPause)
	p.paused = now + p.pause
	p.Gone(now, s)
	return nil
}

// Gone says that an instance has ended, whatever it was doing. If it was busy, its invocation is over, too.
func (p *Placer) Gone(now time.Duration, s *Slot) {
	if s.State == Over {
		return
	}
	m := &p.machines[s.Machine]
	switch s.State {
	case Busy:
		p.enter(now, m, -1)
	case Answered:
		p.late = p.late || now-s.Since > soon
	}
	p.leave(m, s)
	s.State, s.Since = Over, now
	last := len(m.slots) - 1
	m.slots[s.index] = m.slots[last]
	m.slots[s.index].index = s.index
	m.slots[last] = nil
	m.slots = m.slots[:last]
	p.balance(now, s.Machine)
	p.prepare(now)
}

// Cancel takes an invocation back that is waiting; false: it is not waiting any more.
func (p *Placer) Cancel(now time.Duration, t *Ticket) bool {
	if !t.waiting {
		return false
	}
	m := &p.machines[t.machine]
	for i, w := range m.waiting {
		if w == t {
			m.waiting = append(m.waiting[:i], m.waiting[i+1:]...)
			break
		}
	}
	t.waiting = false
	p.enter(now, m, -1)
	return true
}

// Close refuses what arrives from now on and asks for every instance that does nothing to be stopped; the others are
// stopped when they become free. It returns the invocations that were waiting.
func (p *Placer) Close(now time.Duration) (waiting []*Ticket) {
	p.closed = true
	for i := range p.machines {
		m := &p.machines[i]
		for _, t := range m.waiting {
			t.waiting = false
			p.enter(now, m, -1)
			waiting = append(waiting, t)
		}
		m.waiting = nil
		for _, s := range append([]*Slot(nil), m.slots...) {
			if s.State == Starting || s.State == Idle || s.State == Answered {
				p.end(now, s)
			}
		}
	}
	return waiting
}
