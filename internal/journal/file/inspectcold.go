package file

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// coldFindings is what a look at one cold segment found.
type coldFindings struct {
	row     manifestCold
	c       *coldSegment // nil: there is no file that could be repaired
	header  bool         // the header is damaged
	footer  bool         // the footer is
	end     int64        // behind the last group of records
	records int
	list    []origins // as the groups tell
	damages []Damage
}

// settlings of cold segments
const (
	leftToReaders = "left where it is: reading these records answers with an error"
	writtenAnew   = "written anew"
)

// strangeColds lists the cold segments there are when no manifest tells.
func (x *inspection) strangeColds(names []string) ([]manifestCold, error) {
	var rows []manifestCold
	for _, name := range names {
		number, ok := parseColdName(name)
		if !ok {
			continue
		}
		path := filepath.Join(x.dir, name)
		b, err := readFirst(x.fs, path, segmentHeaderBytes)
		if err != nil {
			return nil, err
		}
		got, generation, _, err := decodeFirstBlock(coldMagic, b)
		if err != nil || got != uint64(number) {
			x.unusable = append(x.unusable, path)
			x.add(Damage{File: path, What: "no manifest lists this cold segment, and its header cannot be read",
				Lost: "what it held"})
			continue
		}
		row := manifestCold{number: number, generation: generation}
		if row.end, err = sizeOf(x.fs, path); err != nil {
			return nil, err
		}
		rows = append(rows, row) // the walk finds the footer
	}
	return rows, nil
}

// openCold opens the file of a row as far as that is possible.
func (x *inspection) openCold(row manifestCold) error {
	f := &coldFindings{row: row}
	x.colds = append(x.colds, f)
	c := &coldSegment{number: row.number, footer: row.footer}
	c.generation, c.name, c.end, c.moved = row.generation, coldName(x.dir, row.number), row.end, true
	file, err := x.fs.Open(c.name, true)
	if missing(err) {
		f.damages = append(f.damages,
			Damage{File: c.name, What: "the cold segment is missing, but the manifest lists it",
				Lost: "all its records", settling: "taken off the list"})
		return nil
	}
	if err != nil {
		return err
	}
	c.f = file
	if c.size, err = file.Size(); err != nil {
		return errors.Join(err, file.Close())
	}
	if c.size < segmentHeaderBytes {
		f.damages = append(f.damages,
			Damage{File: c.name, Length: segmentHeaderBytes, What: fmt.Sprintf("the cold segment has only %d bytes",
				c.size), Lost: "all its records"})
		x.unusable = append(x.unusable, c.name)
		return file.Close()
	}
	f.c = c
	x.total += c.size
	b := make([]byte, segmentHeaderBytes)
	if err := c.readAt(b, 0); err != nil {
		return err
	}
	if err := checkColdHeader(b, row.number, row.generation); err != nil {
		f.header = true
		f.damages = append(f.damages, Damage{File: c.name, Length: segmentHeaderBytes, What: err.Error(),
			settling: writtenAnew})
	}
	return nil
}

// inspectCold walks all of a cold segment, over gaps too, and compares its footer with what it holds.
func (x *inspection) inspectCold(ctx context.Context, f *coldFindings) error {
	c := f.c
	if c == nil {
		return nil
	}
	before := x.done
	defer func() {
		x.done = before + c.size
		x.progress(x.done, x.total)
	}()
	limit := c.size
	if f.row.footer > 0 {
		limit = min(limit, f.row.footer)
	}
	f.end = segmentHeaderBytes
	rows := make(map[journal.Position][]movedRow)
	w := newWalker(&c.segment, segmentHeaderBytes, limit)
	whole := true
	for w.offset < limit {
		if err := ctx.Err(); err != nil {
			return err
		}
		x.progress(before+w.offset, x.total)
		err := w.next()
		if err == nil && w.header.kind == kindFooter {
			c.footer, c.end = w.at(), w.offset
			break
		}
		if err == nil {
			f.end = w.offset
			err = f.group(w, rows)
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, errGroup) {
			return err
		}
		from := w.offset
		to, ferr := findGroup(&c.segment, from, limit)
		if ferr != nil {
			return ferr
		}
		whole = false
		f.damages = append(f.damages, Damage{File: c.name, Offset: from, Length: to - from, What: err.Error(),
			Lost: fmt.Sprintf("the records in these %d bytes", to-from), settling: leftToReaders})
		w.offset = to
	}
	for base, rows := range rows {
		slices.SortFunc(rows, compareRows)
		f.list = append(f.list, origins{base, rows})
	}
	slices.SortFunc(f.list, compareOrigins)
	return f.compareFooter(whole)
}

