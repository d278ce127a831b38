package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/lines"
)

// look finds files that are new, have changed, or are no longer where they were.
func (s *Source) look(ctx context.Context) error {
	if len(s.unseen) > 0 {
		if err := s.lookForMoved(ctx); err != nil {
			return err
		}
	}
	s.looks++
	named := map[string]*tail{}
	for _, path := range s.paths() {
		st, err := os.Stat(path)
		switch {
		case errors.Is(err, os.ErrNotExist):
			continue
		case err != nil:
			if err := s.trouble(err); err != nil {
				return err
			}
			continue
		case !st.Mode().IsRegular():
			continue
		}
		t, err := s.see(path, st)
		if err != nil {
			return err
		}
		if t != nil {
			named[path] = t
		}
	}
	before := s.named
	s.scanned, s.named = true, named
	if err := s.remember(ctx); err != nil {
		return err
	}
	if err := s.part(ctx); err != nil {
		return err
	}
	// the new file of a name may come a while after the old one went: it waits all the same
	for path, t := range before {
		if named[path] == nil && !t.left && !t.quiet {
			named[path] = t
		}
	}
	return nil
}

// trouble with one file ends a source that does not follow; one that does tries again with the next look around.
func (s *Source) trouble(err error) error {
	if !s.follow {
		return err
	}
	s.notice("%v: it is tried again", err)
	return nil
}

// paths lists the files that are wanted, each path once, in order.
func (s *Source) paths() []string {
	var paths []string
	for _, p := range s.config.Include {
		found, err := filepath.Glob(p)
		if err != nil {
			continue // New has checked the pattern
		}
		before := len(paths)
		for _, path := range found {
			if path = filepath.Clean(path); !matches(s.config.Exclude, path) {
				paths = append(paths, path)
			}
		}
		if len(paths) == before && !s.follow { // nobody waits for a file that comes later
			s.notice("no file matches the pattern %q (a relative one starts at the working directory)", p)
		}
		s.watcher.watch(base(p))
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	for _, p := range paths {
		s.watcher.watch(filepath.Dir(p))
	}
	return paths
}

// base is the folder in which a pattern begins to choose.
func base(pattern string) string {
	dir := filepath.Dir(pattern)
	for hasMeta(dir) {
		dir = filepath.Dir(dir)
	}
	return dir
}

func hasMeta(path string) bool {
	for _, r := range path {
		if r == '*' || r == '?' || r == '[' || r == '\\' {
			return true
		}
	}
	return false
}

// see takes notice of a file under a wanted path. nil without an error: there is nothing to read there now.
func (s *Source) see(path string, st os.FileInfo) (*tail, error) {
	id, err := identity(st)
	if err != nil {
		return nil, s.trouble(fmt.Errorf("%s: %w", path, err))
	}
	t := s.tails[id]
	switch {
	case t == nil:
		if t, err = s.adopt(id, path); err != nil || t == nil {
			return nil, err
		}
		if old := s.named[path]; old != nil {
			old.quiet = false // it may have got more before it lost its name
			t.behind = old
		}
	case t.looked == s.looks:
		return t, nil // a second name of the same file
	case st.Size() != t.next || !st.ModTime().Equal(t.changed):
		t.quiet = false
	}
	t.looked, t.gone, t.lost, t.done = s.looks, time.Time{}, false, false
	t.changed = st.ModTime()
	t.mu.Lock()
	t.path, t.size = path, st.Size()
	t.mu.Unlock()
	return t, nil
}

// adopt begins to read a file. nil without an error: not now.
func (s *Source) adopt(id fileID, path string) (*tail, error) {
	if !s.roomForOne() {
		return nil, s.trouble(fmt.Errorf("%s: %w", path, errTooManyOpen))
	}
	f, err := openAs(path, id)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // it was renamed or replaced meanwhile: the next look around finds out
	}
	if err != nil {
		return nil, s.trouble(err)
	}
	t, err := s.begin(f, id, path)
	if err != nil {
		f.Close() // only read from
		return nil, s.trouble(fmt.Errorf("%s: %w", path, err))
	}
	s.open++
	s.mu.Lock()
	s.tails[id] = t
	s.mu.Unlock()
	s.order = append(s.order, t)
	return t, nil
}

// begin makes the tail of an open file, at the place a note remembers or where reading such a file begins.
func (s *Source) begin(f *os.File, id fileID, path string) (*tail, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	t := &tail{id: id, path: path, size: st.Size(), max: s.config.MaxLineBytes, born: birth(f), source: newSource(id),
		fresh: true}
	n, noted := s.known[id]
	if noted {
		t.next = n.Offset
	} else if s.config.ReadFrom == "end" && !s.scanned {
		if t.next, err = lineStart(f, st.Size()); err != nil {
			return nil, err
		}
	}
	if err := t.use(f); err != nil {
		return nil, err
	}
	if noted { // compared after use, so that the cursor vouches for no other content than the note
		same, err := n.same(f, st.Size(), t.born)
		if err != nil {
			return nil, err
		}
		if same {
			t.source, t.saved = n.Source, n
		} else {
			t.next, t.cursor = 0, nil
			if err := t.use(f); err != nil {
				return nil, err
			}
		}
	}
	t.mark = lines.NewWatermark(t.next)
	return t, nil
}

// lineStart is the beginning of the unfinished line at the end of a file, or the end.
func lineStart(f *os.File, size int64) (int64, error) {
	b := make([]byte, min(size, 64<<10))
	if _, err := f.ReadAt(b, size-int64(len(b))); err != nil {
		return 0, err
	}
	for i := len(b); i > 0; i-- {
		if b[i-1] == '\n' {
			return size - int64(len(b)-i), nil
		}
	}
	return size - int64(len(b)), nil
}
