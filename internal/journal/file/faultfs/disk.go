// Package faultfs is a disk in memory that breaks on demand: it loses power and forgets part of what was not synced,
// runs full, fails syncs and writes, and flips bits. It stands in for the file system below package journal/file in
// tests. It is not a file system for anything else: it knows one folder level and keeps everything in memory.
//
//	disk := faultfs.New()
//	disk.CutAfter(1000) // the power fails at the thousandth change
//	j, err := file.Open(ctx, file.Options{Dir: "log", FS: disk})
//	…
//	disk = disk.AfterPowerCut(rand.New(rand.NewPCG(1, seed)))
//	j, err = file.Open(ctx, file.Options{Dir: "log", FS: disk})
//
// # What can be made to happen
//
//   - The power fails: CutAfter, at a change that is counted beforehand with Changes; Cut, now. AfterPowerCut is the
//     disk as the next start may find it, a different one for each seed. To try every change of a workload, count the
//     changes of one run and repeat it on a Clone of the disk with CutAfter(1), CutAfter(2) and so on.
//   - The process dies and the disk goes on: AfterKill.
//   - An operation fails, for example every sync from now on, or the third write: Fault, with Nth where one is enough.
//   - The disk runs full: Limit, also below what is there; or Fault with syscall.ENOSPC, which lets half of a write
//     through.
//   - It does not answer: Hang.
//   - No more files may be open: Handles.
//   - Bits flip: Flip, or Set for any byte.
//
// # What a power cut leaves
//
// Of every file: what was there at its last sync, and of each 512-byte sector written since, by chance, what any of the
// writes since made of it, or the old content, or, now and then, the one up to some byte and the other from there on.
// So writes that no sync orders get to the disk in any order, and a write is torn at any byte.
// Of the folder: what was there at its last sync, and any of the creations, renames and removals since.
package faultfs

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
)

// ErrCut is what every operation answers after the power was cut.
var ErrCut = errors.New("the power was cut")

// errCutting is the answer to the operation in which the power fails.
var errCutting = fmt.Errorf("now: %w", ErrCut)

// Op says what an operation does, for Disk.Fault.
type Op struct {
	Kind   string // create, rename, remove, syncdir, write, sync, truncate, allocate
	Name   string
	Offset int64
	Bytes  int
}

// Disk is a disk with one folder. Its methods, and those of the files on it, may be called from any goroutine.
type Disk struct {
	mu        sync.Mutex
	names     map[string]*inode
	synced    map[string]*inode // names at the last SyncDir
	pending   []change          // to names, since then
	capacity  int64             // 0: no limit
	changes   int
	cutAt     int // 0: never
	cut       bool
	locked    bool
	noHandles bool // no more files can be opened
	opened    int  // files that are open
	folder    int  // which one stands in the place of the folder that there was at first: another for each number
	gone      bool // no folder stands there
	readOnly  bool
	fault     func(Op) error
	hangs     func(Op) bool
	goesOn    chan struct{} // closed when what hangs goes on
}

// change is a change of the folder.
type change struct {
	name   string
	became *inode // nil: removed
	from   string // renamed from
}

// inode is a file, whatever its name.
type inode struct {
	data   []byte
	synced []byte
	dirty  map[int64][][]byte // what was written to each sector since the last sync, the last few of it
}

const (
	sector   = 512
	versions = 4 // of a sector that are remembered
)

var _ file.FS = (*Disk)(nil)

// New returns an empty disk without bounds.
func New() *Disk {
	return &Disk{names: map[string]*inode{}, synced: map[string]*inode{}}
}

// Limit sets how many bytes all files together may have; 0 means no limit. It may be set below what is there.
func (d *Disk) Limit(bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.capacity = bytes
}

// CutAfter cuts the power after that many more changes (writes, syncs, changes of the folder). The operation in which
// it happens is not done. 0 takes it back.
func (d *Disk) CutAfter(changes int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cutAt = 0
	if changes > 0 {
		d.cutAt = d.changes + changes
	}
}

// Cut cuts the power now.
func (d *Disk) Cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cut = true
}

// Changes counts the operations that changed something.
func (d *Disk) Changes() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.changes
}

// Fault sets a function that is asked before each change and may refuse it with an error. It must not call the disk.
// A write refused with syscall.ENOSPC has its first half written all the same.
func (d *Disk) Fault(f func(Op) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault = f
}

// Hang has the disk not answer the next operation that when tells, and nothing that is asked for meanwhile, until the
// function that it returns is called.
func (d *Disk) Hang(when func(Op) bool) (answer func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	goesOn := make(chan struct{})
	d.hangs, d.goesOn = when, goesOn
	return sync.OnceFunc(func() { close(goesOn) })
}

// Handles says whether a file can be opened: without handles no process, or not this one, may have more files open than
// there are, which go on.
func (d *Disk) Handles(there bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.noHandles = !there
}

// Opened is how many files are open.
func (d *Disk) Opened() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.opened
}

