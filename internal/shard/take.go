package shard

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// owner is the queue.Owner of a Router: one of each store that it has claimed from.
type owner struct {
	router *Router
	name   string
	mu     sync.Mutex
	closed bool
	each   []queue.Owner // by shard; nil: none yet
}

// NewOwner implements queue.Service.
func (r *Router) NewOwner(name string) queue.Owner {
	return &owner{router: r, name: name, each: make([]queue.Owner, len(r.stores))}
}

// Close implements queue.Owner.
func (o *owner) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	for _, each := range o.each {
		if each != nil {
			each.Close()
		}
	}
}

// in is the owner of a shard.
func (o *owner) in(shard int) (queue.Owner, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return nil, fmt.Errorf("claim: %w: its owner is closed", queue.ErrStale)
	}
	if o.each[shard] == nil {
		o.each[shard] = o.router.stores[shard].NewOwner(o.name)
	}
	return o.each[shard], nil
}

// part is what a claim asks of one shard.
type part struct {
	shard int
	froms []int // indexes in the claim's From
}

// runs are the parts of a claim in the order of its From: a shard comes again where another one is between.
func (r *Router) runs(from []queue.From) (runs []part, err error) {
	for i := range from {
		shard, _, err := r.of(from[i].Queue)
		if err != nil {
			return nil, err
		}
		if n := len(runs); n > 0 && runs[n-1].shard == shard {
			runs[n-1].froms = append(runs[n-1].froms, i)
		} else {
			runs = append(runs, part{shard, []int{i}})
		}
	}
	return runs, nil
}

// byShard puts the runs of each shard together.
func byShard(runs []part) (parts []part) {
	at := map[int]int{}
	for _, run := range runs {
		i, there := at[run.shard]
		if !there {
			i = len(parts)
			at[run.shard] = i
			parts = append(parts, part{shard: run.shard})
		}
		parts[i].froms = append(parts[i].froms, run.froms...)
	}
	return parts
}

// Claim implements queue.Service. Where its queues are in several shards each is asked in their order, and if none has
// anything all are waited for: what the others give meanwhile goes back uncounted. With OnDemand it makes the queues of
// the shards that it asks, not those behind the first one that has something.
func (r *Router) Claim(ctx context.Context, q queue.ClaimRequest) ([]queue.Claim, error) {
	return whileMoved(ctx, func() ([]queue.Claim, error) { return r.claim(ctx, q) })
}

func (r *Router) claim(ctx context.Context, q queue.ClaimRequest) ([]queue.Claim, error) {
	runs, err := r.runs(q.From)
	if err != nil {
		return nil, err
	}
	switch len(runs) {
	case 0:
		return r.stores[0].Claim(ctx, queue.ClaimRequest{Wait: q.Wait, Max: q.Max})
	case 1:
		return r.claimPart(ctx, &q, runs[0], q.Wait, q.Hold)
	}
	until := time.Now().Add(q.Wait)
	for _, run := range runs {
		cs, err := r.claimPart(ctx, &q, run, 0, q.Hold)
		if err != nil || len(cs) > 0 {
			return cs, err
		}
	}
	if wait := time.Until(until); wait > 0 {
		return r.waitAtAll(ctx, &q, byShard(runs), wait)
	}
	return nil, nil
}

// claimPart asks one shard. It gives what comes of it as the whole claim's.
func (r *Router) claimPart(ctx context.Context, q *queue.ClaimRequest, p part, wait time.Duration,
	hold func(context.Context, int64, int64) error) ([]queue.Claim, error) {
	own := *q
	own.Wait, own.Hold = wait, hold
	if len(p.froms) < len(q.From) {
		own.From = make([]queue.From, len(p.froms))
		for i, at := range p.froms {
			own.From[i] = q.From[at]
		}
	}
	if q.Owner != nil {
		o, ours := q.Owner.(*owner)
		if !ours || o.router != r {
			return nil, fmt.Errorf("claim: %w: its owner is of another store", queue.ErrStale)
		}
		var err error
		if own.Owner, err = o.in(p.shard); err != nil {
			return nil, err
		}
	}
	cs, err := r.stores[p.shard].Claim(ctx, own)
	for i := range cs {
		cs[i].Token = r.numbers.out(p.shard, cs[i].Token)
		cs[i].From = p.froms[cs[i].From]
	}
	return cs, err
}

