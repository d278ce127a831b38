package file_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
)

// TestRuleAGroupOfAnotherGenerationNeverReadsAsCurrent puts into the free room of a log, at its very place, what
// another log has there: sound groups with the right positions, but of another generation.
func TestRuleAGroupOfAnotherGenerationNeverReadsAsCurrent(t *testing.T) {
	ours, at := killed(t, 100, 300)
	longer, all := killed(t, 100, 300, 700, 50)
	if !slices.Equal(at, all[:2]) {
		t.Fatalf("the two logs begin differently: %v, %v", at, all)
	}
	b := longer.Bytes(firstSegment)
	for offset := int64(all[2]); offset < int64(len(b)); offset++ {
		if err := ours.Set(firstSegment, offset, b[offset]); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := groupsOn(t, ours.Clone()); err != nil || !slices.Equal(got, at) {
		t.Errorf("groups at %v, %v; want %v", got, err, at)
	}
	j := mustOpen(t, small(ours))
	for _, p := range all[2:] {
		if errs := readErrors(t, j, journal.Address{Position: p}); !errors.Is(errs[0], journal.ErrReleased) {
			t.Errorf("the place of the other log's group answers %v", errs[0])
		}
	}
	next := mustAppend(t, j, message(9, 700), settle(9)) // as long as the third
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := groupsOn(t, ours); err != nil || !slices.Equal(got, append(at, next)) {
		t.Errorf("groups at %v, %v; want %v", got, err, append(at, next))
	}
}

// TestRuleRecycledAndZeroFilledSpaceNeverReadsAsCurrent runs a log over its own recycled segments, again and again, and
// has the process die at many moments: each start finds what was appended and nothing of what was there before.
func TestRuleRecycledAndZeroFilledSpaceNeverReadsAsCurrent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := faultfs.New()
		j := mustOpen(t, small(d))
		j.Keep(slices.Values([]journal.Address(nil)))
		recycled := false
		for n := range 120 {
			p := mustAppend(t, j, message(n, 900))
			if n%10 == 9 {
				j.ReleaseBefore(p) // all but this one
				saveCheckpoint(t, j, p, "older")
				saveCheckpoint(t, j, p, "newer")
				synctest.Wait() // segments have become spares
			}
			if n%7 != 6 {
				continue
			}
			synctest.Wait() // what follows sees one moment
			spares := 0
			for _, name := range d.Names() {
				if strings.Contains(name, "spare") &&
					slices.ContainsFunc(d.Bytes(name), func(b byte) bool { return b != 0 }) {
					spares++
				}
			}
			recycled = recycled || spares > 0
			var want []journal.Position
			for g, err := range j.Scan(t.Context(), 0) {
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, g.Position)
			}
			got, err := groupsOn(t, d.Clone()) // as a kill leaves it now
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("after group %d a start finds groups at %v, %v; want %v", n, got, err, want)
			}
		}
		if !recycled {
			t.Error("no segment was recycled: the test looks at nothing")
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestRuleAnUncleanTailIsDurableBeforeTheStartReturns: what a kill left in memory only is read by the next start, and
// must then be on the disk. The power fails right after that start. To sync is not enough: a page that a failed sync
// gave up counts as clean, so all of it is written again.
func TestRuleAnUncleanTailIsDurableBeforeTheStartReturns(t *testing.T) {
	for seed := range uint64(24) {
		d := faultfs.New()
		j := mustOpen(t, small(d))
		want := []journal.Position{mustAppend(t, j, message(1, 500))}
		for n := range 5 {
			if err := j.Write([]journal.Record{message(n, 600)}); err != nil { // written, never synced
				t.Fatal(err)
			}
			want = append(want, j.End())
		}
		dead := d.AfterKill() // keeps what was not synced as such
		abandon(t, j, d)
		written, synced := map[int64]bool{}, map[int64]bool{} // by offset, in steps in which groups begin
		dead.Fault(func(op faultfs.Op) error {
			switch {
			case op.Name != firstSegment:
			case op.Kind == "write":
				for at := op.Offset; at < op.Offset+int64(op.Bytes); at += 64 {
					written[at] = true
				}
			case op.Kind == "sync":
				maps.Copy(synced, written)
			}
			return nil
		})
		j = mustOpen(t, small(dead))
		dead.Fault(nil)
		for at := int64(want[1]); at <= int64(want[5]); at += 64 {
			if !synced[at] {
				t.Fatalf("byte %d was never synced by the process that died, and is not written again and synced by "+
					"the next", at)
			}
		}
		var got []journal.Position
		for g, err := range j.Scan(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, g.Position)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("after a kill: groups at %v, want %v", got, want)
		}
		after := dead.AfterPowerCut(rand.New(rand.NewPCG(seed, 3)))
		abandon(t, j, dead)
		if got, err := groupsOn(t, after); err != nil || !slices.Equal(got, want) {
			t.Fatalf("what a start showed was lost by the power cut after it: groups at %v, %v, want %v", got, err,
				want)
		}
	}
}

