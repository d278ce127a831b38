package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/durable"
	"github.com/hikyaku/hikyaku/internal/journal/file"
)

// Data is what is backed up.
type Data struct {
	Dir      string
	Journals []string // folders in it, by shard
	// folders in it whose files are written once, each under a name that no other has, and which the journals may name:
	// all with Suffix
	Once   []string
	Suffix string
}

// Options say how.
type Options struct {
	Keep     int                     // how many generations stay, the new one among them; 0: all
	Progress func(done, total int64) // bytes; may be nil
}

// Result is what a backup did.
type Result struct {
	Generation *Generation
	Copied     int   // files
	Bytes      int64 // in them
	Looks      int   // at the journals: more than one when a file left them before it was copied
	Pruned
}

// looks bounds how often a backup looks at journals whose files leave them before they are copied. What was copied
// stays copied, so each look has less to copy than the one before, or the disk is slower than the server's.
const looks = 1000

var (
	// ErrOther says that the folder has backups of another store.
	ErrOther = errors.New("it has backups of another store")
	errGone  = errors.New("it left the journal before it was copied")
)

// Take makes a backup. What was acknowledged before is in it whole; what comes meanwhile may be. Of one that fails
// nothing is left, and what one left that was killed goes first: where the disk is full, that is the room there is.
func (f *Folder) Take(ctx context.Context, d Data, o Options) (r *Result, err error) {
	if _, err := f.Prune(0); err != nil {
		return nil, err
	}
	if r, err = f.take(ctx, d, o); err != nil {
		_, left := f.Prune(0)
		return nil, errors.Join(err, left)
	}
	r.Pruned, err = f.Prune(o.Keep)
	return r, err
}

