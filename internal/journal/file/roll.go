package file

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/durable"
	"github.com/hikyaku/hikyaku/internal/journal"
)

// spare is a file that is allocated for a coming segment. It is open: a segment has to begin also while the process may
// open no more files.
type spare struct {
	f       File
	name    string
	size    int64
	written int64 // blocks before this offset are not only allocated but written; all of them, if it was a segment once
}

const sparePrefix = "spare-"

// makeRoom sees to it that a group of n bytes fits into the tail, an end mark behind it. mu is held. When it fails
// with journal.ErrFull or journal.ErrRefused nothing has changed.
func (j *Journal) makeRoom(n int64, lasting bool) error {
	short, fits := lasting && len(j.spares) < reserveSegments, j.tail.end+n+sealBytes <= j.tail.size
	if !short && fits {
		return nil
	}
	j.disk.begin(rolling)
	defer j.disk.end(rolling)
	for short && len(j.spares) < reserveSegments {
		if err := j.addSpare(j.opts.SegmentBytes); err != nil {
			j.runShort(n, err)
			return fmt.Errorf("only the reserve for settling is left: %w", err)
		}
	}
	if fits {
		return nil
	}
	err := j.roll(n, lasting)
	if lasting && err != nil {
		j.runShort(n, err)
	}
	return err
}

// runShort notes that a group of n bytes with lasting records was refused. mu is held.
func (j *Journal) runShort(n int64, why error) {
	if segmentHeaderBytes+n+sealBytes <= j.opts.SegmentBytes {
		j.refused = max(j.refused, n)
	}
	j.shortage = why
	j.short.Store(true)
	j.wakeKeeper()
}

// addSpare allocates a spare. mu is held.
func (j *Journal) addSpare(size int64) error {
	name := filepath.Join(j.dir, sparePrefix+strconv.FormatUint(j.spareNext, 10))
	f, err := j.allocate(name, size)
	if err == nil || errors.Is(err, fs.ErrExist) { // else with the same name: a reason that stays is told once
		j.spareNext++
	}
	if err != nil {
		return err
	}
	j.spares = append(j.spares, spare{f: f, name: name, size: size})
	return nil
}

// allocate makes a file of that size. Its name need not be durable: a spare that is gone after a crash is no loss.
func (j *Journal) allocate(name string, size int64) (File, error) {
	f, err := j.fs.Create(name)
	if err == nil {
		if err = f.Preallocate(size); err != nil {
			err = errors.Join(err, f.Close(), ignoreMissing(j.fs.Remove(name)))
		}
	}
	switch {
	case err == nil:
		return f, nil
	case durable.Full(err):
		return nil, fmt.Errorf("%w: set %d bytes aside in %s: %w", journal.ErrFull, size, j.dir, err)
	default:
		return nil, fmt.Errorf("%w: set %d bytes aside in %s: %w", journal.ErrRefused, size, j.dir, err)
	}
}

// takeSpare removes a spare of at least that size from the list, of those the one of which most is written, leaving the
// reserve alone for lasting records. mu is held.
func (j *Journal) takeSpare(size int64, lasting bool) (spare, error) {
	keep := 0
	if lasting {
		keep = reserveSegments
	}
	j.dropLost()
	if size > j.opts.SegmentBytes || len(j.spares) <= keep {
		if err := j.addSpare(size); err != nil {
			return spare{}, err
		}
	}
	best := len(j.spares) - 1 // the one that was added, if one was
	for i := range best {
		if sp := &j.spares[i]; sp.size >= size && sp.written > j.spares[best].written {
			best = i
		}
	}
	sp := j.spares[best]
	j.spares = slices.Delete(j.spares, best, best+1)
	return sp, nil
}

// dropLost takes from the list the spares whose names were removed or lead to something else. mu is held.
func (j *Journal) dropLost() {
	j.spares = slices.DeleteFunc(j.spares, func(sp spare) bool {
		if leadsTo(j.fs, sp.name, sp.f) {
			return false
		}
		_ = sp.f.Close() // nothing in it counts
		return true
	})
}

