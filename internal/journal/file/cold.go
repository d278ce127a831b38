package file

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// coldSegment is a file of records that were moved out of the log: groups of kindMoved, each of one queue, and a
// footer. It is written once, synced, listed by the manifest, and never changed.
type coldSegment struct {
	segment // base 0: positions are offsets
	number  uint32
	footer  int64 // offset

	made  tally // of all its records
	alive tally // of those that are live; guarded by Journal.liveMu
}

// tally counts moved records.
type tally struct {
	records int
	units   int64
}

func (t *tally) add(r *movedRow) {
	t.records++
	t.units += int64(r.units)
}

func (t *tally) remove(r *movedRow) {
	t.records--
	t.units -= int64(r.units)
}

// row is what the manifest says of it.
func (c *coldSegment) row() manifestCold {
	return manifestCold{number: c.number, generation: c.generation, footer: c.footer, end: c.end}
}

// openCold opens the cold segment of a row and checks its header.
func openCold(fsys FS, dir string, row manifestCold, readOnly bool) (*coldSegment, error) {
	c := &coldSegment{number: row.number, footer: row.footer}
	c.generation, c.name, c.end, c.moved = row.generation, coldName(dir, row.number), row.end, true
	f, err := fsys.Open(c.name, readOnly)
	if missing(err) {
		return nil, damageAt(c.name, 0, "the cold segment is missing, but the manifest lists it")
	}
	if err != nil {
		return nil, err
	}
	c.f = f
	if err := c.checkHeader(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return c, nil
}

func (c *coldSegment) checkHeader() error {
	size, err := c.f.Size()
	if err != nil {
		return err
	}
	c.size = size
	if size < c.end || c.end < segmentHeaderBytes || c.footer >= c.end {
		return c.damage(0, fmt.Sprintf("the cold segment has %d bytes, it should have %d", size, c.end))
	}
	b := make([]byte, segmentHeaderBytes)
	if err := c.readAt(b, 0); err != nil {
		return err
	}
	if err := checkColdHeader(b, c.number, c.generation); err != nil {
		return unsound(c.name, 0, err)
	}
	return nil
}

// readFooter verifies the footer and returns what it lists.
func (c *coldSegment) readFooter() ([]origins, error) {
	w := newWalker(&c.segment, c.footer, c.end)
	if err := w.next(); err != nil {
		if errors.Is(err, errGroup) {
			return nil, c.damage(c.footer, "its footer: "+err.Error())
		}
		return nil, err
	}
	if w.header.kind != kindFooter || w.offset != c.end {
		return nil, c.damage(c.footer, fmt.Sprintf("it should end with a footer, not with a group of kind %d",
			w.header.kind))
	}
	list, err := decodeFooter(w.meta[groupHeaderBytes:], c.number, c.footer)
	if err != nil {
		return nil, c.damage(c.footer, err.Error())
	}
	c.made = tally{}
	for _, o := range list {
		for i := range o.rows {
			c.made.add(&o.rows[i])
		}
	}
	return list, nil
}

// coldIn returns the cold segment of that number, or nil.
func coldIn(colds []*coldSegment, number uint32) *coldSegment {
	i, found := slices.BinarySearchFunc(colds, number,
		func(c *coldSegment, number uint32) int { return cmp.Compare(c.number, number) })
	if !found {
		return nil
	}
	return colds[i]
}

// loadCold opens the cold segments and makes the tables of what was moved.
func (j *Journal) loadCold(rows []manifestCold) error {
	tables := map[uint64]*movedTable{}
	for _, row := range rows { // in rising order: what was moved twice is where it was moved last
		c, err := openCold(j.fs, j.dir, row, j.opts.ReadOnly)
		if err != nil {
			return err
		}
		j.colds = append(j.colds, c)
		list, err := c.readFooter()
		if err != nil {
			return err
		}
		for _, o := range list {
			t := tables[uint64(o.base)]
			if t == nil {
				tables[uint64(o.base)] = &movedTable{base: o.base, rows: o.rows}
				continue
			}
			t.rows = mergeRows(t.rows, o.rows)
		}
	}
	for _, t := range tables {
		j.moved = append(j.moved, t)
	}
	sortMoved(j.moved)
	return nil
}