func (f *Folder) take(ctx context.Context, d Data, o Options) (*Result, error) {
	t := &taking{folder: f, data: d, progress: o.Progress, result: &Result{}, have: map[string]File{}}
	if t.progress == nil {
		t.progress = func(int64, int64) {}
	}
	if err := t.before(); err != nil {
		return nil, err
	}
	g := t.result.Generation
	var err error
	if g.From, err = filepath.Abs(d.Dir); err != nil {
		return nil, err
	}
	// A file that the journals name was there before they named it, and goes after they do not: so what was there
	// before the moment, or is there after it, is all that they may name.
	if err := t.once(ctx); err != nil {
		return nil, err
	}
	if err := t.journals(ctx); err != nil {
		return nil, err
	}
	if err := t.once(ctx); err != nil {
		return nil, err
	}
	slices.SortFunc(g.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	if err := durable.SyncDir(filepath.Join(f.dir, objectsName)); err != nil {
		return nil, err
	}
	list, err := g.encode()
	if err != nil {
		return nil, err
	}
	if err := durable.WriteFile(f.listFile(g.Number), list); err != nil {
		return nil, fmt.Errorf("write the list of generation %d: %w", g.Number, err)
	}
	return t.result, nil
}

// taking is a backup that is made.
type taking struct {
	folder      *Folder
	data        Data
	progress    func(done, total int64)
	done, total int64
	result      *Result
	have        map[string]File // what is in the folder, by path and identity
	logs        []Journal       // of the generation before; nil: there is none
}

// before reads the generations that there are.
func (t *taking) before() error {
	numbers, err := t.folder.Numbers()
	if err != nil {
		return err
	}
	last := 0
	for _, n := range numbers {
		last = n
		g, err := t.folder.Generation(n)
		var damaged *ListError
		if errors.As(err, &damaged) {
			continue // a check tells; nothing of it is used
		}
		if err != nil {
			return err
		}
		t.logs = g.Journals
		for _, e := range g.Files {
			if e.Identity != "" {
				t.have[e.Path+"\n"+e.Identity] = e
			}
		}
	}
	t.result.Generation = &Generation{Number: last + 1, Made: time.Now().UTC()}
	return nil
}

// journals copies the journals as they are at one moment.
func (t *taking) journals(ctx context.Context) error {
	var dirs []string
	for _, dir := range t.data.Journals {
		dirs = append(dirs, filepath.Join(t.data.Dir, dir))
	}
	g := t.result.Generation
	others := slices.Clone(g.Files)
	for t.result.Looks < looks {
		t.result.Looks++
		moments, err := file.Moments(ctx, dirs)
		if err != nil {
			return err
		}
		g.Files, g.Journals = slices.Clone(others), nil
		for i, m := range moments {
			g.Journals = append(g.Journals, Journal{t.data.Journals[i], fmt.Sprintf("%08x", m.Log)})
		}
		if t.logs != nil && !slices.Equal(t.logs, g.Journals) {
			return fmt.Errorf("%s: %w", t.folder.dir, ErrOther)
		}
		t.total = t.done + t.missing(moments)
		err = t.moments(ctx, moments)
		if !errors.Is(err, errGone) {
			return err
		}
	}
	return fmt.Errorf("%s changes faster than it can be copied: %d looks found a file gone each time", t.data.Dir, looks)
}

// missing is how many bytes of the journals are not in the folder yet.
func (t *taking) missing(moments []*file.Moment) (n int64) {
	for i, m := range moments {
		for _, p := range m.Parts {
			if _, there := t.known(t.data.Journals[i], m, p); !there {
				n += p.Bytes
			}
		}
	}
	return n
}

// known is a part as the generation has it, and whether it is in the folder.
func (t *taking) known(journal string, m *file.Moment, p file.Part) (e File, there bool) {
	e = File{Path: path.Join(filepath.ToSlash(journal), p.Name), Bytes: p.Bytes, Size: p.Size}
	if p.Content != nil {
		return e, false
	}
	// Two logs that were one until a backup of it was restored have segments of the same generation that go on
	// differently, perhaps to the same length: the time of the last change tells them apart.
	st, err := os.Stat(filepath.Join(m.Dir, p.Name))
	if err != nil {
		return e, false
	}
	e.Identity = fmt.Sprintf("%s, changed %d", p.Identity, st.ModTime().UnixNano())
	return t.find(e)
}

// find looks for a file in the folder.
func (t *taking) find(e File) (File, bool) {
	old, there := t.have[e.Path+"\n"+e.Identity]
	if !there || old.Bytes != e.Bytes {
		return e, false
	}
	st, err := os.Stat(t.folder.object(old.SHA256))
	if err != nil || st.Size() != old.Bytes {
		return e, false
	}
	e.SHA256 = old.SHA256
	return e, true
}

// moments copies what is missing of journals. errGone: something is there no longer.
func (t *taking) moments(ctx context.Context, moments []*file.Moment) error {
	for i, m := range moments {
		for _, p := range m.Parts {
			e, there := t.known(t.data.Journals[i], m, p)
			if !there {
				if err := t.part(ctx, m, p, &e); err != nil {
					return err
				}
			}
			t.result.Generation.Files = append(t.result.Generation.Files, e)
		}
	}
	return nil
}

// part copies a part of a journal.
func (t *taking) part(ctx context.Context, m *file.Moment, p file.Part, e *File) error {
	var from io.Reader = bytes.NewReader(p.Content)
	if p.Content == nil {
		f, err := os.Open(filepath.Join(m.Dir, p.Name))
		if errors.Is(err, fs.ErrNotExist) {
			return errGone
		}
		if err != nil {
			return err
		}
		defer f.Close()
		from = f
	}
	if err := t.copy(ctx, from, e); errors.Is(err, errShort) {
		return errGone
	} else if err != nil {
		return err
	}
	switch there, err := m.Has(p); {
	case err != nil:
		return err
	case !there:
		return errGone // what was copied may be of another segment by now
	}
	if e.Identity != "" {
		t.have[e.Path+"\n"+e.Identity] = *e
	}
	return nil
}

// copy copies a file into the folder.
func (t *taking) copy(ctx context.Context, from io.Reader, e *File) (err error) {
	e.SHA256, err = t.folder.keep(ctx, from, e.Bytes, func(n int64) {
		t.done += n
		t.progress(t.done, max(t.done, t.total))
	})
	if err == nil {
		t.result.Copied++
		t.result.Bytes += e.Bytes
	}
	return err
}

// once copies the files that are written once, as far as the generation does not have them.
func (t *taking) once(ctx context.Context) error {
	for _, dir := range t.data.Once {
		entries, err := os.ReadDir(filepath.Join(t.data.Dir, dir))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if !entry.Type().IsRegular() || !strings.HasSuffix(entry.Name(), t.data.Suffix) {
				continue
			}
			if err := t.file(ctx, filepath.Join(dir, entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// file copies a file that is written once. Where it is gone nothing names it any more.
func (t *taking) file(ctx context.Context, name string) error {
	g := t.result.Generation
	e := File{Path: filepath.ToSlash(name)}
	if slices.ContainsFunc(g.Files, func(o File) bool { return o.Path == e.Path }) {
		return nil
	}
	f, err := os.Open(filepath.Join(t.data.Dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	e.Bytes, e.Size = st.Size(), st.Size()
	e.Identity = fmt.Sprintf("%d bytes, changed %d", st.Size(), st.ModTime().UnixNano())
	e, there := t.find(e)
	if !there {
		t.total += e.Bytes
		if err := t.copy(ctx, f, &e); err != nil {
			return fmt.Errorf("copy %s: %w", name, err)
		}
	}
	g.Files = append(g.Files, e)
	return nil
}
