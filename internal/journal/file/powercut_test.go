package file_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
)

// life is what the owner of a journal knows of it, over many crashes.
type life struct {
	mu       sync.Mutex
	next     int
	acked    map[uint64]journal.Position // by number: durable, and not released
	unknown  map[uint64]bool             // appended, but nobody said that it is durable
	released map[uint64]bool
	newer    journal.Position // of the last checkpoint that was saved
	older    journal.Position // not before the one before it: what lies up to here may have been moved
}

// TestPowerCutLosesNothingThatWasAcknowledged lets several writers append, release and save checkpoints until the power
// fails, opens what is left, and does it again on that, many times over.
func TestPowerCutLosesNothingThatWasAcknowledged(t *testing.T) {
	lives, cuts := amount(30, 15, 5), 12
	if testing.Short() {
		lives = 5
	}
	for seed := range uint64(lives) {
		random := rand.New(rand.NewPCG(seed, 99))
		l := &life{acked: map[uint64]journal.Position{}, unknown: map[uint64]bool{}, released: map[uint64]bool{}}
		disk := faultfs.New()
		for cut := range cuts {
			disk.CutAfter(1 + random.IntN(300))
			o := small(disk)
			if cut%2 == 0 {
				o.IdleSeal = time.Millisecond // seals come in between
			}
			j, err := file.Open(t.Context(), o)
			if err == nil {
				l.check(t, j, seed, cut)
				l.live(t, j, random)
				if random.IntN(2) == 0 {
					j.Close() //nolint:errcheck // the power may fail meanwhile
				}
			} else if !errors.Is(err, faultfs.ErrCut) {
				t.Fatalf("life %d, cut %d: %v", seed, cut, err)
			}
			disk.Cut()
			if j != nil {
				j.Close() //nolint:errcheck // the power is off
			}
			if random.IntN(4) == 0 {
				disk = disk.AfterKill()
			} else {
				disk = disk.AfterPowerCut(random)
			}
		}
		j := mustOpen(t, small(disk))
		l.check(t, j, seed, cuts)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// check compares the log with what is known of it. It may be cut off in the middle: then it says nothing.
func (l *life) check(t *testing.T, j *file.Journal, seed uint64, cut int) {
	t.Helper()
	found := map[uint64]journal.Position{}
	wanted := map[int]uint64{} // by index in addrs
	var addrs []journal.Address
	at, state, skipped, err := j.LoadCheckpoint(t.Context())
	switch {
	case errors.Is(err, faultfs.ErrCut):
		return
	case err != nil && !errors.Is(err, journal.ErrNoCheckpoint), len(skipped) > 0:
		t.Fatalf("life %d, cut %d: load checkpoint: %v, %v", seed, cut, err, skipped)
	case err == nil:
		state.Close()
		l.older = max(l.older, at) // it may have been saved without anybody hearing of it
		if at < l.newer {
			t.Fatalf("life %d, cut %d: the checkpoint at %d was saved, the one at %d is loaded", seed, cut, l.newer, at)
		}
	}
	for g, err := range j.Scan(t.Context(), 0) {
		if errors.Is(err, faultfs.ErrCut) {
			return
		}
		if err != nil {
			t.Fatalf("life %d, cut %d: %v", seed, cut, err)
		}
		if len(g.Records) != 2 || g.Records[0].Sequence != g.Records[1].Sequence {
			t.Fatalf("life %d, cut %d: half a group at %d", seed, cut, g.Position)
		}
		found[g.Records[0].Sequence] = g.Position
		addrs = append(addrs, journal.Address{Position: g.Position})
	}
	for n, p := range l.acked {
		q, ok := found[n]
		if !ok && p <= l.older { // its address must do, wherever the record is
			addrs = append(addrs, journal.Address{Position: p})
			wanted[len(addrs)-1] = n
			continue
		}
		if !ok || p != q {
			t.Fatalf("life %d, cut %d: group %d was acknowledged at %d and is at %d: %t", seed, cut, n, p, q, ok)
		}
	}
	for n := range found {
		if _, ok := l.acked[n]; !ok && !l.unknown[n] && !l.released[n] {
			t.Fatalf("life %d, cut %d: group %d is in the log, nobody appended it", seed, cut, n)
		}
	}
	var live []journal.Address
	err = j.Read(t.Context(), addrs, func(i int, r journal.Record, err error) {
		if n, ok := wanted[i]; ok && err == nil && r.Sequence != n {
			t.Errorf("life %d, cut %d: the record at %v is number %d, not %d", seed, cut, addrs[i], r.Sequence, n)
		}
		if want := message(int(r.Sequence), len(r.Body)); err == nil && string(r.Body) != string(want.Body) {
			t.Errorf("life %d, cut %d: the body at %v is altered", seed, cut, addrs[i])
		}
		if err != nil && !errors.Is(err, faultfs.ErrCut) {
			t.Errorf("life %d, cut %d: read %v: %v", seed, cut, addrs[i], err)
		}
	})
	if err != nil || t.Failed() {
		t.Fatalf("life %d, cut %d: read: %v", seed, cut, err)
	}
	// What was lost for good is forgotten; what is there counts from now on.
	for n := range l.unknown {
		if p, ok := found[n]; ok {
			l.acked[n] = p
		}
	}
	clear(l.unknown)
	for _, p := range l.acked {
		live = append(live, journal.Address{Position: p})
	}
	j.Keep(slices.Values(live))
}

// live works on the journal until the power fails.
func (l *life) live(t *testing.T, j *file.Journal, random *rand.Rand) {
	seeds := []uint64{random.Uint64(), random.Uint64(), random.Uint64()}
	var all sync.WaitGroup
	for _, seed := range seeds {
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, 7))
			for n := random.IntN(200); n > 0 && l.step(j, random); n-- {
			}
		})
	}
	all.Wait()
}

