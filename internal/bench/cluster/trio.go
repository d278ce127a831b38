package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/cluster/replica"
	"github.com/hikyaku/hikyaku/internal/freeport"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/link"
	"github.com/hikyaku/hikyaku/internal/queue"
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
	ports, err := freeport.Find(3)
	if err != nil {
		return err
	}
	var peers []link.Peer
	for i, n := range []string{"a", "b", "c"} {
		peers = append(peers, link.Peer{Node: n, Address: ports[i]})
	}
	secret := newSecret()
	for _, p := range peers {
		l, err := link.Listen(ctx, link.Options{Listen: p.Address, Cluster: "bench", Node: p.Node,
			Secret: secret})
		if err != nil {
			return err
		}
		t.links = append(t.links, l)
	}
	t.nodes = make([]*replica.Replica, len(peers))
	err = harness.Crowd(ctx, len(peers), func(ctx context.Context, i int) (err error) {
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
