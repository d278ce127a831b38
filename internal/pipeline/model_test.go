package pipeline

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// world is a random graph whose components decide by hash of what they see, so that a model can tell the end of every
// message beforehand. A message's body is the way it has come.
type world struct {
	seed     uint64
	sources  int
	messages int
	steps    []worldNode // transforms, then sinks
	stop     time.Duration
	inFlight int
	failPuts bool
	slab     int // messages that sources send at once; 0: one by one
	watched  bool
}

type worldNode struct {
	name   string
	sink   bool
	inputs []string
	whole  bool // a sink that answers for whole batches
	async  bool // a sink that answers for each message when it likes
	many   bool // a transform that takes several messages at once
	s      Settings
	worker int
}

func drawWorld(t *rapid.T) world {
	w := world{
		seed:     rapid.Uint64().Draw(t, "seed"),
		sources:  rapid.IntRange(1, 3).Draw(t, "sources"),
		messages: rapid.IntRange(0, 60).Draw(t, "messages"),
		inFlight: rapid.SampledFrom([]int{1, 3, 20, 1000}).Draw(t, "in flight"),
		failPuts: rapid.Bool().Draw(t, "failing puts"),
		slab:     rapid.SampledFrom([]int{0, 1, 7, 64, 100}).Draw(t, "slab"),
		watched:  rapid.Bool().Draw(t, "watched"),
	}
	if rapid.Bool().Draw(t, "stops") {
		w.stop = time.Duration(rapid.IntRange(0, 3000).Draw(t, "stop")) * time.Millisecond
	}
	var above []string
	for i := range w.sources {
		above = append(above, fmt.Sprintf("s%d", i))
	}
	unused := slices.Clone(above)
	use := func(n worldNode) {
		unused = slices.DeleteFunc(unused, func(name string) bool { return slices.Contains(n.inputs, name) })
		w.steps = append(w.steps, n)
	}
	inputs := func(label string) []string {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(above), 1, min(3, len(above)), rapid.ID[string]).Draw(t, label)
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "transforms") {
		name := fmt.Sprintf("t%d", i)
		use(worldNode{name: name, inputs: inputs(name), worker: rapid.IntRange(1, 3).Draw(t, "workers"),
			many: rapid.Bool().Draw(t, "many")})
		above, unused = append(above, name), append(unused, name)
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "sinks") {
		name := fmt.Sprintf("k%d", i)
		n := worldNode{name: name, sink: true, inputs: inputs(name)}
		switch rapid.SampledFrom([]string{"each", "whole", "async"}).Draw(t, "answers") {
		case "whole":
			n.whole = true
		case "async":
			n.async = true
		}
		n.s.Batch.MaxEvents = rapid.IntRange(1, 40).Draw(t, "batch")
		n.s.Batch.Timeout = time.Duration(rapid.SampledFrom([]int{0, 0, 50}).Draw(t, "delay")) * time.Millisecond
		n.s.Request.Concurrency = rapid.IntRange(0, 3).Draw(t, "concurrency")
		n.s.Request.RateNum = rapid.SampledFrom([]int{0, 0, 1000}).Draw(t, "rate")
		n.s.DeadLetter = rapid.SampledFrom([]string{"", "graves"}).Draw(t, "dead letter")
		if n.whole {
			n.s.Request.RetryAttempts = Unbounded
		}
		use(n)
	}
	if len(unused) > 0 {
		use(worldNode{name: "rest", sink: true, inputs: slices.Clone(unused)})
	}
	return w
}

func (w world) hash(parts ...string) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, w.seed, strings.Join(parts, "|"))
	return h.Sum64() >> 8
}

// Ends of a message at a node.
const (
	fine = iota
	later
	refuse
	panics
	unwanted // by a sink that is asynchronous; fine elsewhere
)

// fate is what a node does with a message, and after how many retries.
func (w world) fate(node, body string) (end int, retries int) {
	switch h := w.hash("fate", node, body) % 100; {
	case h < 75:
		return fine, 0
	case h < 88:
		return later, 1 + int(h%4)
	case h < 95:
		return refuse, 0
	case h < 97:
		return unwanted, 0
	}
	return panics, 0
}

// children are what a transform makes of a message.
func (w world) children(node, body string) []string {
	var all []string
	for i := range w.hash("children", node, body) % 4 {
		all = append(all, fmt.Sprintf("%s/%s.%d", body, node, i))
	}
	return all
}

