package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// Moment is a journal as a kill of its process at one moment would have left it: which files there are, and how much of
// each. Files of that name with that much in them are a folder that Open opens.
type Moment struct {
	Dir   string
	Log   uint32 // the number of the log: copies of a journal have the same
	Parts []Part // in the order in which a running journal may take them away

	fs FS
}

// Part is a file of a Moment.
type Part struct {
	Name    string
	Content []byte // of a file that is written over while the journal runs; nil: it is in the folder
	Bytes   int64  // how many bytes count, from its beginning
	Size    int64  // of the file: behind Bytes are zeros
	// tells a file of the folder from others of that name, as long as nobody has written to it behind Bytes and begun
	// it anew; "" where there is Content
	Identity string

	segment *manifestSegment
	cold    *manifestCold
}

// A journal at work changes its list of segments now and then, and the ends of several are seldom the same twice while
// all of them are busy. So it is looked until a look was not disturbed, that often at most.
const (
	momentTries  = 500
	damagedTries = 20 // what is being written may look like damage
	stillTries   = 20_000
	momentAgain  = time.Millisecond
)

var (
	errMoving  = errors.New("its list of segments changed while it was read")
	errStillUp = errors.New("groups were written to one of the shards between any two looks at all of them: try again " +
		"when less is put")
)

// Moments are journals as they are at one moment, the same for all of them: what one has of another's doing, that one
// has done. It takes no locks and changes nothing, and the journals may be in use. Where one is damaged at its end or
// in its list of segments the error is a *journal.DamageError.
func Moments(ctx context.Context, dirs []string) ([]*Moment, error) {
	return momentsOf(ctx, osFS{}, dirs)
}

func momentsOf(ctx context.Context, fsys FS, dirs []string) ([]*Moment, error) {
	looks := make([]*momentLook, len(dirs))
	for i, dir := range dirs {
		looks[i] = &momentLook{fs: fsys, dir: dir}
		defer looks[i].close()
	}
	damaged := 0
	for try := 0; ; try++ {
		if try > 0 {
			if err := pause(ctx, momentAgain); err != nil {
				return nil, err
			}
		}
		ms, err := lookTogether(ctx, looks)
		if err == nil {
			return ms, nil
		}
		var damage *journal.DamageError
		if errors.As(err, &damage) {
			if !slices.ContainsFunc(looks, (*momentLook).moved) {
				damaged++
			}
		} else if !errors.Is(err, errMoving) && !missing(err) {
			return nil, err
		}
		if errors.Is(err, ErrNoJournal) || damaged == damagedTries || try == momentTries {
			return nil, err
		}
	}
}

// lookTogether looks once. After errMoving, a file that is missing or damage another look may say something else.
func lookTogether(ctx context.Context, looks []*momentLook) (ms []*Moment, err error) {
	for _, l := range looks {
		if err := l.begin(ctx); err != nil {
			return nil, fmt.Errorf("journal %s: %w", l.dir, err)
		}
	}
	if err := ends(ctx, looks); err != nil {
		return nil, err
	}
	for _, l := range looks {
		m, err := l.moment()
		if err != nil {
			return nil, fmt.Errorf("journal %s: %w", l.dir, err)
		}
		ms = append(ms, m)
	}
	return ms, nil
}

// ends goes to the ends of all logs. An end only moves forward: when it is where it was it has been there meanwhile,
// and when all are, they were so at one moment.
func ends(ctx context.Context, looks []*momentLook) error {
	for range stillTries {
		moved := false
		for _, l := range looks {
			on, err := l.goOn()
			if err != nil {
				return fmt.Errorf("journal %s: %w", l.dir, err)
			}
			moved = moved || on
		}
		if !moved || len(looks) == 1 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return errStillUp
}

// momentLook looks at one journal.
type momentLook struct {
	fs  FS
	dir string

	note   []byte // the file
	lists  *manifests
	saved  []savedCheckpoint
	tail   *segment // the newest segment, opened
	walk   *walker  // of it
	totals totals   // of it, as far as it was walked
}

func (l *momentLook) close() {
	if l.tail != nil {
		_ = l.tail.shut(journal.ErrClosed) // it was only read
		l.tail = nil
	}
}

// moved says whether a list of segments is another than the one that was read. Then what looked like damage may have
// been two files of different moments.
func (l *momentLook) moved() bool {
	now, err := readManifests(l.fs, l.dir)
	return err == nil && l.lists != nil && !slices.EqualFunc(now.slots[:], l.lists.slots[:],
		func(a, b manifestSlot) bool { return a.missing == b.missing && bytes.Equal(a.content, b.content) })
}

// begin reads the small files, the note first: what it says was synced is in the log that is read then.
func (l *momentLook) begin(ctx context.Context) error {
	n, _, err := readNote(l.fs, l.dir)
	if err != nil {
		return err
	}
	l.note, err = readFirst(l.fs, filepath.Join(l.dir, noteName), notePlaces*noteBytes)
	if err != nil && !missing(err) {
		return err
	}
	names, err := l.fs.ReadDir(l.dir)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoJournal, err)
	}
	if l.lists, err = readManifests(l.fs, l.dir); err != nil {
		return err
	}
	switch ms := l.lists; {
	case ms.damage != nil:
		return ms.damage
	case ms.doubt != nil: // it is being written, or was when the process died
		return ms.doubt
	case ms.current == nil || len(ms.current.segments) == 0:
		return ErrNoJournal
	}
	var c checkpoints
	if err := c.find(l.fs, l.dir, names, l.lists.current.log); err != nil {
		return err
	}
	l.saved = slices.DeleteFunc(c.list, func(sc savedCheckpoint) bool { return sc.damaged })
	return l.openTail(ctx, n)
}

