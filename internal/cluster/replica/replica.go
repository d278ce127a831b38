// Package replica is a node's part of a cluster's log: a copy of it in a folder, kept by journal/raft, and the way of
// its messages to the other nodes.
//
//	r, err := replica.Open(ctx, replica.Options{Node: "a", Peers: peers, Link: l, Dir: "data/cluster"})
//	j, term, err := r.Own(ctx)
//
// A log is made when all nodes of the configuration are there and none of them has one. A node that has none when
// others have, for its disk is new, comes back as another replica of the same name: its old one leaves the log's group,
// the new one learns the log and then has a vote. For that most of the others have to be there.
package replica

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"sync"
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
	Node  string      // this node's name
	Peers []link.Peer // the other nodes
	Link  *link.Listener
	Dir   string       // the folder of this node's copy; made when it is missing
	File  file.Options // of the local journal, but for Dir
	// Live reads a checkpoint of the log's owner (see raft.Options).
	Live   func(context.Context, io.Reader, journal.Reader) ([]journal.Address, error)
	Tick   time.Duration // see raft.Options
	Report func(error)   // of what costs nothing yet; must not block; may be nil
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

	mu       sync.Mutex
	owner    cluster.Owner
	changed  chan struct{}
	draining bool
	made     bool            // the log was made in this process's life
	heard    map[string]bool // nodes whose replicas have been heard of in it
}

var _ cluster.Replica = (*Replica)(nil)

