package raft

import (
	"errors"
	"fmt"
	"time"

	etcd "go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// run is the loop of the replica. What it calls may take the lock; it has none.
func (r *Replica) run() {
	defer close(r.ended)
	defer func() {
		// Raft panics when what it has been told to be in the log is not.
		if v := recover(); v != nil {
			r.fail(fmt.Errorf("%w: %v", journal.ErrFailed, v))
			r.lose(r.failed())
		}
	}()
	ticker := time.NewTicker(r.o.Tick)
	defer ticker.Stop()
	for r.failed() == nil {
		select {
		case <-r.ctx.Done():
			r.fail(journal.ErrClosed)
		case <-ticker.C:
			r.tick()
		case <-r.wake:
		}
		r.turn()
	}
	r.lose(r.failed())
}

func (r *Replica) failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failure
}

// fail ends the replica.
func (r *Replica) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure == nil {
		r.failure = err
	}
	r.ready, r.leader = false, 0
	r.news.Broadcast()
	r.wakeUp()
}

// sound ends a replica whose copy of the log is found to be damaged, for other nodes have what it lacks: the next owner
// reads it there. The error is that of a journal that has failed then. Of a lone node whoever reads is told what is
// damaged: nobody else has it.
func (r *Replica) sound(err error) error {
	var damage *journal.DamageError
	if !errors.As(err, &damage) {
		return err
	}
	if voters, _ := r.Members(); len(voters) < 2 {
		return err
	}
	err = fmt.Errorf("%w: this node's copy of the log is damaged, and the other nodes have it: move the folder "+
		"cluster of its data_dir away, and start it: %v", journal.ErrFailed, err) // it is no damage to who reads
	r.fail(err)
	return err
}

func (r *Replica) tick() {
	l := &r.loop
	if l.mute > 0 {
		l.mute--
	}
	l.node.Tick()
	l.silent++
	r.stand()
	if l.ticks++; l.ticks%2 == 0 && l.leads {
		r.question()
	}
	r.giveAway()
	r.giveAgain()
	err := r.log.journal().Health()
	r.passOn(err)
	if errors.Is(err, journal.ErrFailed) || errors.Is(err, journal.ErrClosed) {
		r.fail(fmt.Errorf("%w: %w", journal.ErrFailed, err))
		return
	}
	waits := err
	if waits == nil && r.loop.noRoom > 0 { // the next may be taken, and these were not
		waits = journal.ErrFull
	}
	r.mu.Lock()
	before := r.waits
	r.full, r.waits = err, waits
	r.mu.Unlock()
	switch {
	case isNoRoom(waits) && !isNoRoom(before):
		r.o.Report(fmt.Errorf("this node's copy of the log waits for room: %w", waits))
	case !isNoRoom(waits) && isNoRoom(before):
		r.o.Report(errors.New("this node's copy of the log has room again"))
	}
}

// stand has this node stand for election soon after the shortest time that has to pass without a word of the leader.
// Raft draws each node's time between that and twice as much, so that two of them seldom divide the votes; here the
// nodes that are left have a turn each, in the order of their ids. It is as if raft had drawn that time, for silent is
// never more than the ticks since the leader's last word. If nothing comes of it raft's own times are still there.
func (r *Replica) stand() {
	l := &r.loop
	late := l.silent - r.o.ElectionTicks - standPatience
	if late < 0 || late%standTurn != 0 {
		return
	}
	s := l.node.Status()
	voters := s.Config.Voters.IDs()
	if _, votes := voters[r.o.ID]; !votes || s.RaftState != etcd.StateFollower {
		return
	}
	turn := 0
	for id := range voters {
		if id < r.o.ID && id != s.Lead {
			turn++
		}
	}
	if late == turn*standTurn {
		_ = l.node.Campaign()
	}
}

const (
	standPatience = 2 // ticks until others have not heard of the leader for long enough, too
	standTurn     = 3 // ticks in which a node is elected, if it can be
)

// question asks the others whether this node leads.
func (r *Replica) question() {
	l := &r.loop
	l.question++
	for q := range l.asked {
		if q+64 < l.question {
			delete(l.asked, q)
		}
	}
	l.asked[l.question] = time.Now()
	l.node.ReadIndex(asking(r.o.ID, l.question))
}