// compareFooter verifies the footer, and that it lists what is there when all of that could be read.
func (f *coldFindings) compareFooter(whole bool) error {
	c := f.c
	what := "its footer does not list what it holds"
	if c.footer == 0 || c.size < c.end {
		what = "its footer is missing"
	} else {
		list, err := c.readFooter()
		var damage *journal.DamageError
		switch {
		case errors.As(err, &damage):
			what = damage.What
		case err != nil:
			return err
		case !whole, slices.EqualFunc(list, f.list,
			func(a, b origins) bool { return a.base == b.base && slices.Equal(a.rows, b.rows) }):
			return nil
		}
	}
	f.footer = true
	f.damages = append(f.damages, Damage{File: c.name, Offset: max(c.footer, f.end), Length: max(0, c.size-c.footer),
		What: what, settling: writtenAnew})
	return nil
}

// group notes where the records of the group last read come from and verifies their bodies.
func (f *coldFindings) group(w *walker, rows map[journal.Position][]movedRow) error {
	at := w.at()
	from := make([]origin, len(w.entries))
	for i := range w.entries {
		e := &w.entries[i]
		o, err := decodeOrigin(w.meta[e.head:][:e.headLen])
		if err != nil {
			return err
		}
		from[i] = o
		bytes := survivor{bytes: int32(e.headLen - originBytes + e.bodyLen)}
		rows[o.base] = append(rows[o.base], movedRow{slot: o.slot(), cold: f.c.number, group: uint32(at / groupAlign),
			index: uint16(i), units: unitsOf(bytes.cost())})
		f.records++
	}
	return w.verifyBodies(func(i int, err error) {
		a := from[i].address()
		f.damages = append(f.damages, Damage{
			File:   f.c.name,
			Offset: at + w.entries[i].body,
			Length: int64(w.entries[i].bodyLen),
			What:   fmt.Sprintf("the moved record %d of the group at position %d: %v", a.Index, a.Position, err),
			Record: &a,
			Lost:   "the body of this record",
		})
	})
}

// repairCold makes a cold segment one that opens and returns its row.
func (x *inspection) repairCold(f *coldFindings) (row manifestCold, err error) {
	row = manifestCold{number: f.row.number, generation: f.row.generation, footer: f.c.footer, end: f.c.end}
	if !f.header && !f.footer {
		return row, nil
	}
	c := &segment{generation: f.row.generation, name: f.c.name}
	if c.f, err = x.fs.Open(c.name, false); err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, c.shut(journal.ErrClosed)) }()
	if f.header {
		if _, err := c.f.WriteAt(coldHeader(row.number, row.generation), 0); err != nil {
			return row, err
		}
	}
	if f.footer {
		footer := encodeFooter(f.list)
		row.footer = max(row.footer, f.end)
		row.end = row.footer + int64(len(footer))
		place(footer, row.generation, journal.Position(row.footer), 0)
		if err := c.f.Truncate(row.end); err != nil {
			return row, err
		}
		if _, err := c.f.WriteAt(footer, row.footer); err != nil {
			return row, err
		}
	}
	return row, c.sync()
}
