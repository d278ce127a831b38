package file

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// RepairOptions says how Repair works.
type RepairOptions struct {
	// the folder that gets a copy of each file before it is changed; DIR/damaged when empty
	KeepAside string
	Progress  func(done, total int64) // as for Check; may be nil
	NoLoss    bool                    // fail with ErrLoss, and change nothing, when something is lost
}

// ErrLoss is the error of a Repair that was to lose nothing.
var ErrLoss = errors.New("what is damaged would be lost")

// Repair makes a damaged journal one that opens again. It is for people who asked for it: what is damaged is lost, and
// Repair only sees to it that the rest can be used. Each file is copied aside before it is changed. Groups that cannot
// be read are covered by a hole; a record whose body is damaged stays and goes on answering with an error. The report
// tells of each damage what was lost and what was done.
//
// It fails with journal.ErrLocked while a process has the journal open.
func Repair(ctx context.Context, dir string, o RepairOptions) (report *Report, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("repair journal %s: %w", dir, err)
		}
	}()
	fsys := osFS{}
	unlock, err := fsys.Lock(filepath.Join(dir, lockName))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unlock.Close()) }()
	x, err := inspect(ctx, fsys, dir, o.Progress)
	if err != nil {
		return nil, err
	}
	if len(x.report.Damages) == 0 {
		return x.report, nil
	}
	if lost := func(d Damage) bool { return d.Lost != "" && d.Lost != lostNothing }; o.NoLoss &&
		slices.ContainsFunc(x.report.Damages, lost) {
		return nil, ErrLoss
	}
	if o.KeepAside == "" {
		o.KeepAside = filepath.Join(dir, "damaged")
	}
	if err := fsys.MkdirAll(o.KeepAside); err != nil {
		return nil, err
	}
	if err := x.copyAside(ctx, o.KeepAside); err != nil {
		return nil, err
	}
	x.lists = lists{fs: fsys, dir: dir, lock: unlock}
	defer func() { err = errors.Join(err, x.lists.close()) }()
	if err := x.repair(ctx); err != nil {
		return nil, err
	}
	x.report.Repaired = true
	return x.report, nil
}

// copyAside copies every damaged file, and the manifests, which every repair rewrites.
func (x *inspection) copyAside(ctx context.Context, to string) error {
	copied := map[string]string{}
	keep := func(name string) (string, error) {
		if aside, ok := copied[name]; ok {
			return aside, nil
		}
		aside, err := copyFile(ctx, x.fs, name, filepath.Join(to, filepath.Base(name)))
		if missing(err) {
			err = nil
		}
		copied[name] = aside
		return aside, err
	}
	for i := range x.report.Damages {
		d := &x.report.Damages[i]
		aside, err := keep(d.File)
		if err != nil {
			return fmt.Errorf("copy %s aside: %w", d.File, err)
		}
		d.Aside = aside
	}
	for turn := range uint64(manifestFiles) {
		if _, err := keep(manifestName(x.dir, turn)); err != nil {
			return fmt.Errorf("copy the manifest aside: %w", err)
		}
	}
	return x.fs.SyncDir(to)
}

