package file_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
)

// copyMoment writes the files of a moment into a folder. false: one has left the journal before.
func copyMoment(t *testing.T, m *file.Moment, to string) bool {
	t.Helper()
	for _, p := range m.Parts {
		b := p.Content
		if b == nil {
			f, err := os.Open(filepath.Join(m.Dir, p.Name))
			if errors.Is(err, os.ErrNotExist) {
				return false
			}
			if err != nil {
				t.Fatal(err)
			}
			b = make([]byte, p.Bytes)
			if _, err := io.ReadFull(f, b); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
		if there, err := m.Has(p); err != nil {
			t.Fatal(err)
		} else if !there {
			return false
		}
		name := filepath.Join(to, p.Name)
		if err := errors.Join(os.WriteFile(name, b, 0o600), os.Truncate(name, p.Size)); err != nil {
			t.Fatal(err)
		}
	}
	return true
}

// TestAMomentOfAJournalAtWorkIsAJournal copies a journal that appends, settles, takes checkpoints, cleans and begins
// segments in the files of old ones, and opens each copy: what had been answered before is there.
func TestAMomentOfAJournalAtWorkIsAJournal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	j := mustOpen(t, file.Options{Dir: dir, SegmentBytes: 16 << 10, Durability: journal.OS})
	defer j.Close()
	j.Keep(func(func(journal.Address) bool) {})
	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	defer working.Wait()
	defer stop()
	var mu sync.Mutex
	waiting := map[int]journal.Position{} // what was put and is not settled yet
	// So many messages come while a copy is made, however slow it is: then its files stay.
	coming := make(chan struct{}, 400)
	working.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-coming:
			case <-ctx.Done():
				return
			}
			p, err := appendWait(j, message(n, 700))
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			waiting[n] = p
			old, there := waiting[n-30]
			if there = there && n%7 != 0; there {
				delete(waiting, n-30)
			}
			mu.Unlock()
			if there {
				if _, err := appendWait(j, settle(n-30)); err != nil {
					t.Error(err)
					return
				}
				j.Release(journal.Address{Position: old})
			}
			if n%20 == 0 {
				err := j.SaveCheckpoint(ctx, j.End(), func(w io.Writer) error {
					_, err := io.WriteString(w, "state")
					return err
				})
				if err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		}
	})
	segments, again, begunAnew := 0, 0, 0
	rounds := 30
	if testing.Short() {
		rounds = 8
	}
	for round := 0; round < rounds; {
		for again == 0 && len(coming) < cap(coming) {
			coming <- struct{}{}
		}
		mu.Lock()
		want := len(waiting)
		before := make(map[int]journal.Position, want)
		for n, p := range waiting {
			before[n] = p
		}
		mu.Unlock()
		ms, err := file.Moments(ctx, []string{dir})
		if err != nil {
			t.Fatal(err)
		}
		to := t.TempDir()
		if !copyMoment(t, ms[0], to) {
			again++
			continue
		}
		round++
		begunAnew, again = begunAnew+again, 0
		segments += len(ms[0].Parts)
		mu.Lock()
		for n := range before {
			if _, still := waiting[n]; !still {
				delete(before, n) // it was settled meanwhile
			}
		}
		mu.Unlock()
		wantInCopy(t, to, before)
	}
	t.Logf("%d files in %d copies, %d copies begun anew", segments, rounds, begunAnew)
}

// wantInCopy opens a copy, as a start does, and looks for messages, and checks it.
func wantInCopy(t *testing.T, dir string, want map[int]journal.Position) {
	t.Helper()
	report, err := file.Check(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Damages) > 0 || report.TornBytes > 0 {
		t.Fatalf("damage: %v, %d bytes torn", report.Damages, report.TornBytes)
	}
	var told []string
	j := mustOpen(t, file.Options{Dir: dir, SegmentBytes: 16 << 10, Report: func(err error) {
		told = append(told, err.Error())
	}})
	defer j.Close()
	for n, p := range want {
		err := j.Read(t.Context(), []journal.Address{{Position: p}}, func(_ int, r journal.Record, err error) {
			if err != nil || string(r.Body) != string(message(n, 700).Body) {
				t.Errorf("message %d at %d: %v", n, p, err)
			}
		})
		if err != nil {
			t.Error(err)
		}
	}
	if len(told) > 0 {
		t.Errorf("the start tells: %s", strings.Join(told, "; "))
	}
}

func TestAMomentOfNoJournalIsRefusedAtOnce(t *testing.T) {
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		if _, err := file.Moments(t.Context(), []string{dir}); !errors.Is(err, file.ErrNoJournal) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
