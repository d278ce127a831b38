package raft

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	etcd "go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// place says where the local journal has an entry, or one kept record of it.
type place struct {
	index   uint64
	at      journal.Position
	base    uint32 // the first record's index in the group
	records uint32 // of the group that are there
}

// before orders places as the log does.
func (p place) before(index uint64, record uint32) int {
	return cmp.Or(cmp.Compare(p.index, index), cmp.Compare(p.base, record))
}

// log is what this node has of the log, in its local journal. It is raft's storage: what raft is told to be there is
// durable here.
type log struct {
	local      journal.Journal
	cacheBytes int

	mu sync.Mutex
	// Entries up to compacted may be gone; of those behind it, up to last, each is there.
	compacted, compactedTerm uint64
	last                     uint64
	groups                   uint64 // index of the last entry that carries a group
	terms                    []run  // of the entries behind compacted
	places                   []place
	recent                   []*pb.Entry // the last ones, one behind the other
	recentBytes              int
	confs                    []conf
	state                    [2]uint64 // term and vote
	commit                   uint64    // what a start knows to be on most nodes, behind the newest checkpoint
	none                     bool      // no owner has saved a checkpoint
	older                    uint64    // the older of two kept checkpoints
	newest                   point     // the newest checkpoint
}

// run is a run of entries of one term.
type run struct{ from, term uint64 }

// conf is who is in the log's group from an entry on.
type conf struct {
	from  uint64
	state *pb.ConfState
	book  Book
}

// stored notes that an entry is durable in the local journal. What was there at its index or behind it is overridden;
// stored returns the places of that.
func (l *log) stored(e *pb.Entry, at journal.Position, records uint32, group bool) (gone []place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	index := e.GetIndex()
	gone = l.cut(index)
	l.add(index, e.GetTerm(), place{index: index, at: at, records: records}, group)
	l.recent = append(l.recent, e)
	l.recentBytes += len(e.GetData())
	l.shrink()
	return gone
}

// add puts an entry behind the last one. The lock is held.
func (l *log) add(index, term uint64, p place, group bool) {
	l.last = index
	if group {
		l.groups = index
	}
	if n := len(l.terms); n == 0 || l.terms[n-1].term != term {
		l.terms = append(l.terms, run{index, term})
	}
	l.places = append(l.places, p)
}

// shrink forgets the oldest recent entries while they have too many bytes. The lock is held.
func (l *log) shrink() {
	n := 0
	for n < len(l.recent)-1 && l.recentBytes > l.cacheBytes {
		l.recentBytes -= len(l.recent[n].GetData())
		l.recent[n] = nil
		n++
	}
	l.recent = l.recent[n:]
}

// cut removes everything at an index and behind it. The lock is held.
func (l *log) cut(index uint64) (gone []place) {
	if index > l.last {
		return nil
	}
	i, _ := slices.BinarySearchFunc(l.places, index, func(p place, x uint64) int { return cmp.Compare(p.index, x) })
	gone = slices.Clone(l.places[i:])
	l.places, l.last = l.places[:i], index-1
	for n := len(l.recent); n > 0 && l.recent[n-1].GetIndex() >= index; n-- {
		l.recentBytes -= len(l.recent[n-1].GetData())
		l.recent = l.recent[:n-1]
	}
	for n := len(l.terms); n > 0 && l.terms[n-1].from >= index; n-- {
		l.terms = l.terms[:n-1]
	}
	for l.groups = 0; i > 0 && l.groups == 0; i-- {
		if p := l.places[i-1]; p.records > 0 {
			l.groups = p.index
		}
	}
	return gone
}

// find returns where the local journal has a record.
func (l *log) find(a journal.Address) (journal.Address, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i, there := slices.BinarySearchFunc(l.places, a, func(p place, a journal.Address) int {
		return p.before(uint64(a.Position), a.Index)
	})
	if !there {
		i--
	}
	if i < 0 || l.places[i].index != uint64(a.Position) || a.Index-l.places[i].base >= l.places[i].records {
		return journal.Address{}, false
	}
	return l.places[i].record(a.Index), true
}

// record is the local address of a record of the group.
func (p place) record(index uint32) journal.Address {
	return journal.Address{Position: p.at, Index: index - p.base + 1} // the mark is the first
}

// before returns the local position of the last thing that is not behind index; 0 when nothing is.
func (l *log) before(index uint64) journal.Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.beforeLocked(index)
}

func (l *log) beforeLocked(index uint64) journal.Position {
	i, _ := slices.BinarySearchFunc(l.places, index+1, func(p place, x uint64) int { return cmp.Compare(p.index, x) })
	if i == 0 {
		return 0
	}
	return l.places[i-1].at
}

