package file_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
)

// readErrors reads addresses and returns what each answered.
func readErrors(t *testing.T, j journal.Journal, addrs ...journal.Address) []error {
	t.Helper()
	errs := make([]error, len(addrs))
	if err := j.Read(t.Context(), addrs, func(i int, _ journal.Record, err error) { errs[i] = err }); err != nil {
		t.Fatal(err)
	}
	return errs
}

func TestDamagedRecordAnswersWithDamageAndTheOthersGoOn(t *testing.T) {
	for _, what := range []struct {
		name    string
		offset  int64 // in the group of three records
		damaged []bool
	}{
		{"header", 9, []bool{true, true, true}},
		{"mark", 0, []bool{true, true, true}},
		{"table", 64 + 40, []bool{true, true, true}},
		{"head", 64 + 96 + 1, []bool{true, true, true}},
		{"first body", 64 + 96 + 30 + 100, []bool{true, false, false}},
	} {
		t.Run(what.name, func(t *testing.T) {
			d := faultfs.New()
			j := mustOpen(t, small(d))
			defer j.Close()
			before := mustAppend(t, j, message(1, 100))
			p := mustAppend(t, j, message(2, 700), settle(2), message(3, 10))
			after := mustAppend(t, j, message(4, 100))
			b := d.Bytes(firstSegment)
			at := int64(p) + what.offset
			if err := d.Set(firstSegment, at, b[at]^0x40); err != nil {
				t.Fatal(err)
			}
			addrs := []journal.Address{{Position: before}, {Position: p}, {Position: p, Index: 1},
				{Position: p, Index: 2}, {Position: after}}
			errs := readErrors(t, j, addrs...)
			if errs[0] != nil || errs[4] != nil {
				t.Errorf("the groups around it answer %v, %v", errs[0], errs[4])
			}
			for i, damaged := range what.damaged {
				err := errs[i+1]
				if !damaged {
					if err != nil {
						t.Errorf("record %d: %v", i, err)
					}
					continue
				}
				if damage := asDamage(t, err); damage.Record != addrs[i+1] ||
					!strings.Contains(damage.Where, firstSegment) {
					t.Errorf("record %d: %+v", i, damage)
				}
			}
		})
	}
}

func TestPlaceInsideAGroupIsNoRecord(t *testing.T) {
	d := faultfs.New()
	j := mustOpen(t, small(d))
	defer j.Close()
	p := mustAppend(t, j, message(1, 1000))
	q := mustAppend(t, j, message(2, 1000))
	for at := p + 1; at < q; at++ {
		if errs := readErrors(t, j, journal.Address{Position: at}); !errors.Is(errs[0], journal.ErrReleased) {
			t.Fatalf("position %d answers %v", at, errs[0])
		}
	}
	// The header of a segment and what lies behind the log are none either.
	for _, at := range []journal.Position{64, 4032, q + 64, q + 4096} {
		if errs := readErrors(t, j, journal.Address{Position: at}); !errors.Is(errs[0], journal.ErrReleased) {
			t.Errorf("position %d answers %v", at, errs[0])
		}
	}
}

func TestLargeGroupIsReadOneRecordAtATimeFromOneTable(t *testing.T) {
	d := faultfs.New()
	o := small(d)
	j := mustOpen(t, o)
	defer j.Close()
	var records []journal.Record
	for n := range 3000 {
		records = append(records, message(n, 100))
	}
	p := mustAppend(t, j, records...)
	for i, want := range records {
		err := j.Read(t.Context(), []journal.Address{{Position: p, Index: uint32(i)}},
			func(_ int, r journal.Record, err error) {
				if err != nil || string(r.Body) != string(want.Body) || string(r.Head) != string(want.Head) ||
					r.Sequence != want.Sequence {
					t.Fatalf("record %d: %+v, %v", i, r, err)
				}
			})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestCheckpointWithADamagedHeaderIsPassedOver(t *testing.T) {
	d := faultfs.New()
	j := mustOpen(t, small(d))
	p := mustAppend(t, j, message(1, 100))
	saveCheckpoint(t, j, p, "older")
	saveCheckpoint(t, j, mustAppend(t, j, message(2, 100)), "newer")
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	for offset := range int64(32) {
		disk := d.Clone()
		b := disk.Bytes("log/checkpoint-0000000000000002")
		if err := disk.Set("log/checkpoint-0000000000000002", offset, b[offset]^1); err != nil {
			t.Fatal(err)
		}
		j := mustOpen(t, small(disk))
		at, state, skipped, err := j.LoadCheckpoint(t.Context())
		if err != nil || at != p || len(skipped) != 1 {
			t.Fatalf("byte %d: loaded the one at %d, passing over %v: %v", offset, at, skipped, err)
		}
		if err := errors.Join(state.Close(), j.Close()); err != nil {
			t.Fatal(err)
		}
	}
}
