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

// coldOnDisk puts a journal with cold segments into a real folder.
func coldOnDisk(t *testing.T) (dir string, k *kept) {
	t.Helper()
	d, k := cold(t)
	dir = t.TempDir()
	for _, name := range d.Names() {
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), d.Bytes(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, k
}

func coldIn(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.cold"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%v, %v", names, err)
	}
	return names[0]
}

// flipIn flips a bit of a file.
func flipIn(t *testing.T, name string, offset int64) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	alter(t, name, offset, b[offset]^4)
}

func TestCheckCountsWhatWasMoved(t *testing.T) {
	dir, k := coldOnDisk(t)
	r := check(t, dir)
	if len(r.Damages) != 0 || r.Cold == 0 || r.Moved == 0 || r.Moved > uint64(len(k.addrs)) {
		t.Errorf("%+v", r)
	}
}

func TestRepairOfAColdSegmentLosesOnlyWhatIsDamaged(t *testing.T) {
	for _, tt := range []struct {
		name   string
		damage func(t *testing.T, name string, moved []file.Moved, footer int64)
		opens  bool // without a repair
		lost   func(n int, moved []file.Moved) bool
		left   bool // the damage is still reported after the repair
	}{
		{name: "header", damage: func(t *testing.T, name string, _ []file.Moved, _ int64) { flipIn(t, name, 17) }},
		{name: "footer", damage: func(t *testing.T, name string, _ []file.Moved,
			footer int64) {
			flipIn(t, name, footer+80)
		}},
		{name: "header and footer", damage: func(t *testing.T, name string, _ []file.Moved, footer int64) {
			flipIn(t, name, 17)
			flipIn(t, name, footer+33)
		}},
		{name: "body", opens: true, left: true, lost: func(n int, _ []file.Moved) bool { return n == 1 },
			damage: func(t *testing.T, name string, moved []file.Moved,
				_ int64) {
				flipIn(t, name, moved[1].BodyAt+9)
			}},
		{name: "group", opens: true, left: true,
			lost: func(n int, moved []file.Moved) bool { return moved[n].Group == moved[0].Group },
			damage: func(t *testing.T, name string, moved []file.Moved,
				_ int64) {
				flipIn(t, name, moved[0].GroupAt+64+9)
			}},
		{name: "group and footer", left: true,
			lost: func(n int, moved []file.Moved) bool { return moved[n].Group == moved[0].Group },
			damage: func(t *testing.T, name string, moved []file.Moved, footer int64) {
				flipIn(t, name, moved[0].GroupAt+64+9)
				flipIn(t, name, footer+80)
			}},
		{name: "cut off", left: true,
			lost: func(n int, moved []file.Moved) bool { return moved[n].Group > moved[0].Group },
			damage: func(t *testing.T, name string, moved []file.Moved, _ int64) {
				for _, m := range moved {
					if m.Group > moved[0].Group {
						if err := os.Truncate(name, m.GroupAt+100); err != nil {
							t.Fatal(err)
						}
						return
					}
				}
				t.Fatal("there is one group only")
			}},
		{name: "missing", lost: func(int, []file.Moved) bool { return true },
			damage: func(t *testing.T, name string, _ []file.Moved, _ int64) {
				if err := os.Remove(name); err != nil {
					t.Fatal(err)
				}
			}},
		{name: "too short", lost: func(int, []file.Moved) bool { return true },
			damage: func(t *testing.T, name string, _ []file.Moved, _ int64) {
				if err := os.Truncate(name, 100); err != nil {
					t.Fatal(err)
				}
			}},
		{name: "both manifests", damage: func(t *testing.T, name string, _ []file.Moved, _ int64) {
			alter(t, filepath.Join(filepath.Dir(name), "manifest-0"), 3, 'X')
			alter(t, filepath.Join(filepath.Dir(name), "manifest-1"), 3, 'X')
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, k := coldOnDisk(t)
			name := coldIn(t, dir)
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			moved, footer, err := file.MovedIn(b)
			if err != nil {
				t.Fatal(err)
			}
			tt.damage(t, name, moved, footer)
			if r := check(t, dir); len(r.Damages) == 0 {
				t.Fatal("the check found nothing")
			}
			o := file.Options{Dir: dir, SegmentBytes: 16 << 10}
			j, err := file.Open(t.Context(), o)
			if opened := err == nil; opened != tt.opens {
				t.Fatalf("opened: %t, %v", opened, err)
			} else if opened {
				if err := j.Close(); err != nil {
					t.Fatal(err)
				}
			} else {
				asDamage(t, err)
			}
			r, err := file.Repair(t.Context(), dir, file.RepairOptions{KeepAside: filepath.Join(t.TempDir(), "aside")})
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range r.Damages {
				if d.Settled == "" {
					t.Errorf("%v does not say what was done", d)
				}
			}
			if after := check(t, dir).Damages; len(after) > 0 != tt.left {
				t.Errorf("after the repair: %v", after)
			}
			lost := map[journal.Address]bool{}
			for n, m := range moved {
				if tt.lost != nil && tt.lost(n, moved) {
					lost[m.From] = true
				}
			}
			for range 2 {
				j := mustOpen(t, o)
				for i, err := range readErrors(t, j, k.addrs...) {
					a := k.addrs[i]
					var damage *journal.DamageError
					if !lost[a] && err != nil || lost[a] && !errors.Is(err, journal.ErrReleased) &&
						!errors.As(err, &damage) {
						t.Errorf("%v, lost: %t: %v", a, lost[a], err)
					}
				}
				j.Keep(slices.Values(k.addrs))
				mustAppend(t, j, message(1, 100))
				if err := j.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestAFolderOfAnotherFormatIsRefusedWithItsNumber(t *testing.T) {
	dir, _ := coldOnDisk(t)
	for turn := range 2 {
		name := filepath.Join(dir, fmt.Sprintf("manifest-%d", turn))
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text := file.Resum(strings.Replace(string(b), "hikyaku journal 1", "hikyaku journal 7", 1))
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, err := file.Open(t.Context(), file.Options{Dir: dir})
	_, checkErr := file.Check(t.Context(), dir, nil)
	_, repairErr := file.Repair(t.Context(), dir, file.RepairOptions{})
	for what, err := range map[string]error{"open": err, "check": checkErr, "repair": repairErr} {
		var format *journal.FormatError
		if !errors.As(err, &format) || format.Found != 7 || format.Known != 1 ||
			!strings.Contains(err.Error(), "manifest-0: the journal was written by a later version of hikyaku, in "+
				"format 7; this one reads format 1") {
			t.Errorf("%s: %v", what, err)
		}
		if damage := (*journal.DamageError)(nil); errors.As(err, &damage) {
			t.Errorf("%s takes another format for damage: %v", what, err)
		}
	}
}
