package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/machine"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// caseLocal is a client of the owner's own door.
const caseLocal = "local"

const (
	forwardMS = 0.25 // what a request through another node may take more
	handOffMS = 0.5  // how long after its acknowledgement a message may come there
	waitLong  = 5 * time.Minute
)

// caller makes requests at a door, one after the other.
type caller struct {
	client *httpdoor.Client
	call   func(context.Context, *httpdoor.Client) error
}

// Run implements harness.Side.
func (c *caller) Run(ctx context.Context, d time.Duration) (harness.Sample, error) {
	return crowd(ctx, 1, d, func(ctx context.Context) error { return c.call(ctx, c.client) })
}

// forwarded compares requests through another node with those to the owner.
func (s *session) forwarded(ctx context.Context) error {
	owner, err := s.ownerOf(ctx)
	if err != nil {
		return err
	}
	message := httpdoor.NewMessage(harness.MakeBody(harness.BodyBytes))
	for _, kind := range []struct {
		name string
		call func(context.Context, *httpdoor.Client) error
	}{{"put", func(ctx context.Context, c *httpdoor.Client) error {
		_, err := c.Put(ctx, scratch, message)
		return err
	}}, {"claim", func(ctx context.Context, c *httpdoor.Client) error {
		claims, err := c.Claim(ctx, idle, httpdoor.ClaimRequest{})
		if err == nil && len(claims) > 0 {
			err = errors.New("a queue into which nothing was put has messages")
		}
		return err
	}}} {
		far, near := &caller{s.nodes.other(owner, 0).client, kind.call}, &caller{owner.client, kind.call}
		for _, side := range []*caller{far, near} {
			if _, err := side.Run(ctx, s.warmUp); err != nil {
				return err
			}
		}
		c, err := s.Alternate(ctx, s.Step, harness.ByExcess(0.5), far, near)
		if err != nil {
			return err
		}
		r := s.Report.Row(harness.CaseOurs, workForward).Set("kind", kind.name).Times(c.Ours.Calls)
		harness.SetRatio(r, "more_p50_ms", c.Peers[0].Ratios)
		harness.Judge(r, s.Quick, harness.AtMost("more_p50_ms", forwardMS))
		s.Report.Row(caseLocal, workForward).Set("kind", kind.name).Times(c.Peers[0].Calls)
		if _, err := owner.client.Purge(ctx, scratch); err != nil {
			return err
		}
	}
	return nil
}

// ownerOf opens the nodes, and tells which of them owns the shard.
func (s *session) ownerOf(ctx context.Context) (*node, error) {
	if err := s.openNodes(ctx); err != nil {
		return nil, err
	}
	return s.nodes.whole(ctx)
}

// handOff is what came of messages that were handed to a claim that waited.
type handOff struct {
	name          string           // its case
	client        *httpdoor.Client // of the node where it waits
	whole, beyond *measure.Histogram
}

// handOffs compares messages that are put at the owner and handed to a claim that waits at another node with those
// that are handed to a claim at the owner.
func (s *session) handOffs(ctx context.Context) error {
	owner, err := s.ownerOf(ctx)
	if err != nil {
		return err
	}
	far := &handOff{name: harness.CaseOurs, client: s.nodes.other(owner, 0).client}
	near := &handOff{name: caseLocal, client: owner.client}
	for round := range s.Pairs + 1 {
		if round < 2 { // the first round is not counted
			for _, h := range []*handOff{far, near} {
				h.whole, h.beyond = measure.NewHistogram(), measure.NewHistogram()
			}
		}
		sides := [2]*handOff{far, near}
		for i := range sides {
			h := sides[(round+i)%2]
			if err := h.slice(ctx, owner.client, s.handed); err != nil {
				return fmt.Errorf("hand off: %w", err)
			}
		}
		s.Step()
	}
	for _, h := range []*handOff{far, near} {
		sum := h.beyond.Summary()
		r := s.Report.Row(h.name, workHandOff).Set("bytes", harness.BodyBytes).Times(h.whole).
			Set("beyond_p50_ms", harness.Milliseconds(sum.P50)).Set("beyond_p99_ms", harness.Milliseconds(sum.P99))
		if h == far {
			harness.Judge(r, s.Quick, harness.AtMost("beyond_p50_ms", handOffMS))
		}
	}
	return nil
}

