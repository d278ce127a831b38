package file

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
)

func (j *Journal) wakeKeeper() {
	select {
	case j.tidy <- struct{}{}:
	default:
	}
}

// keep is the goroutine that reclaims segments, makes up the spares and seals an idle log.
func (j *Journal) keep() {
	var tick <-chan time.Time
	if j.opts.IdleSeal > 0 {
		t := time.NewTicker(j.opts.IdleSeal)
		defer t.Stop()
		tick = t.C
	}
	var seen journal.Position // the last group at the last tick
	var load syncLoad
	for {
		var err error
		select {
		case <-j.quit:
			return
		case <-j.tidy:
			err = errors.Join(j.reclaim(), j.refill(), j.zeroAhead(&load))
		case <-tick:
			seen, err = j.sealIdle(seen)
		}
		if err != nil {
			j.opts.Report(err)
		}
	}
}

// refill makes up the reserve, and when the tail is half full one more spare for the segment after it.
func (j *Journal) refill() error {
	for {
		j.mu.Lock()
		want := reserveSegments
		if j.tail.end >= j.tail.size/2 {
			want++
		}
		enough := len(j.spares) >= want || j.failed() != nil
		var name string
		if !enough {
			name = filepath.Join(j.dir, sparePrefix+strconv.FormatUint(j.spareNext, 10))
			j.spareNext++
		}
		j.mu.Unlock()
		if enough {
			return nil
		}
		if err := j.allocate(name, j.opts.SegmentBytes); err != nil {
			return err
		}
		j.mu.Lock()
		j.spares = append(j.spares, spare{name: name, size: j.opts.SegmentBytes})
		j.mu.Unlock()
	}
}

// reclaim takes away the segments of which nothing is needed any more.
func (j *Journal) reclaim() error {
	horizon, ok := j.checkpoints.horizon()
	if !ok || j.failed() != nil {
		return nil
	}
	gone := j.superfluous(horizon)
	if len(gone) == 0 {
		return nil
	}
	if err := j.forget(gone); err != nil {
		return err
	}
	var errs []error
	for _, s := range gone {
		errs = append(errs, s.shut(errGone), j.recycle(s))
	}
	if err := errors.Join(errs...); err != nil {
		return err // the manifest goes on listing them as dropped: the next start removes them
	}
	if err := j.fs.SyncDir(j.dir); err != nil {
		return fmt.Errorf("remove segments from %s: %w", j.dir, err)
	}
	j.manifestMu.Lock()
	defer j.manifestMu.Unlock()
	j.manifest.dropped = nil // from the next write on
	return nil
}

// superfluous lists sealed segments that end before the horizon and hold no live record.
func (j *Journal) superfluous(horizon journal.Position) []*segment {
	j.segMu.RLock()
	defer j.segMu.RUnlock()
	j.liveMu.Lock()
	defer j.liveMu.Unlock()
	if !j.kept {
		return nil
	}
	var gone []*segment
	for _, s := range j.segs {
		if s.sealed && s.totals.last <= horizon && s.live.count == 0 {
			gone = append(gone, s)
		}
	}
	return gone
}

// forget takes segments out of the manifest and out of the list.
func (j *Journal) forget(gone []*segment) error {
	j.manifestMu.Lock()
	defer j.manifestMu.Unlock()
	m := j.manifest.clone()
	m.reclaimed = true
	m.segments = slices.DeleteFunc(m.segments, func(row manifestSegment) bool {
		if slices.ContainsFunc(gone, func(s *segment) bool { return s.base == row.base }) {
			m.dropped = append(m.dropped, row)
			return true
		}
		return false
	})
	if err := m.write(j.fs, j.dir); err != nil {
		if !fullError(err) {
			return j.fail(err)
		}
		return err
	}
	j.manifest = m
	j.segMu.Lock()
	defer j.segMu.Unlock()
	j.segs = slices.DeleteFunc(slices.Clone(j.segs), func(s *segment) bool { return slices.Contains(gone, s) })
	return nil
}

// recycle makes a spare of a segment's file, or removes it when there are enough: its blocks are written already, so
// the next use of them is cheap.
func (j *Journal) recycle(s *segment) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if s.size != j.opts.SegmentBytes || len(j.spares) > reserveSegments {
		return j.fs.Remove(s.name)
	}
	name := filepath.Join(j.dir, sparePrefix+strconv.FormatUint(j.spareNext, 10))
	j.spareNext++
	if err := j.fs.Rename(s.name, name); err != nil {
		return err
	}
	j.spares = append(j.spares, spare{name, s.size, true})
	return nil
}
