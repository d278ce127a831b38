package token

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// lookAgain is how often a file is looked at, at most.
const lookAgain = time.Second

// A File is a key in a file, read anew when the file has changed. It is looked at when it is asked for, at most once a
// second.
type File[T any] struct {
	path  string
	parse func([]byte) (T, error)
	now   func() time.Time

	next atomic.Int64 // when the file may be looked at again, in Unix nanoseconds
	kept atomic.Pointer[content[T]]

	mu      sync.Mutex
	seen    os.FileInfo // of what was read last, good or bad
	trouble error
}

// content is what a file was found to hold. It is immutable.
type content[T any] struct {
	value   T
	version uint64
}

// NewFile makes a File; nothing is read yet. now is the clock; nil: the machine's.
func NewFile[T any](path string, parse func([]byte) (T, error), now func() time.Time) *File[T] {
	if now == nil {
		now = time.Now
	}
	return &File[T]{path: path, parse: parse, now: now}
}

// Get returns what the file holds, or held when it was last good, and a number that grows with each new content. An
// error names the file, and means that it was never good.
func (f *File[T]) Get() (value T, version uint64, err error) {
	if now := f.now().UnixNano(); now >= f.next.Load() || f.next.Load()-now > int64(lookAgain) {
		f.look(now)
	}
	c := f.kept.Load()
	if c == nil {
		err = f.Trouble() // waits for the one who is reading
		c = f.kept.Load()
	}
	if c == nil {
		return value, 0, err
	}
	return c.value, c.version, nil
}

// Trouble says why the file as it stands cannot be used; nil when it can.
func (f *File[T]) Trouble() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.trouble
}

// look reads the file if it is another than before.
func (f *File[T]) look(now int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if next := f.next.Load(); next != 0 && now < next && next-now <= int64(lookAgain) {
		return // somebody else just did
	}
	f.next.Store(now + int64(lookAgain))
	info, err := os.Stat(f.path)
	if err != nil {
		f.seen, f.trouble = nil, bad(f.path, err)
		return
	}
	if f.seen != nil && os.SameFile(f.seen, info) && f.seen.ModTime().Equal(info.ModTime()) &&
		f.seen.Size() == info.Size() {
		return
	}
	f.seen = info
	if f.trouble = f.read(info); f.trouble != nil {
		f.trouble = bad(f.path, f.trouble)
	}
}

const maxKeyFile = 64 << 10 // bytes

func (f *File[T]) read(info os.FileInfo) error {
	if info.Size() > maxKeyFile {
		return fmt.Errorf("is %d bytes long: too long for a key", info.Size())
	}
	text, err := os.ReadFile(f.path)
	if err != nil {
		return err
	}
	value, err := f.parse(text)
	if err != nil {
		return err
	}
	version := uint64(1)
	if old := f.kept.Load(); old != nil {
		version = old.version + 1
	}
	f.kept.Store(&content[T]{value, version})
	return nil
}

// A KeyError says what is wrong with a key file.
type KeyError struct {
	File string
	Err  error
}

func (e *KeyError) Error() string { return fmt.Sprintf("key file %s: %v", e.File, e.Err) }

// Unwrap is what went wrong.
func (e *KeyError) Unwrap() error { return e.Err }

func bad(file string, err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		err = fmt.Errorf("%s: %w", path.Op, path.Err) // the path is said already
	}
	return &KeyError{file, err}
}
