package memory_test

import (
	"errors"
	"io"
	"testing"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/journaltest"
	"github.com/hikyaku/hikyaku/internal/journal/memory"
)

func TestContract(t *testing.T) {
	defer goleak.VerifyNone(t)
	journaltest.Run(t, func(*testing.T) journaltest.Harness {
		disk := memory.New()
		return journaltest.Harness{
			Open: func() (journal.Journal, error) {
				return disk.Open(memory.Options{Limits: journal.Limits{GroupBytes: 1 << 20, GroupRecords: 1000}})
			},
			DamageCheckpoint: disk.DamageCheckpoint,
		}
	})
}

func TestContractWhenTheMediumFails(t *testing.T) {
	defer goleak.VerifyNone(t)
	journaltest.RunFaults(t, func(*testing.T) (journaltest.Harness, journaltest.Faults) {
		disk := memory.New()
		h := journaltest.Harness{Open: func() (journal.Journal, error) { return disk.Open(memory.Options{}) }}
		return h, journaltest.Faults{
			Break:  func(broken bool) { disk.Owner().FailNext(broken) },
			Reject: func(rejects bool) { disk.Owner().InterruptNext(rejects, false) },
			Fill:   func(full bool) { disk.Owner().Fill(full) },
			Hang:   func(hangs bool) { disk.Owner().Hold(hangs) },
		}
	})
}

func TestContractWhenTheLogChangesHands(t *testing.T) {
	defer goleak.VerifyNone(t)
	journaltest.RunOwners(t, func(*testing.T) journaltest.Owned {
		disk := memory.New()
		return journaltest.Owned{
			Open: func(term uint64) (journal.Journal, error) { return disk.Open(memory.Options{Term: term}) },
			Hang: func(j journal.Journal, hangs bool) { j.(*memory.Journal).Hold(hangs) },
		}
	})
}

func TestASpareFollowsTheLogFromOwnerToOwner(t *testing.T) {
	d := memory.New()
	write := func(j *memory.Journal, n uint64) {
		t.Helper()
		if err := j.Write([]journal.Record{{Sequence: n}}); err != nil {
			t.Fatal(err)
		}
	}
	sync := func(j *memory.Journal) {
		t.Helper()
		if err := j.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	first := mustOpen(t, d, memory.Options{Term: 1})
	spare := mustOpen(t, d, memory.Options{ReadOnly: true})
	if err := spare.Write([]journal.Record{{}}); !errors.Is(err, journal.ErrRefused) {
		t.Errorf("a spare writes: %v", err)
	}
	write(first, 1)
	sync(first)
	write(first, 2) // it is not durable, and lost with the first owner
	next := uint64(1)
	for g, err := range spare.Follow(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if n := g.Records[0].Sequence; n != next {
			t.Fatalf("the spare sees %d, want %d", n, next)
		}
		if next == 3 {
			break
		}
		next = 3
		second := mustOpen(t, d, memory.Options{Term: 2})
		write(second, 3)
		sync(second)
	}
	if err := spare.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Open(memory.Options{}); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("with the second owner, after the spare has gone, the disk answers %v", err)
	}
}

func mustOpen(t *testing.T, d *memory.Disk, o memory.Options) *memory.Journal {
	t.Helper()
	j, err := d.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

func TestADiskIsOpenOnce(t *testing.T) {
	d := memory.New()
	j := mustOpen(t, d, memory.Options{})
	if _, err := d.Open(memory.Options{}); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("a second opening: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, d, memory.Options{})
}

func TestAPowerCutLosesWhatWasNotSyncedAndAKillWhatWasNotFlushed(t *testing.T) {
	d := memory.New()
	j := mustOpen(t, d, memory.Options{})
	if err := j.Write([]journal.Record{{Life: journal.Lasting, Body: []byte("synced")}}); err != nil {
		t.Fatal(err)
	}
	if err := j.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := j.End()
	write := func(body string) {
		t.Helper()
		if err := j.Write([]journal.Record{{Life: journal.Lasting, Body: []byte(body)}}); err != nil {
			t.Fatal(err)
		}
	}
	write("flushed")
	flushed := j.End()
	if err := j.Flush(); err != nil {
		t.Fatal(err)
	}
	write("not even that")
	for powerCut, want := range map[bool]journal.Position{true: first, false: flushed} {
		if got := mustOpen(t, d.After(powerCut), memory.Options{}).End(); got != want {
			t.Errorf("power cut: %t: the end is %d, not %d", powerCut, got, want)
		}
	}
}

func TestMemoryHoldsOnlyWhatIsNeeded(t *testing.T) {
	d := memory.New()
	j := mustOpen(t, d, memory.Options{})
	j.Keep(func(func(journal.Address) bool) {})
	for range 1000 {
		if err := j.Write([]journal.Record{{Life: journal.Lasting, Body: make([]byte, 1000)}}); err != nil {
			t.Fatal(err)
		}
		j.Release(journal.Address{Position: j.End()})
	}
	for range 2 {
		if err := j.SaveCheckpoint(t.Context(), j.End(), func(io.Writer) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(d.Groups()); n != 0 {
		t.Errorf("%d groups are in memory, and nothing of them is needed", n)
	}
}
