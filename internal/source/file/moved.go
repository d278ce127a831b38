package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// lookForMoved finishes files that were renamed while nobody read them: they are looked for in the folder they
// were in. Notes of files that are nowhere are forgotten, unless the disk that they are on is not there.
func (s *Source) lookForMoved(ctx context.Context) error {
	wanted, folders := map[fileID]bool{}, map[string]bool{}
	for _, path := range s.paths() {
		if st, err := os.Stat(path); err == nil {
			if id, err := identity(st); err == nil {
				wanted[id] = true
				folders[filepath.Dir(path)] = true
			}
		}
	}
	for id, n := range s.unseen {
		if s.tails[id] != nil {
			delete(s.unseen, id)
			continue
		}
		if wanted[id] {
			continue // unless it is renamed before it is opened: then the next look around finds it here
		}
		dir := filepath.Dir(n.Path)
		path, err := find(dir, id)
		switch {
		case errors.Is(err, fs.ErrNotExist) && !folders[dir] && elsewhere(dir, id):
			s.notice("%s is not on the disk that %s was on, and has none of the files to read: when that disk is "+
				"there, they are read on", dir, n.Path)
		case errors.Is(err, fs.ErrNotExist):
			if err := s.forgetID(ctx, id); err != nil {
				return s.trouble(err)
			}
			delete(s.known, id)
			delete(s.unseen, id)
			s.tellGone(n)
		case err != nil:
			if err := s.trouble(err); err != nil {
				return err
			}
		case s.wants(n.Path):
			if err := s.resumeMoved(ctx, id, n, path); err != nil {
				return err
			}
		default:
			delete(s.unseen, id) // it is not wanted any more; its note stays as long as it does
		}
	}
	return nil
}

// elsewhere tells whether a folder is there, and on another disk than a file that was in it: that one is not mounted. A
// disk that has got another number has the files to read.
func elsewhere(dir string, id fileID) bool {
	st, err := os.Stat(dir)
	if err != nil {
		return false
	}
	of, err := identity(st)
	return err == nil && of.device != id.device
}

// tellGone tells of a file that is nowhere if not all of it was delivered as far as is known.
func (s *Source) tellGone(n note) {
	if s.wants(n.Path) && n.Offset < n.Size {
		s.notice("%s was deleted or moved away while nobody read it: what was not delivered of it is lost, from byte "+
			"%d on", n.Path, n.Offset)
	}
}

// resumeMoved reads on in a file that has another name now, or reads it from its beginning if it was written anew.
func (s *Source) resumeMoved(ctx context.Context, id fileID, n note, path string) error {
	t, err := s.adopt(id, path)
	if err != nil || t == nil {
		return err
	}
	if t.source == n.Source || n.Born != 0 && n.Born == t.born {
		t.mu.Lock()
		t.path = n.Path // the name by which it is wanted: the next start looks for it again
		t.mu.Unlock()
		return nil
	}
	s.tellGone(n)
	return s.leave(ctx, t) // another file has got the number: nobody asked for it
}

// findTries is how often a folder is read to find a file: one that is renamed meanwhile may be passed over.
const findTries = 3

// find looks for a file in a folder by what it is. fs.ErrNotExist: it is not there.
func find(dir string, id fileID) (path string, err error) {
	for range findTries {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return "", err
		}
		for _, e := range entries {
			if e.IsDir() {
				continue
			}
			st, err := e.Info()
			if err != nil || !st.Mode().IsRegular() {
				continue
			}
			if got, err := identity(st); err == nil && got == id {
				return filepath.Join(dir, e.Name()), nil
			}
		}
	}
	return "", &fs.PathError{Op: "find", Path: dir, Err: fs.ErrNotExist}
}