// expect follows a message through the graph.
func (w world) expect() (delivered, dead map[string]bool) {
	delivered, dead = map[string]bool{}, map[string]bool{}
	var walk func(from, origin, body string)
	walk = func(from, origin, body string) {
		for _, n := range w.steps {
			if !slices.Contains(n.inputs, from) {
				continue
			}
			end, _ := w.fate(n.name, body)
			switch {
			case end == panics && n.whole: // is tried for ever, so the world has none
			case end == panics && n.async: // is a retry there, until nothing is left to try
				dead[origin+" "+n.name] = true
				continue
			case end == unwanted && n.async:
				continue
			case end == refuse || end == panics:
				dead[origin+" "+n.name] = true
				continue
			}
			if n.sink {
				delivered[body+" "+n.name] = true
				continue
			}
			for _, child := range w.children(n.name, body) {
				walk(n.name, origin, child)
			}
		}
	}
	for s := range w.sources {
		for m := range w.messages {
			body := fmt.Sprintf("s%d:%d", s, m)
			walk(fmt.Sprintf("s%d", s), body, body)
		}
	}
	return delivered, dead
}

// run builds the pipeline and lets it run. It returns what is wrong.
func (w world) run(t *testing.T) (wrong []string) {
	say := func(format string, a ...any) { wrong = append(wrong, fmt.Sprintf(format, a...)) }
	random := rand.New(rand.NewPCG(w.seed, 1))
	tries := map[string]int{}
	delivered, dead := map[string]bool{}, map[string]bool{}
	lock := make(chan struct{}, 1)
	locked := func(f func()) {
		lock <- struct{}{}
		defer func() { <-lock }()
		f()
	}
	try := func(node, body string) (end int) {
		end, retries := w.fate(node, body)
		locked(func() {
			tries[node+" "+body]++
			if end == later && tries[node+" "+body] > retries {
				end = fine
			}
		})
		return end
	}
	pause := func() {
		var d time.Duration
		locked(func() { d = time.Duration(random.IntN(20)) * time.Millisecond })
		time.Sleep(d)
	}
	var nodes []Node
	var feeds []*feed
	for s := range w.sources {
		f := &feed{slab: w.slab}
		for m := range w.messages {
			f.deliveries = append(f.deliveries, component.Delivery{Message: text(fmt.Sprintf("s%d:%d", s, m))})
		}
		feeds = append(feeds, f)
		nodes = append(nodes, Node{Name: fmt.Sprintf("s%d", s), Source: f})
	}
	for _, n := range w.steps {
		node := Node{Name: n.name, Inputs: n.inputs, Settings: n.s, Workers: n.worker}
		if !n.sink {
			made := change(func(_ context.Context, m *message.Message, emit component.Emit) error {
				for _, child := range w.children(n.name, string(m.Body)) {
					c := m.Clone()
					c.Body = []byte(child)
					emit("", c)
				}
				switch try(n.name, string(m.Body)) {
				case later:
					return component.RetryError(0, errDown)
				case refuse:
					return errDown
				case panics:
					panic("oh")
				}
				return nil
			})
			if node.Transform = made; n.many {
				node.Transform = slabwise{made}
			}
		} else if n.async {
			node.Sink = &caller{deliver: func(m *message.Message, deadline time.Time, done func(component.Outcome)) {
				body := string(m.Body)
				end := try(n.name, body)
				if end == panics {
					panic("oh")
				}
				var wait time.Duration
				locked(func() { wait = time.Duration(random.IntN(20)) * time.Millisecond })
				answer := func() {
					switch end {
					case later:
						done(component.Again(0, errDown))
					case refuse:
						done(component.Reject(errDown))
					case unwanted:
						done(component.Drop(component.ErrExpired))
					default:
						if !time.Now().After(deadline) {
							locked(func() { delivered[body+" "+n.name] = true })
						}
						done(component.OK(time.Now()))
						done(component.Reject(errDown)) // which is one too many
					}
				}
				if wait < 5*time.Millisecond {
					answer()
					return
				}
				time.AfterFunc(wait, answer)
			}}
		} else {
			node.Sink = &answer{send: func(_ context.Context, batch []*message.Message) ([]component.Outcome, error) {
				pause()
				outcomes := make([]component.Outcome, len(batch))
				var all error
				for i, m := range batch {
					switch try(n.name, string(m.Body)) {
					case later:
						outcomes[i] = component.Again(0, errDown)
						if all == nil {
							all = errDown
						}
					case refuse:
						outcomes[i] = component.Reject(errDown)
						all = component.RejectError(errDown)
					case panics:
						if !n.whole {
							panic("oh")
						}
					}
				}
				if n.whole && all != nil {
					return nil, all
				}
				locked(func() {
					for i, m := range batch {
						if outcomes[i].Verdict == component.Delivered {
							delivered[string(m.Body)+" "+n.name] = true
						}
					}
				})
				return outcomes, nil
			}}
		}
		nodes = append(nodes, node)
	}
	keeper := &keeper{fail: func(_ queue.Name, msgs []message.Message) error {
		var err error
		locked(func() {
			if w.failPuts && random.IntN(3) > 0 {
				err = errors.New("disk full")
				return
			}
			for _, m := range msgs {
				dead[string(m.Body)+" "+m.Death.Step] = true
			}
		})
		return err
	}}
	o := Options{Store: keeper, MaxInFlight: w.inFlight, StopGrace: time.Second}
	if w.watched {
		o.Observe = watch{}
	}
	p, err := New(nodes, o)
	if err != nil {
		return []string{err.Error()}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if w.stop > 0 {
		timer := time.AfterFunc(w.stop, cancel)
		defer timer.Stop()
	}
	r, err := p.Run(ctx)
	if err != nil {
		say("run: %v", err)
	}

	wantDelivered, wantDead := w.expect()
	settled := uint64(0)
	unfinished := map[string]bool{} // source messages that were given back or not taken
	for s, f := range feeds {
		for m := range w.messages {
			body := fmt.Sprintf("s%d:%d", s, m)
			switch os := f.settled[body]; {
			case len(os) > 1:
				say("%s settled %d times", body, len(os))
			case len(os) == 0 && w.stop == 0:
				say("%s was not settled", body)
			case len(os) == 0:
				unfinished[body] = true
			case os[0].Verdict != component.Delivered:
				settled++
				unfinished[body] = true
				if w.stop == 0 {
					say("%s was given back without a stop", body)
				}
			default:
				settled++
			}
		}
	}
	if total := r.Delivered + r.DeadLettered + r.Dropped + r.GivenBack; total != settled {
		say("the result counts %d deliveries, %d were settled: %+v", total, settled, r)
	}
	origin := func(key string) string {
		return strings.FieldsFunc(key, func(r rune) bool { return r == '/' || r == ' ' })[0]
	}
	compare := func(what string, got, want map[string]bool) {
		for _, key := range slices.Sorted(maps.Keys(want)) {
			if !got[key] && !unfinished[origin(key)] {
				say("%s: %s is missing", what, key)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(got)) {
			if !want[key] {
				say("%s: %s should not be", what, key)
			}
		}
	}
	compare("delivered", delivered, wantDelivered)
	compare("dead letters", dead, wantDead)
	if p.budget.usedN != 0 || p.budget.usedB != 0 || p.budget.crowded.Load() != 0 {
		say("the budget is left with %d messages, %d bytes", p.budget.usedN, p.budget.usedB)
	}
	for _, e := range p.entries {
		if e.account.n != 0 || e.account.bytes != 0 || e.live != 0 {
			say("%s is left with %+v, %d live", e.node.Name, e.account, e.live)
		}
	}
	for _, s := range p.stages {
		if s.held != 0 || s.heldBytes != 0 || s.waiting != 0 || s.busy != 0 || s.blocked.n != 0 || s.moving ||
			len(s.flights)+len(s.replies) > 0 {
			say("%s is left with %d held, %d bytes, %d waiting bytes, %d busy, %d blocked", s.node.Name, s.held,
				s.heldBytes, s.waiting, s.busy, s.blocked.n)
		}
	}
	return wrong
}

func TestEveryDeliveryIsSettledOnceAndEveryMessageDeliveredOrADeadLetter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt)
		var wrong []string
		synctest.Test(t, func(t *testing.T) { wrong = w.run(t) })
		if len(wrong) > 0 {
			rt.Fatal(strings.Join(wrong[:min(len(wrong), 10)], "\n"))
		}
	})
}
