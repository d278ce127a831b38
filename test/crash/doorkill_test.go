//go:build linux

package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/message"
)

const (
	doorKills = 12
	lease     = time.Second
	longLease = 10 * time.Minute
)

// door is the one that is open now. Clients fetch it anew after it was broken.
type door struct {
	mu     sync.Mutex
	client *httpdoor.Client
	opened chan struct{} // closed when the next one opens
}

func (d *door) open(c *httpdoor.Client) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.client = c
	close(d.opened)
	d.opened = make(chan struct{})
}

// after waits for another door than old. nil: ctx has ended.
func (d *door) after(ctx context.Context, old *httpdoor.Client) *httpdoor.Client {
	for {
		d.mu.Lock()
		c, opened := d.client, d.opened
		d.mu.Unlock()
		if c != old && c != nil {
			return c
		}
		select {
		case <-ctx.Done():
			return nil
		case <-opened:
		}
	}
}

// TestWhatAClientWasPromisedHoldsThroughKills runs publishers and workers against a serve that is killed again and
// again. The ledger has what they were promised.
func TestWhatAClientWasPromisedHoldsThroughKills(t *testing.T) {
	t.Parallel()
	random := newRandom(t)
	data := filepath.Join(t.TempDir(), "data")
	config := preamble(data) + "queues: { jobs: { lease: 2s } }\n"
	book := newLedger(t)
	d := &door{opened: make(chan struct{})}
	publishing, stopPublishing := context.WithCancel(t.Context())
	working, stopWorking := context.WithCancel(t.Context())
	killing, stopKilling := context.WithCancel(t.Context())
	defer stopKilling()
	defer stopPublishing()
	defer stopWorking()
	var publishers, workers sync.WaitGroup
	for i := range 3 {
		own := rand.New(rand.NewPCG(random.Uint64(), 2))
		publishers.Go(func() { publish(publishing, d, book, own, i) })
	}
	for i := range 4 {
		own := rand.New(rand.NewPCG(random.Uint64(), 3))
		workers.Go(func() { work(working, killing, d, book, own, i) })
	}
	for range doorKills * *times {
		s := serve(t, config)
		d.open(s.client)
		<-time.After(between(random, time.Millisecond, 130*time.Millisecond))
		s.kill()
	}
	stopPublishing()
	publishers.Wait()
	s := serve(t, config)
	d.open(s.client)
	stopKilling()
	until(t, func() string { return fmt.Sprintf("the queue is empty: %+v; %s", s.stats(t, "jobs"), book) },
		func() bool {
			return s.stats(t, "jobs").Messages == 0
		})
	stopWorking()
	workers.Wait()
	book.close(s.stats(t, "jobs").Totals)
	s.stop(t)
	checkJournal(t, data)
	t.Log(book)
}

var bodies atomic.Int64

// publish puts messages, each of its own body, until ctx ends. Some have a deduplication id and are sent again until
// they are acknowledged; the others are sent once.
func publish(ctx context.Context, d *door, book *ledger, random *rand.Rand, who int) {
	c := d.after(ctx, nil)
	for n := 0; c != nil; n++ {
		again := random.IntN(2) == 0
		msgs := make([]httpdoor.Message, 1+random.IntN(8))
		names := make([]string, len(msgs))
		for i := range msgs {
			names[i] = fmt.Sprintf("%d-%d", who, bodies.Add(1))
			msgs[i] = httpdoor.NewMessage([]byte(names[i]))
			msgs[i].Attributes.Set("lane", message.Int(int64(i%4)))
			if again {
				msgs[i].Dedup = names[i]
			}
		}
		for {
			_, err := c.Put(ctx, queueName("jobs"), msgs...)
			if err == nil {
				book.acknowledged(names)
				break
			}
			if c = d.after(ctx, c); c == nil || !again {
				break
			}
		}
	}
}

// work claims messages and does one thing or another with them, until ctx ends.
func work(ctx, killing context.Context, d *door, book *ledger, random *rand.Rand, lane int) {
	c := d.after(ctx, nil)
	var late []*held // claims that were left until their leases ended
	for c != nil {
		if len(late) > 0 && time.Since(late[0].until) > lease/2 {
			hs := late
			late = nil
			c = settle(ctx, d, c, book, hs, httpdoor.Done, false)
			continue
		}
		r := httpdoor.ClaimRequest{
			Where: fmt.Sprintf("lane >= %d and lane < %d", lane%2*2, lane%2*2+2), Max: 1 + random.IntN(6),
			Wait: httpdoor.Duration(50 * time.Millisecond), Lease: httpdoor.Duration(lease),
		}
		asked := time.Now()
		claims, err := c.Claim(ctx, queueName("jobs"), r)
		if err != nil {
			c = d.after(ctx, c)
			continue
		}
		hs := book.claimed(claims, asked)
		switch what := random.IntN(10); {
		case len(hs) == 0:
		case what < 6:
			c = settle(ctx, d, c, book, hs, httpdoor.Done, true)
		case what < 7:
			c = settle(ctx, d, c, book, hs, httpdoor.Back, false)
		case what < 8:
			if late == nil {
				late = hs
			}
		default:
			c = keepOverAKill(ctx, killing, d, c, book, hs)
		}
	}
}

// settle settles claims through the door c, and when that breaks and again is set through the next one.
func settle(ctx context.Context, d *door, c *httpdoor.Client, book *ledger, hs []*held, as string,
	again bool) *httpdoor.Client {
	ss := make([]httpdoor.Settlement, len(hs))
	for i, h := range hs {
		ss[i] = httpdoor.Settlement{Token: h.token, As: as}
	}
	for tries := 0; ; tries++ {
		book.trying(hs, as)
		results, err := c.Settle(ctx, ss...)
		if err == nil {
			book.settledAs(as, hs, results, tries > 0)
			return c
		}
		if c = d.after(ctx, c); c == nil || !again {
			return c
		}
	}
}

// keepOverAKill extends claims so far that no kill outlasts them, waits for the next kill, and settles them after it.
func keepOverAKill(ctx, killing context.Context, d *door, c *httpdoor.Client, book *ledger,
	hs []*held) *httpdoor.Client {
	tokens := make([]string, len(hs))
	for i, h := range hs {
		tokens[i] = h.token
	}
	asked := time.Now()
	results, err := c.Extend(ctx, httpdoor.Duration(longLease), tokens...)
	if err == nil {
		hs = book.extended(hs, results, asked)
	}
	next := d.after(killing, c)
	if next == nil {
		next = c // no kill comes any more
	}
	if len(hs) == 0 {
		return next
	}
	return settle(ctx, d, next, book, hs, httpdoor.Done, true)
}
