package file

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// listening notes what the medium is asked for ahead.
type listening struct {
	FS
	mu    sync.Mutex
	asked []int64
}

type listeningFile struct {
	File
	fs *listening
}

func (l *listening) Open(name string, readOnly bool) (File, error) {
	f, err := l.FS.Open(name, readOnly)
	if err != nil {
		return nil, err
	}
	return &listeningFile{f, l}, nil
}

func (l *listening) Lock(name string) (Lock, error) {
	lock, err := l.FS.Lock(name)
	return LockIn(lock, l), err
}

func (f *listeningFile) WillNeed(offset, n int64) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	f.fs.asked = append(f.fs.asked, offset)
}

// TestGroupsThatLieApartAreAskedForAhead: a start reads thousands of pages with messages between them.
func TestGroupsThatLieApartAreAskedForAhead(t *testing.T) {
	dir := t.TempDir()
	var apart, close []journal.Address
	write := func() {
		j, err := Open(t.Context(), Options{Dir: dir, SegmentBytes: 64 << 20, Report: func(err error) { t.Error(err) }})
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		var wait sync.WaitGroup
		for i := range 200 {
			size := 100
			if i%2 == 0 {
				size = 3 * windowNear / 2
			}
			wait.Add(1)
			err := j.Append([]journal.Record{{Queue: 1, Sequence: uint64(i), Life: journal.Lasting,
				Body: make([]byte, size)}}, func(p journal.Position, err error, _ int) {
				defer wait.Done()
				if err != nil {
					t.Error(err)
				}
				if a := (journal.Address{Position: p}); size == 100 {
					apart = append(apart, a)
				} else if len(close) < outlookLeast/2 {
					close = append(close, a)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			wait.Wait()
		}
	}
	write()
	ears := &listening{FS: osFS{}}
	j, err := Open(t.Context(),
		Options{Dir: dir, FS: ears, SegmentBytes: 64 << 20, Report: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	asked := func(addrs []journal.Address) []int64 {
		ears.mu.Lock()
		ears.asked = nil
		ears.mu.Unlock()
		n := 0
		if err := j.Read(context.Background(), addrs, func(_ int, _ journal.Record, err error) {
			if n++; err != nil {
				t.Error(err)
			}
		}); err != nil || n != len(addrs) {
			t.Fatalf("read %d of %d: %v", n, len(addrs), err)
		}
		ears.mu.Lock()
		defer ears.mu.Unlock()
		return ears.asked
	}
	got := asked(apart)
	if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
		t.Errorf("asked for %v: not each once, in order", got)
	}
	if len(got) < len(apart)-2 {
		t.Errorf("%d groups that lie apart were asked for ahead, want all but the first two of %d", len(got),
			len(apart))
	}
	if got := asked(close); len(got) > 0 {
		t.Errorf("for %d records the medium was asked for %v: that costs more than it saves", len(close), got)
	}
}