// copyFile copies from to a new file named like to and returns its name.
func copyFile(ctx context.Context, fsys FS, from, to string) (name string, err error) {
	in, err := fsys.Open(from, true)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	size, err := in.Size()
	if err != nil {
		return "", err
	}
	var out File
	for n := 0; ; n++ { // never over an earlier copy
		if name = to; n > 0 {
			name = fmt.Sprintf("%s.%d", to, n)
		}
		if out, err = fsys.Create(name); err == nil {
			break
		} else if !exists(err) {
			return "", err
		}
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	buf := make([]byte, 1<<20)
	for offset := int64(0); offset < size; {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		b := buf[:min(int64(len(buf)), size-offset)]
		if n, err := in.ReadAt(b, offset); n < len(b) {
			return "", err
		}
		if _, err := out.WriteAt(b, offset); err != nil {
			return "", err
		}
		offset += int64(len(b))
	}
	return name, out.Datasync()
}

// repair changes the files so that the journal opens, and writes a manifest that fits them last.
func (x *inspection) repair(ctx context.Context) error {
	m := manifest{turn: x.manifest.turn, log: x.manifest.log, reclaimed: x.manifest.reclaimed}
	var last journal.Position
	var kept []*segmentFindings
	var logEnd journal.Position
	for _, f := range x.segments {
		if f.s != nil {
			kept = append(kept, f)
			logEnd = max(logEnd, f.totals.last)
		}
	}
	beyond := slices.ContainsFunc(x.saved, func(sc savedCheckpoint) bool { return !sc.damaged && sc.at > logEnd })
	for i, f := range kept {
		end, err := x.repairSegment(f, last, i == len(kept)-1 && !beyond)
		if err != nil {
			return err
		}
		m.segments = append(m.segments, manifestSegment{f.row.base, f.row.generation, end})
		last = max(last, f.totals.last)
	}
	sound := false
	for _, sc := range x.saved {
		if !sc.damaged {
			sound = true
			last = max(last, sc.at)
			if m.log.number == 0 { // no list of segments tells it: the newest one does
				m.log.number = sc.log
			}
		}
	}
	if !sound {
		m.reclaimed, m.log.floor = false, 0 // the owner has to begin with what is left of the log
	}
	if beyond || len(m.segments) == 0 {
		base := journal.Position(align(int64(last)))
		if n := len(m.segments); n > 0 {
			base = max(base, m.segments[n-1].base+journal.Position(m.segments[n-1].end))
		}
		row, err := x.emptySegment(base, last)
		if err != nil {
			return err
		}
		m.segments = append(m.segments, row)
	}
	for _, f := range x.colds {
		if f.c != nil {
			row, err := x.repairCold(f)
			if err != nil {
				return err
			}
			m.colds = append(m.colds, row)
		}
	}
	m.clean = true
	if err := forgetNote(x.fs, x.dir); err != nil { // the log may end before what it says
		return err
	}
	if err := x.fs.SyncDir(x.dir); err != nil {
		return err
	}
	// Both files: a damaged one must not stay the one in force.
	for range manifestFiles {
		if err := x.lists.write(&m); err != nil {
			return err
		}
	}
	for _, name := range x.unusable { // there is a copy
		if err := x.fs.Remove(name); err != nil {
			return err
		}
	}
	for i := range x.report.Damages {
		d := &x.report.Damages[i]
		if d.Settled = settled(d); slices.Contains(x.unusable, d.File) {
			d.Settled = "taken out of the journal"
		}
	}
	return errors.Join(ctx.Err(), x.fs.SyncDir(x.dir))
}

// settled says what repair does with a damage.
func settled(d *Damage) string {
	base := filepath.Base(d.File)
	_, isSegment := parseSegmentName(base)
	_, isCheckpoint := parseCheckpointName(base)
	switch {
	case d.settling != "":
		return d.settling
	case d.Record != nil:
		return "left where it is: reading it answers with an error"
	case isCheckpoint:
		return "left where it is: starts pass over it"
	case isSegment && d.Length > 0:
		return "covered, so that the groups around it can be read"
	default:
		return "the list of segments was written anew"
	}
}

// repairSegment returns where the segment ends now.
func (x *inspection) repairSegment(f *segmentFindings, before journal.Position, newest bool) (end int64, err error) {
	s := &segment{base: f.row.base, generation: f.row.generation, name: f.s.name, size: f.s.size}
	if s.f, err = x.fs.Open(s.name, false); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.shut(journal.ErrClosed)) }()
	write := func(b []byte, at int64) error {
		place(b, s.generation, s.at(at), 0)
		_, err := s.f.WriteAt(b, at)
		return err
	}
	if f.header != nil {
		if _, err := s.f.WriteAt(segmentHeader(firstBlock{s.base, s.generation, before, s.size}), 0); err != nil {
			return 0, err
		}
	}
	f.totals.last = max(f.totals.last, before)
	end = f.end
	for _, g := range f.gaps {
		if g.to >= f.row.end && f.row.end > 0 { // up to the end: the end mark goes there
			g.to = max(g.from, g.to-sealBytes)
			end = g.to
		}
		if g.to > g.from {
			if err := write(encodeHole(g.to-g.from), g.from); err != nil {
				return 0, err
			}
		}
		end = max(end, g.to)
	}
	if f.tail != nil {
		if err := s.clearStray(f.tail); err != nil {
			return 0, err
		}
	}
	if !f.ended || end != f.end {
		k := kindEnd
		if newest && end+2*sealBytes <= s.size {
			k = kindSeal
		}
		if end+sealBytes > s.size {
			if err := s.f.Truncate(end + sealBytes); err != nil {
				return 0, err
			}
		}
		if err := write(encodeSeal(k, f.totals), end); err != nil {
			return 0, err
		}
		end += sealBytes
	}
	return end, s.sync()
}

// emptySegment begins a segment behind position last, for a log that ends before its checkpoint.
func (x *inspection) emptySegment(base, last journal.Position) (manifestSegment, error) {
	row := manifestSegment{base: base, generation: newGeneration(), end: segmentHeaderBytes + sealBytes}
	s := &segment{base: row.base, generation: row.generation, name: segmentName(x.dir, row.base)}
	var err error
	if s.f, err = x.fs.Create(s.name); err != nil {
		return row, err
	}
	seal := encodeSeal(kindEnd, totals{last: last})
	place(seal, s.generation, s.at(segmentHeaderBytes), 0)
	b := append(segmentHeader(firstBlock{base: s.base, generation: s.generation, last: last}), seal...)
	_, err = s.f.WriteAt(b, 0)
	if err == nil {
		err = s.f.Datasync()
	}
	return row, errors.Join(err, s.shut(journal.ErrClosed))
}