// waitAtAll waits at several shards for the first messages that come. The one that has some first gives them; the
// others go on waiting until then, and what they are handed at the same moment goes back uncounted.
func (r *Router) waitAtAll(ctx context.Context, q *queue.ClaimRequest, parts []part, wait time.Duration) ([]queue.Claim,
	error) {
	type answer struct {
		claims []queue.Claim
		err    error
	}
	var mu sync.Mutex
	first := -1
	ends := make([]context.CancelFunc, len(parts))
	// win lets one part alone go on, and the others end.
	win := func(i int) bool {
		mu.Lock()
		defer mu.Unlock()
		if first < 0 {
			first = i
			for other, end := range ends {
				if other != i {
					end()
				}
			}
		}
		return first == i
	}
	answers := make(chan answer, len(parts))
	waits := make([]context.Context, len(parts))
	for i := range parts {
		waits[i], ends[i] = context.WithCancel(ctx)
		defer ends[i]()
	}
	for i, p := range parts {
		hold := func(ctx context.Context, sum, largest int64) error {
			if !win(i) {
				return errOtherFirst
			}
			if q.Hold == nil {
				return nil
			}
			return q.Hold(ctx, sum, largest)
		}
		go func() {
			cs, err := r.claimPart(waits[i], q, p, wait, hold)
			if err != nil && !win(i) {
				cs, err = nil, nil // it had to end
			}
			answers <- answer{cs, err}
		}()
	}
	var got answer
	for range parts {
		if a := <-answers; a.err != nil || len(a.claims) > 0 {
			got = a
		}
	}
	return got.claims, got.err
}

// errOtherFirst says that another shard had messages first.
var errOtherFirst = errors.New("another shard was first")

// Settle implements queue.Service. The settlements of one shard are one atomic group; after an error those of others
// may have ended.
func (r *Router) Settle(ctx context.Context, ss []queue.Settlement) ([]error, error) {
	tokens := func(i int) queue.Token { return ss[i].Token }
	return r.eachShard(len(ss), tokens, func(shard int, of []int, own []queue.Token) ([]error, error) {
		some := make([]queue.Settlement, len(of))
		for i, at := range of {
			some[i] = ss[at]
			some[i].Token = own[i]
		}
		return r.stores[shard].Settle(ctx, some)
	})
}

// Extend implements queue.Service.
func (r *Router) Extend(ctx context.Context, tokens []queue.Token, lease time.Duration) ([]error, error) {
	token := func(i int) queue.Token { return tokens[i] }
	return r.eachShard(len(tokens), token, func(shard int, _ []int, own []queue.Token) ([]error, error) {
		return r.stores[shard].Extend(ctx, own, lease)
	})
}

// eachShard lets do handle the tokens of each shard, those of several shards at the same time. of are the indexes of
// the tokens that it gets.
func (r *Router) eachShard(n int, token func(i int) queue.Token,
	do func(shard int, of []int, own []queue.Token) ([]error, error)) ([]error, error) {
	type group struct {
		of  []int
		own []queue.Token
	}
	groups, some := make([]group, len(r.stores)), 0
	errs := make([]error, n)
	for i := range n {
		shard, own := r.numbers.in(token(i))
		if shard >= len(r.stores) { // no token of ours
			errs[i] = queue.ErrStale
			continue
		}
		g := &groups[shard]
		if g.of == nil {
			some++
		}
		g.of, g.own = append(g.of, i), append(g.own, own)
	}
	var mu sync.Mutex
	var failed error
	one := func(shard int) {
		g := &groups[shard]
		answers, err := do(shard, g.of, g.own)
		mu.Lock()
		defer mu.Unlock()
		failed = errors.Join(failed, err)
		for i, err := range answers {
			errs[g.of[i]] = err
		}
	}
	var doing sync.WaitGroup
	for shard := range groups {
		switch {
		case groups[shard].of == nil:
		case some == 1:
			one(shard)
		default:
			doing.Go(func() { one(shard) })
		}
	}
	doing.Wait()
	if failed != nil {
		return nil, failed
	}
	return errs, nil
}

// TokenOf implements queue.Service.
func (r *Router) TokenOf(ctx context.Context, n queue.Name, sequence uint64) (t queue.Token, ok bool, err error) {
	shard, s, err := r.of(n)
	if err != nil {
		return t, false, err
	}
	t, ok, err = s.TokenOf(ctx, n, sequence)
	return r.numbers.out(shard, t), ok, err
}

// QueueOf implements queue.Service.
func (r *Router) QueueOf(ctx context.Context, t queue.Token) (n queue.Name, ok bool, err error) {
	shard, own := r.numbers.in(t)
	if shard >= len(r.stores) {
		return n, false, nil
	}
	return r.stores[shard].QueueOf(ctx, own)
}
