package raft

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	etcd "go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// Options say what a replica is and whom it speaks to.
type Options struct {
	ID    uint64   // of this replica, not 0
	Peers []uint64 // of all replicas of a new log, this one among them. A log that exists knows its own.
	// Local is where this node's copy of the log is. The replica closes what it opens.
	Local Local
	// Send gives messages to other replicas, by their To. It must not block, and may lose any of them.
	Send func([]*pb.Message)
	// Ship gives another replica what Receive takes there. It is called in a goroutine of its own, and returns when
	// the other has it. Of a stale checkpoint nothing comes of it.
	Ship func(ctx context.Context, to uint64, parcel func(io.Writer) error) error
	// Live reads a checkpoint of the owner's, and returns the records that are still needed, in order. What the
	// checkpoint does not have itself is in the log. May be nil: then nothing is reclaimed on nodes that do not own it.
	Live func(ctx context.Context, checkpoint io.Reader, log journal.Reader) ([]journal.Address, error)

	Tick          time.Duration // 100 ms when 0
	ElectionTicks int           // after so many without a leader's word there is an election; 20 when 0
	CacheBytes    int           // of the last entries, for those that are a little behind; 64 MiB when 0
	// PendingBytes is how much memory may be taken by what is appended and not on most nodes yet; 64 MiB when 0. Append
	// waits when there is more. Write, which may be called where nobody can wait, refuses when there is twice as much.
	PendingBytes int
	Report       func(error) // of what costs nothing yet; must not block; may be nil
}

// Local is the copy of a log on one node.
type Local interface {
	// Open opens it, empty when there is none.
	Open(ctx context.Context) (journal.Journal, error)
	// Fresh makes an empty one beside it. replace, called when the old one is closed, closes it, puts it in the place
	// of the old one and opens it there. One that is closed before that is of no use any more.
	Fresh(ctx context.Context) (fresh journal.Journal, replace Replace, err error)
	// Spool makes room for what is not wanted in memory. When it is closed it is gone.
	Spool() (Spool, error)
}

// Spool is written, and then read from its beginning.
type Spool interface {
	io.ReadWriteSeeker
	io.Closer
}

// Replace puts a fresh copy of a log in the place of the old one, and opens it there.
type Replace func(context.Context) (journal.Journal, error)

const (
	pendingGroups = 4096
	messagesBytes = 64 << 20 // of other replicas' messages that are waiting
	// messageBytes is what a message to another replica carries of entries, if one is not larger by itself.
	messageBytes = 1 << 20
	// applyBytes is how much of what is on most nodes is looked at at once: after a start it is read for that.
	applyBytes = 16 << 20
	// linger is how long what nobody waits for may wait for a group that somebody does.
	linger = 2 * time.Millisecond
)

// Replica is this node's part of a log. Its methods may be called from any goroutine.
type Replica struct {
	o     Options
	log   *log
	lease time.Duration // how long this node has the log after it asked whether it leads

	ctx     context.Context
	end     context.CancelFunc
	running sync.WaitGroup
	wake    chan struct{}
	ended   chan struct{} // closed when nothing is done any more: the replica has failed, or is closed

	mu    sync.Mutex
	news  *sync.Cond // anything that somebody waits for may have come: mu
	inbox inbox
	// What the loop found last.
	leader, term uint64
	since        time.Time         // of leader and term
	held         time.Time         // until then nobody else has the log
	ready        bool              // this node leads, and has what leaders before it have answered
	applied      uint64            // durable here and on most nodes
	full         error             // why the local journal takes no lasting records
	waits        error             // why it does not take all that there is for it
	failure      error             // the local journal has failed, or the replica is closed
	owner        *owner            // the journal that is open
	ships        map[uint64]uint64 // checkpoints that other replicas have to get: being sent, by replica

	saving    sync.Mutex // of a checkpoint
	swept     int        // places there were when it was looked last which are needed; saving
	receiving sync.Mutex // of a log
	loop      loop
}

// inbox is what the loop has been given.
type inbox struct {
	messages  []*pb.Message
	bytes     int
	stored    []func()
	pending   []*proposal // not proposed yet
	amount    int         // what is pending, proposed or on its way costs
	groups    int
	flush     bool // what is pending shall go though nobody waits for it
	lingering bool
	transfer  uint64
	campaign  bool
}

// proposal is a group on its way into the log.
type proposal struct {
	data  []byte
	done  journal.Done // nil when nobody waits
	owner *owner
	index uint64
}

// cost is how many bytes of memory a proposal takes, about: small ones take most of it for what they are kept in.
func (p *proposal) cost() int { return len(p.data) + proposalBytes }

const proposalBytes = 512

// loop is what belongs to the goroutine that runs the replica.
type loop struct {
	node     *etcd.RawNode
	state    [2]uint64   // term and vote that the local journal has been given last
	proposed []*proposal // raft has them, without an index yet
	flying   []*proposal // they have an index
	jobs     []*job
	given    int    // groups of them for which the local journal has not answered
	again    *given // the first that it has refused: from there on all are given again. nil: none
	noRoom   int    // ticks since the first of them found no room; 0: there is room
	full     int    // ticks for which this leader has had no room for messages
	passed   int    // times that it has let another one lead for that, since it had room
	asked    map[uint64]time.Time
	question uint64
	ticks    int
	mute     int // ticks until this node may vote
	silent   int // ticks without a word of a leader, as far as this node follows one
	leads    bool
	term     uint64
	firstOwn uint64 // index of this leader's first entry; 0: not known yet
	// handing: another node has been asked to lead. Whenever it hears of that it may be elected, whatever lease this
	// one has by then: so this one has none any more in its term.
	handing bool
	stage   *stage    // a log that came from another replica
	decide  chan bool // who brought it
}

