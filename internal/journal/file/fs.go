package file

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/hikyaku/hikyaku/internal/durable"
)

// FS is the little of a file system that a journal needs. The default is the operating system's; tests put one in its
// place that loses power, runs full or flips bits. Names are paths as Options.Dir gives them. Its methods may be called
// from any goroutine.
type FS interface {
	MkdirAll(dir string) error
	// a new, empty file for reading and writing; fs.ErrExist when there is one
	Create(name string) (File, error)
	// an existing file, fs.ErrNotExist when there is none; it waits for nobody
	Open(name string, readOnly bool) (File, error)
	Rename(old, new string) error         // replaces new; durable after SyncDir
	Remove(name string) error             // durable after SyncDir
	ReadDir(dir string) ([]string, error) // names of the files in dir, sorted
	SyncDir(dir string) error             // makes creations, renames and removals in dir durable
	// locks the file and its folder; journal.ErrLocked, with the holder's number in the text, when another process
	// holds either
	Lock(name string) (Lock, error)
	// of the file or folder that the name leads to now; fs.ErrNotExist when there is none
	Identify(name string) (ID, error)
	Volume(dir string) (Volume, error)
}

// ID tells a file or folder from every other that exists at that time, whatever their names: IDs are compared with ==.
type ID any

// Volume describes the file system in which a folder is.
type Volume struct {
	Bytes    int64 // its size; 0 when that is not known
	ReadOnly bool
}

// Lock is a held lock. It ends with Close, or with the process.
type Lock interface {
	io.Closer
	// Hold makes sure that the lock still keeps others out: a lock file that was removed is made again while the folder
	// itself is locked (renewed). After an error another process may have the journal.
	Hold() (renewed bool, err error)
	// SyncDir is FS.SyncDir of the locked folder, whatever its name leads to now. It opens nothing.
	SyncDir() error
	// Folder is the FS for the files in the locked folder, whatever its name leads to now, as long as the lock is held.
	Folder() FS
}

// File is an open file of an FS. It may also have a method WillNeed(offset, n int64): it is told what will be read
// soon; and those of mapper.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Datasync() error           // makes what was written durable, and the size if it changed
	Truncate(size int64) error // cuts or extends with zeros
	// makes the file size bytes long with room on the medium for all of it; an error that fullError knows when there is
	// none
	Preallocate(size int64) error
	Size() (int64, error)
	Identify() (ID, error) // of the open file, whatever has become of its name
}

// osFS is the operating system's file system. What it makes is for nobody but the account that runs it: messages are in
// these files.
type osFS struct{}

func (osFS) MkdirAll(dir string) error { return os.MkdirAll(dir, 0o700) }

func (osFS) Create(name string) (File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osFS) Open(name string, readOnly bool) (File, error) {
	flag := os.O_RDWR
	if readOnly {
		flag = os.O_RDONLY
	}
	f, err := openRegular(name, flag)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// openRegular opens an existing file. What else may stand in its place is no file of a journal, and may have to be
// waited for: a pipe until somebody writes to it.
func openRegular(name string, flag int) (*os.File, error) {
	f, err := os.OpenFile(name, flag|dontWait, 0)
	if err != nil {
		return nil, err
	}
	return regular(f)
}

// regular closes what is no regular file.
func regular(f *os.File) (*os.File, error) {
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: f.Name(), Err: errIrregular}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

var errIrregular = errors.New("it is not a regular file, but a folder, a pipe or the like")

func (osFS) Rename(old, new string) error { return os.Rename(old, new) }
func (osFS) Remove(name string) error     { return os.Remove(name) }

func (osFS) ReadDir(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func (osFS) SyncDir(dir string) error          { return durable.SyncDir(dir) }
func (osFS) Lock(name string) (Lock, error)    { return lockFile(name) }
func (osFS) Identify(name string) (ID, error)  { return identify(name) }
func (osFS) Volume(dir string) (Volume, error) { return volumeOf(dir) }

type osFile struct{ *os.File }

func (f osFile) Datasync() error              { return datasync(f.File) }
func (f osFile) Identify() (ID, error)        { return identifyOpen(f.File) }
func (f osFile) Preallocate(size int64) error { return preallocate(f.File, size) }

func (f osFile) WillNeed(offset, n int64) { willNeed(f.File, offset, n) }

func (f osFile) Size() (int64, error) {
	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

// writeZeros makes f size bytes long by writing: the way to have room on the medium where nothing better exists.
func writeZeros(f io.WriterAt, from, size int64) error {
	zeros := make([]byte, 1<<20)
	for off := from; off < size; off += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(int64(len(zeros)), size-off)], off); err != nil {
			return err
		}
	}
	return nil
}

// leadsTo says that a name leads to an open file.
func leadsTo(fsys FS, name string, f File) bool {
	want, err := f.Identify()
	if err != nil {
		return false
	}
	got, err := fsys.Identify(name)
	return err == nil && got == want
}

// missing says that err means a file is not there.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// exists says that err means a file is there already.
func exists(err error) bool { return errors.Is(err, fs.ErrExist) }
