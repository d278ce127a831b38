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
	if r.loop.again != nil {
		return
	}
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
		j.state, j.stateNew = &state, state != was
		j.stateGiven = !j.stateNew
	}
	if hasSnapshot(m) && !j.swapped {
		switch err := r.swap(m, *j.state); {
		case isNoRoom(err):
			r.loop.noRoom = max(r.loop.noRoom, 1)
			return false
		case err != nil:
			r.fail(fmt.Errorf("%w: %w", journal.ErrFailed, err))
			return false
		}
		j.swapped, j.stateNew, j.stateGiven = true, false, true
	}
	if !j.stateGiven {
		if !r.appended(given{job: j, entry: -1}, stateGroup(*j.state)) {
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
		g := given{job: j, entry: j.next, group: group}
		if group {
			g.records = uint32(len(records) - 1)
		}
		if !r.appended(g, records) {
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

// given is a group that the local journal has been given.
type given struct {
	job     *job
	entry   int    // which of the job; -1: its state
	group   bool   // the entry carries a group,
	records uint32 // and that so many records
}

// appended appends a group to the local journal. It is false when the group was not taken.
func (r *Replica) appended(g given, records []journal.Record) bool {
	err := r.log.journal().Append(records, func(at journal.Position, err error, _ int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.inbox.stored = append(r.inbox.stored, func() { r.stored(g, at, err) })
		r.wakeUp()
	})
	switch {
	case err == nil:
		g.job.waiting++
		r.loop.given++
		return true
	case isNoRoom(err):
		r.loop.noRoom = max(r.loop.noRoom, 1)
		return false // the next turn tries again
	}
	r.fail(fmt.Errorf("%w: the local journal: %w", journal.ErrFailed, err))
	return false
}

// stored takes the local journal's answer for a group.
func (r *Replica) stored(g given, at journal.Position, err error) {
	l := &r.loop
	l.given--
	g.job.waiting--
	switch {
	case err != nil && !isNoRoom(err):
		r.fail(fmt.Errorf("%w: the local journal: %w", journal.ErrFailed, err))
	case err != nil && l.again == nil:
		l.again, l.noRoom = &g, max(l.noRoom, 1)
	case err != nil: // what was before it is given again, and so is this
	case l.again != nil:
		for i := range g.records {
			r.log.journal().Release(journal.Address{Position: at, Index: i + 1})
		}
	case g.entry < 0:
		l.noRoom = 0
		r.log.vote(*g.job.state)
	default:
		l.noRoom = 0
		for _, p := range r.log.stored(g.job.m.GetEntries()[g.entry], at, g.records, g.group) {
			for i := range p.records {
				r.log.journal().Release(p.record(p.base + i))
			}
		}
	}
}

// giveAgain begins anew with the first group that the local journal has refused, once it has answered for all: what
// came behind that it may have kept.
func (r *Replica) giveAgain() {
	l := &r.loop
	if l.again == nil || l.given > 0 {
		return
	}
	behind := false
	for _, j := range l.jobs {
		switch {
		case j == l.again.job:
			behind = true
			j.next = max(l.again.entry, 0)
			j.stateGiven = l.again.entry >= 0
		case behind && j.state != nil:
			j.next, j.stateGiven = 0, !j.stateNew
		}
	}
	l.again = nil
}

// isNoRoom tells whether nothing was kept for lack of room, of the medium's or for files that are open.
func isNoRoom(err error) bool {
	return errors.Is(err, journal.ErrFull) || errors.Is(err, journal.ErrRefused)
}

// finish tells raft, and other replicas, of the jobs that are durable.
func (r *Replica) finish() {
	l := &r.loop
	for len(l.jobs) > 0 && l.again == nil {
		j := l.jobs[0]
		if !j.stateGiven || hasSnapshot(j.m) && !j.swapped || j.next < len(j.m.GetEntries()) || j.waiting > 0 ||
			r.failed() != nil {
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