// roll ends the tail and begins the next segment with room for a group of n bytes. mu is held.
func (j *Journal) roll(n int64, lasting bool) error {
	need := segmentHeaderBytes + n + sealBytes
	size := max(j.opts.SegmentBytes, (need+4095)&^4095)
	sp, err := j.takeSpare(size, lasting)
	if err != nil {
		return err
	}
	next := &segment{generation: newGeneration(), size: sp.size, end: segmentHeaderBytes, written: sp.written}
	var after journal.Position
	if old := j.tail; old != nil {
		next.base = old.at(old.end)
		if !old.ended {
			next.base = old.at(old.end + sealBytes)
		}
		after = old.totals.last
	}
	next.totals.last = after
	next.name = segmentName(j.dir, next.base)
	// Until the file gets its name the spare stays a spare, and all of this can be done again.
	if err := writeSegmentHeader(sp, next); err != nil {
		j.spares = append(j.spares, sp)
		if durable.Full(err) {
			return fmt.Errorf("%w: begin segment in %s: %w", journal.ErrFull, sp.name, err)
		}
		return fmt.Errorf("%w: begin segment in %s: %w", journal.ErrRefused, sp.name, err)
	}
	if err := j.sealTail(); err != nil {
		j.spares = append(j.spares, sp)
		return err
	}
	if err := j.adopt(sp, next); errors.Is(err, journal.ErrRefused) {
		j.spares = append(j.spares, sp)
		return err
	} else if err != nil {
		return j.fail(fmt.Errorf("begin segment %s: %w", next.name, err))
	}
	j.wakeKeeper()
	return nil
}

func writeSegmentHeader(sp spare, s *segment) error {
	_, err := sp.f.WriteAt(segmentHeader(firstBlock{s.base, s.generation, s.totals.last, s.size}), 0)
	if err != nil {
		return err
	}
	return sp.f.Datasync()
}

// sealTail ends the tail with its totals and makes all of it durable. mu is held.
func (j *Journal) sealTail() error {
	if j.tail == nil {
		return nil
	}
	if !j.tail.ended {
		j.addOwn(encodeSeal(kindEnd, j.tail.totals))
	}
	if err := j.flush(); err != nil {
		return err
	}
	return j.syncSegment(j.tail, j.last)
}

// adopt makes a prepared spare the tail. mu is held. When it fails with journal.ErrRefused nothing has changed.
func (j *Journal) adopt(sp spare, next *segment) error {
	j.manifestMu.Lock()
	defer j.manifestMu.Unlock()
	if _, err := j.lists.open(j.manifest.turn + 1); err != nil {
		return err
	}
	var err error
	if next.f, err = j.rename(sp.f, sp.name, next.name); err != nil {
		return err
	}
	if err := j.lock.SyncDir(); err != nil {
		return errors.Join(err, next.f.Close())
	}
	m := j.manifest.clone()
	if old := j.tail; old != nil {
		m.segments[len(m.segments)-1].end = old.end
	}
	m.segments = append(m.segments, manifestSegment{next.base, next.generation, 0})
	if err := j.lists.write(&m); err != nil {
		return errors.Join(err, next.f.Close())
	}
	j.manifest = m
	j.segMu.Lock()
	defer j.segMu.Unlock()
	if j.tail != nil {
		j.tail.setSealed()
	}
	j.tail = next
	j.begun++
	j.segs = append(slices.Clip(j.segs), next)
	return nil
}

// rename gives an open file another name, and returns it open: what was given is not used any more.
func (j *Journal) rename(f File, old, new string) (File, error) {
	if !renamesOpen {
		if err := errors.Join(f.Close(), j.fs.Rename(old, new)); err != nil {
			return nil, err
		}
		return j.fs.Open(new, false)
	}
	if err := j.fs.Rename(old, new); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// newGeneration is what tells a segment from all others that ever used its blocks.
func newGeneration() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:])
}

// parseSpareName returns the number in the name of a spare.
func parseSpareName(name string) (uint64, bool) {
	digits, ok := strings.CutPrefix(name, sparePrefix)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, err == nil
}
