package queue

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

func TestCopyFolderTakesAllButSpareSpace(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	for name, text := range map[string]string{"0.log": "log", "manifest-0": "list", "spare-1": "zeros"} {
		if err := os.WriteFile(filepath.Join(from, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := copyFolder(t.Context(), to, from); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"0.log": "log", "manifest-0": "list"} {
		if b, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	if _, err := os.Stat(filepath.Join(to, "spare-1")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("spare space was copied: %v", err)
	}
	if err := copyFolder(t.Context(), to, filepath.Join(from, "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

func TestWhatIsWrittenDurablyIsThere(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := writeDurably(name, []byte("content")); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(name); err != nil || string(b) != "content" {
		t.Errorf("%q, %v", b, err)
	}
	if err := writeDurably(filepath.Join(name, "below"), nil); err == nil {
		t.Error("a file was written below a file")
	}
}

func TestSequentialReadsItsWholeFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	const size = 3*readPiece + 5
	if err := writeDurably(name, harness.MakeBody(size)); err != nil {
		t.Fatal(err)
	}
	for _, cold := range []bool{false, true} {
		q := &sequential{name: name, bytes: size, messages: 7, cold: cold}
		s, err := q.Run(t.Context(), 0)
		if err != nil || s.N != 7 || len(s.Calls) != 1 || s.Elapsed <= 0 {
			t.Errorf("cold %v: %+v, %v", cold, s, err)
		}
		q.bytes++
		if _, err := q.Run(t.Context(), 0); err == nil {
			t.Error("a file that is too short was measured")
		}
	}
	if _, err := (&sequential{name: name + "-absent"}).Run(t.Context(), 0); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestLimitOfAStartIsAsLongAsWhatTheStartRead(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"checkpoint-1": "older", "checkpoint-2": "newer", "0.log": "log",
		"lock": "1", "spare-1": "0"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for n, want := range map[int64]string{0: "newer", 3: "new", 8: "newerlog", 10: "newerlogne"} {
		to := filepath.Join(t.TempDir(), "limit")
		wrote, err := concatenate(t.Context(), to, dir, n)
		if err != nil || wrote != int64(len(want)) {
			t.Errorf("%d bytes: %d, %v", n, wrote, err)
		}
		if b, err := os.ReadFile(to); err != nil || string(b) != want {
			t.Errorf("%d bytes: %q, %v", n, b, err)
		}
	}
	if _, err := concatenate(t.Context(), filepath.Join(dir, "limit"), t.TempDir(), 5); err == nil {
		t.Error("a limit was made of an empty folder")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	to := filepath.Join(t.TempDir(), "limit")
	if _, err := concatenate(ctx, to, dir, 5); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
	if _, err := os.Stat(to); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("half a file is left: %v", err)
	}
}

func TestEvictingKeepsContentsAndMakesTheSystemForgetThem(t *testing.T) {
	dir := t.TempDir()
	can, err := canEvict(dir)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "file")
	body := harness.MakeBody(1 << 20)
	if err := os.WriteFile(name, body, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := evictFolder(dir); err != nil {
		t.Fatal(err)
	}
	if _, known := cached(name); can && !known {
		t.Error("files can be evicted, but nobody knows which are")
	}
	if b, err := os.ReadFile(name); err != nil || !bytes.Equal(b, body) {
		t.Errorf("an evicted file has other contents: %v", err)
	}
	if yes, known := cached(name); known && !yes {
		t.Error("a file that was just read is not cached")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
