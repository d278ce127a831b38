package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// append writes b at the end of the file and syncs it. With an error nothing of b is in the file, or what is there is
// cut off before the next write.
func (s *Sink) append(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if err := s.ready(); err != nil {
		return err
	}
	if !s.regular {
		_, err := s.file.Write(b)
		return err
	}
	st, err := s.file.Stat()
	if err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	if _, err = s.file.Write(b); err == nil && s.synced {
		err = syncData(s.file)
	}
	if err == nil {
		return nil
	}
	s.good, s.torn = st.Size(), true
	return errors.Join(fmt.Errorf("%s: %w", s.path, err), s.mend())
}

// ready sees to it that the file is the one of the path and ends with a whole line.
func (s *Sink) ready() error {
	if s.torn {
		if err := s.mend(); err != nil {
			return err
		}
	}
	if s.file != nil && s.regular {
		now, err := os.Stat(s.path)
		if err == nil && os.SameFile(now, s.info) {
			return nil
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		err = s.file.Close() // everything in it was synced, if it had to be
		s.file = nil
		if err != nil {
			return fmt.Errorf("%s (before it was renamed): %w", s.path, err)
		}
	}
	if s.file == nil {
		return s.open()
	}
	return nil
}

// mend cuts a batch off that was not written whole, and closes the file: after a failed sync the pages in memory cannot
// be trusted, so the next batch opens it anew.
func (s *Sink) mend() error {
	st, err := s.file.Stat()
	if err == nil && st.Size() > s.good {
		if err = s.file.Truncate(s.good); err == nil && s.synced {
			err = s.file.Sync()
		}
	}
	if err != nil {
		return fmt.Errorf("%s: an unfinished batch could not be cut off: %w", s.path, err)
	}
	s.torn = false
	err = s.file.Close()
	s.file = nil
	return err
}

// trim cuts off what follows the last line's end of a file, and keeps it in another file. It returns how many bytes it
// were.
func trim(f *os.File, keep string) (cut int64, err error) {
	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	whole, err := lastLineEnd(f, st.Size())
	if err != nil || whole == st.Size() {
		return 0, err
	}
	if err := save(io.NewSectionReader(f, whole, st.Size()-whole), keep); err != nil {
		return 0, err
	}
	if err := f.Truncate(whole); err != nil {
		return 0, err
	}
	return st.Size() - whole, f.Sync()
}

// save appends what is cut off to a file of its own: it may be somebody else's text.
func save(r io.Reader, path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if err == nil {
		_, err = f.WriteString("\n")
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// lastLineEnd is the size the file has without its unfinished last line.
func lastLineEnd(f io.ReaderAt, size int64) (int64, error) {
	b := make([]byte, 64<<10)
	for at := size; at > 0; {
		from := max(0, at-int64(len(b)))
		part := b[:at-from]
		if _, err := f.ReadAt(part, from); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return from + int64(i) + 1, nil
		}
		at = from
	}
	return 0, nil
}

// missing lists the path and the folders above it that do not exist, the innermost first.
func missing(path string) []string {
	var all []string
	for {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			return all
		}
		all = append(all, path)
		above := filepath.Dir(path)
		if above == path {
			return all
		}
		path = above
	}
}
