package raft

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// A checkpoint of the local journal is a header, and what the owner wrote behind it. The header has what raft needs of
// the log up to there, and where the local journal has what is kept of it.
type header struct {
	at, term uint64
	owner    uint64 // where the owner says that it is
	none     bool   // there is no owner's checkpoint yet
	conf     *pb.ConfState
	book     Book
	state    [2]uint64 // term, vote
	older    point     // of the checkpoint before: what the local journal has behind that is whole
	places   []place
}

// point is where a checkpoint is.
type point struct {
	index, term uint64
	at          journal.Position // in the local journal
}

const (
	formatFirst  = 1 // without the book
	formatHeader = 2
	headerMost   = 1 << 32
)

func (h *header) encode() []byte {
	b := make([]byte, 8, 64+8*len(h.places))
	none := byte(0)
	if h.none {
		none = 1
	}
	b = append(b, formatHeader, none)
	for _, v := range []uint64{h.at, h.term, h.owner, h.state[0], h.state[1], h.older.index, h.older.term,
		uint64(h.older.at), uint64(len(h.conf.GetVoters()))} {
		b = binary.AppendUvarint(b, v)
	}
	for _, id := range h.conf.GetVoters() {
		b = binary.AppendUvarint(b, id)
	}
	b = binary.AppendUvarint(b, uint64(len(h.conf.GetLearners())))
	for _, id := range h.conf.GetLearners() {
		b = binary.AppendUvarint(b, id)
	}
	b = h.book.append(b)
	b = binary.AppendUvarint(b, uint64(len(h.places)))
	var last place
	for _, p := range h.places {
		b = binary.AppendUvarint(b, p.index-last.index)
		b = binary.AppendUvarint(b, uint64(p.at-last.at))
		b = binary.AppendUvarint(b, uint64(p.base))
		b = binary.AppendUvarint(b, uint64(p.records))
		last = p
	}
	binary.LittleEndian.PutUint64(b, uint64(len(b)-8))
	return b
}

// readHeader reads a header, and nothing behind it.
func readHeader(r io.Reader) (h header, err error) {
	var length [8]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return h, fmt.Errorf("%w: checkpoint: %w", errEntry, err)
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > headerMost {
		return h, fmt.Errorf("%w: checkpoint: a header of %d bytes", errEntry, n)
	}
	b, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err != nil || uint64(len(b)) != n {
		return h, fmt.Errorf("%w: checkpoint: its header ends early: %w", errEntry, err)
	}
	return decodeHeader(b)
}

func decodeHeader(b []byte) (h header, err error) {
	d := decoder{rest: b}
	format := d.byte()
	if format < formatFirst || format > formatHeader {
		return h, fmt.Errorf("%w: checkpoint: unknown format %d", errEntry, format)
	}
	h.none = d.byte() == 1
	h.at, h.term, h.owner, h.state = d.number(), d.number(), d.number(), [2]uint64{d.number(), d.number()}
	h.older = point{d.number(), d.number(), journal.Position(d.number())}
	ids := func() (ids []uint64) {
		for range min(d.number(), uint64(len(d.rest))) {
			ids = append(ids, d.number())
		}
		return ids
	}
	h.conf = &pb.ConfState{Voters: ids()}
	h.conf.Learners = ids()
	if format > formatFirst {
		h.book = d.book()
	}
	var last place
	for range min(d.number(), uint64(len(d.rest))) {
		last = place{index: last.index + d.number(), at: last.at + journal.Position(d.number()),
			base: uint32(d.number()), records: uint32(d.number())}
		h.places = append(h.places, last)
	}
	if d.bad || len(d.rest) != 0 {
		return h, fmt.Errorf("%w: checkpoint: its header makes no sense", errEntry)
	}
	return h, nil
}

// load reads what the local journal has. A new one is given the group's members; where there are none it is ErrNoLog.
// live is what is still needed.
func load(ctx context.Context, o *Options, local journal.Journal) (l *log, live []journal.Address, fresh bool,
	err error) {
	h, at, live, err := loadCheckpoint(ctx, o, local)
	switch {
	case errors.Is(err, journal.ErrNoCheckpoint) && local.End() == 0 && o.Peers == nil:
		err = ErrNoLog
	case errors.Is(err, journal.ErrNoCheckpoint) && local.End() == 0:
		fresh = true
		h = header{at: 1, term: 1, none: true, state: [2]uint64{1, 0}, older: point{1, 1, 0},
			conf: &pb.ConfState{Voters: o.Peers}}
		at = h.older
		err = local.SaveCheckpoint(ctx, 0, func(w io.Writer) error {
			_, err := w.Write(h.encode())
			return err
		})
	case errors.Is(err, journal.ErrNoCheckpoint):
		err = fmt.Errorf("%w: the local journal has groups and no checkpoint", errEntry)
	}
	if err != nil {
		return nil, nil, false, err
	}
	l = &log{local: local, cacheBytes: o.CacheBytes, none: h.none, newest: at, older: h.older.index,
		confs: []conf{{0, h.conf, h.book}}}
	f := found{state: h.state}
	// Of what is before the older checkpoint some may be gone, and an entry be there that was overridden without the
	// one in its place.
	for g, err := range local.Scan(ctx, h.older.at) {
		if err == nil {
			err = f.group(g)
		}
		if err != nil {
			return nil, nil, false, err
		}
	}
	if f.gap != nil {
		return nil, nil, false, f.gap
	}
	l.state = f.state
	if err := l.take(&h, &f); err != nil {
		return nil, nil, false, err
	}
	l.commit = min(f.committed(), l.last)
	return l, append(live, f.lasting(h.at)...), fresh, nil
}

