package http

import (
	"context"
	"maps"
	runtimemetrics "runtime/metrics"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/machine"
	"github.com/hikyaku/hikyaku/internal/pipeline"
	"github.com/hikyaku/hikyaku/internal/queue"
)

const (
	// lookEach is how old what was looked at may be for another look to be saved: however many ask, all queues are
	// looked at once a second at most; see glance.fresh.
	lookEach = time.Second
	// rateOver is the longest time that rates are told of. After it, what was looked at is forgotten.
	rateOver = time.Minute
	// roomPatience is how long the disk of data_dir may take to say what is free. One that is gone may never do.
	roomPatience = 100 * time.Millisecond
)

// busiest looks at all queues, components and doors when somebody asks how busy they are, and remembers the totals for
// the rates of the next look.
type busiest struct {
	store      Store
	components func() []pipeline.NodeStats
	doors      map[string]*door.Traffic
	trace      *journey.Store
	disk       *machine.Disk // of data_dir; nil: nobody wants to know

	turn   chan struct{} // has what is below
	last   *glance       // nil: none in the last minute
	forget *time.Timer
}

// glance is what one look has seen. It does not change any more.
type glance struct {
	at         time.Time
	over       float64           // seconds since the look before; 0: there was none
	queues     []seenQueue       // by name, as the store lists them
	totals     map[string]totals // of components, doors and the process
	components []TopComponent
	doors      []TopDoor
	process    TopProcess
}

type seenQueue struct {
	name   queue.Name
	totals totals
	TopQueue
}

// totals are what rates are made of: messages in and out; requests, errors and bytes of a door; or what the process has
// taken.
type totals [4]uint64

func newBusiest(o Options) *busiest {
	b := &busiest{store: o.Store, components: o.Components, doors: o.Doors, trace: o.Trace,
		turn: make(chan struct{}, 1)}
	if o.DataDir != "" {
		b.disk = machine.NewDisk(o.DataDir)
	}
	b.forget = time.AfterFunc(rateOver, func() {
		b.turn <- struct{}{}
		if b.last != nil && time.Since(b.last.at) >= rateOver {
			b.last = nil
		}
		<-b.turn
	})
	b.forget.Stop()
	return b
}

// close ends the remembering.
func (b *busiest) close() { b.forget.Stop() }

// look is what there is to see now, or was within lookEach.
func (b *busiest) look(ctx context.Context) (*glance, error) {
	select {
	case b.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-b.turn }()
	before := b.last
	if before != nil && time.Since(before.at) < before.fresh() {
		return before, nil
	}
	g, err := b.see(ctx, before)
	if err != nil {
		return nil, err
	}
	b.lookAtProcess(g, before)
	b.last = g
	b.forget.Reset(rateOver)
	return g, nil
}

// fresh is for how long a look serves all who ask: a look asks each queue, so with many of them longer.
func (g *glance) fresh() time.Duration {
	if len(g.queues) > manyQueues {
		return slowSteps * lookEach
	}
	return lookEach
}

// see looks at everything but the process. Its rates are of the time since the look before, unless that is long ago.
func (b *busiest) see(ctx context.Context, before *glance) (*glance, error) {
	now := time.Now()
	g := &glance{at: now, totals: map[string]totals{}}
	if before != nil && now.Sub(before.at) < rateOver {
		g.over = now.Sub(before.at).Seconds()
	}
	if err := b.lookAtQueues(ctx, g, before); err != nil {
		return nil, err
	}
	b.lookAtComponents(g, before)
	b.lookAtDoors(g, before)
	return g, nil
}

// rates is how much totals grew in a second since the look before.
func (g *glance) rates(was, now totals) (rates [4]float64) {
	if g.over == 0 {
		return rates
	}
	for i := range now {
		if now[i] < was[i] {
			was[i] = 0 // it was made anew
		}
		rates[i] = float64(now[i]-was[i]) / g.over
	}
	return rates
}

