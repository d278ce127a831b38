package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
	"github.com/hikyaku/hikyaku/internal/message"
)

// onDisk opens a Store over files on a disk that breaks on demand.
func onDisk(t *testing.T, disk *faultfs.Disk) (*Store, *file.Journal) {
	t.Helper()
	return onDiskTelling(t, disk, nil)
}

// onDiskTelling is onDisk with what the journal reports.
func onDiskTelling(t *testing.T, disk *faultfs.Disk, report func(error)) (*Store, *file.Journal) {
	t.Helper()
	j, err := file.Open(context.Background(),
		file.Options{Dir: "log", FS: disk, SegmentBytes: 64 << 10, MaxGroupBytes: 64 << 10, Report: report})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(context.Background(), Options{Journal: j, OnDemand: true, CheckpointBytes: 32 << 10})
	if err != nil {
		t.Fatal(err)
	}
	return s, j
}

// TestAPowerCutLosesNothingThatWasAcknowledged cuts the power at a random change of the disk, in the middle of
// concurrent puts and settles, and looks at what a restart finds; then goes on from there.
func TestAPowerCutLosesNothingThatWasAcknowledged(t *testing.T) {
	cuts := amount(300, 100, 50)
	if testing.Short() {
		cuts = 30
	}
	// In one world the power may always be cut before the first settlement.
	allPut, allSettled := 0, 0
	for world := range 10 {
		random := rand.New(rand.NewPCG(uint64(world), 7))
		disk := faultfs.New()
		var mu sync.Mutex
		put, settled, unknown := map[message.ID]bool{}, map[message.ID]bool{}, map[message.ID]bool{}
		for cut := range cuts / 10 {
			disk.CutAfter(1 + random.IntN(150))
			j, err := file.Open(context.Background(), file.Options{Dir: "log", FS: disk, SegmentBytes: 64 << 10,
				MaxGroupBytes: 64 << 10})
			if err == nil {
				if s, err := Open(context.Background(),
					Options{Journal: j, OnDemand: true, CheckpointBytes: 32 << 10}); err == nil {
					workUntilCut(s, &mu, put, settled, unknown)
					_ = s.Close() // nothing reaches the disk any more
				} else if !errors.Is(err, faultfs.ErrCut) {
					t.Fatalf("world %d, cut %d: %v", world, cut, err)
				}
				_ = j.Close()
			} else if !errors.Is(err, faultfs.ErrCut) {
				t.Fatalf("world %d, cut %d: %v", world, cut, err)
			}
			disk = disk.AfterPowerCut(random)

			s, j := onDisk(t, disk)
			there := map[message.ID]bool{}
			ps, err := s.Peek(context.Background(), news, PeekRequest{Max: 1 << 20})
			if err != nil && !errors.Is(err, ErrNotFound) {
				t.Fatal(err)
			}
			for _, p := range ps {
				if p.Damage != "" {
					t.Fatalf("world %d, cut %d: %s", world, cut, p.Damage)
				}
				there[p.Message.ID] = true
			}
			for id := range put {
				switch {
				case settled[id] && there[id]:
					t.Fatalf("world %d, cut %d: %s was settled and is there again", world, cut, id)
				case !settled[id] && !unknown[id] && !there[id]:
					t.Fatalf("world %d, cut %d: %s was acknowledged and is gone", world, cut, id)
				case unknown[id] && !there[id]:
					settled[id] = true
				}
			}
			clear(unknown)
			for id := range there {
				put[id] = true
			}
			if err := errors.Join(s.Close(), j.Close()); err != nil {
				t.Fatal(err)
			}
			disk = disk.Clone()
		}
		allPut += len(put)
		allSettled += len(settled)
	}
	if allPut == 0 || allSettled == 0 {
		t.Errorf("nothing happened: %d put, %d settled", allPut, allSettled)
	}
}