// loadCheckpoint reads the newest checkpoint, where it is, and what is live in it by its local address.
func loadCheckpoint(ctx context.Context, o *Options, local journal.Journal) (h header, at point,
	live []journal.Address, err error) {
	position, r, skipped, err := local.LoadCheckpoint(ctx)
	if err != nil {
		return h, at, nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if h, err = readHeader(r); err != nil {
		return h, at, nil, err
	}
	at = point{h.at, h.term, position}
	if len(skipped) > 0 {
		h.older = at // this is the older one
	}
	table := &log{local: local, places: h.places}
	if o.Live == nil || h.none {
		for _, p := range h.places {
			for i := range p.records {
				live = append(live, p.record(p.base+i))
			}
		}
		return h, at, live, nil
	}
	needed, err := o.Live(ctx, r, table)
	if err != nil {
		return h, at, nil, err
	}
	for _, a := range needed {
		if local, there := table.find(a); there {
			live = append(live, local)
		}
	}
	return h, at, live, nil
}

// found is what a start finds in the local journal, one group after the other.
type found struct {
	state   [2]uint64
	commit  uint64
	entries []foundEntry // one behind the other, without a gap
	gap     error        // the last one that was seen lies behind what is missing
}

type foundEntry struct {
	place
	term    uint64
	group   bool
	change  bool // who has the log changes
	lasting []journal.Address
}

// group takes the next group of the local journal.
func (f *found) group(g journal.Group) error {
	m, err := markOf(g)
	if err != nil {
		return err
	}
	switch m.what {
	case markState: // one from before the checkpoint may be older than what that says
		if m.term > f.state[0] || m.term == f.state[0] && m.index != 0 {
			f.state = [2]uint64{m.term, m.index}
		}
	case markCommit:
		f.commit = max(f.commit, m.index)
	case markEntry:
		for n := len(f.entries); n > 0 && f.entries[n-1].index >= m.index; n-- {
			f.entries = f.entries[:n-1] // a later leader's entry is in its place
		}
		if n := len(f.entries); n > 0 && f.entries[n-1].index != m.index-1 {
			// When the medium had no room in between, the local journal has what is missing, and this again, behind it.
			f.gap = fmt.Errorf("%w: entry %d of the local journal follows %d", errEntry, m.index, f.entries[n-1].index)
			return nil
		}
		f.gap = nil
		e := foundEntry{place: place{index: m.index, at: g.Position}, term: m.term, group: m.group,
			change: m.kind != pb.EntryNormal}
		if m.group {
			e.records = uint32(len(g.Records) - 1)
		}
		for i, r := range g.Records[1:] {
			if r.Life == journal.Lasting {
				e.lasting = append(e.lasting, e.record(uint32(i)))
			}
		}
		f.entries = append(f.entries, e)
	}
	return nil
}

// lasting are the lasting records behind an index.
func (f *found) lasting(index uint64) (all []journal.Address) {
	for _, e := range f.entries {
		if e.index > index {
			all = append(all, e.lasting...)
		}
	}
	return all
}

// committed is up to where the log is known to be on most nodes. Who has the log is as of there: forgotten by more than
// one change, too few nodes would be taken for most of them. The last one may not have been noted before it was
// followed by another; but that was proposed only when the one before was on most nodes.
func (f *found) committed() uint64 {
	known, before := f.commit, uint64(0)
	for _, e := range f.entries {
		if e.change {
			known, before = max(known, before), e.index
		}
	}
	return known
}

// take makes the log of a checkpoint and of what was found.
func (l *log) take(h *header, f *found) error {
	l.compacted, l.compactedTerm, l.last = h.older.index, h.older.term, h.older.index
	for len(f.entries) > 0 && f.entries[0].index <= h.older.index {
		f.entries = f.entries[1:]
	}
	i, _ := slices.BinarySearchFunc(h.places, h.older.index+1, func(p place, x uint64) int { return p.before(x, 0) })
	l.places = h.places[:i:i]
	l.groups = h.owner
	for _, e := range f.entries {
		if e.index != l.last+1 {
			break
		}
		l.add(e.index, e.term, e.place, e.group)
	}
	if n := len(f.entries); l.last < h.at || n > 0 && l.last < f.entries[n-1].index {
		return fmt.Errorf("%w: the local journal has checkpoints at %d and %d, and no entry %d", errEntry, h.older.index,
			h.at, l.last+1)
	}
	return nil
}
