package raft

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	etcd "go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// Stopped is the copy of a log that a replica has which does not run. It is only read.
type Stopped struct {
	id  uint64
	log *log
}

// ReadStopped reads the local journal of a replica. The caller closes that when the copy is needed no more, and has it
// for himself until then. A local journal in which no log was begun is ErrNoLog.
func ReadStopped(ctx context.Context, id uint64, local journal.Journal) (*Stopped, error) {
	l, _, _, err := load(ctx, &Options{}, local)
	if err != nil {
		return nil, err
	}
	return &Stopped{id, l}, nil
}

// ErrNoLog: there is no log in the local journal of a replica.
var ErrNoLog = errors.New("no log was begun here")

// Journal is the log as an owner would find it who has no other copy. It takes nothing: what changes it is refused with
// journal.ErrLost. Groups are in it of which nobody was told whether they are durable.
func (s *Stopped) Journal() journal.Journal {
	r := &Replica{log: s.log}
	r.news = sync.NewCond(&r.mu)
	end := s.log.end()
	o := &owner{r: r, failed: make(chan struct{}), end: end, durable: end, limits: s.log.limits()}
	o.lose(fmt.Errorf("%w: it is only read", journal.ErrLost))
	return o
}

// FewError says that copies of a log are of too few replicas: others may have acknowledged what is in none of them.
type FewError struct{ Given, Voters int }

func (e *FewError) Error() string {
	return fmt.Sprintf("copies of %d of the %d nodes that the log is on: other nodes may have acknowledged what is in "+
		"none of these copies", e.Given, e.Voters)
}

// errOther: copies contradict each other.
var errOther = errors.New("the copies are of different logs, or one was made while its node ran")

// Newest is the copy that has everything that was acknowledged, by the rule by which replicas elect: what was
// acknowledged is on most of them, so of any most of them one has it; and that has the last term, and in it the last
// entry. When the copies are of too few replicas for that, the error is a *FewError, and the copy the best there is.
// All replicas have to be stopped since before the first copy was made.
func Newest(ctx context.Context, copies []*Stopped) (best *Stopped, err error) {
	best = slices.MaxFunc(copies, func(a, b *Stopped) int {
		return cmp.Or(cmp.Compare(a.lastTerm(), b.lastTerm()), cmp.Compare(a.log.last, b.log.last))
	})
	for _, c := range copies {
		if !best.continues(c) {
			return nil, errOther
		}
	}
	voters, err := best.voters(ctx)
	if err != nil {
		return nil, err
	}
	given := 0
	for _, id := range voters {
		if slices.ContainsFunc(copies, func(c *Stopped) bool { return c.id == id }) {
			given++
		}
	}
	if given <= len(voters)/2 {
		return best, &FewError{given, len(voters)}
	}
	return best, nil
}

func (s *Stopped) lastTerm() uint64 {
	term, _ := s.log.Term(s.log.last) // it is there
	return term
}

// known is up to where this copy knows that the log is on most replicas.
func (s *Stopped) known() uint64 { return max(s.log.newest.index, s.log.commit) }

// continues tells whether a copy has what another one knows to be on most replicas, as far as it can be seen.
func (s *Stopped) continues(o *Stopped) bool {
	at := o.known()
	if at < s.log.compacted {
		return true // its term is forgotten here
	}
	here, err := s.log.Term(at)
	there, err2 := o.log.Term(at)
	return err == nil && err2 == nil && here == there
}

// voters are those at the end of the log. Whether the last change of them has come to pass is not known; but it is one
// step: of most voters after it and most before it one is the same.
func (s *Stopped) voters(ctx context.Context) ([]uint64, error) {
	l := s.log
	node, err := etcd.NewRawNode(&etcd.Config{ID: s.id, ElectionTick: 10, HeartbeatTick: 1, Storage: l,
		Applied: l.newest.index, MaxSizePerMsg: messageBytes, MaxInflightMsgs: 1, Logger: logger{func(error) {}}})
	if err != nil {
		return nil, err
	}
	voters := l.confAt(l.newest.index).state.GetVoters()
	for g, err := range l.journal().Scan(ctx, l.before(l.newest.index)) {
		if err != nil {
			return nil, err
		}
		m, err := markOf(g)
		if err != nil {
			return nil, err
		}
		if m.what != markEntry || m.kind != pb.EntryConfChangeV2 || m.index <= l.newest.index ||
			!l.has(m.index, g.Position) {
			continue
		}
		e, err := l.readEntry(g)
		if err != nil {
			return nil, err
		}
		change := &pb.ConfChangeV2{}
		if err := proto.Unmarshal(e.GetData(), change); err != nil {
			return nil, err
		}
		voters = node.ApplyConfChange(change).GetVoters()
	}
	return voters, nil
}