// slice hands so many messages off, each when a claim waits for it.
func (h *handOff) slice(ctx context.Context, owner *httpdoor.Client, n int) error {
	came := make(chan time.Time, 1)
	return harness.Crowd(ctx, 2, func(ctx context.Context, i int) error {
		for range n {
			if i == 0 {
				claims, err := claimOne(ctx, h.client)
				if err != nil {
					return err
				}
				came <- time.Now()
				if _, err := h.client.Settle(ctx, httpdoor.Settlement{Token: claims.Token}); err != nil {
					return err
				}
				continue
			}
			if err := awaitWaiters(ctx, owner, 1); err != nil {
				return err
			}
			began := time.Now()
			if _, err := owner.Put(ctx, handed, httpdoor.NewMessage(harness.MakeBody(harness.BodyBytes))); err != nil {
				return err
			}
			acked := time.Now()
			select {
			case at := <-came:
				h.whole.Record(at.Sub(began))
				h.beyond.Record(at.Sub(acked))
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
}

// claimOne waits for a message.
func claimOne(ctx context.Context, c *httpdoor.Client) (httpdoor.Claimed, error) {
	claims, err := c.Claim(ctx, handed, httpdoor.ClaimRequest{Wait: httpdoor.Duration(waitLong)})
	if err == nil && len(claims) != 1 {
		err = fmt.Errorf("a claim that waited was handed %d messages", len(claims))
	}
	if err != nil {
		return httpdoor.Claimed{}, err
	}
	return claims[0], nil
}

// awaitWaiters waits until so many claims wait.
func awaitWaiters(ctx context.Context, owner *httpdoor.Client, n int) error {
	for {
		stats, err := owner.Stats(ctx, handed)
		if err != nil || stats.Waiters >= n {
			return err
		}
		if pause(ctx, tryAgain); ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// connections is how many may be open to the doors of both other nodes, as the files let them: a node uses a quarter of
// its for the clients of its one door, and another one for what it passes on. 0: nobody says.
func connections() int {
	files := machine.Files()
	if files == 0 || files > 1<<20 {
		return 1 << 20
	}
	return 2 * int(files/4-reserved)
}

// reserved are connections of other clients to a node's door.
const reserved = 50

// crowded has many claims wait at the other nodes, or at the owner, each on a connection of its own, and puts a message
// for each.
func (s *session) crowded(ctx context.Context, n int) error {
	owner, err := s.ownerOf(ctx)
	if err != nil {
		return err
	}
	most := connections()
	if n > most {
		s.Report.Note(fmt.Sprintf("%d claims wait, for a process may have so few files open; %d need ulimit -n %d",
			most, n, 2*n+4*reserved))
		n = most
	}
	far := []*node{s.nodes.other(owner, 0), s.nodes.other(owner, 2)}
	if far[0] == far[1] {
		far[1] = s.nodes.other(owner, 1)
	}
	for _, side := range []struct {
		name string
		at   []*node
	}{{harness.CaseOurs, far}, {caseLocal, []*node{owner}}} {
		if err := s.crowdAt(ctx, side.name, n, owner, side.at); err != nil {
			return fmt.Errorf("%d claims wait: %w", n, err)
		}
		s.Step()
	}
	return nil
}

// enterAtOnce is how many claims begin to wait at once.
const enterAtOnce = 100

// crowdAt has n claims wait at some nodes.
func (s *session) crowdAt(ctx context.Context, name string, n int, owner *node, at []*node) error {
	var clients []*httpdoor.Client
	for _, one := range at {
		transport := &http.Transport{}
		defer transport.CloseIdleConnections()
		c, err := httpdoor.NewClient(httpdoor.ClientConfig{URL: one.url, HTTP: &http.Client{Transport: transport}})
		if err != nil {
			return err
		}
		clients = append(clients, c)
	}
	memory := func() (owners, theirs int64) { return owner.rss(), at[0].rss() }
	ownerBefore, theirBefore := memory()
	var ownerAfter, theirAfter int64
	var began, last time.Time
	var mu sync.Mutex
	tokens := map[string]bool{}
	came := measure.NewHistogram()
	enter := make(chan struct{})
	err := harness.Crowd(ctx, 1+n, func(ctx context.Context, i int) error {
		if i < n {
			select {
			case <-enter:
			case <-ctx.Done():
				return ctx.Err()
			}
			got, err := claimOne(ctx, clients[i%len(clients)])
			mu.Lock()
			defer mu.Unlock()
			last = time.Now()
			came.Record(last.Sub(began))
			tokens[got.Token] = true
			return err
		}
		// A node closes a connection that it cannot pass on within some seconds, which too many at once would take.
		for let := range n {
			select {
			case enter <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
			if let+1 < n && (let+1)%enterAtOnce != 0 {
				continue
			}
			if err := awaitWaiters(ctx, owner.client, let+1); err != nil {
				return err
			}
		}
		ownerAfter, theirAfter = memory()
		mu.Lock()
		began = time.Now()
		mu.Unlock()
		for left := n; left > 0; left -= fillBatch {
			var msgs []httpdoor.Message
			for range min(left, fillBatch) {
				msgs = append(msgs, httpdoor.NewMessage(harness.MakeBody(harness.BodyBytes)))
			}
			if _, err := owner.client.Put(ctx, handed, msgs...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(tokens) != n {
		return fmt.Errorf("%d different messages were handed out to %d claims", len(tokens), n)
	}
	var done []httpdoor.Settlement
	for token := range tokens {
		done = append(done, httpdoor.Settlement{Token: token})
	}
	if _, err := owner.client.Settle(ctx, done...); err != nil {
		return err
	}
	r := s.Report.Row(name, workCrowd).Set("clients", n).Set("bytes", harness.BodyBytes).Times(came).
		Set("total_ms", harness.Milliseconds(last.Sub(began)))
	each := func(before, after int64) float64 {
		return harness.Hundredths(float64(after-before) / 1000 / float64(n))
	}
	if ownerAfter > 0 && at[0] != owner { // later the owner has that memory already
		r.Set("owner_kb", each(ownerBefore, ownerAfter))
		r.Set("node_kb", each(theirBefore, theirAfter)*float64(len(at)))
	}
	return nil
}
