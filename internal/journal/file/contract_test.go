package file_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/journaltest"
)

func TestContract(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, durability := range []journal.Durability{journal.Fsync, journal.OS, journal.None} {
		t.Run(string(durability), func(t *testing.T) {
			journaltest.Run(t, func(t *testing.T) journaltest.Harness {
				dir := t.TempDir()
				return journaltest.Harness{
					Open: func() (journal.Journal, error) {
						return file.Open(t.Context(), file.Options{
							Dir:           dir,
							Durability:    durability,
							SegmentBytes:  16 << 10, // small: rolling and reclaiming are part of every test
							MaxGroupBytes: 1 << 20,
							Report:        func(err error) { t.Errorf("reported: %v", err) },
						})
					},
					DamageCheckpoint: func() error { return flipLastByte(newestCheckpoint(t, dir)) },
				}
			})
		})
	}
}

func newestCheckpoint(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "checkpoint-*"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no checkpoint in %s: %v", dir, err)
	}
	slices.Sort(names)
	return names[len(names)-1]
}

func flipLastByte(name string) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	b[len(b)-1] ^= 1
	return os.WriteFile(name, b, 0o644)
}
