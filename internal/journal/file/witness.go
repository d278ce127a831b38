package file

import (
	"errors"
	"sync/atomic"
)

// witness remembers that a sync has failed, of whatever file of the folder, or of the folder. After that nobody can
// tell what of the files is on the disk: the operating system may have let go of what it could not write, and a later
// sync knows nothing of it.
type witness struct{ failed atomic.Pointer[error] }

// saw notes the outcome of a sync, which it returns.
func (w *witness) saw(err error) error {
	if err != nil {
		w.failed.CompareAndSwap(nil, &err)
	}
	return err
}

// err is how the first sync failed that did; nil: none.
func (w *witness) err() error {
	if err := w.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// witnessFS is a file system whose syncs are watched.
type witnessFS struct {
	FS
	w *witness
}

func (f witnessFS) Create(name string) (File, error) { return f.w.file(f.FS.Create(name)) }

func (f witnessFS) Open(name string, readOnly bool) (File, error) {
	return f.w.file(f.FS.Open(name, readOnly))
}

// OpenPassing implements passing, as far as what is below does.
func (f witnessFS) OpenPassing(name string) (File, error) {
	if p, ok := f.FS.(passing); ok {
		return p.OpenPassing(name)
	}
	return f.FS.Open(name, true)
}

func (f witnessFS) SyncDir(dir string) error { return f.w.saw(f.FS.SyncDir(dir)) }

func (f witnessFS) Lock(name string) (Lock, error) {
	l, err := f.FS.Lock(name)
	if err != nil {
		return nil, err
	}
	return witnessLock{l, f.w}, nil
}

type witnessLock struct {
	Lock
	w *witness
}

func (l witnessLock) Folder() FS     { return witnessFS{l.Lock.Folder(), l.w} }
func (l witnessLock) SyncDir() error { return l.w.saw(l.Lock.SyncDir()) }

// file has the syncs of an open file watched.
func (w *witness) file(f File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	seen := witnessFile{f, w}
	if m, ok := f.(mapper); ok {
		return struct {
			witnessFile
			mapper
		}{seen, m}, nil
	}
	return seen, nil
}

type witnessFile struct {
	File
	w *witness
}

func (f witnessFile) Datasync() error { return f.w.saw(f.File.Datasync()) }

// WillNeed is for the file below, if it wants to know.
func (f witnessFile) WillNeed(offset, n int64) {
	if below, ok := f.File.(interface{ WillNeed(offset, n int64) }); ok {
		below.WillNeed(offset, n)
	}
}

// errSynced says why what the files hold is in doubt.
var errSynced = errors.New("a sync has failed, so nobody knows what is on the disk")
