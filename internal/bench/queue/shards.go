package queue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/shard"
)

const (
	workShards   = "shards"
	workRelay    = "relay"
	shardQueues  = 8  // that callers use in turn
	shardCallers = 64 // at once
	relayCallers = 4
)

// spread is a store of some shards over journals in files.
type spread struct {
	*shard.Router
	dir      string
	journals []*file.Journal
	queues   []queue.Name
}

// openSpread opens one in a folder of its own below dir, with queues in turn in each shard.
func openSpread(ctx context.Context, dir string, shards int) (s *spread, err error) {
	sub, err := os.MkdirTemp(dir, "shards-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for shards: %w", err)
	}
	s = &spread{dir: sub}
	all := make([]journal.Journal, shards)
	for i := range all {
		j, err := file.Open(ctx, file.Options{Dir: filepath.Join(sub, strconv.Itoa(i))})
		if err != nil {
			return nil, harness.JoinCleanup(err, s.remove())
		}
		s.journals, all[i] = append(s.journals, j), j
	}
	if s.Router, err = shard.Open(ctx, shard.Options{Journals: all}); err != nil {
		return nil, harness.JoinCleanup(err, s.remove())
	}
	if err := s.makeQueues(ctx, shards); err != nil {
		return nil, harness.JoinCleanup(err, s.remove())
	}
	return s, nil
}

// makeQueues makes as many queues in each shard.
func (s *spread) makeQueues(ctx context.Context, shards int) error {
	for i := 0; len(s.queues) < shardQueues; i++ {
		n := queue.Name{Namespace: queue.DefaultNamespace, Name: "measured" + strconv.Itoa(i)}
		if s.Router.ShardOf(n) != len(s.queues)%shards {
			continue
		}
		if _, err := s.CreateQueue(ctx, n, queue.Definition{}); err != nil {
			return err
		}
		s.queues = append(s.queues, n)
	}
	return nil
}

