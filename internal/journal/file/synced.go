package file

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// The note is a small file beside the log that says how far the log is known to be durable. It is written over after
// each sync, before anybody is told that his group is durable, and not synced itself: what a killed process wrote is
// there, so after a kill the note speaks for every group that was acknowledged, the very last one included, behind
// which no group of the log could. After a power cut it may be of a while ago, and then says less. What it says is true
// whenever it was written, so a start believes it: a log that ends before was damaged. The file has two places that are
// written in turn: one that was cut off in the middle spoke of what nobody had been told of.
const (
	noteName    = "synced"
	noteBytes   = 64
	notePlaces  = 2
	noteVersion = 1
)

var noteMagic = [8]byte{'h', 'i', 'k', 'y', 'a', 'k', 'u', 's'}

// note is what the file says.
type note struct {
	generation uint64           // of the segment in which last lies
	last       journal.Position // a group that was synced, and with it everything before
}

var errNote = errors.New("not a sound note of what was synced")

func (n note) encode(b []byte) {
	copy(b, noteMagic[:])
	binary.LittleEndian.PutUint32(b[8:], noteVersion)
	binary.LittleEndian.PutUint64(b[16:], n.generation)
	binary.LittleEndian.PutUint64(b[24:], uint64(n.last))
	binary.LittleEndian.PutUint32(b[12:], noteCRC(b))
}

func noteCRC(b []byte) uint32 {
	return crc32.Update(checksum(b[:12]), castagnoli, b[16:noteBytes])
}

func decodeNote(b []byte) (note, error) {
	switch {
	case len(b) < noteBytes:
		return note{}, fmt.Errorf("%w: it has only %d bytes", errNote, len(b))
	case [8]byte(b) != noteMagic:
		return note{}, fmt.Errorf("%w: it begins with % x", errNote, b[:8])
	case noteCRC(b) != binary.LittleEndian.Uint32(b[12:]):
		return note{}, fmt.Errorf("%w: its checksum is %08x, should be %08x", errNote, noteCRC(b),
			binary.LittleEndian.Uint32(b[12:]))
	case binary.LittleEndian.Uint32(b[8:]) != noteVersion:
		return note{}, nil // of a later format, which says nothing to this one
	}
	return note{binary.LittleEndian.Uint64(b[16:]), journal.Position(binary.LittleEndian.Uint64(b[24:]))}, nil
}

// readNote returns what the note says; nothing when there is none, as in a folder of a version that wrote none. broken
// tells why a place of it cannot be read.
func readNote(fsys FS, dir string) (n note, broken *journal.DamageError, err error) {
	name := filepath.Join(dir, noteName)
	b, err := readFirst(fsys, name, notePlaces*noteBytes)
	if missing(err) {
		return n, nil, nil
	}
	if err != nil {
		return n, nil, fmt.Errorf("read %s: %w", name, err)
	}
	for i := range notePlaces {
		one, err := noteIn(b, i)
		if err != nil {
			broken = damageAt(name, int64(i*noteBytes), err.Error())
		} else if one.last > n.last {
			n = one
		}
	}
	return n, broken, nil
}

// noteIn reads one of the places of a note's file.
func noteIn(b []byte, i int) (note, error) {
	place := b[min(i*noteBytes, len(b)):min((i+1)*noteBytes, len(b))]
	if len(bytes.Trim(place, "\x00")) == 0 {
		return note{}, nil // not written yet; a power cut may leave it so
	}
	return decodeNote(place)
}

// synced is the highest position of the newest segment that the note says was synced; 0 when it speaks of an earlier
// segment, or not at all.
func (n note) synced(s *segment) (journal.Position, error) {
	switch {
	case n.last == 0, n.last < s.base:
		return 0, nil
	case n.generation != s.generation:
		return 0, s.damage(0, fmt.Sprintf("the group at position %d was synced in a segment of generation %016x; "+
			"this one, where it belongs, is of generation %016x", n.last, n.generation, s.generation))
	case s.offset(n.last) >= s.size:
		return 0, s.damage(s.size, fmt.Sprintf("the group at position %d was synced once, but the newest segment "+
			"ends before it", n.last))
	}
	return n.last, nil
}

// noteKeeper writes the note. Its methods are called with Journal.syncMu held, or while nobody else has the journal.
type noteKeeper struct {
	f      File   // nil: it could not be opened or written; a note of before stays true
	mapped []byte // of f, where that can be: to write there takes nanoseconds
	turn   int
	buf    [noteBytes]byte

	// For who reads the file meanwhile without the lock: it is whole while begun and done are equal, and the same
	// before and after.
	begun, done atomic.Uint64
	noted       atomic.Uint64 // a position that was noted; 0: none was
}

// mapper is a File that can be had as memory. To write to it is to write to the file; unmap has to be called before the
// file is closed.
type mapper interface {
	Map(n int) ([]byte, error)
	Unmap(b []byte) error
}

// openNote opens or makes the file. The log does without, so trouble is told and no more.
func (j *Journal) openNote() {
	if err := j.note.open(j.fs, filepath.Join(j.dir, noteName)); err != nil {
		j.opts.Report(fmt.Errorf("note what is synced: %w", err))
	}
	j.noteSynced(j.tail, j.last)
}

func (k *noteKeeper) open(fsys FS, name string) error {
	f, err := fsys.Open(name, false)
	if missing(err) {
		f, err = fsys.Create(name)
	}
	if err != nil {
		return err
	}
	size, err := f.Size()
	if err == nil && size < notePlaces*noteBytes {
		err = f.Preallocate(notePlaces * noteBytes)
	}
	b := make([]byte, notePlaces*noteBytes)
	if n, _ := f.ReadAt(b, 0); err == nil && n == len(b) {
		first, _ := noteIn(b, 0)
		second, _ := noteIn(b, 1)
		k.turn = 0
		if first.last > second.last { // that one stays until the other is written
			k.turn = 1
		}
	}
	if m, ok := f.(mapper); err == nil && ok {
		k.mapped, err = m.Map(notePlaces * noteBytes)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	k.f = f
	return nil
}

// noteSynced writes that everything up to the group at last, in segment s, is durable.
func (j *Journal) noteSynced(s *segment, last journal.Position) {
	k := &j.note
	if k.f == nil || last < s.base {
		return
	}
	note{s.generation, last}.encode(k.buf[:])
	if err := k.write(); err != nil {
		j.opts.Report(fmt.Errorf("note what is synced: %w", errors.Join(err, k.close())))
		return
	}
	k.noted.Store(uint64(last))
}

func (k *noteKeeper) write() (err error) {
	k.begun.Add(1)
	defer k.done.Add(1)
	at := k.turn * noteBytes
	k.turn = (k.turn + 1) % notePlaces
	if k.mapped == nil {
		_, err := k.f.WriteAt(k.buf[:], int64(at))
		return err
	}
	// Memory of a file that was cut short meanwhile, or whose disk fails, cannot be written to.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %v", errNote, v)
		}
	}()
	copy(k.mapped[at:at+noteBytes], k.buf[:])
	return nil
}

// close lets go of the file.
func (k *noteKeeper) close() (err error) {
	if k.f == nil {
		return nil
	}
	if k.mapped != nil {
		err = k.f.(mapper).Unmap(k.mapped)
	}
	err = errors.Join(err, k.f.Close())
	k.f, k.mapped = nil, nil
	return err
}

// forgetNote takes the note away: Repair may end the log before the place of which it speaks.
func forgetNote(fsys FS, dir string) error {
	return ignoreMissing(fsys.Remove(filepath.Join(dir, noteName)))
}
