package raft

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// stage is a log that came from another replica, and waits for raft to want it in the place of this node's.
type stage struct {
	at      uint64
	fresh   journal.Journal
	replace Replace
}

// receiveSnapshot makes a new copy of the log beside the old one, and lets raft decide.
func (r *Replica) receiveSnapshot(ctx context.Context, in *unpacker, h header) (err error) {
	m := &pb.Message{}
	b := in.part()
	if in.err != nil {
		return in.err
	}
	if err := proto.Unmarshal(b, m); err != nil {
		return err
	}
	r.receiving.Lock()
	defer r.receiving.Unlock()
	fresh, replace, err := r.o.Local.Fresh(ctx)
	if err != nil {
		return err
	}
	s := &stage{at: h.at, fresh: fresh, replace: replace}
	defer func() {
		if err != nil {
			err = errors.Join(err, fresh.Close())
		}
	}()
	fresh.Keep(slices.Values([]journal.Address(nil)))
	if h.places, err = in.keepAll(fresh); err != nil {
		return err
	}
	if err := fresh.Sync(ctx); err != nil {
		return err
	}
	h.older = point{h.at, h.term, fresh.End()}
	r.mu.Lock()
	h.state = [2]uint64{r.term, 0} // what this node has voted is written behind it when raft wants the log
	r.mu.Unlock()
	err = fresh.SaveCheckpoint(ctx, h.older.at, func(w io.Writer) error {
		_, err := w.Write(h.encode())
		return errors.Join(err, in.pieces(w), in.end())
	})
	if err != nil {
		return err
	}
	wanted := make(chan bool, 1)
	r.do(func() {
		r.loop.stage, r.loop.decide = s, wanted
		_ = r.loop.node.Step(m) // a stale one changes nothing
	})
	select {
	case yes := <-wanted:
		if !yes {
			return errStale
		}
		return nil
	case <-r.ended:
		return r.failed()
	}
}

// decide tells who brought a log whether raft has taken it.
func (r *Replica) decide() {
	l := &r.loop
	if l.decide == nil || slices.ContainsFunc(l.jobs, func(j *job) bool { return hasSnapshot(j.m) }) {
		return
	}
	l.decide <- l.stage == nil
	l.decide, l.stage = nil, nil
}

func hasSnapshot(m *pb.Message) bool { return m.GetSnapshot().GetMetadata().GetIndex() != 0 }

// keepAll reads the records of a snapshot into a local journal.
func (u *unpacker) keepAll(fresh journal.Journal) (places []place, err error) {
	for {
		b := u.part()
		if u.err != nil {
			return nil, u.err
		}
		if len(b) == 0 {
			return places, nil
		}
		d := decoder{rest: b}
		index, base := d.number(), uint32(d.number())
		mark := mark{what: markKept, index: index, base: base}
		records, err := decodeGroup([]journal.Record{mark.record(nil)}, d.rest)
		if err != nil {
			return nil, err
		}
		if n := len(places); len(records) != 2 || n > 0 && places[n-1].before(index, base) >= 0 {
			return nil, fmt.Errorf("%w: its records are not in order", errParcel)
		}
		if err := fresh.Write(records); err != nil {
			return nil, err
		}
		places = append(places, place{index: index, at: fresh.End(), base: base, records: 1})
	}
}

// swap puts what came from another replica in the place of this node's log. The term and the vote of this node are
// durable in it before that: else a node that ends in between would vote twice in a term.
func (r *Replica) swap(m *pb.Message, state [2]uint64) error {
	l := &r.loop
	s := l.stage
	meta := m.GetSnapshot().GetMetadata()
	if s == nil || s.at != meta.GetIndex() {
		return fmt.Errorf("%w: raft wants a snapshot at %d, which is not here", errEntry, meta.GetIndex())
	}
	err := s.fresh.Write(stateGroup(state))
	if err == nil {
		err = s.fresh.Sync(r.ctx)
	}
	if err != nil {
		return err
	}
	l.stage = nil
	if err := r.log.journal().Close(); err != nil { // nobody needs what it has
		r.o.Report(fmt.Errorf("close the log in whose place another came: %w", err))
	}
	local, err := s.replace(r.ctx)
	if err != nil {
		return err
	}
	other, live, _, err := load(r.ctx, &r.o, local)
	if err != nil {
		return errors.Join(err, local.Close())
	}
	local.Keep(slices.Values(live))
	r.log.become(other)
	r.log.vote(state)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.applied = max(r.applied, s.at)
	r.news.Broadcast()
	return nil
}

// become takes everything from another log.
func (l *log) become(o *log) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.local, l.none = o.local, o.none
	l.compacted, l.compactedTerm, l.last, l.groups = o.compacted, o.compactedTerm, o.last, o.groups
	l.terms, l.places, l.confs, l.recent, l.recentBytes = o.terms, o.places, o.confs, nil, 0
	l.older, l.newest = o.older, o.newest
}