// has tells whether the entry of that index is the one at a local position.
func (l *log) has(index uint64, at journal.Position) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i, there := slices.BinarySearchFunc(l.places, index, func(p place, x uint64) int { return p.before(x, 0) })
	return there && l.places[i].at == at
}

// end is the index of the last entry that carries a group.
func (l *log) end() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.groups
}

// sweep releases what is not live, of the entries up to an index, and forgets the places of those of which nothing is
// live and that raft does not need. live is in order. Others get the lock in between.
func (l *log) sweep(live []journal.Address, upto uint64) {
	for next := (journal.Address{}); ; {
		l.mu.Lock()
		dead, behind, more := l.sweepSome(&live, next, upto)
		local := l.local
		l.mu.Unlock()
		local.Release(dead...)
		if next = behind; !more {
			return
		}
	}
}

// sweepPlaces is how many places are looked at with the lock held.
const sweepPlaces = 1 << 16

// sweepSome is sweep for some of the places, from one on: what is dead, and where it goes on. The lock is held.
func (l *log) sweepSome(live *[]journal.Address, from journal.Address, upto uint64) (dead []journal.Address,
	next journal.Address, more bool) {
	first, _ := slices.BinarySearchFunc(l.places, from, func(p place, a journal.Address) int {
		return p.before(uint64(a.Position), a.Index)
	})
	kept, i := first, first
	for ; i < len(l.places) && l.places[i].index <= upto && i < first+sweepPlaces; i++ {
		p, n := l.places[i], 0
		for r := p.base; r < p.base+p.records; r++ {
			a := journal.Address{Position: journal.Position(p.index), Index: r}
			for len(*live) > 0 && (*live)[0].Compare(a) < 0 {
				*live = (*live)[1:]
			}
			if len(*live) > 0 && (*live)[0] == a {
				n++
			} else {
				dead = append(dead, p.record(r))
			}
		}
		if n > 0 || p.index >= l.compacted { // the next start begins with the one at compacted
			l.places[kept] = p
			kept++
		}
	}
	if more = i < len(l.places) && l.places[i].index <= upto; more {
		next = journal.Address{Position: journal.Position(l.places[i].index), Index: l.places[i].base}
	}
	l.places = slices.Delete(l.places, kept, i)
	return dead, next, more
}

// saved notes that a checkpoint was saved. What lies before the one before it may be gone from now on.
func (l *log) saved(p point) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.termLocked(p.index); err != nil {
		return // another log has taken the place of the one that it is of
	}
	l.older, l.newest, l.none = l.newest.index, p, false
	l.compact(l.older)
}

// compact lets raft have only what is behind an index. The lock is held.
func (l *log) compact(index uint64) {
	if index <= l.compacted {
		return
	}
	term, err := l.termLocked(index)
	if err != nil {
		return
	}
	l.compacted, l.compactedTerm = index, term
	for len(l.terms) > 1 && l.terms[1].from <= index+1 {
		l.terms = l.terms[1:]
	}
	for len(l.confs) > 1 && l.confs[1].from <= index {
		l.confs = l.confs[1:]
	}
	n := 0
	for n < len(l.recent) && l.recent[n].GetIndex() <= index {
		l.recentBytes -= len(l.recent[n].GetData())
		l.recent[n] = nil
		n++
	}
	l.recent = l.recent[n:]
}

// joined notes who is in the group from an entry on, which is a change.
func (l *log) joined(from uint64, change *pb.ConfChangeV2, state *pb.ConfState) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	book, err := l.confs[len(l.confs)-1].book.after(from, change)
	if err != nil {
		return err
	}
	l.confs = append(l.confs, conf{from, state, book})
	return nil
}

// confAt is who is in the group at an entry. The lock is held.
func (l *log) confAt(index uint64) conf {
	at := l.confs[0]
	for _, c := range l.confs[1:] {
		if c.from <= index {
			at = c
		}
	}
	return at
}

// vote notes a state that is durable.
func (l *log) vote(state [2]uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = state
}

// InitialState implements raft's Storage.
func (l *log) InitialState() (*pb.HardState, *pb.ConfState, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	state := &pb.HardState{Term: new(l.state[0]), Vote: new(l.state[1]), Commit: new(max(l.newest.index, l.commit))}
	return state, l.confAt(l.newest.index).state, nil
}

// FirstIndex implements raft's Storage.
func (l *log) FirstIndex() (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.compacted + 1, nil
}

// LastIndex implements raft's Storage.
func (l *log) LastIndex() (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last, nil
}

// Term implements raft's Storage.
func (l *log) Term(index uint64) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.termLocked(index)
}

