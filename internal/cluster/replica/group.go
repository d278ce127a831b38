package replica

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/cluster"
	"github.com/hikyaku/hikyaku/internal/journal/raft"
	"github.com/hikyaku/hikyaku/internal/link"
)

// Name has the configuration name these as the other nodes, from now on.
func (r *Replica) Name(peers []link.Peer) {
	r.mu.Lock()
	r.named = peers
	r.mu.Unlock()
	r.follow(raft.Book{})
}

// configured are the other nodes that the configuration names. They are the caller's.
func (r *Replica) configured() []link.Peer {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.named)
}

// self is this node.
func (r *Replica) self() link.Peer { return link.Peer{Node: r.o.Node, Address: r.o.Address} }

// names are those of all nodes that the configuration names, in order.
func (r *Replica) names() []string {
	names := []string{r.o.Node}
	for _, p := range r.configured() {
		names = append(names, p.Node)
	}
	slices.Sort(names)
	return names
}

// others are the other nodes. They are the caller's.
func (r *Replica) others() []link.Peer {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.nodes)
}

// follow has the other nodes be those that the configuration and the newest book name. Where a node is reached the
// configuration says, if it names it: so all may be given other addresses while they are stopped. Who has left is none
// of them, whoever names him.
func (r *Replica) follow(book raft.Book) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if book.At > r.book.At {
		r.book = book
	}
	nodes := maps.Clone(r.book.Nodes)
	if nodes == nil {
		nodes = map[string]string{}
	}
	for _, p := range r.named {
		if address, said := nodes[p.Node]; !said || address != "" {
			nodes[p.Node] = p.Address
		}
	}
	delete(nodes, r.o.Node)
	maps.DeleteFunc(nodes, func(_, address string) bool { return address == "" })
	var next []link.Peer
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		next = append(next, link.Peer{Node: name, Address: nodes[name]})
	}
	if slices.Equal(next, r.nodes) {
		return
	}
	r.nodes = next
	if r.lanes != nil {
		r.lanes.SetPeers(next)
	}
}

// node is the name of the node whose replica has an id; "": none that this node knows.
func (r *Replica) node(id uint64) string {
	if isOf(id, r.o.Node) {
		return r.o.Node
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.nodes {
		if isOf(id, p.Node) {
			return p.Node
		}
	}
	return ""
}

// peer is another node.
func (r *Replica) peer(node string) (link.Peer, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.nodes, func(p link.Peer) bool { return p.Node == node })
	if i < 0 {
		return link.Peer{}, false
	}
	return r.nodes[i], true
}

// part is what a node is in the log's group.
func (r *Replica) part(node string) cluster.Part {
	is := func(id uint64) bool { return isOf(id, node) }
	switch voters, learners := r.raft.Members(); {
	case slices.ContainsFunc(voters, is):
		return cluster.Votes
	case slices.ContainsFunc(learners, is):
		return cluster.Learns
	}
	return cluster.Waits
}

// inquire asks the others who there is, for this node hears of nobody that it knows who leads: that may be one of whom
// it has not heard yet, or the others have nothing to do with it any more.
func (r *Replica) inquire() {
	if !r.asking.CompareAndSwap(false, true) {
		return
	}
	r.running.Go(func() {
		defer r.asking.Store(false)
		r.askAll(r.ctx)
		if err := r.gone(); err != nil {
			r.raft.End(err)
		}
	})
}

// gone says that this replica has left the log's group, as far as is known; nil: it has not.
func (r *Replica) gone() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.book.Gone, r.id) {
		return nil
	}
	if address, said := r.book.Nodes[r.o.Node]; said && address == "" {
		return fmt.Errorf("node %s has left the cluster: its doors are closed; to take it in again, remove %s, start it, "+
			"and give hikyaku cluster join %s", r.o.Node, r.dir.dir, r.o.Node)
	}
	return fmt.Errorf("another copy of the log has taken the place of the one in %s, which is of no use any more: remove "+
		"it, so that node %s comes back with a new one", r.dir.dir, r.o.Node)
}