// turn does what there is to do.
func (r *Replica) turn() {
	l := &r.loop
	r.mu.Lock()
	b := r.inbox
	messages, stored, campaign, transfer := b.messages, b.stored, b.campaign, b.transfer
	r.inbox.messages, r.inbox.bytes, r.inbox.stored, r.inbox.campaign, r.inbox.transfer = nil, 0, nil, false, 0
	r.mu.Unlock()
	for _, f := range stored {
		f()
	}
	r.finish()
	for _, m := range messages {
		if l.mute > 0 && (m.GetType() == pb.MsgVote || m.GetType() == pb.MsgPreVote) {
			continue
		}
		if t := m.GetType(); t != pb.MsgPreVote && t != pb.MsgPreVoteResp {
			l.silent = 0
		}
		_ = l.node.Step(m) // of one who is not known, or of a stale term
	}
	if campaign {
		_ = l.node.Campaign()
	}
	if transfer != 0 {
		r.handOver(transfer)
	}
	r.propose()
	for l.node.HasReady() {
		r.handle(l.node.Ready())
		r.work()
		r.finish()
	}
	r.work()
	r.decide()
	r.look()
	r.answer()
}

// handOver lets another node lead, once it has the log. This one has no lease any more before the other can have one.
func (r *Replica) handOver(to uint64) {
	if !r.loop.leads || to == r.o.ID {
		return
	}
	r.loop.handing = true
	r.lose(journal.ErrLost)
	r.loop.node.TransferLeader(to)
}

// propose gives raft what is pending.
func (r *Replica) propose() {
	l := &r.loop
	r.mu.Lock()
	o := r.owner
	send := r.inbox.flush
	for _, p := range r.inbox.pending {
		send = send || p.done != nil
	}
	if o == nil || o.lost != nil || !l.leads || o.term != l.term || !send {
		r.mu.Unlock()
		return
	}
	pending := r.inbox.pending
	r.inbox.pending, r.inbox.flush = nil, false
	l.proposed = append(l.proposed, pending...)
	r.mu.Unlock()
	entries := make([]*pb.Entry, len(pending))
	for i, p := range pending {
		entries[i] = &pb.Entry{Data: p.data}
	}
	if len(entries) == 0 {
		return
	}
	if err := l.node.Step(&pb.Message{Type: pb.MsgProp.Enum(), From: new(r.o.ID), Entries: entries}); err != nil {
		l.handing = l.leads // what it proposes in this term cannot be told from what was proposed
		r.lose(fmt.Errorf("%w: %w", journal.ErrLost, err))
	}
}

// handle does what raft says.
func (r *Replica) handle(rd etcd.Ready) {
	l := &r.loop
	for _, s := range rd.ReadStates {
		r.confirmed(s.RequestCtx)
	}
	var out []*pb.Message
	for _, m := range rd.Messages {
		switch {
		case m.GetTo() == etcd.LocalAppendThread:
			l.jobs = append(l.jobs, &job{m: m})
			r.indices(m)
		case m.GetTo() == etcd.LocalApplyThread:
			r.apply(m)
		case m.GetType() == pb.MsgSnap:
			r.sendSnapshot(m)
		default:
			out = append(out, m)
		}
	}
	if len(out) > 0 {
		r.o.Send(out)
	}
}

// confirmed notes that this node led when it asked.
func (r *Replica) confirmed(question []byte) {
	q, ours := asked(r.o.ID, question)
	at, there := r.loop.asked[q]
	if !ours || !there || r.loop.handing {
		return
	}
	delete(r.loop.asked, q)
	r.mu.Lock()
	defer r.mu.Unlock()
	if until := at.Add(r.lease); until.After(r.held) {
		r.held = until
		r.news.Broadcast()
	}
}

// indices learns which entries are the groups that were proposed.
func (r *Replica) indices(m *pb.Message) {
	l := &r.loop
	for _, e := range m.GetEntries() {
		if !l.leads || e.GetTerm() != l.term || len(l.proposed) == 0 || e.GetType() != pb.EntryNormal ||
			len(e.GetData()) == 0 {
			continue // a leader's groups are its own, in the order in which they were proposed
		}
		p := l.proposed[0]
		l.proposed[0] = nil
		p.index = e.GetIndex()
		l.proposed = l.proposed[1:]
		l.flying = append(l.flying, p)
		r.mu.Lock()
		if r.owner != nil && r.owner == p.owner {
			r.owner.end = p.index
			r.news.Broadcast()
		}
		r.mu.Unlock()
	}
}

