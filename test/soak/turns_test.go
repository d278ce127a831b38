package soak

import (
	"cmp"
	"hash"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hikyaku/hikyaku/internal/journal/file"
)

// turns lets the changes of a disk happen one at a time, in an order that a seed draws: of all goroutines that want to
// change something, one gets its turn, and the next is drawn when nobody has anything else to do. So the moment of a
// power cut means the same in every run of a seed, and different seeds see different orders of what the journal does at
// the same time.
type turns struct {
	mu      sync.Mutex
	random  *rand.Rand
	waiting []*turn
	log     hash.Hash64 // of every change, in order
	gone    int         // segments that were given up or recycled

	wanted chan struct{} // capacity 1
	over   chan struct{} // a turn is
	ended  chan struct{}
}

// turn is a change that waits.
type turn struct {
	kind, name string
	offset     int64
	yours      chan struct{}
}

func newTurns(seed uint64) *turns {
	t := &turns{
		random: rand.New(rand.NewPCG(seed, 0x7475726e)), log: fnv.New64a(),
		wanted: make(chan struct{}, 1), over: make(chan struct{}), ended: make(chan struct{}),
	}
	go t.deal()
	return t
}

// end lets the dealer go. Nobody may want a turn afterwards.
func (t *turns) end() {
	close(t.wanted)
	<-t.ended
}

func (t *turns) deal() {
	defer close(t.ended)
	for range t.wanted {
		for next := t.draw(); next != nil; next = t.draw() {
			close(next.yours)
			<-t.over
		}
	}
}

// draw waits until everybody who is running has come to rest, and picks one of those who want to change something.
// With one processor (see oneProcessor) yielding lets all others run; synctest.Wait would not do, because it does not
// return while somebody waits for a mutex that one of those holds.
func (t *turns) draw() *turn {
	for range 12 {
		runtime.Gosched()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		return nil
	}
	slices.SortFunc(t.waiting, func(a, b *turn) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name), cmp.Compare(a.offset, b.offset))
	})
	i := t.random.IntN(len(t.waiting))
	next := t.waiting[i]
	t.waiting = slices.Delete(t.waiting, i, i+1)
	if strings.HasSuffix(next.name, ".log") && (next.kind == "remove" || next.kind == "rename") {
		t.gone++
	}
	io.WriteString(t.log, next.kind+" "+next.name+" "+strconv.FormatInt(next.offset, 10)+"\n")
	return next
}

// take waits for a turn; the caller calls give when the change is made.
func (t *turns) take(kind, name string, offset int64) {
	next := &turn{kind, name, offset, make(chan struct{})}
	t.mu.Lock()
	t.waiting = append(t.waiting, next)
	t.mu.Unlock()
	select {
	case t.wanted <- struct{}{}:
	default:
	}
	<-next.yours
}

func (t *turns) give() { t.over <- struct{}{} }

// inTurn is a file system whose changes happen in turns.
type inTurn struct {
	file.FS
	turns *turns
}

func (f inTurn) Create(name string) (file.File, error) {
	f.turns.take("create", name, 0)
	defer f.turns.give()
	made, err := f.FS.Create(name)
	return f.wrap(made, name, err)
}

func (f inTurn) Open(name string, readOnly bool) (file.File, error) {
	opened, err := f.FS.Open(name, readOnly)
	return f.wrap(opened, name, err)
}

func (f inTurn) wrap(made file.File, name string, err error) (file.File, error) {
	if err != nil {
		return nil, err
	}
	return fileInTurn{made, name, f.turns}, nil
}

func (f inTurn) Rename(old, new string) error {
	f.turns.take("rename", old, 0)
	defer f.turns.give()
	return f.FS.Rename(old, new)
}

func (f inTurn) Remove(name string) error {
	f.turns.take("remove", name, 0)
	defer f.turns.give()
	return f.FS.Remove(name)
}

func (f inTurn) SyncDir(dir string) error {
	f.turns.take("syncdir", dir, 0)
	defer f.turns.give()
	return f.FS.SyncDir(dir)
}

func (f inTurn) Lock(name string) (file.Lock, error) {
	l, err := f.FS.Lock(name)
	return lockInTurn{l, filepath.Dir(name), f}, err
}

type lockInTurn struct {
	file.Lock
	dir string
	of  inTurn
}

func (l lockInTurn) Folder() file.FS { return l.of }

func (l lockInTurn) SyncDir() error {
	l.of.turns.take("syncdir", l.dir, 0)
	defer l.of.turns.give()
	return l.Lock.SyncDir()
}

type fileInTurn struct {
	file.File
	name  string
	turns *turns
}

func (f fileInTurn) WriteAt(b []byte, offset int64) (int, error) {
	f.turns.take("write", f.name, offset)
	defer f.turns.give()
	return f.File.WriteAt(b, offset)
}

func (f fileInTurn) Datasync() error {
	f.turns.take("sync", f.name, 0)
	defer f.turns.give()
	return f.File.Datasync()
}

func (f fileInTurn) Truncate(size int64) error {
	f.turns.take("truncate", f.name, size)
	defer f.turns.give()
	return f.File.Truncate(size)
}

func (f fileInTurn) Preallocate(size int64) error {
	f.turns.take("allocate", f.name, size)
	defer f.turns.give()
	return f.File.Preallocate(size)
}