func (l *life) step(j *file.Journal, random *rand.Rand) bool {
	switch random.IntN(12) {
	case 0:
		return l.checkpoint(j)
	case 1, 2, 3:
		l.releaseOne(j)
		return true
	case 4:
		return j.Write(l.group(random)) == nil
	default:
		records := l.group(random)
		p, err := appendWait(j, records...)
		if err != nil {
			return false
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.acked[records[0].Sequence] = p
		delete(l.unknown, records[0].Sequence)
		return true
	}
}

// group makes the next group, of unknown fate.
func (l *life) group(random *rand.Rand) []journal.Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next++
	l.unknown[uint64(l.next)] = true
	return []journal.Record{message(l.next, random.IntN(4000)), settle(l.next)}
}

// releaseOne gives up an acknowledged group.
func (l *life) releaseOne(j *file.Journal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n, p := range l.acked {
		l.released[n] = true
		delete(l.acked, n)
		j.Release(journal.Address{Position: p})
		return
	}
}

func (l *life) checkpoint(j *file.Journal) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := j.End()
	err := j.SaveCheckpoint(context.Background(), at, func(w io.Writer) error {
		_, err := w.Write(make([]byte, 3000))
		return err
	})
	if err != nil {
		return false
	}
	l.older, l.newer = max(l.older, at), at
	return true
}

func TestPowerCutLeavesABeginningOfTheLogWhateverTheDurability(t *testing.T) {
	for _, durability := range []journal.Durability{journal.Fsync, journal.OS, journal.None} {
		t.Run(string(durability), func(t *testing.T) {
			for seed := range uint64(amount(60, 30, 8)) {
				random := rand.New(rand.NewPCG(seed, 5))
				disk := faultfs.New()
				o := small(disk)
				o.Durability = durability
				var want []journal.Position
				for range 4 { // each goes on with what the last one left
					o.FS = disk
					j := mustOpen(t, o)
					want = beginning(t, j, want)
					for n := range 5 + random.IntN(50) {
						if err := j.Write([]journal.Record{message(n, random.IntN(2000))}); err != nil {
							t.Fatal(err)
						}
						want = append(want, j.End())
					}
					if random.IntN(2) == 0 {
						if err := j.Sync(t.Context()); err != nil {
							t.Fatal(err)
						}
					}
					abandon(t, j, disk)
					disk = disk.AfterPowerCut(random)
				}
				o.FS = disk
				j := mustOpen(t, o)
				beginning(t, j, want)
				if err := j.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// beginning fails unless the log is a beginning of want, and returns it.
func beginning(t *testing.T, j journal.Journal, want []journal.Position) []journal.Position {
	t.Helper()
	n := 0
	for g, err := range j.Scan(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if n == len(want) || g.Position != want[n] {
			t.Fatalf("group %d of %d is at %d", n, len(want), g.Position)
		}
		n++
	}
	return want[:n:n]
}