func (l *log) termLocked(index uint64) (uint64, error) {
	switch {
	case index == l.compacted:
		return l.compactedTerm, nil
	case index < l.compacted:
		return 0, etcd.ErrCompacted
	case index > l.last:
		return 0, etcd.ErrUnavailable
	}
	i, there := slices.BinarySearchFunc(l.terms, index, func(r run, x uint64) int { return cmp.Compare(r.from, x) })
	if !there {
		i--
	}
	if i < 0 {
		return l.compactedTerm, nil
	}
	return l.terms[i].term, nil
}

// Snapshot implements raft's Storage: what the newest checkpoint is of. What is in it is sent apart.
func (l *log) Snapshot() (*pb.Snapshot, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.none {
		return nil, etcd.ErrSnapshotTemporarilyUnavailable
	}
	return &pb.Snapshot{Metadata: &pb.SnapshotMetadata{
		ConfState: l.confAt(l.newest.index).state, Index: new(l.newest.index), Term: new(l.newest.term),
	}}, nil
}

// Entries implements raft's Storage.
func (l *log) Entries(lo, hi, maxSize uint64) ([]*pb.Entry, error) {
	l.mu.Lock()
	switch {
	case lo <= l.compacted:
		l.mu.Unlock()
		return nil, etcd.ErrCompacted
	case hi > l.last+1:
		l.mu.Unlock()
		return nil, etcd.ErrUnavailable
	}
	if len(l.recent) > 0 && lo >= l.recent[0].GetIndex() {
		from := lo - l.recent[0].GetIndex()
		entries := atMost(l.recent[from:from+hi-lo], maxSize)
		l.mu.Unlock()
		return entries, nil
	}
	from := l.beforeLocked(lo - 1)
	l.mu.Unlock()
	return l.read(from, lo, hi, maxSize)
}

// atMost is a copy of the first entries that have no more bytes, but of one at least.
func atMost(entries []*pb.Entry, maxSize uint64) []*pb.Entry {
	size := uint64(0)
	for i, e := range entries {
		if size += uint64(proto.Size(e)); size > maxSize && i > 0 {
			return slices.Clone(entries[:i])
		}
	}
	return slices.Clone(entries)
}

// read reads entries from the local journal, no more than maxSize bytes of them but for the last. Of records that are
// released only the head is there.
func (l *log) read(from journal.Position, lo, hi, maxSize uint64) (entries []*pb.Entry, err error) {
	var groups []journal.Group
	for g, err := range l.journal().Scan(context.Background(), from) {
		if err != nil {
			return nil, err
		}
		m, err := markOf(g)
		if err != nil {
			return nil, err
		}
		if m.what != markEntry || m.index < lo || !l.has(m.index, g.Position) {
			continue
		}
		if m.index >= hi || m.index != lo+uint64(len(groups)) {
			break
		}
		records := slices.Clone(g.Records)
		for i := range records {
			records[i].Head = slices.Clone(records[i].Head)
		}
		groups = append(groups, journal.Group{Position: g.Position, Records: records})
		if len(groups) >= readEntries {
			break
		}
	}
	if len(groups) == 0 {
		return nil, fmt.Errorf("%w: entry %d is not in the local journal", errEntry, lo)
	}
	size := uint64(0)
	for _, g := range groups { // bodies one group at a time: they may be large
		e, err := l.readEntry(g)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
		if size += uint64(proto.Size(e)); size > maxSize {
			break
		}
	}
	return atMost(entries, maxSize), nil
}

// readEntry makes an entry of a group of the local journal, whose bodies it reads.
func (l *log) readEntry(g journal.Group) (*pb.Entry, error) {
	m, err := markOf(g)
	if err != nil {
		return nil, err
	}
	var addrs []journal.Address
	first := 0
	if m.group {
		first = 1 // the mark has no body
	}
	for i := range g.Records[first:] {
		addrs = append(addrs, journal.Address{Position: g.Position, Index: uint32(first + i)})
	}
	var damage error
	err = l.journal().Read(context.Background(), addrs, func(i int, r journal.Record, err error) {
		switch {
		case err == nil:
			g.Records[first+i].Body = r.Body
		case isReleased(err): // nobody needs it; the others learn so from a checkpoint
		default:
			damage = err
		}
	})
	if err == nil {
		err = damage
	}
	if err != nil {
		return nil, err
	}
	e := &pb.Entry{Type: m.kind.Enum(), Term: new(m.term), Index: new(m.index), Data: g.Records[0].Body}
	if m.group {
		e.Data = encodeGroup(g.Records[1:])
	}
	return e, nil
}

// readEntries is how many entries are read from the local journal at once.
const readEntries = 256
