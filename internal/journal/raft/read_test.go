package raft

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/memory"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// counting is a local journal that counts the bytes that are read from it.
type counting struct {
	journal.Journal
	read *atomic.Int64
}

func (c counting) Read(ctx context.Context, addrs []journal.Address, each func(int, journal.Record, error)) error {
	return c.Journal.Read(ctx, addrs, func(i int, r journal.Record, err error) {
		c.read.Add(int64(r.Size()))
		each(i, r, err)
	})
}

type countingLocal struct {
	*inMemory
	read *atomic.Int64
}

func (l countingLocal) Open(ctx context.Context) (journal.Journal, error) {
	j, err := l.inMemory.Open(ctx)
	return counting{j, l.read}, err
}

func TestNoMoreIsReadOfTheLogAtOnceThanAMessageCarries(t *testing.T) {
	var read atomic.Int64
	r, err := Start(t.Context(), Options{ID: 1, Peers: []uint64{1}, Send: func([]*pb.Message) {}, CacheBytes: 1,
		Local: countingLocal{&inMemory{disk: memory.New()}, &read}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() // nothing is kept
	j, _, err := r.Own(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const groups, size = 40, 500 << 10
	for n := range uint64(groups) {
		err := j.Append([]journal.Record{{Life: journal.Lasting, Sequence: n, Body: make([]byte, size)}},
			func(journal.Position, error, int) {})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	read.Store(0)
	last := uint64(j.End())
	entries, err := r.log.Entries(last-groups+1, last, messageBytes)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 2 {
		t.Errorf("a message carries %d entries of %d bytes", len(entries), size)
	}
	if most := int64(messageBytes + size); read.Load() > most {
		t.Errorf("%d bytes were read, more than %d", read.Load(), most)
	}
}

// TestABodyThatIsDamagedOnOneNodeIsReadOnAnother: the one whose copy of the log is damaged ends, and says why. What it
// calls damaged the others have as it was put.
func TestABodyThatIsDamagedOnOneNodeIsReadOnAnother(t *testing.T) {
	dirs := map[uint64]string{}
	c := newCluster(t, 3, func(id uint64) Local {
		dirs[id] = t.TempDir()
		return inFiles{dirs[id]}
	})
	c.startAll()
	leader := c.leader()
	j, _, err := leader.Own(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	body := bytes.Repeat([]byte("a body that is whole. "), 100)
	var at journal.Position
	done := make(chan error, 1)
	err = j.Append([]journal.Record{{Life: journal.Lasting, Sequence: 1, Body: body}},
		func(p journal.Position, err error, _ int) { at = p; done <- err })
	if err := errors.Join(err, <-done); err != nil {
		t.Fatal(err)
	}
	address := []journal.Address{{Position: at}}
	id := leader.Status().ID
	flipIn(t, filepath.Join(dirs[id], "log"), body)
	err = j.Read(t.Context(), address, func(_ int, r journal.Record, err error) {
		var damage *journal.DamageError
		if err == nil || errors.As(err, &damage) {
			t.Errorf("a damaged copy of the log gives %d bytes and %v: whoever reads it takes it for the only one",
				len(r.Body), err)
		}
	})
	if !errors.Is(err, journal.ErrFailed) {
		t.Errorf("a damaged copy of the log is read: %v", err)
	}
	waittest.Until(t, "its node ends", func() bool { return leader.Status().Failure != nil })
	c.stop(id)
	next, _, err := c.leader().Own(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []byte
	err = next.Read(t.Context(), address, func(_ int, r journal.Record, err error) {
		got = bytes.Clone(r.Body)
		if err != nil {
			t.Error(err)
		}
	})
	if err != nil || !bytes.Equal(got, body) {
		t.Errorf("the next owner reads %d bytes: %v", len(got), err)
	}
}

// flipIn flips a bit of the first copy of some bytes in the files of a folder.
func flipIn(t *testing.T, dir string, what []byte) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		b, err := os.ReadFile(path)
		if at := bytes.Index(b, what); err == nil && at >= 0 {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.WriteAt([]byte{b[at] ^ 1}, int64(at))
			if err := errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatal("it is in no file")
}
