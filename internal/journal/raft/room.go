package raft

import (
	"cmp"
	"errors"
	"fmt"

	etcd "go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/tracker"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// giveAway lets another node lead when this one has had no room for some time for what it has proposed: what would make
// room waits behind that. When no other node is there, nobody owns the log until there is room.
func (r *Replica) giveAway() {
	l := &r.loop
	if l.noRoom == 0 {
		return
	}
	l.noRoom++
	late := l.noRoom % r.o.ElectionTicks
	if l.noRoom < r.o.ElectionTicks || late > heardAgain || !l.leads || l.handing {
		return
	}
	if to := r.another(); to != 0 {
		r.o.Report(errors.New("no room is left for the log here: another node shall own it"))
		r.handOver(to)
		return
	}
	if late < heardAgain {
		return
	}
	r.o.Report(errors.New("no room is left for the log here, and no other node could own it: nothing is taken"))
	r.lose(fmt.Errorf("%w: %w", journal.ErrLost, journal.ErrFull))
}

// passOn lets another node lead when this one has had room for nothing but settlements for some time: the other may
// have more. When none has, they lead in turn until one has, each for longer than before: what makes room takes time,
// and connections end with an owner.
func (r *Replica) passOn(health error) {
	l := &r.loop
	switch {
	case !errors.Is(health, journal.ErrFull):
		l.full, l.passed = 0, 0
		return
	case !l.leads || l.handing:
		l.full = 0
		return
	}
	if l.full++; l.full < fullPatience*r.o.ElectionTicks<<min(l.passed, mostPassed) {
		return
	}
	if to := r.another(); to != 0 { // else the next tick looks again
		l.full = 0
		l.passed++
		r.o.Report(fmt.Errorf("no room is left for messages here: another node shall own the log: %w", health))
		r.handOver(to)
	}
}

const (
	fullPatience = 5 // election times for which a node leads without room for messages at first
	mostPassed   = 5 // times that it doubles
)

// heardAgain is how many ticks after a leader has asked who is there it has heard of all: raft forgets them for that
// once in an election time.
const heardAgain = 4

// another is a node that is there and could lead, 0: none. Of those that have all that is on most nodes it is the next
// by its id, so that all have their turn: which of them has room is not known here.
func (r *Replica) another() uint64 {
	own := r.o.ID
	committed := r.loop.node.BasicStatus().GetCommit()
	var next, to, most uint64
	r.loop.node.WithProgress(func(id uint64, kind etcd.ProgressType, p tracker.Progress) {
		if id == own || kind != etcd.ProgressTypePeer || !p.RecentActive {
			return
		}
		if p.Match >= committed && (next == 0 || id-own < next-own) { // unsigned: behind the largest is the smallest
			next = id
		}
		if to == 0 || p.Match > most {
			to, most = id, p.Match
		}
	})
	return cmp.Or(next, to)
}