// TestRuleAFlipInTheVeryLastGroupIsToldFromATear flips a bit of the group behind which there is no other: right after
// it was acknowledged, after a seal, and where the note of what was synced was lost, as in a power cut. Only then it
// looks like a tear: what is dropped is told by the start and by the check.
func TestRuleAFlipInTheVeryLastGroupIsToldFromATear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			name  string
			idle  time.Duration
			noted bool
			flip  int64 // in the group
			want  string
		}{
			{"its body, noted", 0, true, 200, "that body"},
			{"its header, noted", 0, true, 20, "refused"},
			{"its body, sealed", 3 * time.Second, false, 200, "that body"},
			{"its header, sealed", 3 * time.Second, false, 20, "refused"},
			{"its body, nothing tells", 0, false, 200, "dropped"},
			{"its header, nothing tells", 0, false, 20, "dropped"},
		} {
			d := faultfs.New()
			o := small(d)
			o.IdleSeal = time.Second
			j := mustOpen(t, o)
			first := mustAppend(t, j, message(1, 300))
			last := mustAppend(t, j, message(2, 300))
			time.Sleep(c.idle)
			synctest.Wait()
			after := d.AfterKill().Clone()
			abandon(t, j, d)
			if !c.noted {
				after.Put(synced, nil)
			}
			if err := after.Flip(firstSegment, int64(last)+c.flip, 0); err != nil {
				t.Fatal(err)
			}
			report, err := file.CheckOn(t.Context(), after, "log")
			if err != nil {
				t.Fatal(err)
			}
			var said []string
			o = small(after)
			o.Report = func(err error) { said = append(said, err.Error()) }
			j, err = file.Open(t.Context(), o)
			got := ""
			switch {
			case err != nil && len(report.Damages) > 0:
				asDamage(t, err)
				got = "refused"
			case j.End() == first && report.TornBytes > 0 && len(said) == 1 &&
				strings.Contains(said[0], "bytes behind the last sound group are dropped"):
				got = "dropped"
			case j.End() == last && len(report.Damages) == 1 && report.Damages[0].Record != nil:
				asDamage(t, readErrors(t, j, journal.Address{Position: last})[0])
				got = "that body"
			}
			if got != c.want {
				t.Errorf("%s: %q, want %q: %v, %v, %v", c.name, got, c.want, err, report.Damages, said)
			}
			if err == nil {
				if err := j.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// TestRuleRefusedUnknownAndFailedAreToldApart asks for the three answers that the contract has besides done.
func TestRuleRefusedUnknownAndFailedAreToldApart(t *testing.T) {
	kinds := []error{journal.ErrTooLarge, journal.ErrFull, journal.ErrUnknown, journal.ErrFailed, journal.ErrClosed}
	is := func(what string, err error, want ...error) {
		t.Helper()
		for _, k := range kinds {
			if errors.Is(err, k) != slices.Contains(want, k) {
				t.Errorf("%s answers %v: is it %v?", what, err, k)
			}
		}
	}
	d := faultfs.New()
	j := mustOpen(t, small(d))
	_, err := appendWait(j, message(1, 2<<20))
	is("a group over the limit", err, journal.ErrTooLarge)
	d.Limit(1)
	err = nil
	for n := 0; n < 100 && err == nil; n++ {
		_, err = appendWait(j, message(2, 3000))
	}
	is("a group on a full disk", err, journal.ErrFull)
	d.Limit(0)
	kept := mustAppend(t, j, message(3, 100))
	d.Fault(func(op faultfs.Op) error {
		if op.Kind == "sync" {
			return errBroken
		}
		return nil
	})
	_, err = appendWait(j, message(4, 100))
	is("a group whose sync failed", err, journal.ErrUnknown, journal.ErrFailed)
	_, err = appendWait(j, message(5, 100))
	is("the group after it", err, journal.ErrFailed)
	d.Fault(nil)
	after := d.AfterKill()
	abandon(t, j, d)
	_, err = appendWait(j, message(6, 100))
	is("a group after Close", err, journal.ErrClosed)
	j = mustOpen(t, small(after)) // to reopen and look is what tells what became of the unknown one
	defer j.Close()
	if end := j.End(); end <= kept {
		t.Errorf("the log ends at %d; the kill kept what was written behind %d", end, kept)
	}
	if err := j.Read(t.Context(), []journal.Address{{Position: j.End()}}, func(_ int, r journal.Record, err error) {
		if want := message(4, 100); err != nil || !bytes.Equal(r.Body, want.Body) {
			t.Errorf("the last group is %s, %v", fmt.Sprint(r.Sequence), err)
		}
	}); err != nil {
		t.Error(err)
	}
}

// TestRuleAJournalDeclaresItsDurability compares what is declared with what a power cut right after the answer leaves.
func TestRuleAJournalDeclaresItsDurability(t *testing.T) {
	for durability, want := range map[journal.Durability]journal.Durability{"": journal.Fsync,
		journal.Fsync: journal.Fsync, journal.OS: journal.OS, journal.None: journal.None} {
		lost := 0
		for seed := range uint64(12) {
			d := faultfs.New()
			o := small(d)
			o.Durability = durability
			j := mustOpen(t, o)
			p := mustAppend(t, j, message(1, 3000))
			if got := j.Info().Durability; got != want {
				t.Errorf("durability %q declares %q", durability, got)
			}
			after := d.AfterPowerCut(rand.New(rand.NewPCG(seed, 8)))
			abandon(t, j, d)
			j, err := file.Open(t.Context(), small(after))
			if err != nil {
				t.Fatal(err)
			}
			if j.End() < p {
				lost++
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if (lost > 0) != (want != journal.Fsync) {
			t.Errorf("durability %q lost what was acknowledged in %d of 12 power cuts", durability, lost)
		}
	}
}

// TestRuleADamagedBodyInTheTailCostsThatMessageAlone flips a body of the newest segment that a later group vouches for,
// and kills the process: the start goes on, the message is told to be damaged, and the others are as they were.
func TestRuleADamagedBodyInTheTailCostsThatMessageAlone(t *testing.T) {
	d, at := killed(t, 100, 300, 50)
	b := d.Bytes(firstSegment)
	flip := int64(at[1]) + 300 // in its body
	if err := d.Set(firstSegment, flip, b[flip]^1); err != nil {
		t.Fatal(err)
	}
	j := mustOpen(t, small(d))
	defer j.Close()
	var got []journal.Position
	for g, err := range j.Scan(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, g.Position)
	}
	if !slices.Equal(got, at) {
		t.Errorf("groups at %v, want %v", got, at)
	}
	errs := readErrors(t, j, journal.Address{Position: at[0]}, journal.Address{Position: at[1]},
		journal.Address{Position: at[2]})
	if errs[0] != nil || errs[2] != nil {
		t.Errorf("the others answer %v and %v", errs[0], errs[2])
	}
	asDamage(t, errs[1])
}