// openTail opens the newest segment and walks it, unless that was done before.
func (l *momentLook) openTail(ctx context.Context, n note) error {
	m := l.lists.current
	row := m.segments[len(m.segments)-1]
	if l.tail != nil && l.tail.base == row.base && l.tail.generation == row.generation && !m.clean {
		return nil
	}
	l.close()
	s, err := openSegment(l.fs, l.dir, row, true)
	if err != nil {
		return err
	}
	synced, err := n.synced(s)
	if err == nil && m.clean {
		err = s.readEnd(row.end, false)
		l.walk, l.totals = newWalker(s, row.end, row.end), s.totals
	} else if err == nil {
		var t *tailState
		if t, err = examineTail(ctx, s, synced); err == nil {
			if err = t.damage(s); err == nil {
				l.walk, l.totals = newWalker(s, t.end, s.size), t.totals
			}
		}
	}
	if err != nil {
		return errors.Join(err, s.shut(journal.ErrClosed))
	}
	l.tail = s
	return nil
}

// goOn walks on to the end of the log, and says whether it has moved.
func (l *momentLook) goOn() (moved bool, err error) {
	if l.lists.current.clean {
		return false, nil
	}
	w := l.walk
	w.w.n, w.w.ahead = 0, windowFirst // what was read before was before
	for {
		at := w.offset
		err := w.next()
		if err == nil {
			err = w.soundBodies()
		}
		if errors.Is(err, errGroup) {
			w.offset = at
			return moved, nil // it is not there yet, or not whole
		}
		if err != nil {
			return moved, err
		}
		if w.header.kind == kindRecords {
			l.totals.add(w.header.position, w.entries)
		}
		moved = true
	}
}

// moment is what was found, if it is still so that nothing was appended anywhere else.
func (l *momentLook) moment() (*Moment, error) {
	now, err := readManifests(l.fs, l.dir)
	if err != nil {
		return nil, err
	}
	m := l.lists.current
	if now.damage != nil || now.doubt != nil || now.current == nil || now.current.turn != m.turn {
		return nil, errMoving
	}
	p := &Moment{Dir: l.dir, Log: m.log.number, fs: l.fs}
	for _, sc := range l.saved {
		if sc.at > l.totals.last { // it is of a moment after this one
			continue
		}
		size, err := sizeOf(l.fs, sc.name)
		if err != nil {
			return nil, err
		}
		p.Parts = append(p.Parts, Part{Name: filepath.Base(sc.name), Bytes: size, Size: size,
			Identity: fmt.Sprintf("checkpoint %d of log %08x at %d", sc.number, sc.log, sc.at)})
	}
	if len(p.Parts) == 0 && m.reclaimed {
		return nil, errMoving
	}
	for i := range m.colds {
		row := &m.colds[i]
		name := coldName(l.dir, row.number)
		size, err := sizeOf(l.fs, name)
		if err != nil {
			return nil, err
		}
		p.Parts = append(p.Parts, Part{Name: filepath.Base(name), Bytes: row.end, Size: size, cold: row,
			Identity: fmt.Sprintf("generation %016x, %d bytes", row.generation, row.end)})
	}
	for i := range m.segments {
		row := &m.segments[i]
		name, end := segmentName(l.dir, row.base), row.end
		if i == len(m.segments)-1 {
			end = l.walk.offset
		}
		size, err := sizeOf(l.fs, name)
		if err != nil {
			return nil, err
		}
		p.Parts = append(p.Parts, Part{Name: filepath.Base(name), Bytes: end, Size: size, segment: row,
			Identity: fmt.Sprintf("generation %016x, %d bytes", row.generation, end)})
	}
	return p, l.addSmall(p)
}

// addSmall adds the files that are written over.
func (l *momentLook) addSmall(p *Moment) error {
	small := map[string][]byte{}
	for _, sl := range l.lists.slots {
		if !sl.missing {
			small[filepath.Base(sl.name)] = sl.content
		}
	}
	if l.note != nil {
		small[noteName] = l.note
	}
	for _, name := range slices.Sorted(maps.Keys(small)) {
		b := small[name]
		told := append([]byte{}, bytes.TrimRight(b, "\x00")...)
		p.Parts = append(p.Parts, Part{Name: name, Content: told, Bytes: int64(len(told)), Size: int64(len(b))})
	}
	return nil
}

// Has says whether a part is still the journal's. If so, what was read of the file before is what it had been at the
// moment: a segment leaves the list before anything is written over it.
func (p *Moment) Has(part Part) (bool, error) {
	if part.segment == nil && part.cold == nil {
		return true, nil // nobody writes to a checkpoint
	}
	for range momentTries {
		ms, err := readManifests(p.fs, p.Dir)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if ms.current == nil { // it is being written
			time.Sleep(momentAgain)
			continue
		}
		m := ms.current
		if part.cold != nil {
			return slices.ContainsFunc(m.colds, func(row manifestCold) bool {
				return row.number == part.cold.number && row.generation == part.cold.generation
			}), nil
		}
		return slices.ContainsFunc(m.segments, func(row manifestSegment) bool {
			return row.base == part.segment.base && row.generation == part.segment.generation
		}), nil
	}
	return false, fmt.Errorf("journal %s: no list of segments can be read: hikyaku journal check tells more", p.Dir)
}

// CheckCopy is Check of a journal on another file system, which nobody has open.
func CheckCopy(ctx context.Context, fsys FS, dir string, progress func(done, total int64)) (*Report, error) {
	x, err := inspect(ctx, fsys, dir, progress)
	if err != nil {
		return nil, fmt.Errorf("check journal %s: %w", dir, err)
	}
	return x.report, nil
}