// apply notes what is on most nodes and durable here.
func (r *Replica) apply(m *pb.Message) {
	l := &r.loop
	last := uint64(0)
	for _, e := range m.GetEntries() {
		last = e.GetIndex()
		if e.GetType() == pb.EntryConfChangeV2 { // Change makes no others
			change := &pb.ConfChangeV2{}
			if err := proto.Unmarshal(e.GetData(), change); err != nil {
				r.fail(fmt.Errorf("%w: %w", journal.ErrFailed, err))
				return
			}
			if err := r.log.joined(e.GetIndex(), change, l.node.ApplyConfChange(change)); err != nil {
				r.fail(fmt.Errorf("%w: %w", journal.ErrFailed, err))
				return
			}
			// It is durable before what this node promises as one of them.
			mark := mark{what: markCommit, index: e.GetIndex()}
			if err := r.log.journal().Write([]journal.Record{mark.record(nil)}); err != nil {
				r.o.Report(fmt.Errorf("note who has the log: %w", err)) // a checkpoint says it, too
			}
		}
		if l.leads && l.firstOwn == 0 && e.GetTerm() == l.term {
			l.firstOwn = e.GetIndex()
			r.question()
		}
	}
	for _, m := range m.GetResponses() {
		_ = l.node.Step(m)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.applied = max(r.applied, last)
	r.news.Broadcast()
}

// look notes who leads.
func (r *Replica) look() {
	l := &r.loop
	s := l.node.BasicStatus()
	term, leader := s.GetTerm(), s.Lead
	leads := s.RaftState == etcd.StateLeader
	if l.leads && (!leads || term != l.term) {
		r.lose(journal.ErrLost)
	}
	if !leads || term != l.term {
		l.firstOwn, l.handing = 0, false
		clear(l.asked)
	}
	if leads || term != l.term {
		l.silent = 0
	}
	l.leads, l.term = leads, term
	if l.handing && s.LeadTransferee == 0 { // the other did not come: this one leaves by a term that has no leader
		_ = l.node.Step(&pb.Message{Type: pb.MsgAppResp.Enum(), From: new(r.o.ID), To: new(r.o.ID),
			Term: new(term + 1)})
		r.wakeUp()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure != nil {
		return
	}
	ready := leads && l.firstOwn != 0 && !l.handing && l.noRoom < r.o.ElectionTicks
	if !leads {
		r.held = time.Time{}
	}
	if leader != r.leader || term != r.term || ready != r.ready {
		if leader != r.leader || term != r.term {
			r.since = time.Now()
		}
		r.leader, r.term, r.ready = leader, term, ready
		r.news.Broadcast()
	}
}

// lose tells whoever owns the log that it is somebody else's. What was proposed may be in the log or not; what was
// not, never is.
func (r *Replica) lose(err error) {
	l := &r.loop
	r.mu.Lock()
	unknown := append(l.flying, l.proposed...)
	never := r.inbox.pending
	l.flying, l.proposed, r.inbox.pending, r.inbox.flush = nil, nil, nil, false
	r.inbox.amount, r.inbox.groups = 0, 0
	r.ready, r.held = false, time.Time{}
	if o := r.owner; o != nil {
		o.lose(err)
	}
	r.news.Broadcast()
	r.mu.Unlock()
	left := 0
	for _, p := range append(unknown, never...) {
		if p.done != nil {
			left++
		}
	}
	tell := func(ps []*proposal, err error) {
		for _, p := range ps {
			if p.done != nil {
				left--
				p.done(0, err, left)
			}
		}
	}
	tell(unknown, fmt.Errorf("%w: %w", journal.ErrUnknown, err))
	tell(never, err)
}

// answer tells whose groups are durable.
func (r *Replica) answer() {
	l := &r.loop
	r.mu.Lock()
	n, left := 0, 0
	for n < len(l.flying) && l.flying[n].index <= r.applied {
		if l.flying[n].done != nil {
			left++
		}
		n++
	}
	r.mu.Unlock()
	if n == 0 {
		return
	}
	durable := l.flying[:n]
	l.flying = l.flying[n:]
	bytes := 0
	for _, p := range durable {
		bytes += p.cost()
		if p.done != nil {
			left--
			p.done(journal.Position(p.index), nil, left)
		}
	}
	last := durable[n-1].index
	clear(durable) // their bodies may be large
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inbox.amount -= bytes
	r.inbox.groups -= n
	if o := r.owner; o != nil {
		o.durable = last
	}
	r.news.Broadcast()
}

// logger gives raft's warnings to a report.
type logger struct{ report func(error) }

func (l logger) say(text string)                  { l.report(errors.New("raft: " + text)) }
func (logger) Debug(...any)                       {}
func (logger) Debugf(string, ...any)              {}
func (logger) Info(...any)                        {}
func (logger) Infof(string, ...any)               {}
func (l logger) Warning(v ...any)                 { l.say(fmt.Sprint(v...)) }
func (l logger) Warningf(format string, v ...any) { l.say(fmt.Sprintf(format, v...)) }
func (l logger) Error(v ...any)                   { l.say(fmt.Sprint(v...)) }
func (l logger) Errorf(format string, v ...any)   { l.say(fmt.Sprintf(format, v...)) }
func (logger) Fatal(v ...any)                     { panic(fmt.Sprint(v...)) }
func (logger) Fatalf(format string, v ...any)     { panic(fmt.Sprintf(format, v...)) }
func (logger) Panic(v ...any)                     { panic(fmt.Sprint(v...)) }
func (logger) Panicf(format string, v ...any)     { panic(fmt.Sprintf(format, v...)) }