// workUntilCut puts and settles from several goroutines until the disk is gone, and notes what was acknowledged. What
// was asked for and not answered is unknown.
func workUntilCut(s *Store, mu *sync.Mutex, put, settled, unknown map[message.ID]bool) {
	ctx := context.Background()
	var work sync.WaitGroup
	for range 3 {
		work.Go(func() {
			for {
				m := message.Message{ID: message.NewID(), Body: make([]byte, rand.IntN(3000))}
				if _, err := s.Put(ctx, news, []message.Message{m}); err != nil {
					return
				}
				mu.Lock()
				put[m.ID] = true
				mu.Unlock()
			}
		})
	}
	work.Go(func() {
		for {
			cs, err := s.Claim(ctx, ClaimRequest{From: from(news), Max: 3, Wait: 10 * time.Millisecond, Owner: nil,
				Lease: time.Second})
			if err != nil {
				return
			}
			for _, c := range cs {
				mu.Lock()
				put[c.Message.ID], unknown[c.Message.ID] = true, true
				mu.Unlock()
				if errs, err := s.Settle(ctx, []Settlement{{Token: c.Token}}); err != nil {
					return
				} else if errs[0] == nil {
					mu.Lock()
					settled[c.Message.ID] = true
					delete(unknown, c.Message.ID)
					mu.Unlock()
				}
			}
		}
	})
	work.Wait()
}

// TestAFullDiskRefusesPutsAndGoesOnWhenThereIsRoom fills a disk, sees puts refused and settles taken, and makes room.
func TestAFullDiskRefusesPutsAndGoesOnWhenThereIsRoom(t *testing.T) {
	disk := faultfs.New()
	s, j := onDisk(t, disk)
	ctx := context.Background()
	disk.Limit(1 << 20)
	acknowledged := 0
	var refused error
	for refused == nil {
		_, err := s.Put(ctx, news, text(fmt.Sprintf("%d:%s", acknowledged, make([]byte, 5000))))
		switch {
		case err == nil:
			acknowledged++
		case errors.Is(err, ErrNoRoom):
			refused = err
		default:
			t.Fatalf("after %d puts: %v", acknowledged, err)
		}
		if acknowledged > 1000 {
			t.Fatal("a disk of 1 MiB took 5 MB")
		}
	}
	for i := range 3 {
		c := mustClaim(t, s, ClaimRequest{From: from(news)})
		if len(c) != 1 {
			t.Fatalf("claim %d on a full disk: %v", i, c)
		}
		settle(t, s, Settlement{Token: c[0].Token})
		acknowledged--
	}
	disk.Limit(0)
	deadline := time.Now().Add(time.Minute)
	for {
		_, err := s.Put(ctx, news, text("there is room again"))
		if err == nil {
			acknowledged++
			break
		}
		if !errors.Is(err, ErrNoRoom) || time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.Close(), j.Close()); err != nil {
		t.Fatal(err)
	}
	s, j = onDisk(t, disk)
	defer j.Close()
	defer s.Close()
	if st, err := s.Stats(t.Context(), news); err != nil || st.Messages() != int64(acknowledged) {
		t.Errorf("%d messages, want %d: %v", st.Messages(), acknowledged, err)
	}
}

// TestAJournalWithoutFilesRefusesPutsSaysSoOnceAndGoesOn: a process may have so many files open. It is no failure of
// the journal, which nothing but a restart would end, and no reason to fill the log.
func TestAJournalWithoutFilesRefusesPutsSaysSoOnceAndGoesOn(t *testing.T) {
	disk := faultfs.New()
	var reports atomic.Int64
	s, j := onDiskTelling(t, disk, func(error) { reports.Add(1) })
	defer j.Close()
	defer s.Close()
	disk.Handles(false)
	put := func() error {
		_, err := s.Put(context.Background(), news, text(string(make([]byte, 5000))))
		return err
	}
	for put() == nil {
	}
	for range 200 {
		if err := put(); !errors.Is(err, ErrRefused) {
			t.Fatal(err)
		}
		if err := s.Ready(t.Context()); !errors.Is(err, ErrRefused) || errors.Is(err, ErrUnavailable) {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond) // the journal looks, too
	}
	if n := reports.Load(); n == 0 || n > 4 {
		t.Errorf("it is reported %d times", n)
	}
	for i := range 3 {
		c := mustClaim(t, s, ClaimRequest{From: from(news)})
		if len(c) != 1 {
			t.Fatalf("claim %d without handles: %v", i, c)
		}
		settle(t, s, Settlement{Token: c[0].Token})
	}
	disk.Handles(true)
	for end := time.Now().Add(time.Minute); put() != nil; {
		if time.Now().After(end) {
			t.Fatal("puts are refused on")
		}
	}
	if err := s.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}
