package file

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/hikyaku/hikyaku/internal/journal"
)

const (
	// Groups of cold segments are small enough to read for one record, and large enough that their headers cost
	// nothing.
	coldGroupBytes   = 64 << 10
	coldGroupRecords = 256
)

// run is one cleaning: the survivors of several segments go into one cold segment.
type run struct {
	j       *Journal
	pace    *pacer
	short   bool // of disk
	merging bool // of cold segments that are too small: those who live in them do not count
	marked  []*victim

	victims   []*victim
	survivors []survivor
	tables    map[journal.Position]*affected // of moved records that move again, by base
	out       *coldSegment
	moves     []origins // where the survivors are in it
}

// affected is a table some of whose rows change.
type affected struct {
	old    *movedTable
	before liveness // of its rows when the survivors were listed
}

// survivor is a record to be copied.
type survivor struct {
	sequence uint64
	queue    uint32
	victim   uint32 // index
	group    int64  // offset of its group
	index    uint32 // in that group
	bytes    int32  // of head and body
	origin   origin
}

// letGo lets others take the victims away again.
func (r *run) letGo() {
	r.j.liveMu.Lock()
	defer r.j.liveMu.Unlock()
	for _, v := range r.marked {
		v.segment().cleaning = false
	}
}

// spoil leaves a segment alone whose records cannot be read. It stays as it is: its damage is found by whoever reads
// it.
func (r *run) spoil(s *segment, err error) error {
	r.j.liveMu.Lock()
	s.spoiled = true
	r.j.liveMu.Unlock()
	return fmt.Errorf("%s: %w: %w", s.name, errSpoiled, err)
}

// plan lists the survivors of as many candidates as are worth it, grouped by queue and sequence.
func (r *run) plan(candidates []*victim) error {
	r.tables = make(map[journal.Position]*affected)
	size := int64(segmentHeaderBytes)
	for _, v := range candidates {
		if r.j.failed() != nil || r.j.closed.Load() {
			return errStopped
		}
		from := len(r.survivors)
		r.victims = append(r.victims, v)
		if err := r.list(v); err != nil {
			if errors.Is(err, errGone) || errors.Is(err, journal.ErrClosed) {
				return errStopped
			}
			return r.spoil(v.segment(), err)
		}
		cost := int64(0)
		for i := range r.survivors[from:] {
			cost += r.survivors[from+i].cost()
		}
		if r.worth(v, cost, len(r.survivors)-from) && (len(r.victims) == 1 || size+cost <= r.j.opts.SegmentBytes) {
			size += cost
			continue
		}
		// Tables of records that it shares with others are made anew all the same, without change.
		r.victims = r.victims[:len(r.victims)-1]
		r.survivors = r.survivors[:from]
	}
	slices.SortFunc(r.survivors, compareSurvivors)
	// A spare must do for it on a full disk.
	for len(r.victims) > 1 && r.size() > r.j.opts.SegmentBytes {
		last := uint32(len(r.victims) - 1)
		r.victims = r.victims[:last]
		r.survivors = slices.DeleteFunc(r.survivors, func(s survivor) bool { return s.victim == last })
	}
	return nil
}

func compareSurvivors(a, b survivor) int {
	return cmp.Or(cmp.Compare(a.queue, b.queue), cmp.Compare(a.sequence, b.sequence),
		cmp.Compare(a.origin.base, b.origin.base),
		cmp.Compare(a.origin.group, b.origin.group), cmp.Compare(a.origin.index, b.origin.index))
}

// cost is about how many bytes of a cold segment a survivor takes.
func (s *survivor) cost() int64 { return int64(s.bytes) + entryBytes + originBytes + footerRowBytes }

// worth says whether copying cost bytes is worth it, now that this is known better, and remembers it.
func (r *run) worth(v *victim, cost int64, records int) bool {
	r.j.liveMu.Lock()
	defer r.j.liveMu.Unlock()
	if v.log != nil && records > 0 {
		v.log.average = cost / int64(records)
	}
	below := cleanBelow
	if r.short {
		below = cleanBelowShort
	}
	return records > 0 && (r.merging || float64(cost) <= below*float64(v.bytes) || v.cold != nil)
}

// list appends the survivors of a victim, the last of r.victims.
func (r *run) list(v *victim) error {
	if v.cold != nil {
		return r.listCold(v.cold)
	}
	s := v.log
	r.j.liveMu.Lock()
	v.before = s.live.clone()
	r.j.liveMu.Unlock()
	w := newWalker(s, segmentHeaderBytes, s.end)
	for w.offset < s.end {
		if err := r.next(w); err != nil {
			return err
		}
		at := w.at()
		for i := range w.entries {
			if e := &w.entries[i]; w.header.kind == kindRecords && e.life == journal.Lasting &&
				v.before.has(slot(at, uint32(i))) {
				r.add(e, at, i, originOf(s.base, at, uint32(i)), e.headLen)
			}
		}
	}
	return nil
}

// listCold appends the survivors of a cold segment.
func (r *run) listCold(c *coldSegment) error {
	f := r.j.lookup()
	w := newWalker(&c.segment, segmentHeaderBytes, c.footer)
	for w.offset < c.footer {
		if err := r.next(w); err != nil {
			return err
		}
		at := w.at()
		for i := range w.entries {
			e := &w.entries[i]
			from, err := decodeOrigin(w.meta[e.head:][:e.headLen])
			if err != nil {
				return c.damage(at, err.Error())
			}
			n, row := f.row(from.address())
			if n < 0 {
				continue
			}
			t := f.moved[n]
			if place := &t.rows[row]; place.cold == c.number && int64(place.group)*groupAlign == at &&
				int(place.index) == i && r.affect(t).before.has(int64(row)) {
				r.add(e, at, i, from, e.headLen-originBytes)
			}
		}
	}
	return nil
}

func (r *run) next(w *walker) error {
	if r.j.closed.Load() {
		return errGone
	}
	err := w.next()
	if errors.Is(err, errGroup) {
		return w.w.s.damage(w.offset, err.Error())
	}
	if err == nil && r.pace.looked(w.header.length) != nil {
		return errGone
	}
	return err
}

func (r *run) add(e *entry, at int64, i int, from origin, headLen int) {
	r.survivors = append(r.survivors, survivor{
		sequence: e.sequence, queue: e.queue,
		victim: uint32(len(r.victims) - 1), group: at, index: uint32(i),
		bytes: int32(headLen + e.bodyLen), origin: from,
	})
}

// affect notes that rows of a table will change.
func (r *run) affect(t *movedTable) *affected {
	a := r.tables[t.base]
	if a == nil {
		r.j.liveMu.Lock()
		a = &affected{old: t, before: t.live.clone()}
		r.j.liveMu.Unlock()
		r.tables[t.base] = a
	}
	return a
}

// group returns how many of the first survivors make up the next group of the cold segment, and its length.
func group(survivors []survivor) (n int, length int64) {
	bytes := int64(0)
	for n < len(survivors) && n < coldGroupRecords && survivors[n].queue == survivors[0].queue {
		more := int64(survivors[n].bytes) + originBytes + entryBytes
		if n > 0 && bytes+more > coldGroupBytes {
			break
		}
		bytes += more
		n++
	}
	return n, align(groupHeaderBytes + bytes)
}
