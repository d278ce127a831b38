package cluster

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/cluster"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// The cases of takeovers and moves, besides ours.
const (
	caseElection = "election" // until another node owns the log, of the same kills
	caseStill    = "still"    // the same writer, as long, while nothing is moved
)

// What is asked of a takeover, in milliseconds: a second more than the shortest time after which the nodes elect, which
// stands for the lease. That is at least 2 s and at most 4 s after they have heard of the owner last, by chance, at
// each of them.
const (
	electionMS = 2000
	takeoverMS = electionMS + 1000
	moveMS     = 200
)

// openNodes starts the processes, once.
func (s *session) openNodes(ctx context.Context) (err error) {
	if s.nodes != nil {
		return nil
	}
	s.nodes, err = startNodes(ctx, s.Node, s.Temp)
	s.later(s.nodes.end)
	return err
}

// takeovers kills the owner again and again, and measures how long nothing is acknowledged, and nothing handed out,
// through another node.
func (s *session) takeovers(ctx context.Context) error {
	if err := s.prepare(ctx); err != nil {
		return err
	}
	put, claim, election := measure.NewHistogram(), measure.NewHistogram(), measure.NewHistogram()
	for k := range s.kills() {
		owner, err := s.nodes.whole(ctx)
		if err != nil {
			return err
		}
		c := s.nodes.other(owner, k).client
		killed := owner.kill()
		err = harness.Crowd(ctx, 2, func(ctx context.Context, i int) error {
			if i == 0 {
				return s.firstPut(ctx, c, killed, put)
			}
			return s.firstClaim(ctx, c, killed, claim)
		})
		if err != nil {
			return fmt.Errorf("after the kill of node %s: %w\n%s", owner.name, err, s.nodes.said())
		}
		if next, its := s.nodes.owner(ctx); next != nil {
			election.Record(its.Owner.Since.Sub(killed))
		}
		if err := s.nodes.start(ctx, owner); err != nil {
			return err
		}
		s.Step()
	}
	for _, found := range []struct {
		name, kind string
		times      *measure.Histogram
	}{{harness.CaseOurs, "put", put}, {harness.CaseOurs, "claim", claim}, {caseElection, "", election}} {
		r := s.Report.Row(found.name, workTakeover).Set("kind", found.kind).Set("backlog", s.waiting()).
			Set("bytes", harness.BodyBytes).Times(found.times)
		if found.name == harness.CaseOurs {
			harness.Judge(r, s.Quick, harness.AtMost("max_ms", takeoverMS))
		}
	}
	return nil
}

// prepare opens the nodes, and has as many messages wait as are to.
func (s *session) prepare(ctx context.Context) error {
	if err := s.openNodes(ctx); err != nil {
		return err
	}
	return s.fill(ctx, s.waiting())
}

// firstPut puts until a message is acknowledged.
func (s *session) firstPut(ctx context.Context, c *httpdoor.Client, since time.Time, found *measure.Histogram) error {
	return again(ctx, func(ctx context.Context) (bool, error) {
		first, msgs := s.book.fresh(1)
		if _, err := c.Put(ctx, harness.Measured, msgs...); err != nil {
			return false, err
		}
		found.Record(time.Since(since))
		s.book.ack(first, 1)
		return true, nil
	})
}

// firstClaim claims until a message is handed out.
func (s *session) firstClaim(ctx context.Context, c *httpdoor.Client, since time.Time,
	found *measure.Histogram) error {
	return again(ctx, func(ctx context.Context) (bool, error) {
		claims, err := c.Claim(ctx, harness.Measured, httpdoor.ClaimRequest{})
		if err != nil || len(claims) == 0 {
			return false, err
		}
		found.Record(time.Since(since))
		return true, s.settle(ctx, c, claims)
	})
}

// again tries until it is done, for as long as an owner may be waited for. What is tried has a context of its own.
func again(ctx context.Context, try func(context.Context) (done bool, err error)) error {
	for began := time.Now(); ; pause(ctx, tryAgain) {
		within, end := context.WithTimeout(ctx, aWhile)
		done, err := try(within)
		end()
		switch {
		case done || ctx.Err() != nil:
			return ctx.Err()
		case time.Since(began) > readySoon:
			return fmt.Errorf("nothing came of it within %v: %w", readySoon, err)
		}
	}
}

// shifts gives the shard from node to node, and measures how long nothing is acknowledged to a writer meanwhile.
func (s *session) shifts(ctx context.Context) error {
	if err := s.prepare(ctx); err != nil {
		return err
	}
	moved, still := measure.NewHistogram(), measure.NewHistogram()
	for k := range s.moves {
		owner, err := s.nodes.whole(ctx)
		if err != nil {
			return err
		}
		c, took := s.nodes.all[k%len(s.nodes.all)].client, time.Duration(0)
		longest, err := s.silence(ctx, c, func(ctx context.Context) error {
			began := time.Now()
			defer func() { took = time.Since(began) }()
			_, err := cluster.Ask(ctx, s.nodes.dialer, owner.peer, cluster.Request{Ask: cluster.AskMove,
				Node: s.nodes.other(owner, k).name})
			return err
		})
		if err != nil {
			return fmt.Errorf("while the shard was moved: %w", err)
		}
		now, err := s.nodes.whole(ctx)
		if err == nil && now == owner {
			err = fmt.Errorf("the shard was not moved from node %s", owner.name)
		}
		if err != nil {
			return err
		}
		moved.Record(longest)
		if longest, err = s.silence(ctx, c, func(ctx context.Context) error {
			pause(ctx, took)
			return ctx.Err()
		}); err != nil {
			return err
		}
		still.Record(longest)
		s.Step()
	}
	r := s.Report.Row(harness.CaseOurs, workMove).Set("backlog", s.waiting()).Set("bytes", harness.BodyBytes).
		Times(moved)
	harness.Judge(r, s.Quick, harness.AtMost("max_ms", moveMS))
	s.Report.Row(caseStill, workMove).Set("backlog", s.waiting()).Set("bytes", harness.BodyBytes).Times(still)
	return nil
}

// settling is how many acknowledgements a writer has before and after what may silence it.
const settling = 20

// silence is the longest time between two acknowledgements to a writer, one message after the other, while something is
// done, and for some acknowledgements afterwards.
func (s *session) silence(ctx context.Context, c *httpdoor.Client,
	do func(context.Context) error) (longest time.Duration, err error) {
	var acked atomic.Int64 // acknowledgements so far
	var done atomic.Int64  // how many there were when it was done; 0: it is not done
	err = harness.Crowd(ctx, 2, func(ctx context.Context, i int) error {
		if i == 0 {
			for acked.Load() < settling {
				if pause(ctx, tryAgain); ctx.Err() != nil {
					return ctx.Err()
				}
			}
			err := do(ctx)
			done.Store(acked.Load())
			return err
		}
		last := time.Time{} // nothing counts before the first of those that are settling
		for {
			if err := s.firstPut(ctx, c, time.Now(), measure.NewHistogram()); err != nil {
				return err
			}
			now, n := time.Now(), acked.Add(1)
			if !last.IsZero() {
				longest = max(longest, now.Sub(last))
			}
			if n >= settling-1 {
				last = now
			}
			if over := done.Load(); over > 0 && n >= over+settling {
				return nil
			}
		}
	})
	return longest, err
}
