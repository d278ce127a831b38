package file_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
)

// onDisk makes a journal of several segments and two checkpoints in a real folder, and returns the folder and the
// positions of its groups, each of which has three records.
func onDisk(t *testing.T) (string, []journal.Position) {
	t.Helper()
	dir := t.TempDir()
	j := mustOpen(t, file.Options{Dir: dir, SegmentBytes: 16 << 10})
	var at []journal.Position
	for n := range 24 {
		at = append(at, mustAppend(t, j, message(100+n, 1500), settle(n), message(200+n, 10)))
		if n%10 == 9 {
			saveCheckpoint(t, j, j.End(), fmt.Sprintf("state %d", n))
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, at
}

func segmentsIn(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(names) < 3 {
		t.Fatalf("%v: %v", names, err)
	}
	slices.Sort(names)
	return names
}

// alter writes other bytes at an offset: those of with, and the complement where one stands there already, since a
// journal's checksums differ from run to run.
func alter(t *testing.T, name string, offset int64, with ...byte) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	was := make([]byte, len(with))
	if _, err := f.ReadAt(was, offset); err != nil {
		t.Fatal(err)
	}
	for i := range with {
		if with[i] == was[i] {
			with[i] = ^with[i]
		}
	}
	if _, err := f.WriteAt(with, offset); err != nil {
		t.Fatal(err)
	}
}

func check(t *testing.T, dir string) *file.Report {
	t.Helper()
	last, total := int64(-1), int64(0)
	r, err := file.Check(t.Context(), dir, func(done, of int64) {
		if done < last {
			t.Errorf("progress goes back from %d to %d", last, done)
		}
		last, total = done, of
	})
	if err != nil {
		t.Fatal(err)
	}
	if last != total || total == 0 {
		t.Errorf("progress ended at %d of %d", last, total)
	}
	return r
}

func TestCheckOfASoundJournalCountsEverything(t *testing.T) {
	dir, at := onDisk(t)
	r := check(t, dir)
	if len(r.Damages) != 0 || r.TornBytes != 0 || r.InUseBy != "" {
		t.Errorf("%+v", r)
	}
	if r.Groups != 24 || r.Records != 72 || r.Checkpoints != 2 || r.Segments != len(segmentsIn(t, dir)) ||
		r.End != at[23] {
		t.Errorf("%+v", r)
	}
	if _, err := file.Repair(t.Context(), dir, file.RepairOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "damaged")); err == nil {
		t.Error("a repair of a sound journal put something aside")
	}
}

