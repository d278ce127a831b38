package file

import (
	"cmp"
	"slices"

	"github.com/hikyaku/hikyaku/internal/journal"
)

func compareRows(a, b movedRow) int   { return cmp.Compare(a.slot, b.slot) }
func compareOrigins(a, b origins) int { return cmp.Compare(a.base, b.base) }

// replace puts the cold segment, which is durable, in the place of the victims: first in the manifest, by one write,
// then in memory. Who read from a victim meanwhile and finds it gone looks the address up again. It returns the
// victims, whose files are not needed any more.
func (r *run) replace() (gone outgoing, err error) {
	j := r.j
	for _, v := range r.victims {
		if v.cold != nil {
			gone.colds = append(gone.colds, v.cold)
		} else {
			gone.logs = append(gone.logs, v.log)
		}
	}
	tables := r.newTables()
	r.out.alive = r.out.made

	j.manifestMu.Lock()
	defer j.manifestMu.Unlock()
	err = j.changeManifest(func(m *manifest) {
		m.without(gone)
		m.colds = append(m.colds, r.out.row()) // it has the highest number
	})
	if err != nil {
		return gone, err
	}
	// The lists change under manifestMu only, so this needs no other lock.
	moved := slices.DeleteFunc(slices.Clone(j.moved), func(t *movedTable) bool { return tables[t.base] != nil })
	for _, t := range tables {
		moved = append(moved, t)
	}
	sortMoved(moved)
	j.segMu.Lock()
	defer j.segMu.Unlock()
	j.liveMu.Lock()
	defer j.liveMu.Unlock()
	r.catchUp(tables)
	j.moved = moved
	j.colds = append(slices.Clip(j.colds), r.out)
	j.unlist(gone)
	return gone, nil
}

// newTables makes the tables that come in the place of those that change, and those of the segments that leave the log.
func (r *run) newTables() map[journal.Position]*movedTable {
	tables := make(map[journal.Position]*movedTable)
	for _, o := range r.moves {
		tables[o.base] = &movedTable{base: o.base, rows: o.rows}
	}
	for base, a := range r.tables {
		var rows []movedRow
		for i := range a.old.rows {
			if a.before.has(int64(i)) {
				rows = append(rows, a.old.rows[i])
			}
		}
		if t := tables[base]; t != nil {
			t.rows = mergeRows(rows, t.rows)
		} else {
			tables[base] = &movedTable{base: base, rows: rows}
		}
	}
	for _, t := range tables {
		t.setAll()
	}
	return tables
}

// catchUp releases in the new tables what was released since the survivors were listed. segMu and liveMu are held.
func (r *run) catchUp(tables map[journal.Position]*movedTable) {
	release := func(t *movedTable, slot uint32) {
		if i, ok := t.find(slot, len(t.rows)); ok && t.live.clear(int64(i)) && t.rows[i].cold == r.out.number {
			r.out.alive.remove(&t.rows[i])
		}
	}
	for base, a := range r.tables {
		a.before.cleared(&a.old.live, func(i int64) { release(tables[base], a.old.rows[i].slot) })
	}
	for _, v := range r.victims {
		if t := tables[v.segment().base]; v.log != nil && t != nil {
			v.before.cleared(&v.log.live, func(slot int64) { release(t, uint32(slot)) })
		}
	}
}
