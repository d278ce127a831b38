package file_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
)

// startedAgain is a folder that was stopped, started, worked in and killed, with the positions of its groups.
func startedAgain(t *testing.T) (dir string, at []journal.Position) {
	t.Helper()
	d := faultfs.New()
	j := mustOpen(t, small(d))
	for n := range 3 {
		at = append(at, mustAppend(t, j, message(n, 300)))
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = mustOpen(t, small(d))
	for n := 3; n < 6; n++ {
		at = append(at, mustAppend(t, j, message(n, 300)))
	}
	after := d.AfterKill().Clone()
	abandon(t, j, d)
	dir = t.TempDir()
	for _, name := range after.Names() {
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), after.Bytes(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, at
}

// TestADamagedManifestIsRefusedAndRepairedWithoutLoss damages the newer of the manifest's two files, so that only the
// older one is left, which says that the log ends where it was stopped. Nothing may be lost, neither by a start nor by
// the repair.
func TestADamagedManifestIsRefusedAndRepairedWithoutLoss(t *testing.T) {
	// turns: made 1, segment 2, stopped 3, started 4
	newer := func(dir string) string { return filepath.Join(dir, "manifest-0") }
	for what, damage := range map[string]func(t *testing.T, dir string) error{
		"flipped": func(t *testing.T, dir string) error { alter(t, newer(dir), 30, '#'); return nil },
		"cut":     func(_ *testing.T, dir string) error { return os.Truncate(newer(dir), 20) },
		"emptied": func(_ *testing.T, dir string) error { return os.Truncate(newer(dir), 0) },
		"removed": func(_ *testing.T, dir string) error { return os.Remove(newer(dir)) },
	} {
		t.Run(what, func(t *testing.T) {
			dir, want := startedAgain(t)
			if err := damage(t, dir); err != nil {
				t.Fatal(err)
			}
			before := filesIn(t, dir)
			_, err := file.Open(t.Context(), file.Options{Dir: dir, SegmentBytes: 16 << 10})
			asDamage(t, err)
			after := filesIn(t, dir)
			delete(after, "lock")
			if !maps.Equal(before, after) {
				t.Error("the start that refused changed files")
			}
			if r := check(t, dir); len(r.Damages) == 0 || r.Groups != 6 {
				t.Errorf("check: %d groups, %v", r.Groups, r.Damages)
			}
			if _, err := file.Repair(t.Context(), dir, file.RepairOptions{NoLoss: true}); err != nil {
				t.Fatal(err)
			}
			j := mustOpen(t, file.Options{Dir: dir, SegmentBytes: 16 << 10})
			defer j.Close()
			var got []journal.Position
			for g, err := range j.Scan(t.Context(), 0) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, g.Position)
			}
			if !slices.Equal(got, want) {
				t.Errorf("groups at %v, want %v", got, want)
			}
		})
	}
}

func TestARepairThatIsToLoseNothingChangesNothingWhereSomethingIsLost(t *testing.T) {
	dir, at := onDisk(t)
	alter(t, segmentsIn(t, dir)[0], int64(at[3])+64+3*32+2, 0xaa)
	before := filesIn(t, dir)
	if _, err := file.Repair(t.Context(), dir, file.RepairOptions{NoLoss: true}); !errors.Is(err, file.ErrLoss) {
		t.Errorf("%v", err)
	}
	if !maps.Equal(before, filesIn(t, dir)) {
		t.Error("it changed files")
	}
}
