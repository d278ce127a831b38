package farend

import (
	"math/rand/v2"
	"sync/atomic"
)

// plan is a Behaviour made ready for being asked for every request. It is immutable but for its counters.
type plan struct {
	Behaviour
	limit  uint32
	faults []chance
	named  map[string]*rule // by token
	some   []rule           // one in so many
}

// rule is a Device made ready.
type rule struct {
	oneIn   uint64
	latency *Latency
	faults  []chance
}

// chance is a Fault and how often it came up and happened.
type chance struct {
	Fault
	asked, done *atomic.Int64
}

func newPlan(b Behaviour) *plan {
	p := &plan{Behaviour: b, limit: DefaultStreams, faults: chances(b.Faults)}
	if b.Streams != nil {
		p.limit = *b.Streams
	}
	for _, d := range b.Devices {
		r := rule{oneIn: uint64(d.OneIn), latency: d.Latency, faults: chances(d.Faults)}
		if d.OneIn > 0 {
			p.some = append(p.some, r)
			continue
		}
		if p.named == nil {
			p.named = make(map[string]*rule)
		}
		for _, t := range d.Tokens {
			if p.named[t] == nil {
				p.named[t] = &r
			}
		}
	}
	return p
}

func chances(faults []Fault) []chance {
	cs := make([]chance, len(faults))
	for i, f := range faults {
		cs[i] = chance{f, new(atomic.Int64), new(atomic.Int64)}
	}
	return cs
}

// choose says how long a device's request waits and what befalls it, nil for nothing.
func (p *plan) choose(device string, hash uint64, r *rand.Rand) (Latency, *Fault) {
	latency := p.Latency
	if rule := p.rule(device, hash); rule != nil {
		if rule.latency != nil {
			latency = *rule.latency
		}
		if f := happens(rule.faults, r); f != nil {
			return latency, f
		}
	}
	return latency, happens(p.faults, r)
}

func (p *plan) rule(device string, hash uint64) *rule {
	if rule, ok := p.named[device]; ok {
		return rule
	}
	for i := range p.some {
		if hash%p.some[i].oneIn == 0 {
			return &p.some[i]
		}
	}
	return nil
}

// happens returns the first fault that comes up.
func happens(cs []chance, r *rand.Rand) *Fault {
	for i := range cs {
		c := &cs[i]
		if c.Times > 0 && c.done.Load() >= int64(c.Times) {
			continue
		}
		if c.Probability > 0 && r.Float64() >= c.Probability {
			continue
		}
		if c.Every > 0 && c.asked.Add(1)%int64(c.Every) != 0 {
			continue
		}
		if c.Times > 0 && c.done.Add(1) > int64(c.Times) {
			continue
		}
		return &c.Fault
	}
	return nil
}
