package file

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// Report is what Check and Repair found.
type Report struct {
	Dir     string
	InUseBy string // says who has the journal open; empty when nobody has. What is being written may then look torn

	Segments    int
	Checkpoints int
	Groups      uint64 // in the log
	Records     uint64
	Cold        int    // cold segments
	Moved       uint64 // records in them
	Bytes       int64  // of the segment files, the cold ones included
	First, End  journal.Position

	Damages []Damage
	// behind the last sound group: the next start drops them. Either nobody was told that they are durable, or they are
	// damaged and nothing tells
	TornBytes int64
	Repaired  bool // by Repair
}

// lostNothing is what the loss of a checkpoint costs.
const lostNothing = "nothing, while another checkpoint is sound"

// Damage is a place whose bytes are not what was written.
type Damage struct {
	File    string
	Offset  int64
	Length  int64 // of the unsound part, as far as that is known
	What    string
	Record  *journal.Address // the one record that cannot be read; nil when whole groups are concerned
	Lost    string           // what Repair could not save, or would not be able to; empty when nothing is lost
	Aside   string           // where Repair put a copy of the file as it was
	Settled string           // what Repair did

	settling string // what Repair does, when that does not follow from what is damaged
}

func (d Damage) String() string {
	s := fmt.Sprintf("%s, offset %d", d.File, d.Offset)
	if d.Length > 0 {
		s += fmt.Sprintf(", %d bytes", d.Length)
	}
	s += ": " + d.What
	for _, more := range []struct{ label, text string }{{"lost", d.Lost}, {"copy", d.Aside}, {"done", d.Settled}} {
		if more.text != "" {
			s += "; " + more.label + ": " + more.text
		}
	}
	return s
}

// Check reads every segment, group, body and checkpoint of the journal in dir and reports what is there and what is
// damaged. It changes nothing and takes no lock, so it can look at a journal in use. progress, which may be nil, is
// told how many bytes of how many are done, from the calling goroutine. The error is for what could not be looked at;
// damage is in the report.
func Check(ctx context.Context, dir string, progress func(done, total int64)) (*Report, error) {
	report, err := look(ctx, osFS{}, dir, progress)
	if err != nil {
		return nil, fmt.Errorf("check journal %s: %w", dir, err)
	}
	return report, nil
}

// look inspects a journal. While one in use is read it goes on: what is at its end may look torn, what is taken away is
// missing. So damage of one that is in use counts when a second look finds it in the same place: by then that place was
// written, or left the journal.
func look(ctx context.Context, fsys FS, dir string, progress func(done, total int64)) (*Report, error) {
	x, err := inspect(ctx, fsys, dir, progress)
	if err != nil {
		return nil, err
	}
	report := x.report
	if report.InUseBy, err = lockHolder(filepath.Join(dir, lockName)); err != nil {
		return nil, err
	}
	if report.InUseBy == "" || len(report.Damages) == 0 {
		return report, nil
	}
	again, err := inspect(ctx, fsys, dir, nil)
	if err != nil {
		return nil, err
	}
	report.Damages = slices.DeleteFunc(report.Damages, func(d Damage) bool {
		return !slices.ContainsFunc(again.report.Damages,
			func(e Damage) bool { return e.File == d.File && e.Offset == d.Offset })
	})
	return report, nil
}

// inspection is a whole look at a journal.
type inspection struct {
	fs       FS
	dir      string
	report   *Report
	manifest manifest
	list     string // name of the file that manifest is from
	guessed  bool   // from the files: there is none that can be read
	doubted  bool   // a file of the manifest is not sound: the other one may be from before
	note     note
	segments []*segmentFindings
	colds    []*coldFindings
	unusable []string // files of segments of which nothing can be used
	saved    []savedCheckpoint
	progress func(done, total int64)
	total    int64
	done     int64
	lists    lists // for a repair
}

// segmentFindings is what a look at one segment found.
type segmentFindings struct {
	row     manifestSegment
	s       *segment // nil: there is no file that could be repaired
	newest  bool
	header  *Damage // the header is damaged
	gaps    []gap   // where no groups can be read
	end     int64   // behind the last group
	noEnd   bool    // the end mark is damaged
	ended   bool    // the last group is an end mark
	totals  totals
	last    journal.Position // of any kind
	tail    *tailState       // of an unsealed segment
	damages []Damage
}

// gap is a run of bytes without sound groups.
type gap struct{ from, to int64 }