// Open takes part in the log. Of a log that is new it waits until all other nodes are there; of one that this node has
// lost, until it may come back. The caller closes the replica, before the link.
func Open(ctx context.Context, o Options) (*Replica, error) {
	if o.Report == nil {
		o.Report = func(error) {}
	}
	if o.Stall <= 0 {
		o.Stall = 30 * time.Second
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	r := &Replica{o: o, dir: folder{dir: dir, o: o.File}, changed: make(chan struct{}), heard: map[string]bool{}}
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
	r.lanes = link.NewLanes(link.LaneOptions{Listener: r.o.Link, Peers: r.o.Peers, Report: r.o.Report,
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
	if running := r.part(); running != nil {
		err = running.Close()
	}
	r.running.Wait()
	if r.lanes != nil {
		r.lanes.Close()
	}
	return err
}

// part is the replica; nil while it has not begun.
func (r *Replica) part() *raft.Replica {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.raft
}

// node is the name of the node whose replica has an id; "": none of the configuration's.
func (r *Replica) node(id uint64) string {
	if isOf(id, r.o.Node) {
		return r.o.Node
	}
	for _, p := range r.o.Peers {
		if isOf(id, p.Node) {
			return p.Node
		}
	}
	return ""
}

func (r *Replica) peer(node string) (link.Peer, bool) {
	i := slices.IndexFunc(r.o.Peers, func(p link.Peer) bool { return p.Node == node })
	if i < 0 {
		return link.Peer{}, false
	}
	return r.o.Peers[i], true
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
			if running := r.part(); running != nil {
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
	r.mu.Lock()
	r.heard[peer] = true
	r.mu.Unlock()
	m := &pb.Message{}
	if err := proto.Unmarshal(frame, m); err != nil {
		r.o.Report(fmt.Errorf("message of another node: %w", err))
		return
	}
	if m.GetTo() == r.id { // not to the replica that this node had before
		r.raft.Step(m)
	}
}

// ship sends another replica a parcel, and waits until it says that it has it.
func (r *Replica) ship(ctx context.Context, to uint64, parcel func(io.Writer) error) error {
	peer, there := r.peer(r.node(to))
	if !there {
		return fmt.Errorf("replica %x is of no node of the configuration", to)
	}
	c, err := r.o.Link.Dialer().Dial(ctx, peer, parcelKind)
	if err != nil {
		return err
	}
	defer c.NetConn().Close()
	defer context.AfterFunc(ctx, func() { _ = c.NetConn().Close() })()
	w := link.Hurry(c, r.o.Stall)
	if _, err := w.Write(binary.LittleEndian.AppendUint64(nil, to)); err != nil {
		return err
	}
	if err := parcel(w); err != nil {
		return err
	}
	if err := c.CloseWrite(); err != nil {
		return err
	}
	told, err := io.ReadAll(io.LimitReader(link.Hurry(c, storing*r.o.Stall), mostTold))
	switch {
	case err != nil:
		return err
	case string(told) != taken:
		return fmt.Errorf("node %s: %s", peer.Node, told)
	}
	return nil
}

const (
	taken    = "taken"
	mostTold = 4 << 10
	storing  = 4 // stalls that a parcel may take to be stored once it is there
)

// parcel takes what another node's ship sends.
func (r *Replica) parcel(ctx context.Context, peer string, c net.Conn) {
	c = link.Hurry(c, r.o.Stall)
	var to [8]byte
	if _, err := io.ReadFull(c, to[:]); err != nil {
		return // it is gone
	}
	told := taken
	if binary.LittleEndian.Uint64(to[:]) != r.id {
		told = "this is another replica"
	} else if err := r.part().Receive(ctx, c); err != nil {
		told = err.Error()
		r.o.Report(fmt.Errorf("from node %s: %w", peer, err))
	}
	_, _ = io.WriteString(c, told) // who sent it asks again, or sends the next
}

// watch notes who owns the log, gives it away while this node is drained, and lets replicas vote that have the log.
func (r *Replica) watch() {
	s := r.raft.Status()
	for {
		r.note(s)
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
			if err := r.Transfer(r.ctx, ""); err != nil && r.ctx.Err() == nil {
				r.o.Report(fmt.Errorf("drained, but no other node takes the log: %w", err))
			}
			continue
		}
		r.promote(s)
	}
}

func (r *Replica) drained() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.draining
}

func (r *Replica) note(s raft.Status) {
	owner := cluster.Owner{Node: r.node(s.Leader), Term: s.Term, Since: s.Since}
	if s.Leader == 0 {
		owner.Node = ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if owner.Node != r.owner.Node || owner.Term != r.owner.Term {
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
	s := cluster.Status{Node: r.o.Node, Owner: r.Owner(), Draining: r.drained()}
	now := r.raft.Status()
	ctx, cancel := context.WithTimeout(r.ctx, time.Second)
	defer cancel()
	all, err := r.raft.Progress(ctx)
	own := link.Peer{Node: r.o.Node, Address: r.o.Link.Addr().String()}
	connected := r.lanes.Connected()
	for _, p := range append([]link.Peer{own}, r.o.Peers...) {
		m := cluster.MemberView{Node: p.Node, Address: p.Address,
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

// Transfer implements cluster.Replica.
func (r *Replica) Transfer(ctx context.Context, to string) error {
	all, err := r.raft.Progress(ctx)
	if errors.Is(err, raft.ErrNotLeader) {
		return cluster.ErrNotOwner
	}
	if err != nil {
		return err
	}
	id := uint64(0)
	var most uint64
	for _, p := range all {
		node := r.node(p.ID)
		if p.ID == r.id || p.Learner || node == "" || to != "" && node != to || !p.Active {
			continue
		}
		if id == 0 || p.Match > most {
			id, most = p.ID, p.Match
		}
	}
	if id == 0 {
		if to == "" {
			return errors.New("no other node is there that could own the shard")
		}
		return fmt.Errorf("node %s is not there, or has no vote", to)
	}
	r.raft.Transfer(id)
	for s := r.raft.Status(); s.Leader == r.id; {
		next, err := r.raft.Wait(ctx, s)
		if err != nil {
			return fmt.Errorf("node %s has not taken the shard: %w", r.node(id), err)
		}
		if s = next; s.Failure != nil {
			return s.Failure
		}
	}
	return nil
}

// Drain implements cluster.Replica.
func (r *Replica) Drain(ctx context.Context, on bool) error {
	r.mu.Lock()
	r.draining = on
	r.mu.Unlock()
	if !on || r.raft.Status().Leader != r.id {
		return nil
	}
	return r.Transfer(ctx, "")
}

// question is what a node asks another of the log, and answer what it is told.
type question struct {
	Replace uint64 `json:"replace,omitempty"` // this replica shall be the one of its node
}

type told struct {
	Exists  bool     `json:"exists"`            // there is a log
	New     bool     `json:"new,omitempty"`     // it was made a moment ago, and the node that asks was not heard of since
	First   []uint64 `json:"first,omitempty"`   // who was in its group where it begins there
	Member  bool     `json:"member,omitempty"`  // the replica is in the group
	Refused string   `json:"refused,omitempty"` // why not yet
}

// answer tells other nodes of the log.
func (r *Replica) answer(ctx context.Context, peer string, c net.Conn) {
	var q question
	if json.NewDecoder(io.LimitReader(c, mostTold)).Decode(&q) != nil {
		return // it is gone
	}
	t := told{}
	if running := r.part(); running != nil {
		s := running.Status()
		t.Exists, t.First = s.Term > 1 || s.Last > 1, running.First()
		r.mu.Lock()
		t.New = r.made && !r.heard[peer]
		r.mu.Unlock()
		if q.Replace != 0 && peer != "" && isOf(q.Replace, peer) {
			if err := r.replace(ctx, peer, q.Replace); err != nil {
				t.Refused = err.Error()
			} else {
				t.Member = true
			}
		}
	} else if r.dir.has(logName) || r.dir.has(readyName) {
		return // it is being opened: who asks must not take it for none
	}
	_ = json.NewEncoder(c).Encode(t) // who asked is gone, or knows it
}

func (r *Replica) ask(ctx context.Context, p link.Peer, q question) (t told, err error) {
	c, err := r.o.Link.Dialer().Dial(ctx, p, memberKind)
	if err != nil {
		return t, err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })()
	if err := json.NewEncoder(c).Encode(q); err != nil {
		return t, err
	}
	err = json.NewDecoder(io.LimitReader(c, mostTold)).Decode(&t)
	return t, err
}
