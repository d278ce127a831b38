package queue

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// TestTheDiskIsNeverAskedUnderTheLock: a store has one lock, and all of its callers wait for whoever holds it. Puts,
// claims, extensions, settlements, ends of leases and of owners, checkpoints and new segments leave it to the disk to
// be as slow as it is. At each thing that the disk is asked for, the lock has to come free before the disk answers.
func TestTheDiskIsNeverAskedUnderTheLock(t *testing.T) {
	const segment = 256 << 10
	disk := faultfs.New()
	j, err := file.Open(t.Context(), file.Options{Dir: "log", FS: disk, SegmentBytes: segment, CleanBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	s := must(Open(t.Context(), Options{Journal: j, OnDemand: true, CheckpointBytes: 100 << 10}))
	var asked, held sync.Map
	segments := atomic.Int32{}
	disk.Fault(func(op faultfs.Op) error {
		kind := op.Kind
		if kind == "rename" && strings.Contains(op.Name, "spare-") {
			segments.Add(1)
		}
		asked.Store(kind, true)
		for until := time.Now().Add(20 * time.Second); !s.mu.TryLock(); time.Sleep(50 * time.Microsecond) {
			if _, told := held.Load(kind); told || time.Now().After(until) {
				held.Store(kind, op.Name)
				return nil
			}
		}
		s.mu.Unlock()
		return nil
	})
	for begun, from := int32(0), uint64(0); begun < 3; {
		workAt(t, s)
		bytes := j.Stats().Bytes
		if n := segments.Load(); n != begun {
			begun, from = n, bytes
		}
		if bytes-from > 160<<10 { // more than half of the segment: without the next one it would be made by a put
			waittest.Until(t, "the next segment is set aside", func() bool { return spares(j, segment) > 2 })
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for _, kind := range []string{"write", "sync", "rename", "syncdir", "create"} {
		if _, there := asked.Load(kind); !there {
			t.Errorf("the disk was not asked for a %s: the test shows nothing of it", kind)
		}
	}
	held.Range(func(kind, name any) bool {
		t.Errorf("the lock is held during a %v of %v", kind, name)
		return true
	})
}

// TestALargeMessageIsWrittenWithoutTheLock.
func TestALargeMessageIsWrittenWithoutTheLock(t *testing.T) {
	disk := faultfs.New()
	j, err := file.Open(t.Context(), file.Options{Dir: "log", FS: disk, SegmentBytes: 16 << 20,
		Patience: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	s := must(Open(t.Context(), Options{Journal: j, OnDemand: true}))
	mustPut(t, s, news, text("x")...)
	answer := disk.Hang(func(op faultfs.Op) bool { return op.Kind == "write" && op.Bytes > 2<<20 })
	defer answer()
	put := make(chan error, 1)
	go func() {
		_, err := s.Put(t.Context(), news, []message.Message{{Body: make([]byte, 3<<20)}})
		put <- err
	}()
	waittest.Until(t, "the disk does not answer", func() bool { return j.Health() != nil })
	looked := make(chan error, 1)
	go func() {
		_, err := s.Peek(t.Context(), news, PeekRequest{NoBody: true})
		looked <- err
	}()
	select {
	case err := <-looked:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("another waits for the disk")
	}
	answer()
	if err := errors.Join(<-put, s.Close()); err != nil {
		t.Error(err)
	}
}

// workAt does each thing that is journaled, by some at once.
func workAt(t *testing.T, s *Store) {
	t.Helper()
	ctx := t.Context()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			owner := s.NewOwner("worker")
			defer owner.Close()
			for range 4 {
				if _, err := s.Put(ctx, news, []message.Message{{Body: make([]byte, 700)}}); err != nil {
					t.Error(err)
					return
				}
			}
			claims, err := s.Claim(ctx, ClaimRequest{From: []From{{Queue: news}}, Max: 3, Lease: time.Minute})
			if err != nil {
				t.Error(err)
				return
			}
			for i, c := range claims {
				switch i {
				case 0:
					_, err = s.Extend(ctx, []Token{c.Token}, time.Hour)
				case 1:
					_, err = s.Extend(ctx, []Token{c.Token}, time.Microsecond)
				default:
					_, err = s.Settle(ctx, []Settlement{{Token: c.Token, Kind: Done}})
				}
				if err != nil {
					t.Error(err)
				}
			}
			if _, err := s.Claim(ctx, ClaimRequest{From: []From{{Queue: news}}, Owner: owner}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// spares is how many files a journal without cold segments of that size has set aside.
func spares(j *file.Journal, size uint64) int {
	st := j.Stats()
	return int(st.TotalBytes/size) - st.Segments
}
