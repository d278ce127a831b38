package backup

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/journal/file"
)

// Checked is what a check found.
type Checked struct {
	Generations int
	Files       int // that they name, each counted once
	Bytes       int64
	Problems    []*Problem
	Journals    []*file.Report // of one generation
}

// Damaged is how many places are.
func (c *Checked) Damaged() int {
	n := len(c.Problems)
	for _, r := range c.Journals {
		n += len(r.Damages)
	}
	return n
}

// Check reads every file of all generations and compares its checksum, and then looks at the journals of one (0: the
// newest) as file.Check does. It changes nothing.
func (f *Folder) Check(ctx context.Context, number int, progress func(done, total int64)) (*Checked, error) {
	numbers, err := f.Numbers()
	if err != nil {
		return nil, err
	}
	if len(numbers) > 0 && number == 0 {
		number = numbers[len(numbers)-1]
	}
	c := &Checked{Generations: len(numbers)}
	files, chosen := map[string]*File{}, (*Generation)(nil)
	of := map[string][]string{}
	for _, n := range numbers {
		g, err := f.Generation(n)
		var damaged *ListError
		if errors.As(err, &damaged) {
			c.Problems = append(c.Problems, &Problem{File: damaged.Path, Of: []string{"the list of a generation"},
				What: damaged.Why.Error()})
			continue
		}
		if err != nil {
			return nil, err
		}
		for i := range g.Files {
			e := &g.Files[i]
			if files[e.SHA256] == nil {
				c.Bytes += e.Bytes
			}
			files[e.SHA256] = e
			if !slices.Contains(of[e.SHA256], e.Path) {
				of[e.SHA256] = append(of[e.SHA256], e.Path)
			}
		}
		if n == number {
			chosen = g
		}
	}
	c.Files = len(files)
	if progress == nil {
		progress = func(int64, int64) {}
	}
	done := int64(0)
	for _, sum := range slices.Sorted(maps.Keys(files)) {
		what, err := f.wrong(ctx, files[sum], func(n int64) {
			done += n
			progress(done, c.Bytes)
		})
		if err != nil {
			return nil, err
		}
		if what != "" {
			c.Problems = append(c.Problems, &Problem{File: f.object(sum), Of: of[sum], What: what})
		}
	}
	if chosen == nil {
		if len(c.Problems) > 0 && slices.Contains(numbers, number) {
			return c, nil // its list is one of them
		}
		_, err := f.Generation(number)
		return nil, err
	}
	for _, j := range chosen.Journals {
		report, err := file.CheckCopy(ctx, &view{folder: f, files: chosen.Files}, filepath.FromSlash(j.Dir), nil)
		if err != nil {
			return nil, err
		}
		c.Journals = append(c.Journals, report)
	}
	return c, nil
}

// view is a generation as a file system that can be read.
type view struct {
	file.FS // nil: what changes something is not called
	folder  *Folder
	files   []File
}

func (v *view) find(name string) (*File, error) {
	name = filepath.ToSlash(name)
	for i := range v.files {
		if v.files[i].Path == name {
			return &v.files[i], nil
		}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// Open implements file.FS.
func (v *view) Open(name string, _ bool) (file.File, error) {
	e, err := v.find(name)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(v.folder.object(e.SHA256))
	if err != nil {
		return nil, err
	}
	return &viewed{f: f, e: e}, nil
}

// ReadDir implements file.FS.
func (v *view) ReadDir(dir string) (names []string, err error) {
	dir = filepath.ToSlash(dir)
	for i := range v.files {
		if path.Dir(v.files[i].Path) == dir {
			names = append(names, path.Base(v.files[i].Path))
		}
	}
	slices.SortFunc(names, strings.Compare)
	return names, nil
}

// Identify implements file.FS.
func (v *view) Identify(name string) (file.ID, error) {
	_, err := v.find(name)
	return filepath.ToSlash(name), err
}

// viewed is a file of a generation, with the zeros that it ends with.
type viewed struct {
	file.File // nil, as above
	f         *os.File
	e         *File
}

func (v *viewed) ReadAt(b []byte, offset int64) (n int, err error) {
	if offset >= v.e.Size {
		return 0, io.EOF
	}
	want := b[:min(int64(len(b)), v.e.Size-offset)]
	if kept := v.e.Bytes - offset; kept > 0 {
		n, err = v.f.ReadAt(want[:min(int64(len(want)), kept)], offset)
		if err != nil && !errors.Is(err, io.EOF) {
			return n, err
		} // a file that is too short was told by its checksum
	}
	clear(want[n:])
	if len(want) < len(b) {
		return len(want), io.EOF
	}
	return len(want), nil
}

func (v *viewed) Close() error         { return v.f.Close() }
func (v *viewed) Size() (int64, error) { return v.e.Size, nil }