// ratesOf is rates of a component or a door, whose totals it notes.
func (g *glance) ratesOf(before *glance, key string, now totals) (rates [4]float64) {
	g.totals[key] = now
	if before == nil {
		return rates
	}
	return g.rates(before.totals[key], now)
}

func (b *busiest) lookAtQueues(ctx context.Context, g, before *glance) error {
	names, err := b.store.Queues(ctx)
	if err != nil {
		return err
	}
	g.queues = make([]seenQueue, 0, len(names))
	var known []seenQueue // of the look before, from this name on
	if before != nil {
		known = before.queues
	}
	for _, n := range names {
		for len(known) > 0 && isBefore(known[0].name, n) {
			known = known[1:]
		}
		s, err := b.store.Stats(ctx, n)
		if err != nil {
			if err := unlessGone(err); err != nil {
				return err
			}
			continue
		}
		q := seenQueue{name: n, totals: totals{s.TotalPut, s.TotalDone + s.TotalDead + s.TotalExpired}}
		var was totals
		if len(known) > 0 && known[0].name == n {
			q.Name, was = known[0].Name, known[0].totals
		} else {
			q.Name = n.String()
		}
		q.TopQueue = TopQueue{Name: q.Name, Ready: s.Ready, Claimed: s.Claimed, Delayed: s.Delayed, Waiting: s.Behind,
			Dead: s.TotalDead}
		if !s.Oldest.IsZero() {
			q.Oldest = max(0, g.at.Sub(s.Oldest).Seconds())
		}
		r := g.rates(was, q.totals)
		q.In, q.Out = r[0], r[1]
		g.queues = append(g.queues, q)
	}
	return nil
}

// isBefore tells whether the store lists a queue before another one.
func isBefore(a, b queue.Name) bool {
	return a.Namespace < b.Namespace || a.Namespace == b.Namespace && a.Name < b.Name
}

func (b *busiest) lookAtComponents(g, before *glance) {
	g.components = []TopComponent{}
	if b.components == nil {
		return
	}
	for _, n := range b.components() {
		c := TopComponent{Name: n.Name, Kind: n.Kind, InFlight: n.InFlight, Retried: n.Retries, Rejected: n.Rejected}
		out := n.Delivered
		if n.Kind == pipeline.KindTransform {
			out = n.Out
		}
		r := g.ratesOf(before, "component "+n.Name, totals{n.In, out})
		c.In, c.Out = r[0], r[1]
		if n.Kind == pipeline.KindSink {
			c.P50, c.P99 = b.took(n.Name, 0.5), b.took(n.Name, 0.99)
		}
		g.components = append(g.components, c)
	}
}

func (b *busiest) took(sink string, part float64) float64 {
	d, _ := b.trace.Took(journey.Place{Name: sink}, part)
	return d.Seconds()
}

func (b *busiest) lookAtDoors(g, before *glance) {
	g.doors = []TopDoor{}
	for _, name := range slices.Sorted(maps.Keys(b.doors)) {
		f := b.doors[name].Figures()
		r := g.ratesOf(before, "door "+name, totals{f.Requests, f.Errors, f.Received, f.Sent})
		g.doors = append(g.doors, TopDoor{Name: name, Connections: f.Connections, Requests: r[0], Errors: r[1],
			Received: r[2], Sent: r[3]})
	}
}

func (b *busiest) lookAtProcess(g, before *glance) {
	used := []runtimemetrics.Sample{{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/sched/goroutines:goroutines"}}
	runtimemetrics.Read(used)
	j := b.store.JournalStats()
	r := g.ratesOf(before, "process", totals{uint64(machine.ProcessorTime()), j.Syncs})
	g.process = TopProcess{Resident: machine.ResidentBytes(), Heap: used[0].Value.Uint64(),
		Goroutines: used[1].Value.Uint64(), Processor: r[0] / float64(time.Second), Journal: j.TotalBytes,
		JournalLive: j.LiveBytes, Segments: j.Segments, Syncs: r[1]}
	if b.disk == nil {
		return
	}
	if r, known := b.disk.Room(roomPatience); known {
		g.process.Free = &r.Free
	}
}
