package file_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
	"github.com/hikyaku/hikyaku/internal/journal/journaltest"
	"github.com/hikyaku/hikyaku/internal/sampletest"
)

func TestContract(t *testing.T) {
	sampletest.Checks(t, amount(0, 100, 20))
	defer goleak.VerifyNone(t)
	journaltest.Run(t, func(t *testing.T) journaltest.Harness {
		dir := t.TempDir()
		return journaltest.Harness{
			Open: func() (journal.Journal, error) {
				return file.Open(t.Context(), contractOptions(t, file.Options{Dir: dir}))
			},
			DamageCheckpoint: func() error { return flipLastByte(newestCheckpoint(t, dir)) },
		}
	})
}

func TestContractWithLessDurability(t *testing.T) {
	sampletest.Checks(t, amount(0, 100, 20))
	defer goleak.VerifyNone(t)
	for _, durability := range []journal.Durability{journal.OS, journal.None} {
		t.Run(string(durability), func(t *testing.T) {
			journaltest.Run(t, func(t *testing.T) journaltest.Harness {
				disk := faultfs.New()
				return journaltest.Harness{
					Open: func() (journal.Journal, error) {
						return file.Open(t.Context(),
							contractOptions(t, file.Options{Dir: "log", FS: disk, Durability: durability}))
					},
					DamageCheckpoint: func() error {
						name := ""
						for _, n := range disk.Names() {
							if strings.Contains(n, "checkpoint") {
								name = n // the last one
							}
						}
						b := disk.Bytes(name)
						return disk.Set(name, int64(len(b)-1), b[len(b)-1]^1)
					},
				}
			})
		})
	}
}

func TestContractWhenTheMediumFails(t *testing.T) {
	defer goleak.VerifyNone(t)
	journaltest.RunFaults(t, func(t *testing.T) (journaltest.Harness, journaltest.Faults) {
		disk := faultfs.New()
		o := contractOptions(t, file.Options{Dir: "log", FS: disk})
		o.Patience, o.Report = 20*time.Millisecond, func(error) {} // it has reason to complain
		h := journaltest.Harness{Open: func() (journal.Journal, error) { return file.Open(t.Context(), o) }}
		answer := func() {}
		return h, journaltest.Faults{
			Break: func(broken bool) {
				if disk.Fault(nil); broken {
					disk.Fault(func(op faultfs.Op) error {
						if op.Kind == "sync" {
							return errBroken
						}
						return nil
					})
				}
			},
			Reject: func(rejects bool) {
				if disk.Fault(nil); rejects {
					disk.Fault(func(op faultfs.Op) error {
						if op.Kind == "write" && strings.HasSuffix(op.Name, ".log") {
							return errBroken
						}
						return nil
					})
				}
			},
			Fill: func(full bool) {
				if disk.Limit(0); full {
					disk.Limit(600 << 10)
				}
			},
			Hang: func(hangs bool) {
				if answer(); hangs {
					answer = disk.Hang(func(op faultfs.Op) bool {
						return op.Kind == "sync" && strings.HasSuffix(op.Name, ".log")
					})
				}
			},
		}
	})
}

// contractOptions makes segments small: rolling and reclaiming are part of every test.
func contractOptions(t *testing.T, o file.Options) file.Options {
	o.SegmentBytes, o.MaxGroupBytes = 16<<10, 1<<20
	o.Report = func(err error) { t.Errorf("reported: %v", err) }
	return o
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
