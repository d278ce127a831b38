package file

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/hikyaku/hikyaku/internal/durable"
	"github.com/hikyaku/hikyaku/internal/journal"
)

// outgoing are the segments that a change of the manifest takes away.
type outgoing struct {
	logs  []*segment
	colds []*coldSegment
}

func (o *outgoing) empty() bool { return len(o.logs)+len(o.colds) == 0 }

// reclaim takes away the segments of which nothing is needed any more.
func (j *Journal) reclaim() error {
	horizon, ok := j.checkpoints.horizon()
	if !ok || j.failed() != nil {
		return nil
	}
	gone := j.superfluous(horizon)
	if gone.empty() {
		return nil
	}
	if err := j.forget(gone); err != nil {
		return err
	}
	return j.discard(gone)
}

// superfluous lists sealed segments that end before the horizon, and cold ones, that hold no live record.
func (j *Journal) superfluous(horizon journal.Position) outgoing {
	j.segMu.RLock()
	defer j.segMu.RUnlock()
	j.liveMu.Lock()
	defer j.liveMu.Unlock()
	var gone outgoing
	if !j.kept {
		return gone
	}
	for _, s := range j.segs {
		if s.sealed && s.totals.last <= horizon && s.live.count == 0 && !s.cleaning {
			gone.logs = append(gone.logs, s)
		}
	}
	for _, c := range j.colds {
		if c.alive.records == 0 && !c.cleaning {
			gone.colds = append(gone.colds, c)
		}
	}
	return gone
}

// without takes the rows of segments out of a manifest. Those of the log are remembered until their files are gone.
func (m *manifest) without(gone outgoing) {
	m.reclaimed = m.reclaimed || len(gone.logs) > 0
	for _, s := range gone.logs {
		m.log.floor = max(m.log.floor, s.totals.last)
	}
	m.segments = slices.DeleteFunc(m.segments, func(row manifestSegment) bool {
		if slices.ContainsFunc(gone.logs, func(s *segment) bool { return s.base == row.base }) {
			m.dropped = append(m.dropped, row)
			return true
		}
		return false
	})
	m.colds = slices.DeleteFunc(m.colds, func(row manifestCold) bool {
		return slices.ContainsFunc(gone.colds, func(c *coldSegment) bool { return c.number == row.number })
	})
}

// forget takes segments out of the manifest and out of the lists, and with them the tables that point nowhere any more.
func (j *Journal) forget(gone outgoing) error {
	j.manifestMu.Lock()
	defer j.manifestMu.Unlock()
	if err := j.changeManifest(func(m *manifest) { m.without(gone) }); err != nil {
		return err
	}
	j.segMu.Lock()
	defer j.segMu.Unlock()
	j.liveMu.Lock()
	defer j.liveMu.Unlock()
	j.unlist(gone)
	return nil
}

// unlist takes segments out of the lists. segMu and liveMu are held.
func (j *Journal) unlist(gone outgoing) {
	if len(gone.logs) > 0 {
		j.segs = slices.DeleteFunc(slices.Clone(j.segs), func(s *segment) bool { return slices.Contains(gone.logs, s) })
	}
	if len(gone.colds) > 0 {
		j.colds = slices.DeleteFunc(slices.Clone(j.colds),
			func(c *coldSegment) bool { return slices.Contains(gone.colds, c) })
	}
	j.moved = slices.DeleteFunc(slices.Clone(j.moved), func(t *movedTable) bool { return t.live.count == 0 })
}

// changeManifest makes a change of the manifest durable. manifestMu is held. After an error the manifest in force is
// the one before, or the journal has failed.
func (j *Journal) changeManifest(change func(*manifest)) error {
	m := j.manifest.clone()
	change(&m)
	err := j.lists.write(&m)
	switch {
	case err == nil:
		j.manifest = m
		return nil
	case errors.Is(err, journal.ErrRefused):
		return err
	case !durable.Full(err):
		return j.fail(err)
	}
	// Part of it may have got to the disk, perhaps all that counts. What is there must not tell of a change that did
	// not happen.
	back := j.manifest.clone()
	if again := j.lists.write(&back); again != nil {
		return j.fail(errors.Join(err, again))
	}
	j.manifest = back
	return err
}

// discard closes and removes files that the manifest lists no longer.
func (j *Journal) discard(gone outgoing) error {
	var errs []error
	for _, s := range gone.logs {
		errs = append(errs, j.recycle(s))
	}
	for _, c := range gone.colds {
		errs = append(errs, c.shut(errGone), j.fs.Remove(c.name))
	}
	if err := errors.Join(errs...); err != nil {
		return err // what is left is removed by the next start
	}
	if err := j.lock.SyncDir(); err != nil {
		return fmt.Errorf("remove segments from %s: %w", j.dir, err)
	}
	j.manifestMu.Lock()
	defer j.manifestMu.Unlock()
	// From the next write on.
	j.manifest.dropped = slices.DeleteFunc(slices.Clone(j.manifest.dropped), func(row manifestSegment) bool {
		return slices.ContainsFunc(gone.logs, func(s *segment) bool { return s.generation == row.generation })
	})
	return nil
}

// recycleSegments is how many spares are kept beyond the reserve while the log begins one segment after the other. What
// cleaning and a checkpoint give back comes in bursts, and the log soon needs as much again.
const recycleSegments = 8

// recycle makes a spare of a segment's file, or removes it when there are enough: its blocks are written already, so
// the next use of them is cheap. To remove files also keeps a file system busy, and everybody who syncs in it.
func (j *Journal) recycle(s *segment) error {
	j.mu.Lock()
	keep := s.size == j.opts.SegmentBytes && len(j.spares) < reserveSegments+recycleSegments
	name := filepath.Join(j.dir, sparePrefix+strconv.FormatUint(j.spareNext, 10))
	j.spareNext++
	j.mu.Unlock()
	f := s.leave(errGone)
	if f == nil {
		return nil
	}
	if !keep { // to remove a large file takes a while: nobody may wait for it
		return errors.Join(f.Close(), j.fs.Remove(s.name))
	}
	f, err := j.rename(f, s.name, name)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.spares = append(j.spares, spare{f, name, s.size, s.size})
	j.tellRoom()
	return nil
}
