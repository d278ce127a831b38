//go:build linux

package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
)

// portals are the HTTP doors that clients may go to, by node.
type portals struct {
	mu  sync.Mutex
	all map[string]*httpdoor.Client
}

// set has a node have a door; nil: it has none.
func (p *portals) set(node string, c *httpdoor.Client) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil {
		p.all = map[string]*httpdoor.Client{}
	}
	p.all[node] = c
	if c == nil {
		delete(p.all, node)
	}
}

// pick is a door for a client that clings to a node, and goes to another one now and then, and when that node is gone.
// nil: there is none.
func (p *portals) pick(node string, random *rand.Rand) *httpdoor.Client {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.all[node]; c != nil && random.IntN(5) > 0 {
		return c
	}
	var names []string
	for n := range p.all {
		names = append(names, n)
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return p.all[names[random.IntN(len(names))]]
}

// patient is how long a client waits for an answer.
const patient = 4 * time.Second

// historian is a client whose history is written down.
type historian struct {
	h      *history
	doors  *portals
	node   string
	number int
	random *rand.Rand // of one goroutine
}

// call does something at a door, and returns false when there is no door.
func (w *historian) call(ctx context.Context, do func(context.Context, *httpdoor.Client)) bool {
	c := w.doors.pick(w.node, w.random)
	if c == nil {
		rested(ctx, 20*time.Millisecond)
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, patient)
	defer cancel()
	do(ctx, c)
	return true
}

func rested(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// perKey is how many messages a key gets.
const perKey = 12

// putAll puts messages into both queues, with keys and without, until ctx ends.
func (w *historian) putAll(ctx context.Context, pause time.Duration) {
	for n := 0; ctx.Err() == nil; {
		name, key := []string{historyQueue, exactQueue}[w.random.IntN(2)], ""
		bodies := []string{fmt.Sprintf("%s %d-%d", name, w.number, n)}
		if w.random.IntN(3) > 0 {
			key = fmt.Sprintf("key %d-%d", w.number, n/perKey)
			bodies = append(bodies, bodies[0]+"-b", bodies[0]+"-c")[:1+w.random.IntN(3)]
		}
		var msgs []httpdoor.Message
		for _, b := range bodies {
			m := httpdoor.NewMessage([]byte(b))
			m.Key = key
			msgs = append(msgs, m)
		}
		if w.call(ctx, func(ctx context.Context, c *httpdoor.Client) {
			ops := w.h.putting(w.number, name, key, bodies)
			results, err := c.Put(ctx, queueName(name), msgs...)
			w.h.put(ops, results, err)
		}) {
			n++
		}
		rested(ctx, pause)
	}
}

// takeAll claims messages of a queue until ctx ends. It settles most of them at once, some late, gives some back,
// extends some claims, and forgets some. Once only is closed it settles all at once.
func (w *historian) takeAll(ctx context.Context, name string, only <-chan struct{}) {
	var late sync.WaitGroup
	defer late.Wait()
	for ctx.Err() == nil {
		lease := time.Duration(1500+500*w.random.IntN(4)) * time.Millisecond
		r := httpdoor.ClaimRequest{Max: 1 + w.random.IntN(4), Wait: httpdoor.Duration(200 * time.Millisecond),
			Lease: httpdoor.Duration(lease)}
		var all []*taken
		w.call(ctx, func(ctx context.Context, c *httpdoor.Client) {
			asked := time.Now()
			if claims, err := c.Claim(ctx, queueName(name), r); err == nil {
				all = w.h.claimed(w.number, asked, lease, claims)
			}
		})
		if len(all) == 0 {
			continue
		}
		what := w.random.IntN(12)
		select {
		case <-only:
			what = 11
		default:
		}
		own := *w
		own.random = rand.New(rand.NewPCG(w.random.Uint64(), 4))
		switch what {
		case 0:
			w.settle(ctx, opBack, all)
		case 1, 2: // about when the lease ends
			late.Go(func() {
				rested(ctx, time.Until(all[0].until)+between(own.random, -300*time.Millisecond, 700*time.Millisecond))
				own.settle(ctx, opDone, all)
			})
		case 3, 4:
			late.Go(func() {
				for range 1 + own.random.IntN(2) {
					rested(ctx, between(own.random, lease/4, lease))
					own.extend(ctx, lease, all)
				}
				rested(ctx, between(own.random, lease/4, lease))
				own.settle(ctx, opDone, all)
			})
		case 5: // it is forgotten
		default:
			w.settle(ctx, opDone, all)
		}
	}
}

// settle settles claims; what is not answered it tries again, wherever.
func (w *historian) settle(ctx context.Context, kind opKind, all []*taken) {
	var ss []httpdoor.Settlement
	for _, m := range all {
		ss = append(ss, httpdoor.Settlement{Token: m.op.token, As: string(kind)})
	}
	for tries := 0; tries < 4 && ctx.Err() == nil; tries++ {
		answered := false
		w.call(ctx, func(ctx context.Context, c *httpdoor.Client) {
			ops := w.h.asking(kind, w.number, 0, all)
			results, err := c.Settle(ctx, ss...)
			w.h.told(ops, results, err)
			answered = err == nil
		})
		if answered {
			return
		}
	}
}

// extend asks for a lease from now on.
func (w *historian) extend(ctx context.Context, lease time.Duration, all []*taken) {
	var tokens []string
	for _, m := range all {
		tokens = append(tokens, m.op.token)
	}
	w.call(ctx, func(ctx context.Context, c *httpdoor.Client) {
		ops := w.h.asking(opExtend, w.number, lease, all)
		results, err := c.Extend(ctx, httpdoor.Duration(lease), tokens...)
		w.h.told(ops, results, err)
	})
}

// historians are clients of both queues at some nodes.
type historians struct {
	h               *history
	doors           *portals
	putting, taking sync.WaitGroup
	stopPuts, stop  context.CancelFunc
	only            chan struct{}
}

// writeHistory has clients at nodes, one who puts and one for each queue who takes.
func writeHistory(ctx context.Context, h *history, random *rand.Rand, pause time.Duration,
	nodes ...string) *historians {
	s := &historians{h: h, doors: &portals{}, only: make(chan struct{})}
	puts, stopPuts := context.WithCancel(ctx)
	takes, stop := context.WithCancel(ctx)
	s.stopPuts, s.stop = stopPuts, stop
	client := func(node string, number int) *historian {
		return &historian{h: h, doors: s.doors, node: node, number: number,
			random: rand.New(rand.NewPCG(random.Uint64(), 5))}
	}
	for i, node := range nodes {
		writer := client(node, 3*i)
		s.putting.Go(func() { writer.putAll(puts, pause) })
		for j, name := range []string{historyQueue, exactQueue} {
			worker := client(node, 3*i+1+j)
			s.taking.Go(func() { worker.takeAll(takes, name, s.only) })
		}
	}
	return s
}

// end ends the clients when both queues are empty, as a server says, and looks whether everything that they were told
// can have happened.
func (s *historians) end(at *served) {
	t := s.h.t
	t.Helper()
	s.stopPuts()
	s.putting.Wait()
	close(s.only)
	until(t, says("the queues of a history are empty"), func() bool {
		return at.stats(t, historyQueue).Messages+at.stats(t, exactQueue).Messages == 0
	})
	s.stop()
	s.taking.Wait()
	s.h.empty()
	s.h.check()
}
