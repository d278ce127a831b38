package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// scrubber is the goroutine that reads all files, one after the other, to find what was damaged before a reader or a
// start does. It reads through handles of its own, and holds none of the journal's locks meanwhile. What is wrong
// counts only if the file still belongs to the journal after it was read: one that was reclaimed, or whose records were
// moved, may be written to by its next use.
type scrubber struct {
	j   *Journal
	ctx context.Context
	fs  *aside
}

// scrub runs until the journal is closed or has failed.
func (j *Journal) scrub() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	j.owned.Go(func() {
		select {
		case <-j.quit:
		case <-j.ended:
		case <-ctx.Done():
		}
		cancel()
	})
	fs := newAside(ctx, j.fs, 0, &j.count.scrubbed)
	fs.rate = j.scrubbing.rate
	var said complaint
	var last time.Time // when the last round began
	for j.scrubbing.wait(ctx, last) == nil {
		round, end, ok := j.scrubbing.begin(ctx)
		if !ok {
			continue
		}
		last = time.Now()
		fs.ctx = round
		err := (&scrubber{j: j, ctx: round, fs: fs}).round()
		off := round.Err() != nil
		end()
		if off {
			last = time.Time{}
		} else if err != nil && said.isNew(err) {
			j.opts.Report(fmt.Errorf("scrub journal %s: not everything could be looked at: %w", j.dir, err))
		}
	}
}

// round looks at everything once. The error is of what could not be looked at.
func (s *scrubber) round() error {
	j := s.j
	errs := []error{s.manifests(), s.note(), s.checkpoints()}
	for from := journal.Position(0); s.ctx.Err() == nil; {
		row, tail, ok := j.scrubSegment(from)
		if !ok {
			break
		}
		errs = append(errs, s.segment(row, tail))
		from = row.base + 1
	}
	for from := uint32(0); s.ctx.Err() == nil; {
		row, ok := j.scrubCold(from)
		if !ok {
			break
		}
		errs = append(errs, s.cold(row))
		from = row.number + 1
	}
	if s.ctx.Err() == nil {
		j.found.keepOnly(j.has)
		j.found.ended()
	}
	return errors.Join(errs...)
}

// inspection looks at one file as the check does.
func (s *scrubber) inspection() *inspection {
	return &inspection{fs: s.fs, dir: s.j.dir, report: new(Report), progress: func(int64, int64) {}}
}

// segment looks at a segment of the log, up to the end in its row.
func (s *scrubber) segment(row manifestSegment, tail bool) error {
	x := s.inspection()
	err := x.openSegment(row, false)
	f := x.segments[0]
	f.noEnd = tail
	if err == nil && row.end > segmentHeaderBytes {
		err = x.inspectSegment(s.ctx, f)
	}
	return s.judge(segmentName(s.j.dir, row.base), f.damages, errors.Join(err, x.close()))
}

// cold looks at a cold segment.
func (s *scrubber) cold(row manifestCold) error {
	x := s.inspection()
	err := x.openCold(row)
	f := x.colds[0]
	if err == nil {
		err = x.inspectCold(s.ctx, f)
	}
	return s.judge(coldName(s.j.dir, row.number), f.damages, errors.Join(err, x.close()))
}

// checkpoints looks at those that are kept. A damaged one is passed over by a start, so what only a start from it would
// need is kept.
func (s *scrubber) checkpoints() error {
	j := s.j
	var errs []error
	for _, sc := range j.checkpoints.kept() {
		if s.ctx.Err() != nil {
			break
		}
		_, r, err := openCheckpoint(s.ctx, s.fs, sc, j.identity())
		if err == nil {
			errs = append(errs, s.judge(sc.name, nil, r.Close()))
			continue
		}
		var damages []Damage
		var damage *journal.DamageError
		if errors.As(err, &damage) {
			damages, err = []Damage{{File: sc.name, What: damage.What}}, nil
		}
		if len(damages) > 0 && j.has(sc.name) {
			j.checkpoints.spoil(sc.number)
		}
		errs = append(errs, s.judge(sc.name, damages, err))
	}
	return errors.Join(errs...)
}

// judge tells what was found in a file, unless it left the journal meanwhile. That its medium cannot be read is damage,
// too.
func (s *scrubber) judge(name string, damages []Damage, err error) error {
	j := s.j
	if errors.Is(err, syscall.EIO) {
		damages, err = append(damages, Damage{File: name, What: err.Error()}), nil
	}
	switch {
	case s.ctx.Err() != nil:
		return nil
	case err != nil:
		return err
	case len(damages) == 0:
		j.tell(name, nil, "")
		return nil
	}
	if id, err := j.fs.Identify(j.dir); err != nil || id != j.watch.dir {
		return nil // the whole folder went: the watch tells
	}
	if _, err := j.fs.Identify(name); missing(err) && j.opts.Watch > 0 {
		return nil // so it does of this file, and writes it again if it can
	}
	if j.has(name) {
		j.tell(name, damages, "")
	}
	return nil
}

// scrubSegment returns the first segment of the log from a position on, the newest one up to what is written.
func (j *Journal) scrubSegment(from journal.Position) (row manifestSegment, tail, ok bool) {
	j.segMu.RLock()
	segs := j.segs
	j.segMu.RUnlock()
	i, _ := slices.BinarySearchFunc(segs, from,
		func(s *segment, p journal.Position) int { return cmp.Compare(s.base, p) })
	if i == len(segs) {
		return row, false, false
	}
	s := segs[i]
	row = manifestSegment{base: s.base, generation: s.generation, end: s.sealedEnd.Load()}
	if row.end > 0 {
		return row, false, true
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if row.end = s.end; s != j.tail { // sealed meanwhile
		return row, false, true
	}
	row.end -= int64(len(j.unwritten.bytes))
	return row, true, true
}

// scrubCold returns the row of the first cold segment from a number on.
func (j *Journal) scrubCold(from uint32) (manifestCold, bool) {
	j.segMu.RLock()
	defer j.segMu.RUnlock()
	for _, c := range j.colds {
		if c.number >= from {
			return c.row(), true
		}
	}
	return manifestCold{}, false
}

// has says whether a file belongs to the journal. What left it does so before anything happens to the file.
func (j *Journal) has(name string) bool {
	j.segMu.RLock()
	segs, colds := j.segs, j.colds
	j.segMu.RUnlock()
	return slices.ContainsFunc(segs, func(s *segment) bool { return s.name == name }) ||
		slices.ContainsFunc(colds, func(c *coldSegment) bool { return c.name == name }) ||
		slices.ContainsFunc(j.checkpoints.kept(), func(sc savedCheckpoint) bool { return sc.name == name })
}

// kept are the checkpoints that there are, newest first.
func (c *checkpoints) kept() []savedCheckpoint {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.list)
}

// spoil notes that a checkpoint was found damaged.
func (c *checkpoints) spoil(number uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.list {
		if c.list[i].number == number {
			c.list[i].damaged = true
		}
	}
}