// job is what raft wants to be in the local journal, and whom it tells then.
type job struct {
	m          *pb.Message
	next       int        // entries before have been given to the local journal
	swapped    bool       // the log has come from another replica
	state      *[2]uint64 // term and vote as of this job; nil: not looked at yet
	stateNew   bool       // they are others than those of the job before
	stateGiven bool       // the local journal has been given them
	waiting    int        // what is not durable yet
}

// Start opens this node's copy of the log and takes part. The caller closes the replica.
func Start(ctx context.Context, o Options) (*Replica, error) {
	if o.Tick == 0 {
		o.Tick = 100 * time.Millisecond
	}
	if o.ElectionTicks == 0 {
		o.ElectionTicks = 20
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = 64 << 20
	}
	if o.PendingBytes == 0 {
		o.PendingBytes = 64 << 20
	}
	if o.Report == nil {
		o.Report = func(error) {}
	}
	local, err := o.Local.Open(ctx)
	if err != nil {
		return nil, err
	}
	l, live, fresh, err := load(ctx, &o, local)
	if err != nil {
		return nil, errors.Join(err, local.Close())
	}
	local.Keep(slices.Values(live))
	r := &Replica{o: o, log: l, wake: make(chan struct{}, 1), ended: make(chan struct{}),
		applied: l.newest.index, ships: map[uint64]uint64{},
		// Two ticks may come one right behind the other.
		lease: time.Duration(o.ElectionTicks-2) * o.Tick * 9 / 10}
	r.news = sync.NewCond(&r.mu)
	r.loop = loop{asked: map[uint64]time.Time{}, mute: o.ElectionTicks}
	if fresh {
		r.loop.mute = 0 // it has promised nobody anything
	}
	r.loop.state = l.state
	r.loop.node, err = etcd.NewRawNode(&etcd.Config{
		ID: o.ID, ElectionTick: o.ElectionTicks, HeartbeatTick: 2, Storage: l, Applied: l.newest.index,
		AsyncStorageWrites: true, MaxSizePerMsg: messageBytes, MaxCommittedSizePerReady: applyBytes,
		MaxInflightMsgs: 256, MaxInflightBytes: 64 << 20, CheckQuorum: true, PreVote: true,
		DisableProposalForwarding: true, StepDownOnRemoval: true, Logger: logger{o.Report},
	})
	if err != nil {
		return nil, errors.Join(err, local.Close())
	}
	r.ctx, r.end = context.WithCancel(context.WithoutCancel(ctx))
	r.running.Go(r.run)
	if _, c, _ := l.InitialState(); len(c.GetVoters()) == 1 { // nobody else will
		r.Campaign()
	}
	return r, nil
}

// Step takes a message of another replica.
func (r *Replica) Step(m *pb.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	// Raft asks again for what is lost.
	if size := proto.Size(m); r.inbox.bytes == 0 || r.inbox.bytes+size <= messagesBytes {
		r.inbox.messages = append(r.inbox.messages, m)
		r.inbox.bytes += size
	}
	r.wakeUp()
}

// Campaign asks for an election now, in which this node stands.
func (r *Replica) Campaign() { r.ask(func(b *inbox) { b.campaign = true }) }

// Transfer lets another replica lead. What this one has owned is lost at once.
func (r *Replica) Transfer(to uint64) { r.ask(func(b *inbox) { b.transfer = to }) }

// Unreachable says that messages to another replica may have been lost.
func (r *Replica) Unreachable(id uint64) { r.do(func() { r.loop.node.ReportUnreachable(id) }) }

func (r *Replica) ask(what func(*inbox)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	what(&r.inbox)
	r.wakeUp()
}

// do lets the loop call a function, unless the replica has failed.
func (r *Replica) do(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure != nil {
		return // nobody would
	}
	r.inbox.stored = append(r.inbox.stored, f)
	r.wakeUp()
}

func (r *Replica) wakeUp() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Status is how a replica stands.
type Status struct {
	ID, Leader, Term uint64
	Since            time.Time // of this leader and term, as far as this node knows
	Applied, Last    uint64    // index up to which the log is on most nodes, and its end here
	Ready            bool      // this node can own the log
	Waits            error     // why the local journal takes nothing for now, or not all of it; nil: it does
	Failure          error
}

// Status tells how the replica stands.
func (r *Replica) Status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status()
}

// status is Status. The lock is held.
func (r *Replica) status() Status {
	last, _ := r.log.LastIndex()
	return Status{ID: r.o.ID, Leader: r.leader, Term: r.term, Since: r.since, Applied: r.applied, Last: last,
		Ready: r.ready, Waits: r.waits, Failure: r.failure}
}

// Wait returns when the status may be another than s, or ctx has ended.
func (r *Replica) Wait(ctx context.Context, s Status) (Status, error) {
	defer context.AfterFunc(ctx, r.tell)()
	r.mu.Lock()
	defer r.mu.Unlock()
	for ctx.Err() == nil && r.leader == s.Leader && r.term == s.Term && r.ready == s.Ready && r.failure == s.Failure {
		r.news.Wait()
	}
	return r.status(), ctx.Err()
}

func (r *Replica) tell() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.news.Broadcast()
}

// End has the replica fail: whoever owns the log here, or waits for it, is told err. Close is still the caller's.
func (r *Replica) End(err error) { r.fail(err) }

// Close ends this node's part. A journal that is open has failed then.
func (r *Replica) Close() error {
	r.end()
	r.running.Wait()
	return r.log.journal().Close()
}