// opens is called with mu held before a file or folder is opened.
func (d *Disk) opens(name string) error {
	if d.noHandles {
		return &fs.PathError{Op: "open", Path: name, Err: syscall.EMFILE}
	}
	return nil
}

// Nth returns a function for Fault that refuses the nth operation of a kind, counted from 1, with err, and lets all
// others pass.
func Nth(kind string, n int, err error) func(Op) error {
	seen := 0
	return func(op Op) error {
		if op.Kind != kind {
			return nil
		}
		if seen++; seen != n {
			return nil
		}
		return err
	}
}

// change is called with mu held before every operation that changes something.
func (d *Disk) change(op Op) error {
	if d.cut {
		return ErrCut
	}
	if d.hangs != nil && d.hangs(op) {
		d.hangs = nil
		<-d.goesOn // with the lock held: the disk answers nobody
	}
	d.changes++
	if d.cutAt != 0 && d.changes >= d.cutAt {
		d.cut = true
		return errCutting
	}
	if d.fault != nil {
		return d.fault(op)
	}
	return nil
}

// used is the size of all files.
func (d *Disk) used() int64 {
	n := int64(0)
	for _, i := range d.names {
		n += int64(len(i.data))
	}
	return n
}

func (d *Disk) MkdirAll(string) error { return nil }

func (d *Disk) Create(name string) (file.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.opens(name); err != nil {
		return nil, err
	}
	if err := d.change(Op{Kind: "create", Name: name}); err != nil {
		return nil, err
	}
	if d.names[name] != nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	}
	i := &inode{dirty: map[int64][][]byte{}}
	d.names[name] = i
	d.pending = append(d.pending, change{name: name, became: i})
	d.opened++
	return &handle{d: d, i: i, name: name}, nil
}

func (d *Disk) Open(name string, readOnly bool) (file.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := d.names[name]
	if d.cut {
		return nil, ErrCut
	}
	if err := d.opens(name); err != nil {
		return nil, err
	}
	if i == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	d.opened++
	return &handle{d: d, i: i, name: name, readOnly: readOnly}, nil
}

func (d *Disk) Rename(old, new string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.change(Op{Kind: "rename", Name: old}); err != nil {
		return err
	}
	i := d.names[old]
	if i == nil {
		return &fs.PathError{Op: "rename", Path: old, Err: fs.ErrNotExist}
	}
	delete(d.names, old)
	d.names[new] = i
	d.pending = append(d.pending, change{name: new, became: i, from: old})
	return nil
}

func (d *Disk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.names[name] == nil {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	}
	if err := d.change(Op{Kind: "remove", Name: name}); err != nil {
		return err
	}
	delete(d.names, name)
	d.pending = append(d.pending, change{name: name})
	return nil
}

func (d *Disk) ReadDir(dir string) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cut {
		return nil, ErrCut
	}
	var names []string
	for name := range d.names {
		if filepath.Dir(name) == filepath.Clean(dir) {
			names = append(names, filepath.Base(name))
		}
	}
	slices.Sort(names)
	return names, nil
}

func (d *Disk) SyncDir(dir string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.opens(dir); err != nil {
		return err
	}
	return d.syncDir(dir)
}

func (d *Disk) syncDir(dir string) error {
	if err := d.change(Op{Kind: "syncdir", Name: dir}); err != nil {
		return err
	}
	for _, c := range d.pending {
		c.apply(d.synced)
	}
	d.pending = nil
	return nil
}

func (c change) apply(names map[string]*inode) {
	if c.from != "" {
		if names[c.from] != c.became {
			return // what it builds on was lost
		}
		delete(names, c.from)
	}
	if c.became == nil {
		delete(names, c.name)
	} else {
		names[c.name] = c.became
	}
}

// Lock holds the one lock there is on the disk.
func (d *Disk) Lock(name string) (file.Lock, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.locked {
		return nil, fmt.Errorf("%w: folder %s", journal.ErrLocked, filepath.Dir(name))
	}
	d.locked = true
	return unlock{d, filepath.Dir(name)}, nil
}

type unlock struct {
	d   *Disk
	dir string
}

// Hold says that the lock is held: nobody can take it away from a Disk.
func (u unlock) Hold() (bool, error) { return false, nil }

// Folder implements file.Lock.
func (u unlock) Folder() file.FS { return u.d }

// SyncDir implements file.Lock.
func (u unlock) SyncDir() error {
	u.d.mu.Lock()
	defer u.d.mu.Unlock()
	return u.d.syncDir(u.dir)
}

func (u unlock) Close() error {
	u.d.mu.Lock()
	defer u.d.mu.Unlock()
	u.d.locked = false
	return nil
}

// grow makes room for a file to have size bytes.
func (d *Disk) grow(i *inode, size int64) error {
	more := size - int64(len(i.data))
	if more <= 0 {
		return nil
	}
	if d.capacity > 0 && d.used()+more > d.capacity {
		return &fs.PathError{Op: "write", Path: "disk", Err: syscall.ENOSPC}
	}
	i.data = append(i.data, make([]byte, more)...)
	return nil
}
