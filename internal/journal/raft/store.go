package raft

import (
	"encoding/binary"
	"errors"
	"fmt"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// work gives the local journal what raft wants to be in it, and tells raft what is.
func (r *Replica) work() {
	for _, j := range r.loop.jobs {
		if !r.give(j) {
			return
		}
	}
}

// give gives the local journal what it has not got yet of a job. It is false when there is no room now.
func (r *Replica) give(j *job) bool {
	m := j.m
	if hasSnapshot(m) && !j.swapped && j != r.loop.jobs[0] {
		return false // what is before it goes where raft thinks that it is
	}
	if j.state == nil { // once, whether the local journal takes it at once or not
		was := r.loop.state
		if m.Term != nil {
			r.loop.state = [2]uint64{m.GetTerm(), m.GetVote()}
		}
		state := r.loop.state
		j.state, j.stateGiven = &state, state == was
	}
	if hasSnapshot(m) && !j.swapped {
		if err := r.swap(m, *j.state); err != nil {
			r.fail(fmt.Errorf("%w: %w", journal.ErrFailed, err))
			return false
		}
		j.swapped, j.stateGiven = true, true
	}
	if !j.stateGiven {
		state := *j.state
		if !r.appended(j, stateGroup(state), func(journal.Position) { r.log.vote(state) }) {
			return false
		}
		j.stateGiven = true
	}
	for j.next < len(m.GetEntries()) {
		e := m.GetEntries()[j.next]
		records, group, err := recordsOf(e)
		if err != nil {
			r.fail(fmt.Errorf("%w: entry %d: %w", journal.ErrFailed, e.GetIndex(), err))
			return false
		}
		n := uint32(0)
		if group {
			n = uint32(len(records) - 1)
		}
		if !r.appended(j, records, func(at journal.Position) {
			for _, p := range r.log.stored(e, at, n, group) {
				for i := range p.records {
					r.log.journal().Release(p.record(p.base + i))
				}
			}
		}) {
			return false
		}
		j.next++
	}
	return true
}

// stateGroup is a term and a vote as a group of the local journal.
func stateGroup(state [2]uint64) []journal.Record {
	mark := mark{what: markState, term: state[0], index: state[1]}
	return []journal.Record{mark.record(nil)}
}

// recordsOf is an entry as a group of the local journal.
func recordsOf(e *pb.Entry) (records []journal.Record, group bool, err error) {
	m := mark{what: markEntry, index: e.GetIndex(), term: e.GetTerm(), kind: e.GetType()}
	if m.group = e.GetType() == pb.EntryNormal && len(e.GetData()) > 0; !m.group {
		return []journal.Record{m.record(e.GetData())}, false, nil
	}
	records, err = decodeGroup([]journal.Record{m.record(nil)}, e.GetData())
	return records, true, err
}

// appended appends a group of a job to the local journal. then is called by the loop when it is durable. It is false
// when the group was not taken.
func (r *Replica) appended(j *job, records []journal.Record, then func(journal.Position)) bool {
	err := r.log.journal().Append(records, func(at journal.Position, err error, _ int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.inbox.stored = append(r.inbox.stored, func() {
			if err != nil {
				r.fail(fmt.Errorf("%w: the local journal: %w", journal.ErrFailed, err))
				return
			}
			then(at)
			j.waiting--
		})
		r.wakeUp()
	})
	switch {
	case err == nil:
		j.waiting++
		r.loop.noRoom = 0
		return true
	case errors.Is(err, journal.ErrFull), errors.Is(err, journal.ErrRefused):
		r.loop.noRoom = max(r.loop.noRoom, 1)
		return false // the next turn tries again
	}
	r.fail(fmt.Errorf("%w: the local journal: %w", journal.ErrFailed, err))
	return false
}

// finish tells raft, and other replicas, of the jobs that are durable.
func (r *Replica) finish() {
	l := &r.loop
	for len(l.jobs) > 0 {
		j := l.jobs[0]
		if !j.stateGiven || j.next < len(j.m.GetEntries()) || j.waiting > 0 || r.failed() != nil {
			return
		}
		l.jobs[0] = nil // its entries may be large
		l.jobs = l.jobs[1:]
		var out []*pb.Message
		for _, m := range j.m.GetResponses() {
			if m.GetTo() == r.o.ID {
				_ = l.node.Step(m)
			} else {
				out = append(out, m)
			}
		}
		if len(out) > 0 {
			r.o.Send(out)
		}
	}
}

// asking is the context of a question that a replica asks the others; asked is what it says.
func asking(id, question uint64) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, id), question)
}

func asked(id uint64, context []byte) (question uint64, ours bool) {
	if len(context) != 16 || binary.LittleEndian.Uint64(context) != id {
		return 0, false
	}
	return binary.LittleEndian.Uint64(context[8:]), true
}

func isReleased(err error) bool { return errors.Is(err, journal.ErrReleased) }