func (s *spread) remove() (err error) {
	if s.Router != nil {
		err = s.Router.Close()
	}
	for _, j := range s.journals {
		err = errors.Join(err, j.Close())
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

// empty takes away what was put, off the clock.
func (s *spread) empty(ctx context.Context) error {
	for _, n := range s.queues {
		if _, err := s.Purge(ctx, n); err != nil {
			return fmt.Errorf("empty the queues between slices: %w", err)
		}
	}
	return nil
}

// shardCaller is callers that put a message each and, if they take, claim one and settle it.
type shardCaller struct {
	store *spread
	takes bool
	log   logged
}

func (c *shardCaller) Run(ctx context.Context, d time.Duration) (s harness.Sample, err error) {
	calls := make([][]time.Duration, shardCallers)
	before := c.store.JournalStats()
	began := time.Now()
	err = harness.Crowd(ctx, shardCallers, func(ctx context.Context, i int) error {
		n := c.store.queues[i%shardQueues]
		msgs := []message.Message{{Body: harness.MakeBody(harness.BodyBytes)}}
		for last := began; last.Sub(began) < d; {
			if err := c.call(ctx, n, msgs); err != nil {
				return err
			}
			now := time.Now()
			calls[i] = append(calls[i], now.Sub(last))
			last = now
		}
		return nil
	})
	s.Elapsed = time.Since(began)
	if err != nil {
		return harness.Sample{}, err
	}
	for _, own := range calls {
		s.N += int64(len(own))
		s.Calls = append(s.Calls, own...)
	}
	if err := c.log.add(s.N, len(s.Calls), shardCallers, before, c.store.JournalStats()); err != nil {
		return harness.Sample{}, err
	}
	return s, c.store.empty(ctx)
}

func (c *shardCaller) call(ctx context.Context, n queue.Name, msgs []message.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, err := c.store.Put(ctx, n, msgs); err != nil || !c.takes {
		return err
	}
	cs, err := c.store.Claim(ctx, queue.ClaimRequest{From: []queue.From{{Queue: n}}})
	if err != nil || len(cs) == 0 {
		return errors.Join(err, ctx.Err())
	}
	results, err := c.store.Settle(ctx, []queue.Settlement{{Token: cs[0].Token, Kind: queue.Done}})
	return errors.Join(append(results, err)...)
}

// shards compares a store of two shards with one of one.
func (s *session) shards(ctx context.Context, takes bool) (err error) {
	var stores [2]*spread
	defer func() {
		for _, store := range stores {
			if store != nil {
				err = harness.JoinCleanup(err, store.remove())
			}
		}
	}()
	var sides [2]*shardCaller
	for i, shards := range []int{2, 1} {
		if stores[i], err = openSpread(ctx, s.Temp, shards); err != nil {
			return err
		}
		sides[i] = &shardCaller{store: stores[i], takes: takes}
		if _, err := sides[i].Run(ctx, s.warmUp); err != nil {
			return err
		}
		sides[i].log = logged{}
	}
	c, err := s.Alternate(ctx, s.Step, harness.ByRate, sides[0], sides[1])
	if err != nil {
		return err
	}
	call := "put"
	if takes {
		call = "put, claim, settle"
	}
	s.rows(c, about{
		work: workShards, writers: shardCallers, call: call, log: &sides[0].log,
		more:  func(r *measure.Row) { r.Set("shards", 2) },
		peers: []peer{{name: harness.CasePeer, log: &sides[1].log, more: func(r *measure.Row) { r.Set("shards", 1) }}},
	})
	return nil
}

// sender is callers that commit changes with a message for one queue and a group for another one.
type sender struct {
	store    *spread
	near, to queue.Name
}

// Run counts what has arrived.
func (c *sender) Run(ctx context.Context, d time.Duration) (s harness.Sample, err error) {
	before, err := c.store.Stats(ctx, c.to)
	if err != nil {
		return s, err
	}
	sent := make([]int, relayCallers)
	began := time.Now()
	err = harness.Crowd(ctx, relayCallers, func(ctx context.Context, i int) error {
		one := queue.QueuePut{To: c.near, Messages: []message.Message{{}}}
		group := queue.QueuePut{To: c.to, Messages: make([]message.Message, groupMessages)}
		for j := range group.Messages {
			group.Messages[j].Body = harness.MakeBody(harness.BodyBytes)
		}
		for time.Since(began) < d {
			_, _, err := c.store.Commit(ctx, queue.Change{Puts: []queue.QueuePut{one, group}})
			switch {
			case errors.Is(err, queue.ErrQueueFull): // what the relay has not carried yet
				time.Sleep(time.Millisecond)
			case err != nil:
				return err
			default:
				sent[i] += groupMessages
			}
		}
		return nil
	})
	if err != nil {
		return harness.Sample{}, err
	}
	for _, n := range sent {
		s.N += int64(n)
	}
	for arrived := int64(0); arrived < s.N; runtime.Gosched() {
		st, err := c.store.Stats(ctx, c.to)
		if err != nil || ctx.Err() != nil {
			return harness.Sample{}, errors.Join(err, ctx.Err())
		}
		arrived = int64(st.TotalPut - before.TotalPut)
	}
	s.Elapsed = time.Since(began)
	s.Calls = []time.Duration{s.Elapsed}
	return s, c.store.empty(ctx)
}

// relayed compares groups that go from one shard to another with groups that stay in one.
func (s *session) relayed(ctx context.Context) (err error) {
	store, err := openSpread(ctx, s.Temp, 2)
	if err != nil {
		return err
	}
	defer func() { err = harness.JoinCleanup(err, store.remove()) }()
	across, within := &sender{store, store.queues[0], store.queues[1]}, &sender{store, store.queues[0], store.queues[2]}
	for _, side := range []*sender{across, within} {
		if _, err := side.Run(ctx, s.warmUp); err != nil {
			return err
		}
	}
	c, err := s.Alternate(ctx, s.Step, harness.ByRate, across, within)
	if err != nil {
		return err
	}
	s.rows(c, about{
		work: workRelay, writers: relayCallers, call: "to another shard",
		goals: []harness.Goal{harness.AtLeast("per_s", 30_000)},
		more:  func(r *measure.Row) { r.Set("shards", 2) },
		peers: []peer{{name: harness.CasePeer, more: func(r *measure.Row) { r.Set("call", "within one") }}},
	})
	return nil
}
