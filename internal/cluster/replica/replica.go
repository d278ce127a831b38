// Package replica is a node's part of a cluster's log: a copy of it in a folder, kept by journal/raft, and the way of
// its messages to the other nodes.
//
//	r, err := replica.Open(ctx, replica.Options{Node: "a", Peers: peers, Link: l, Dir: "data/cluster"})
//	j, term, err := r.Own(ctx)
//
// A log is made when all nodes of the configuration are there and none of them has one. A node that has none when
// others have, for its disk is new, comes back as another replica of the same name: its old one leaves the log's group,
// the new one learns the log and then has a vote. For that most of the others have to be there. A further node, of
// which the log's owner was told (Join), comes in the same way. Where nodes are reached, and who has left, is in the
// log.
package replica

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/hikyaku/hikyaku/internal/cluster"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/raft"
	"github.com/hikyaku/hikyaku/internal/link"
)

// Options say whose replica it is, and what it stands on.
type Options struct {
	Node    string      // this node's name
	Address string      // where the others reach it
	Peers   []link.Peer // the other nodes that the configuration names; the log may know of more (Join)
	Link    *link.Listener
	Dir     string       // the folder of this node's copy; made when it is missing
	File    file.Options // of the local journal, but for Dir
	// Live reads a checkpoint of the log's owner (see raft.Options).
	Live   func(context.Context, io.Reader, journal.Reader) ([]journal.Address, error)
	Tick   time.Duration // see raft.Options
	Report func(error)   // of what costs nothing yet; must not block; may be nil
	Waits  func(error)   // told why Open waits, each time that it has asked the others in vain; may be nil
	// Stall is after how long a parcel of which nothing comes or goes is given up; 0: 30 s. Who has sent one whole
	// waits four times as long to hear that the other has it.
	Stall time.Duration
}

// Kinds of streams between nodes.
const (
	parcelKind = "parcel" // a checkpoint, or a whole log
	memberKind = "member" // what is asked of who has the log
)

// Replica is a node's part of the log. Its methods may be called from any goroutine.
type Replica struct {
	o     Options
	dir   folder
	raft  *raft.Replica
	lanes *link.Lanes
	id    uint64

	ctx     context.Context
	end     context.CancelFunc
	running sync.WaitGroup
	asking  atomic.Bool // it asks the others who there is

	mu       sync.Mutex
	named    []link.Peer // the other nodes that the configuration names
	book     raft.Book   // the newest that this node has heard of
	nodes    []link.Peer // the other nodes
	owner    cluster.Owner
	changed  chan struct{}
	draining bool
	before   func(context.Context) error // is called before this node gives the log away; may be nil
	made     bool                        // the log was made in this process's life
	heard    map[string]bool             // nodes whose replicas have been heard of in it
}

var _ cluster.Replica = (*Replica)(nil)

