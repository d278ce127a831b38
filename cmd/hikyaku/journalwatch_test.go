package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// screen is what a command wrote so far.
type screen struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

// await waits until a text was written, and returns all of it.
func (s *screen) await(t *testing.T, text string) string {
	t.Helper()
	all := ""
	defer func() {
		if t.Failed() {
			t.Logf("%q was written", all)
		}
	}()
	waittest.Until(t, fmt.Sprintf("%q is written", text), func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		all = s.b.String()
		return strings.Contains(all, text)
	})
	return all
}

// TestJournalCheckWatchTellsDamageOnceAndEndsWithTheInterrupt: of a journal that is in use.
func TestJournalCheckWatchTellsDamageOnceAndEndsWithTheInterrupt(t *testing.T) {
	dir := t.TempDir()
	j, err := file.Open(t.Context(), file.Options{Dir: dir, SegmentBytes: 1 << 20, Watch: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close() //nolint:errcheck // it is damaged
	for n := range 20 {
		if err := j.Write([]journal.Record{{Life: journal.Lasting, Sequence: uint64(n),
			Body: bytes.Repeat([]byte{'x'}, 100_000)}}); err != nil {
			t.Fatal(err)
		}
	}
	watch := func(damage bool) error {
		ctx, cancel := context.WithCancel(t.Context())
		out, ended := new(screen), make(chan error, 1)
		go func() {
			ended <- watchJournals(ctx, []*file.Watcher{{Dir: dir}}, time.Millisecond, out, out)
		}()
		out.await(t, "damaged places  0")
		if damage {
			name := filepath.Join(dir, "0000000000000000.log")
			flipAt(t, name, 300_000)
			out.await(t, name+", offset ")
			flipAt(t, name, 600_000)
			if all := out.await(t, "record 0 of the group at position 5"); strings.Count(all, name+", offset ") != 2 {
				t.Errorf("it wrote %s", all)
			}
		}
		cancel()
		return <-ended
	}
	if err := watch(false); err != nil {
		t.Errorf("an undamaged journal: %v", err)
	}
	if err := watch(true); err == nil || !strings.Contains(err.Error(), "2 damaged places") {
		t.Errorf("a damaged journal: %v", err)
	}
	if err := watchJournals(t.Context(), []*file.Watcher{{Dir: t.TempDir()}}, time.Hour, new(screen),
		new(screen)); err == nil {
		t.Error("an empty folder is watched")
	}
}

// flipAt changes a byte of a file.
func flipAt(t *testing.T, name string, offset int64) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 1)
	_, err = f.ReadAt(b, offset)
	if err == nil {
		b[0] ^= 4
		_, err = f.WriteAt(b, offset)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}