func TestCheckSaysThatTheJournalIsInUse(t *testing.T) {
	dir, _ := onDisk(t)
	j := mustOpen(t, file.Options{Dir: dir, SegmentBytes: 16 << 10})
	if r := check(t, dir); !strings.Contains(r.InUseBy, fmt.Sprint(os.Getpid())) || len(r.Damages) != 0 {
		t.Errorf("%+v", r)
	}
	if _, err := file.Repair(t.Context(), dir, file.RepairOptions{}); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("repair of a journal in use: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestCheckReportsATornTailWithoutCallingItDamage(t *testing.T) {
	dir := t.TempDir()
	disk, at := killed(t, 100, 300, 700)
	for _, name := range disk.Names() {
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), disk.Bytes(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	alter(t, filepath.Join(dir, filepath.Base(firstSegment)), int64(at[2])+100, 0xaa)
	if r := check(t, dir); len(r.Damages) != 0 || r.TornBytes == 0 || r.Groups != 2 {
		t.Errorf("%+v", r)
	}
}

func TestRepairLosesOnlyWhatIsDamaged(t *testing.T) {
	tests := []struct {
		name   string
		damage func(t *testing.T, dir string, at []journal.Position)
		lost   []int // groups
		bodies int   // records that answer with damage
	}{
		{name: "head in a sealed segment", lost: []int{3},
			damage: func(t *testing.T, dir string, at []journal.Position) {
				alter(t, segmentsIn(t, dir)[0], int64(at[3])+64+3*32+2, 0xaa)
			}},
		{name: "two headers in a row", lost: []int{3, 4},
			damage: func(t *testing.T, dir string, at []journal.Position) {
				alter(t, segmentsIn(t, dir)[0], int64(at[3]), 0xaa)
				alter(t, segmentsIn(t, dir)[0], int64(at[4])+33, 0xaa)
			}},
		{name: "body", bodies: 1, damage: func(t *testing.T, dir string, at []journal.Position) {
			alter(t, segmentsIn(t, dir)[0], int64(at[3])+800, 0xaa)
		}},
		{name: "end mark", damage: func(t *testing.T, dir string, at []journal.Position) {
			alter(t, segmentsIn(t, dir)[1], endOfFirst(t, segmentsIn(t, dir)[1], segmentsIn(t, dir)[2])-128+70, 0xaa)
		}},
		{name: "segment header", damage: func(t *testing.T, dir string, at []journal.Position) {
			alter(t, segmentsIn(t, dir)[1], 20, 1, 2, 3)
		}},
		{name: "clean seal", damage: func(t *testing.T, dir string, at []journal.Position) {
			names := segmentsIn(t, dir)
			b, err := os.ReadFile(names[len(names)-1])
			if err != nil {
				t.Fatal(err)
			}
			n := len(b) - 1
			for b[n] == 0 {
				n--
			}
			alter(t, names[len(names)-1], int64(n), b[n]^4)
		}},
		{name: "last group", lost: []int{23}, damage: func(t *testing.T, dir string, at []journal.Position) {
			names := segmentsIn(t, dir)
			alter(t, names[len(names)-1], int64(at[23])-baseOf(t, names[len(names)-1])+80, 0xaa)
		}},
		{name: "both manifests", damage: func(t *testing.T, dir string, at []journal.Position) {
			alter(t, filepath.Join(dir, "manifest-0"), 3, 'X')
			alter(t, filepath.Join(dir, "manifest-1"), 3, 'X')
		}},
		{name: "missing segment", lost: groupsInSecond, damage: func(t *testing.T, dir string, at []journal.Position) {
			if err := os.Remove(segmentsIn(t, dir)[1]); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "short segment", lost: groupsInSecond, damage: func(t *testing.T, dir string, at []journal.Position) {
			if err := os.Truncate(segmentsIn(t, dir)[1], 100); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "missing end of the log", lost: []int{14, 15, 16, 17, 18, 19, 20, 21, 22, 23},
			damage: func(t *testing.T, dir string, at []journal.Position) {
				for _, name := range segmentsIn(t, dir)[2:] {
					if err := os.Remove(name); err != nil {
						t.Fatal(err)
					}
				}
			}},
		{name: "newest checkpoint", damage: func(t *testing.T, dir string, at []journal.Position) {
			if err := flipLastByte(newestCheckpoint(t, dir)); err != nil {
				t.Fatal(err)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, at := onDisk(t)
			tt.damage(t, dir, at)
			r := check(t, dir)
			if len(r.Damages) == 0 {
				t.Fatal("the check found nothing")
			}
			again := check(t, dir)
			if len(again.Damages) != len(r.Damages) {
				t.Errorf("a check changed something: %v, then %v", r.Damages, again.Damages)
			}
			aside := filepath.Join(t.TempDir(), "aside")
			repaired, err := file.Repair(t.Context(), dir, file.RepairOptions{KeepAside: aside})
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range repaired.Damages {
				t.Log(d)
				if d.Settled == "" {
					t.Errorf("%v does not say what was done", d)
				}
				if _, err := os.Stat(d.Aside); err != nil && !strings.Contains(d.What, "missing") {
					t.Errorf("%v: no copy: %v", d, err)
				}
			}
			for _, d := range check(t, dir).Damages {
				if d.Record == nil && !strings.Contains(d.File, "checkpoint") {
					t.Errorf("after the repair: %v", d)
				}
			}
			afterRepair(t, dir, at, tt.lost, tt.bodies)
			// A second repair, of what the first one left as it is, puts nothing over the first copies.
			copies := filesIn(t, aside)
			if _, err := file.Repair(t.Context(), dir, file.RepairOptions{KeepAside: aside}); err != nil {
				t.Fatal(err)
			}
			for name, content := range copies {
				if filesIn(t, aside)[name] != content {
					t.Errorf("the copy %s was changed", name)
				}
			}
		})
	}
}

func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(b)
	}
	return files
}

// groupsInSecond are those whose segment some tests lose.
var groupsInSecond = []int{7, 8, 9, 10, 11, 12, 13}

func baseOf(t *testing.T, name string) int64 {
	t.Helper()
	var base int64
	if _, err := fmt.Sscanf(filepath.Base(name), "%x.log", &base); err != nil {
		t.Fatal(err)
	}
	return base
}

func endOfFirst(t *testing.T, first, second string) int64 {
	t.Helper()
	return baseOf(t, second) - baseOf(t, first)
}

// afterRepair opens the journal twice and makes sure that all groups but the lost ones are there and that it works.
func afterRepair(t *testing.T, dir string, at []journal.Position, lost []int, bodies int) {
	t.Helper()
	var want []journal.Position
	var addrs []journal.Address
	for n, p := range at {
		if !slices.Contains(lost, n) {
			want = append(want, p)
			addrs = append(addrs, journal.Address{Position: p}, journal.Address{Position: p, Index: 1},
				journal.Address{Position: p, Index: 2})
		}
	}
	for range 2 {
		j := mustOpen(t, file.Options{Dir: dir, SegmentBytes: 16 << 10})
		var got []journal.Position
		for g, err := range j.Scan(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, g.Position)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("groups at %v, want %v", got, want)
		}
		damaged := 0
		err := j.Read(t.Context(), addrs, func(i int, r journal.Record, err error) {
			if err != nil {
				asDamage(t, err)
				damaged++
			}
		})
		if err != nil || damaged != bodies {
			t.Fatalf("%d records are damaged, want %d; %v", damaged, bodies, err)
		}
		_, state, _, err := j.LoadCheckpoint(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := state.Close(); err != nil {
			t.Fatal(err)
		}
		p := mustAppend(t, j, message(1, 3000))
		want, addrs = append(want, p), append(addrs, journal.Address{Position: p})
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