// Open takes part in the log. Of a log that is new it waits until all other nodes are there; of one that this node has
// lost, until it may come back. The caller closes the replica, before the link.
func Open(ctx context.Context, o Options) (*Replica, error) {
	if o.Report == nil {
		o.Report = func(error) {}
	}
	if o.Waits == nil {
		o.Waits = func(error) {}
	}
	if o.Stall <= 0 {
		o.Stall = 30 * time.Second
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	r := &Replica{o: o, dir: folder{dir: dir, o: o.File}, changed: make(chan struct{}), heard: map[string]bool{}}
	r.Name(o.Peers)
	r.ctx, r.end = context.WithCancel(context.WithoutCancel(ctx))
	if r.id, r.dir.began, err = r.dir.id(); err != nil {
		return nil, err
	}
	o.Link.Handle(memberKind, r.answer)
	peers, err := r.enter(ctx)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	if err := r.start(ctx, peers); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// start runs the replica. peers are who is in the group where the log begins.
func (r *Replica) start(ctx context.Context, peers []uint64) error {
	began := make(chan struct{})
	lanes := link.NewLanes(link.LaneOptions{Listener: r.o.Link, Report: r.o.Report,
		Receive: func(peer, _ string, frame []byte) {
			select {
			case <-began:
				r.receive(peer, frame)
			case <-r.ctx.Done():
			}
		},
		Lost: func(peer, _ string, _ []byte) {
			select {
			case <-began:
				r.unreachable(peer)
			default:
			}
		},
	})
	r.mu.Lock()
	r.lanes = lanes
	lanes.SetPeers(r.nodes)
	r.mu.Unlock()
	replica, err := raft.Start(ctx, raft.Options{ID: r.id, Peers: peers, Local: r.dir, Send: r.send, Ship: r.ship,
		Live: r.o.Live, Tick: r.o.Tick, Report: r.o.Report})
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.raft = replica
	r.mu.Unlock()
	if !r.dir.began {
		if err := r.dir.setID(r.id, true); err != nil {
			return err
		}
	}
	close(began)
	r.o.Link.Handle(parcelKind, r.parcel)
	r.running.Go(r.watch)
	return nil
}

// Close ends the node's part. The log goes on with the others.
func (r *Replica) Close() error {
	r.o.Link.Handle(parcelKind, nil)
	r.o.Link.Handle(memberKind, nil)
	r.end()
	var err error
	if running := r.begun(); running != nil {
		err = running.Close()
	}
	r.running.Wait()
	if r.lanes != nil {
		r.lanes.Close()
	}
	return err
}

// begun is the replica; nil while it has not begun.
func (r *Replica) begun() *raft.Replica {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.raft
}

// send sends messages to other replicas. What is large does not stand in the way of heartbeats and votes.
func (r *Replica) send(messages []*pb.Message) {
	for _, m := range messages {
		to := r.node(m.GetTo())
		if to == "" || to == r.o.Node {
			continue
		}
		frame, err := proto.Marshal(m)
		if err != nil {
			r.o.Report(fmt.Errorf("message to node %s: %w", to, err))
			continue
		}
		kind := link.Urgent
		if m.GetType() == pb.MsgApp {
			kind = link.Bulky
		}
		if !r.lanes.Send(to, kind, frame) {
			if running := r.begun(); running != nil {
				running.Unreachable(m.GetTo())
			}
		}
	}
}

func (r *Replica) unreachable(node string) {
	voters, learners := r.raft.Members()
	for _, id := range append(voters, learners...) {
		if isOf(id, node) {
			r.raft.Unreachable(id)
		}
	}
}

// receive takes a message of another replica.
func (r *Replica) receive(peer string, frame []byte) {
	m := &pb.Message{}
	if err := proto.Unmarshal(frame, m); err != nil {
		r.o.Report(fmt.Errorf("message of another node: %w", err))
		return
	}
	r.mu.Lock()
	r.heard[peer] = true
	gone := slices.Contains(r.book.Gone, m.GetFrom())
	r.mu.Unlock()
	if m.GetTo() == r.id && !gone { // not to the replica that this node had before
		r.raft.Step(m)
	}
}

// watch notes who owns the log, gives it away while this node is drained, and lets replicas vote that have the log.
func (r *Replica) watch() {
	s := r.raft.Status()
	told := uint64(0) // the term of which it was reported that nobody takes the log
	for {
		r.follow(r.raft.Book())
		r.note()
		if s.Leader == 0 || r.node(s.Leader) == "" || r.gone() != nil {
			r.inquire()
		}
		wait, stop := context.WithTimeout(r.ctx, time.Second)
		next, _ := r.raft.Wait(wait, s)
		stop()
		if r.ctx.Err() != nil {
			return
		}
		s = next
		if s.Leader != r.id {
			continue
		}
		if r.drained() {
			try, stop := context.WithTimeout(r.ctx, giveTime)
			err := r.Transfer(try, "")
			stop()
			if err != nil && r.ctx.Err() == nil && told != s.Term {
				told = s.Term
				r.o.Report(fmt.Errorf("this node is drained, and no other node takes the log: %w", err))
			}
			continue
		}
		r.promote(s)
	}
}

// note keeps who owns the log now, for those who wait for another owner.
func (r *Replica) note() {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.raft.Status()
	owner := cluster.Owner{Term: s.Term, Since: s.Since}
	for _, p := range append(r.nodes[:len(r.nodes):len(r.nodes)], r.self()) {
		if isOf(s.Leader, p.Node) {
			owner.Node, owner.Address = p.Node, p.Address
		}
	}
	if owner.Node != r.owner.Node || owner.Term != r.owner.Term || owner.Address != r.owner.Address {
		r.owner = owner
		close(r.changed)
		r.changed = make(chan struct{})
	}
}

// Own implements cluster.Log.
func (r *Replica) Own(ctx context.Context) (journal.Journal, uint64, error) { return r.raft.Own(ctx) }

// Owner implements cluster.Log.
func (r *Replica) Owner() cluster.Owner {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.owner
}

// Changed implements cluster.Log.
func (r *Replica) Changed() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

// Status implements cluster.Replica.
func (r *Replica) Status() cluster.Status {
	r.follow(r.raft.Book())
	s := cluster.Status{Node: r.o.Node, Owner: r.Owner(), Draining: r.drained()}
	now := r.raft.Status()
	if now.Waits != nil {
		s.Disk = now.Waits.Error()
	}
	ctx, cancel := context.WithTimeout(r.ctx, time.Second)
	defer cancel()
	all, err := r.raft.Progress(ctx)
	connected := r.lanes.Connected()
	s.Peers = map[string]string{}
	for _, p := range append(r.configured(), r.self()) {
		s.Peers[p.Node] = p.Address
	}
	for _, p := range append(r.others(), r.self()) {
		m := cluster.MemberView{Node: p.Node, Address: p.Address, Part: r.part(p.Node),
			Alive: p.Node == r.o.Node || slices.Contains(connected, p.Node)}
		i := slices.IndexFunc(all, func(q raft.Progress) bool { return isOf(q.ID, p.Node) })
		if m.Known = err == nil && i >= 0; m.Known {
			m.Lag = now.Last - min(now.Last, all[i].Match)
		}
		s.Members = append(s.Members, m)
	}
	slices.SortFunc(s.Members, func(a, b cluster.MemberView) int {
		if a.Node < b.Node {
			return -1
		}
		return 1
	})
	return s
}