func inspect(ctx context.Context, fsys FS, dir string, progress func(done, total int64)) (*inspection, error) {
	if progress == nil {
		progress = func(int64, int64) {}
	}
	x := &inspection{fs: fsys, dir: dir, report: &Report{Dir: dir}, progress: progress}
	if err := x.readNote(); err != nil { // first: a running journal goes on
		return nil, err
	}
	names, err := fsys.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	if _, err := distinct(fsys, dir, names); err != nil {
		return nil, err
	}
	var c checkpoints
	if err := c.find(fsys, dir, names, logIdentity{}); err != nil { // before the log, which goes on behind them
		return nil, err
	}
	x.saved = c.list
	if err := x.readManifest(names); err != nil {
		return nil, err
	}
	if len(x.manifest.segments) == 0 {
		return nil, ErrNoJournal
	}
	for i, row := range x.manifest.segments {
		if err := x.openSegment(row, i == len(x.manifest.segments)-1); err != nil {
			return nil, errors.Join(err, x.close())
		}
	}
	for _, row := range x.manifest.colds {
		if err := x.openCold(row); err != nil {
			return nil, errors.Join(err, x.close())
		}
	}
	for _, f := range x.segments {
		if err := x.inspectSegment(ctx, f); err != nil {
			return nil, errors.Join(err, x.close())
		}
		if f.s != nil { // one that is reclaimed meanwhile takes room as long as it is open
			_ = f.s.shut(journal.ErrClosed)
		}
	}
	for _, f := range x.colds {
		if err := x.inspectCold(ctx, f); err != nil {
			return nil, errors.Join(err, x.close())
		}
		if f.c != nil {
			_ = f.c.shut(journal.ErrClosed)
		}
	}
	if err := x.inspectCheckpoints(ctx); err != nil {
		return nil, errors.Join(err, x.close())
	}
	if err := x.forgetWhatIsGone(); err != nil {
		return nil, errors.Join(err, x.close())
	}
	x.sum()
	return x, x.close()
}

// forgetWhatIsGone drops what was found wrong with segments that a running journal has taken away since.
func (x *inspection) forgetWhatIsGone() error {
	wrong := slices.ContainsFunc(x.segments, func(f *segmentFindings) bool { return len(f.damages) > 0 }) ||
		slices.ContainsFunc(x.colds, func(f *coldFindings) bool { return len(f.damages) > 0 })
	if !wrong || x.guessed {
		return nil
	}
	ms, err := readManifests(x.fs, x.dir)
	if err != nil || ms.current == nil || ms.current.turn == x.manifest.turn {
		return err
	}
	m := ms.current
	x.segments = slices.DeleteFunc(x.segments, func(f *segmentFindings) bool {
		return !slices.ContainsFunc(m.segments, func(row manifestSegment) bool { return row.base == f.row.base })
	})
	x.colds = slices.DeleteFunc(x.colds, func(f *coldFindings) bool {
		return !slices.ContainsFunc(m.colds, func(row manifestCold) bool { return row.number == f.row.number })
	})
	return nil
}

// close closes the files; a repair opens them again for writing.
func (x *inspection) close() error {
	var errs []error
	for _, f := range x.segments {
		if f.s != nil {
			errs = append(errs, f.s.shut(journal.ErrClosed))
		}
	}
	for _, f := range x.colds {
		if f.c != nil {
			errs = append(errs, f.c.shut(journal.ErrClosed))
		}
	}
	return errors.Join(errs...)
}

func (x *inspection) add(d Damage) { x.report.Damages = append(x.report.Damages, d) }

// inspectCheckpoints verifies every checkpoint.
func (x *inspection) inspectCheckpoints(ctx context.Context) error {
	for i := range x.saved {
		sc := &x.saved[i]
		_, r, err := openCheckpoint(ctx, x.fs, *sc, x.manifest.log)
		var damage *journal.DamageError
		switch {
		case err == nil:
			sc.damaged = false
			if err := r.Close(); err != nil {
				return err
			}
		case errors.As(err, &damage):
			sc.damaged = true
			x.add(Damage{File: sc.name, What: damage.What, Lost: lostNothing})
		default:
			return err
		}
	}
	sound := func(sc savedCheckpoint) bool { return !sc.damaged }
	if x.manifest.reclaimed && !slices.ContainsFunc(x.saved, sound) {
		for i := range x.report.Damages {
			if d := &x.report.Damages[i]; d.Lost == lostNothing {
				d.Lost = "what only the reclaimed beginning of the log told: no other checkpoint is sound"
			}
		}
	}
	x.report.Checkpoints = len(x.saved)
	return nil
}

// sum completes the report.
func (x *inspection) sum() {
	r := x.report
	for i, f := range x.segments {
		r.Damages = append(r.Damages, f.damages...)
		r.Segments++
		r.Groups += f.totals.groups
		r.Records += f.totals.records
		if f.s != nil {
			r.Bytes += f.s.size
		}
		if i == 0 {
			r.First = f.row.base
		}
		r.End = max(r.End, f.totals.last)
	}
	for _, f := range x.colds {
		r.Damages = append(r.Damages, f.damages...)
		r.Cold++
		r.Moved += uint64(f.records)
		if f.c != nil {
			r.Bytes += f.c.size
		}
	}
	for _, sc := range x.saved {
		if !sc.damaged && sc.at > r.End && len(x.segments) > 0 {
			x.add(Damage{File: sc.name,
				What: fmt.Sprintf("the log ends at position %d, before this checkpoint at position %d", r.End, sc.at),
				Lost: "what was appended in between is in the checkpoint only"})
			break
		}
	}
}
