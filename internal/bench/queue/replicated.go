package queue

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/cluster/replica"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/link"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

const (
	workReplicated = "replicated"
	caseAppends    = "appends" // to the replicated log, of one message each, without a store
	caseAlone      = "alone"   // the same store over a journal in files
)

// trio is three nodes in this process, connected over loopback, with one log on the disks of all: here one disk.
type trio struct {
	dir   string
	links []*link.Listener
	nodes []*replica.Replica
	owned journal.Journal
}

// openTrio makes three nodes with a new log, in a folder of their own below dir, and opens the log at its owner.
func openTrio(ctx context.Context, dir string) (*trio, error) {
	sub, err := os.MkdirTemp(dir, "nodes-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for nodes: %w", err)
	}
	t := &trio{dir: sub}
	if err := t.open(ctx); err != nil {
		return nil, harness.JoinCleanup(err, t.remove())
	}
	return t, nil
}

// open starts the nodes, and waits for their owner.
func (t *trio) open(ctx context.Context) error {
	names := []string{"a", "b", "c"}
	var peers []link.Peer
	for _, n := range names {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		peers = append(peers, link.Peer{Node: n, Address: l.Addr().String()})
		if err := l.Close(); err != nil {
			return err
		}
	}
	for _, p := range peers {
		l, err := link.Listen(ctx, link.Options{Listen: p.Address, Cluster: "bench", Node: p.Node,
			Secret: "three nodes in one process share this secret"})
		if err != nil {
			return err
		}
		t.links = append(t.links, l)
	}
	t.nodes = make([]*replica.Replica, len(peers))
	err := harness.Crowd(ctx, len(peers), func(ctx context.Context, i int) (err error) {
		others := append(append([]link.Peer(nil), peers[:i]...), peers[i+1:]...)
		t.nodes[i], err = replica.Open(ctx, replica.Options{Node: peers[i].Node, Peers: others, Link: t.links[i],
			Dir: filepath.Join(t.dir, peers[i].Node), Live: queue.Live})
		return err
	})
	if err != nil {
		return err
	}
	for t.owned == nil {
		for _, n := range t.nodes {
			some, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
			j, _, err := n.Own(some)
			cancel()
			if err == nil {
				t.owned = j
				break
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return nil
}

func (t *trio) remove() (err error) {
	if t.owned != nil {
		err = t.owned.Close()
	}
	for _, n := range t.nodes {
		if n != nil {
			err = errors.Join(err, n.Close())
		}
	}
	for _, l := range t.links {
		err = errors.Join(err, l.Close())
	}
	return errors.Join(err, os.RemoveAll(t.dir))
}

// storeOver is a store over a journal, for writers of single messages.
type storeOver struct {
	store   *queue.Store
	writers int
}

func openStoreOver(ctx context.Context, j journal.Journal, writers int) (*storeOver, error) {
	s, err := queue.Open(ctx, queue.Options{Journal: j})
	if err != nil {
		return nil, err
	}
	if _, err := s.CreateQueue(ctx, harness.Measured, queue.Definition{}); err != nil {
		return nil, harness.JoinCleanup(err, s.Close())
	}
	return &storeOver{s, writers}, nil
}

// Run implements harness.Side.
func (s *storeOver) Run(ctx context.Context, d time.Duration) (harness.Sample, error) {
	msgs := []message.Message{{Body: harness.MakeBody(harness.BodyBytes)}}
	got, err := crowd(ctx, s.writers, d, func(ctx context.Context) error {
		_, err := s.store.Put(ctx, harness.Measured, msgs)
		return err
	})
	if err == nil {
		_, err = s.store.Purge(ctx, harness.Measured)
	}
	return got, err
}

// crowd has so many callers call one after the other for some time.
func crowd(ctx context.Context, callers int, d time.Duration,
	call func(context.Context) error) (harness.Sample, error) {
	calls := make([][]time.Duration, callers)
	began := time.Now()
	err := harness.Crowd(ctx, callers, func(ctx context.Context, i int) error {
		for last := began; last.Sub(began) < d; {
			if err := errors.Join(ctx.Err(), call(ctx)); err != nil {
				return err
			}
			now := time.Now()
			calls[i] = append(calls[i], now.Sub(last))
			last = now
		}
		return nil
	})
	s := harness.Sample{Elapsed: time.Since(began)}
	for _, own := range calls {
		s.N += int64(len(own))
		s.Calls = append(s.Calls, own...)
	}
	return s, err
}

// appender is writers that append a record each to the log of a trio, and wait until it is on most nodes.
type appender struct {
	journal journal.Journal
	writers int
}

// Run implements harness.Side.
func (a *appender) Run(ctx context.Context, d time.Duration) (harness.Sample, error) {
	// A record as the store makes it of a message has a head of about this size.
	record := []journal.Record{{Life: journal.Lasting, Head: make([]byte, 40),
		Body: harness.MakeBody(harness.BodyBytes)}}
	return crowd(ctx, a.writers, d, func(context.Context) error {
		done := make(chan error, 1)
		err := a.journal.Append(record, func(at journal.Position, err error, _ int) {
			if err == nil {
				a.journal.Release(journal.Address{Position: at})
			}
			done <- err
		})
		if err != nil {
			return err
		}
		return <-done
	})
}

// replicated compares puts into a store over a log on three nodes with bare appends to such a log, and with the same
// store over files. The nodes share this machine's processors and its disk, which each of them syncs.
func (s *session) replicated(ctx context.Context, writers int) (err error) {
	var closing []func() error
	defer func() {
		for i := len(closing) - 1; i >= 0; i-- {
			err = harness.JoinCleanup(err, closing[i]())
		}
	}()
	open := func(j journal.Journal) (*storeOver, error) {
		o, err := openStoreOver(ctx, j, writers)
		if err == nil {
			closing = append(closing, o.store.Close)
		}
		return o, err
	}
	var trios [2]*trio
	for i := range trios {
		if trios[i], err = openTrio(ctx, s.Temp); err != nil {
			return err
		}
		closing = append(closing, trios[i].remove)
	}
	ours, err := open(trios[0].owned)
	if err != nil {
		return err
	}
	bare := &appender{trios[1].owned, writers}
	bare.journal.Keep(func(func(journal.Address) bool) {})
	dir, err := os.MkdirTemp(s.Temp, "alone-")
	if err != nil {
		return err
	}
	j, err := file.Open(ctx, file.Options{Dir: dir})
	if err != nil {
		return err
	}
	closing = append(closing, j.Close)
	alone, err := open(j)
	if err != nil {
		return err
	}
	for _, side := range []harness.Side{ours, bare, alone} {
		if _, err := side.Run(ctx, s.warmUp); err != nil {
			return err
		}
	}
	by := harness.ByRate
	if writers == 1 {
		by = harness.ByTime(0.5)
	}
	c, err := s.Alternate(ctx, s.Step, by, ours, bare, alone)
	if err != nil {
		return err
	}
	a := about{work: workReplicated, writers: writers, more: func(r *measure.Row) { r.Set("nodes", 3) },
		peers: []peer{{name: caseAppends}, {name: caseAlone}}}
	switch writers {
	case 1:
		a.goals = []harness.Goal{harness.AtMost("ratio", 1.3)}
	default:
		a.goals = []harness.Goal{harness.AtLeast("ratio", 0.8)}
	}
	s.rows(c, a)
	return nil
}
