package file_test

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
)

// TestAFileThatWasRemovedUnderARunningJournalIsToldWithinSeconds: whatever its kind, nothing that was acknowledged is
// lost, also when the process is killed.
func TestAFileThatWasRemovedUnderARunningJournalIsToldWithinSeconds(t *testing.T) {
	swap := func(d *faultfs.Disk, name string) error {
		f, err := d.Create("log/other")
		if err != nil {
			return err
		}
		return errors.Join(f.Close(), d.Rename("log/other", name))
	}
	remove := func(d *faultfs.Disk, name string) error { return d.Remove(name) }
	for _, c := range []struct {
		kind string
		file func([]string) string
		do   func(d *faultfs.Disk, name string) error
		back bool // it is written again
	}{
		{"first segment", byEnding(".log", 0), remove, true},
		{"last sealed segment", byEnding(".log", -2), remove, true},
		{"sealed segment, replaced", byEnding(".log", 0), swap, true},
		{"cold segment", byEnding(".cold", 0), remove, true},
		{"note", byStart("log/synced", 0), remove, true},
		{"note, replaced", byStart("log/synced", 0), swap, true},
		{"manifest 0", byStart("log/manifest-0", 0), remove, true},
		{"manifest 1", byStart("log/manifest-1", 0), remove, true},
		{"newer checkpoint", byStart("log/checkpoint", -1), remove, false},
		{"older checkpoint", byStart("log/checkpoint", 0), remove, false},
	} {
		t.Run(c.kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, said := faultfs.New(), new(reports)
				o := small(d)
				o.Report = said.add
				j := mustOpen(t, o)
				owned := busy(t, j)
				time.Sleep(2 * time.Second) // the bubble's clock
				if errs := said.take(); len(errs) > 0 {
					t.Fatalf("before: %v", errs)
				}
				name := c.file(d.Names())
				if err := c.do(d, name); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				errs := said.take()
				if len(errs) == 0 || !strings.Contains(errs[0].Error(), name) {
					t.Fatalf("%s was removed, and it told %v", name, errs)
				}
				time.Sleep(time.Minute)
				if errs := said.take(); len(errs) > 0 {
					t.Errorf("told again: %v", errs)
				}
				places := 1
				if c.back {
					places = 0
				}
				if st := j.Stats(); st.DamagedPlaces != places {
					t.Errorf("%d places are known", st.DamagedPlaces)
				}
				owned[1000] = journal.Address{Position: mustAppend(t, j, message(1000, 10))}
				if sound, _ := owned.readable(t, j); sound != len(owned) {
					t.Errorf("%d messages of %d are sound", sound, len(owned))
				}
				dead := d.AfterKill()
				abandon(t, j, d)
				afterwards(t, dead, owned)
			})
		})
	}
}

// afterwards starts again and looks for everything.
func afterwards(t *testing.T, d *faultfs.Disk, want owned) {
	t.Helper()
	j := mustOpen(t, small(d))
	got := owned{}
	for g, err := range j.Scan(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range g.Records {
			if r.Life == journal.Lasting {
				got[int(r.Sequence)] = journal.Address{Position: g.Position, Index: uint32(i)}
			}
		}
	}
	for n, a := range got {
		if b, ok := want[n]; ok && a != b {
			t.Errorf("message %d is at %v, it was at %v", n, a, b)
		}
	}
	if sound, _ := want.readable(t, j); sound != len(want) {
		t.Errorf("after the restart %d messages of %d are sound", sound, len(want))
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

// TestASegmentThatCannotBeWrittenAgainIsTriedUntilThereIsRoom: on a full disk it is told, and read on.
func TestASegmentThatCannotBeWrittenAgainIsTriedUntilThereIsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, said := faultfs.New(), new(reports)
		o := small(d)
		o.Report = said.add
		j := mustOpen(t, o)
		owned := busy(t, j)
		d.Limit(1)
		name := byEnding(".log", 0)(d.Names())
		before := string(d.Bytes(name))
		if err := d.Remove(name); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if errs := said.take(); len(errs) < 2 || len(errs) > 200 {
			t.Errorf("it told %d: %v", len(errs), errors.Join(errs...))
		}
		if st := j.Stats(); st.DamagedPlaces != 1 {
			t.Errorf("%d places are known", st.DamagedPlaces)
		}
		if sound, _ := owned.readable(t, j); sound != len(owned) {
			t.Errorf("%d messages of %d are sound", sound, len(owned))
		}
		d.Limit(0)
		time.Sleep(time.Minute)
		if st := j.Stats(); st.DamagedPlaces != 0 || string(d.Bytes(name)) != before {
			t.Errorf("%d places are known, and %s is not what it was", st.DamagedPlaces, name)
		}
		dead := d.AfterKill()
		abandon(t, j, d)
		afterwards(t, dead, maps.Clone(owned))
	})
}