// Join implements cluster.Replica. That a node may take part is all that it brings about: nothing depends on a node
// that has not come yet. When it comes it is taken in as one that has lost its disk.
func (r *Replica) Join(ctx context.Context, p link.Peer) error {
	if r.raft.Status().Leader != r.id {
		return cluster.ErrNotOwner
	}
	if err := link.CheckName(p.Node); err != nil {
		return err
	}
	named := false
	for _, o := range append(r.configured(), r.self()) {
		if o.Node != p.Node {
			continue
		}
		if named = true; o.Address != p.Address {
			return fmt.Errorf("peers: in the configuration of node %s has node %s at %s, not at %s: it has to be the same "+
				"at all nodes; SIGHUP has a node read it again", r.o.Node, o.Node, o.Address, p.Address)
		}
	}
	for _, o := range append(r.others(), r.self()) {
		switch {
		case o.Node == p.Node:
		case o.Address == p.Address:
			return fmt.Errorf("%s is the address of node %s", p.Address, o.Node)
		case isOf(firstID(o.Node), p.Node):
			return fmt.Errorf("the log cannot tell node %s from node %s: give it another name", p.Node, o.Node)
		}
	}
	return r.until(ctx, func() bool {
		address, said := r.raft.Book().Nodes[p.Node]
		return said && address == p.Address || !said && named
	}, func() error {
		return r.raft.Change(ctx, raft.Stay, r.id, &raft.Note{Node: p.Node, Address: p.Address})
	})
}

// Leave implements cluster.Replica.
func (r *Replica) Leave(ctx context.Context, node string) error {
	if r.raft.Status().Leader != r.id {
		return cluster.ErrNotOwner
	}
	voters, _ := r.raft.Members()
	rest := slices.DeleteFunc(slices.Clone(voters), func(id uint64) bool { return isOf(id, node) })
	if _, said := r.raft.Book().Nodes[node]; !said && node != r.o.Node {
		if _, there := r.peer(node); !there {
			return fmt.Errorf("the cluster has no node %q", node)
		}
	}
	if len(rest) < len(voters) {
		if err := r.here(ctx, node, rest); err != nil {
			return err
		}
	}
	if node == r.o.Node {
		if err := r.Transfer(ctx, ""); err != nil {
			return err
		}
		return cluster.ErrNotOwner // the one who is it now does the rest
	}
	of := func() (all []uint64) {
		voters, learners := r.raft.Members()
		return slices.DeleteFunc(append(voters, learners...), func(id uint64) bool { return !isOf(id, node) })
	}
	return r.until(ctx, func() bool {
		address, said := r.raft.Book().Nodes[node]
		return len(of()) == 0 && said && address == ""
	}, func() error {
		if all := of(); len(all) > 0 {
			return r.raft.Change(ctx, raft.Leave, all[0], &raft.Note{Node: node})
		}
		return r.raft.Change(ctx, raft.Stay, r.id, &raft.Note{Node: node})
	})
}

// until proposes something until it is done. A change that is proposed while another one is under way comes to nothing.
func (r *Replica) until(ctx context.Context, done func() bool, propose func() error) error {
	var last time.Time
	for !done() {
		if now := time.Now(); now.Sub(last) > time.Second {
			last = now
			if err := propose(); errors.Is(err, raft.ErrNotLeader) {
				return cluster.ErrNotOwner
			} else if err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("most of the nodes have not taken it yet, and may do so later: %w", ctx.Err())
		case <-time.After(look):
		}
	}
	r.follow(r.raft.Book())
	return nil
}

const (
	// look is how often it is looked whether a change is done.
	look = 10 * time.Millisecond
	// leaveMost is how long who would be left may take to have the log.
	leaveMost = 5 * time.Second
)

// here returns when most of the replicas that would be left without a node are there, and have all that was on most of
// them with it. That a leader has heard of them lately does not tell it: they may have died since.
func (r *Replica) here(ctx context.Context, without string, rest []uint64) error {
	if len(rest) == 0 {
		return fmt.Errorf("node %s is the last one with a vote: without it nobody has the log", without)
	}
	upto := r.raft.Status().Applied
	ctx, cancel := context.WithTimeout(ctx, leaveMost)
	defer cancel()
	var why error
	n := 0
	for {
		have, lacking := map[uint64]bool{r.id: true}, error(nil)
		for _, a := range r.askAll(ctx) {
			if a.err == nil && a.Applied >= upto {
				have[a.ID] = true
			} else if a.node != without {
				lacking = errors.Join(lacking, a.lacks(upto))
			}
		}
		if why == nil || ctx.Err() == nil { // else it only says that the time is over
			why, n = lacking, 0
			for _, id := range rest {
				if have[id] {
					n++
				}
			}
		}
		if n > len(rest)/2 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("node %s cannot leave: of the %d others that have a vote %d would have to be there with the "+
				"whole log, and %d are; start those that are away, and wait until hikyaku cluster status tells no lag: %w",
				without, len(rest), len(rest)/2+1, n, why)
		case <-time.After(askAgain):
		}
	}
}

// lacks says why a node does not count as one that is there.
func (a *answered) lacks(upto uint64) error {
	if a.err != nil {
		return a.err
	}
	return fmt.Errorf("node %s: it has the log up to %d of %d", a.node, a.Applied, upto)
}
