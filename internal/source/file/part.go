package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

var errTooManyOpen = errors.New("as many files are open as may be (max_open_files)")

// part takes leave of files that no wanted name leads to any more, when they were read to their end and nothing came
// for a while.
func (s *Source) part(ctx context.Context) error {
	now := time.Now()
	var over []*tail
	for _, t := range s.order {
		if t.looked == s.looks || t == s.current {
			continue
		}
		if t.gone.IsZero() {
			t.gone = now
		}
		if t.file == nil && !t.lost && !t.done {
			s.recover(t)
		}
		t.quiet = t.quiet && !t.grown()
		if !t.quiet || now.Sub(t.gone) < s.config.RotateWait {
			continue
		}
		if t.file == nil && !t.lost && !t.done {
			continue
		}
		if err := s.last(ctx, t); err != nil {
			return err
		}
		s.shut(t)
		t.done = true
		if t.mark.Open() == 0 {
			over = append(over, t)
		}
	}
	for _, t := range over {
		if err := s.leave(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// recover opens a file again that was closed, to make room, before it lost its name.
func (s *Source) recover(t *tail) {
	err := s.openAgain(t)
	switch {
	case err == nil:
		t.quiet = false
	case errors.Is(err, fs.ErrNotExist):
		t.lost, t.quiet = true, true
		if !t.caughtUp() {
			s.notice("%s was deleted or moved away before it was read to its end: it is lost from byte %d on", t.path,
				t.next)
		}
	default:
		s.notice("%v: it is tried again", err)
	}
}

// caughtUp tells whether a closed tail had read all there was when it was last looked at.
func (t *tail) caughtUp() bool { return t.cursor != nil && t.cursor.pos >= t.size }

// leave stops reading a file for good.
func (s *Source) leave(ctx context.Context, t *tail) error {
	if err := s.forget(ctx, t); err != nil {
		return s.trouble(err)
	}
	s.shut(t)
	s.mu.Lock()
	delete(s.tails, t.id)
	s.mu.Unlock()
	delete(s.known, t.id)
	delete(s.unseen, t.id)
	t.left = true
	// somebody may walk the old one
	s.order = slices.DeleteFunc(slices.Clone(s.order), func(o *tail) bool { return o == t })
	for _, o := range s.order {
		if o.behind == t {
			o.behind = nil
		}
	}
	return nil
}

// grown tells whether an open file has more than was read of it.
func (t *tail) grown() bool {
	if t.file == nil {
		return false
	}
	st, err := t.file.Stat()
	return err == nil && st.Size() != t.cursor.pos
}

// openAgain opens a file that was closed to make room for others, wherever it is now.
func (s *Source) openAgain(t *tail) error {
	if !s.roomForOne() {
		return errTooManyOpen
	}
	f, err := openAs(t.path, t.id)
	if err != nil {
		path, ferr := find(filepath.Dir(t.path), t.id)
		if errors.Is(ferr, fs.ErrNotExist) {
			return err
		}
		if ferr != nil {
			return ferr
		}
		if f, err = openAs(path, t.id); err != nil {
			return err
		}
	}
	if err := t.use(f); err != nil {
		f.Close() // only read from
		return err
	}
	s.open++
	return nil
}

// openAs opens a path if it is the file meant.
func openAs(path string, id fileID) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil {
		var got fileID
		if got, err = identity(st); err == nil && got == id {
			return f, nil
		}
	}
	f.Close() // only opened
	if err == nil {
		err = &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return nil, err
}

// roomForOne closes files while as many are open as may be: first those at their ends. It is false when none may be
// closed. In the middle of a turn there may be one more. Files that lost their names do not count: they may not be
// found again, and are closed soon.
func (s *Source) roomForOne() bool {
	for {
		open := 0
		var victim *tail
		for _, t := range s.order {
			if t.file == nil || !t.gone.IsZero() {
				continue
			}
			open++
			if t != s.current && (victim == nil || t.quiet && !victim.quiet) {
				victim = t
			}
		}
		switch {
		case open < s.config.MaxOpenFiles:
			return true
		case victim == nil:
			return s.looking && open == s.config.MaxOpenFiles
		}
		s.shut(victim)
	}
}

// shut closes a tail's file.
func (s *Source) shut(t *tail) {
	if t.file != nil {
		t.close()
		s.open--
	}
}
