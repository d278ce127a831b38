package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/hikyaku/hikyaku/internal/durable"
	"github.com/hikyaku/hikyaku/internal/journal/file"
)

// restoring is the folder in which a data_dir is made.
const restoring = "restoring"

// ErrNotEmpty says that something is where a generation is to be restored.
var ErrNotEmpty = errors.New("it is not empty")

// Restore makes a data_dir of a generation, 0: the newest. dir is missing, or empty but for what a restore that was
// ended has left. Each file is read back and compared with its checksum. The error is a *ProblemError where the backup
// has not what was written.
func (f *Folder) Restore(ctx context.Context, dir string, number int, progress func(done, total int64)) (
	g *Generation, err error) {
	if g, err = f.Generation(number); err != nil {
		return nil, err
	}
	if progress == nil {
		progress = func(int64, int64) {}
	}
	if err := empty(dir); err != nil {
		return nil, err
	}
	hold, err := file.Hold(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, hold.Close()) }()
	if err := empty(dir); err != nil { // of one that had it until then
		return nil, err
	}
	staging := filepath.Join(dir, restoring)
	if err := os.RemoveAll(staging); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(staging)) // it may be that the disk is full
		}
	}()
	done, total := int64(0), g.Bytes()
	for i := range g.Files {
		e := &g.Files[i]
		told := func(n int64) {
			done += n
			progress(done, total)
		}
		if err := f.restore(ctx, staging, e, told); err != nil {
			return nil, err
		}
	}
	return g, putInPlace(staging, dir, g)
}

// empty refuses a folder with something in it.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != restoring && e.Name() != lockName {
			return fmt.Errorf("%s: %w: there is %s", dir, ErrNotEmpty, e.Name())
		}
	}
	return nil
}

// ProblemError is a Problem that ends what was done.
type ProblemError struct{ Problem }

func (e *ProblemError) Error() string { return "damage in " + e.Problem.String() }

// restore writes a file.
func (f *Folder) restore(ctx context.Context, staging string, e *File, told func(int64)) error {
	name := filepath.Join(staging, filepath.FromSlash(e.Path))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	object := f.object(e.SHA256)
	problem := func(what string) error {
		return &ProblemError{Problem{File: object, Of: []string{e.Path}, What: what}}
	}
	from, err := os.Open(object)
	if errors.Is(err, fs.ErrNotExist) {
		return problem("it is missing")
	}
	if err != nil {
		return err
	}
	defer from.Close()
	sum, err := copyOf(ctx, name, from, e.Bytes, told)
	switch {
	case errors.Is(err, errShort):
		return problem(err.Error())
	case err != nil:
		return err
	case sum != e.SHA256:
		return problem("its checksum is " + sum + ": it was changed since it was written")
	}
	if e.Size == e.Bytes {
		return nil
	}
	to, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	err = to.Truncate(e.Size)
	if err == nil {
		err = to.Sync()
	}
	return errors.Join(err, to.Close())
}

// putInPlace moves what is complete to where a server looks for it, the journal of shard 0 last: where that is, all is.
func putInPlace(staging, dir string, g *Generation) error {
	folders := []string{staging}
	var tops []string
	for i := range g.Files {
		parent := path.Dir(g.Files[i].Path)
		for ; parent != "."; parent = path.Dir(parent) {
			if full := filepath.Join(staging, filepath.FromSlash(parent)); !slices.Contains(folders, full) {
				folders = append(folders, full)
			}
			if path.Dir(parent) == "." && !slices.Contains(tops, parent) && parent != g.Journals[0].Dir {
				tops = append(tops, parent)
			}
		}
	}
	for _, name := range folders {
		if err := durable.SyncDir(name); err != nil {
			return err
		}
	}
	for _, name := range append(tops, g.Journals[0].Dir) {
		to := filepath.Join(dir, name)
		if _, err := os.Lstat(to); err == nil {
			return fmt.Errorf("%s: %w: there is %s, which somebody has made meanwhile", dir, ErrNotEmpty, name)
		}
		if err := os.Rename(filepath.Join(staging, name), to); err != nil {
			return err
		}
	}
	if err := os.Remove(staging); err != nil {
		return err
	}
	return errors.Join(durable.SyncDir(dir), durable.SyncDir(filepath.Dir(filepath.Clean(dir))))
}
