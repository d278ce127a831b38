package function

import (
	"cmp"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/function/isolate"
	"github.com/hikyaku/hikyaku/internal/function/limit"
	"github.com/hikyaku/hikyaku/internal/function/place"
)

// totals count what a function has done since it was deployed.
type totals struct {
	invocations, errors, timeouts, throttled, cold, initFailures atomic.Int64
	billed                                                       atomic.Int64 // nanoseconds
	cost                                                         atomic.Uint64
}

// add adds the end of an invocation.
func (t *totals) add(r *Result) {
	t.invocations.Add(1)
	if r.FunctionError != "" {
		t.errors.Add(1)
	}
	if r.ErrorType == errorTimeout {
		t.timeouts.Add(1)
	}
	t.billed.Add(int64(r.Charge.Billed))
	for {
		old := t.cost.Load()
		if t.cost.CompareAndSwap(old, math.Float64bits(math.Float64frombits(old)+r.Charge.Cost)) {
			return
		}
	}
}

// Stats is what a version of a function has done since it was deployed, and its instances.
type Stats struct {
	Deployed Deployed

	Invocations, Errors, Timeouts, Throttled int64
	ColdStarts                               int64 // instances that were started
	InitFailures                             int64 // of those, how many could not
	Billed                                   time.Duration
	Cost                                     float64 // US dollars

	Counts    place.Counts
	Instances []InstanceStats
}

// InstanceStats is an instance at a moment.
type InstanceStats struct {
	ID      string
	State   string // starting, idle, frozen, busy, finishing or stopping
	Machine int    // with place.Spread
	Age     time.Duration
	InState time.Duration
	Init    time.Duration // how long it took to start; 0: it has not yet
	Invokes int64
	PeakMB  int // 0: unknown
	Pid     int
	Limited bool // its memory is limited
	// Isolated tells whether it has a room of its own, with bounded temporary files, and Opt whether it finds its
	// layers at /opt. StoredMB are its temporary files when they are not bounded, as they were weighed last.
	Isolated, Opt bool
	StoredMB      int
}

// Stats tells about a version of a function. An error wraps ErrUnknown.
func (p *Pool) Stats(name, version string) (Stats, error) {
	f, err := p.find(name, version)
	if err != nil {
		return Stats{}, err
	}
	return f.stats(), nil
}

// List tells about every function, by name and version.
func (p *Pool) List() []Stats {
	p.mu.Lock()
	var all []*function
	for _, f := range p.functions {
		all = append(all, f)
	}
	p.mu.Unlock()
	slices.SortFunc(all, func(a, b *function) int {
		return cmp.Or(cmp.Compare(a.d.Name, b.d.Name), cmp.Compare(a.d.Version, b.d.Version))
	})
	var stats []Stats
	for _, f := range all {
		stats = append(stats, f.stats())
	}
	return stats
}

func (f *function) stats() Stats {
	t := &f.totals
	s := Stats{Deployed: f.deployed, Invocations: t.invocations.Load(), Errors: t.errors.Load(),
		Timeouts:  t.timeouts.Load(),
		Throttled: t.throttled.Load(), ColdStarts: t.cold.Load(), InitFailures: t.initFailures.Load(),
		Billed: time.Duration(t.billed.Load()),
		Cost:   math.Float64frombits(t.cost.Load())}
	f.mu.Lock()
	defer f.mu.Unlock()
	s.Counts = f.placer.Counts()
	now := f.pool.now()
	f.placer.Slots(func(slot *place.Slot) bool {
		i, ok := slot.Value.(*instance)
		if !ok {
			return true
		}
		is := i.stats()
		is.State, is.Machine, is.InState = slot.State.String(), slot.Machine, now-slot.Since
		if slot.Frozen {
			is.State = "frozen"
		}
		s.Instances = append(s.Instances, is)
		return true
	})
	return s
}

// Machine tells what this machine can limit, and whether programs are killed when this process is.
type Machine struct {
	Limits    limit.What
	Guarded   bool
	Isolation isolate.Abilities // of instances
}

// Machine tells about the machine.
func (p *Pool) Machine() Machine {
	m := Machine{Guarded: p.starter.Guarded(), Isolation: p.starter.Isolation()}
	if p.limits != nil {
		m.Limits = p.limits.What()
	} else {
		m.Limits.Why = "limits are switched off"
	}
	return m
}
