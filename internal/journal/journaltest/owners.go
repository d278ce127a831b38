package journaltest

import (
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// Owned is one log, empty at first, that can change hands while it is open.
type Owned struct {
	// Open opens the log as an owner of that term: whoever has opened it with a lesser one has lost it then. A term
	// that is not greater than all before is refused with journal.ErrLost.
	Open func(term uint64) (journal.Journal, error)
	// Hang lets nothing that j appends become durable, until it is told otherwise or j has lost the log.
	Hang func(j journal.Journal, hangs bool)
	// GivesTerms: the log gives each opening the next term by itself, and Open heeds none.
	GivesTerms bool
}

// RunOwners runs the part of the suite in which a log changes hands. fresh makes a new, empty log for each test.
func RunOwners(t *testing.T, fresh func(t *testing.T) Owned) {
	tests := []struct {
		name string
		test func(t *testing.T, o Owned)
	}{
		{"WhoHasLostTheLogAppendsNothing", testLost},
		{"TermsOnlyRise", testTerms},
		{"WhatWasOnItsWayIsThereOnlyIfNobodyWasToldOtherwise", testHandOver},
		{"NothingComesBehindAGroupOfUnknownFate", testUnknownAndLost},
		{"WhoHasLostTheLogReleasesAndSavesNothing", testLostReleases},
		{"WhoFollowsSeesNoGroupThatTheNextOwnerLacks", testFollowLost},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.test(t, fresh(t)) })
	}
}

// own opens the log with a term, for the length of the test.
func (o Owned) own(t *testing.T, term uint64) journal.Journal {
	t.Helper()
	j, err := o.Open(term)
	if err != nil {
		t.Fatalf("open with term %d: %v", term, err)
	}
	t.Cleanup(func() { _ = j.Close() }) // of one who has lost the log it may say so
	return j
}

// mustHaveLost fails unless j takes nothing more, and says why.
func mustHaveLost(t *testing.T, j journal.Journal) {
	t.Helper()
	never := func(journal.Position, error, int) { t.Error("done was called for a group that was refused") }
	turn, turnErr := j.AppendTurn([]journal.Record{message(99, 100)}, never)
	if turn != nil {
		t.Error("a turn is given away for a group that was refused")
	}
	for what, err := range map[string]error{
		"append":     j.Append([]journal.Record{message(99, 100)}, never),
		"turn":       turnErr,
		"write":      j.Write([]journal.Record{settle(99)}),
		"flush":      j.Flush(),
		"sync":       j.Sync(t.Context()),
		"health":     j.Health(),
		"checkpoint": j.SaveCheckpoint(t.Context(), 0, func(io.Writer) error { return nil }),
	} {
		if !errors.Is(err, journal.ErrLost) {
			t.Errorf("%s of one who has lost the log: %v", what, err)
		}
	}
}

// mustLearn lets j append, with which it learns at the latest that somebody else has the log.
func mustLearn(t *testing.T, j journal.Journal) {
	t.Helper()
	if _, err := appendSync(j, []journal.Record{message(98, 100)}); !errors.Is(err, journal.ErrLost) {
		t.Errorf("an append of one who has lost the log: %v", err)
	}
	select {
	case <-j.Failed():
	default:
		t.Error("nobody is told that the log is lost")
	}
	mustHaveLost(t, j)
}

func testLost(t *testing.T, o Owned) {
	first := o.own(t, 1)
	want := []scanned{{appendWait(t, first, message(1, 100)), withoutBodies([]journal.Record{message(1, 100)})}}
	second := o.own(t, 2)
	mustLearn(t, first)
	want = append(want,
		scanned{appendWait(t, second, message(2, 100)), withoutBodies([]journal.Record{message(2, 100)})})
	mustHaveLost(t, first)
	if err := second.Sync(t.Context()); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(want, scan(t, second, 0)); diff != "" {
		t.Errorf("the log of the second owner:\n%s", diff)
	}
	mustRead(t, first, []journal.Address{{Position: want[0].Position}}, []journal.Record{message(1, 100)})
	_ = first.Close()
	appendWait(t, second, message(3, 100)) // the end of the first is none of the second's
	shut(t, second)
	third := o.own(t, 3)
	if n := len(scan(t, third, 0)); n != 3 {
		t.Errorf("the third owner finds %d groups, not 3", n)
	}
}

func testTerms(t *testing.T, o Owned) {
	if o.GivesTerms {
		return // there are no others
	}
	j := o.own(t, 5)
	for _, term := range []uint64{5, 4, 1} {
		if stale, err := o.Open(term); !errors.Is(err, journal.ErrLost) {
			t.Errorf("term %d behind 5: %v", term, err)
			if err == nil {
				shut(t, stale)
			}
		}
	}
	appendWait(t, j, message(1, 100)) // nobody has lost it by that
	shut(t, j)
	if stale, err := o.Open(5); !errors.Is(err, journal.ErrLost) {
		t.Errorf("term 5 once more: %v", err)
		if err == nil {
			shut(t, stale)
		}
	}
	appendWait(t, o.own(t, 6), message(2, 100))
}

// testHandOver: of the groups that were on their way some may be there. Of one that is answered it is certain.
func testHandOver(t *testing.T, o Owned) {
	first := o.own(t, 1)
	appendWait(t, first, message(0, 100))
	o.Hang(first, true)
	type answer struct {
		number uint64
		err    error
	}
	const groups = 20
	answers := make(chan answer, groups)
	for n := range groups {
		number := uint64(n + 1)
		err := first.Append([]journal.Record{message(n+1, 100)}, func(_ journal.Position, err error, _ int) {
			answers <- answer{number, err}
		})
		if err == nil {
			err = first.Write([]journal.Record{settle(100 + n)})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	second := o.own(t, 2)
	there := map[uint64]bool{}
	last := journal.Position(0)
	for _, g := range scan(t, second, 0) {
		there[g.Records[0].Sequence], last = true, g.Position
	}
	if p := appendWait(t, second, message(1000, 100)); p <= last {
		t.Errorf("position %d follows %d", p, last)
	}
	o.Hang(first, false)
	for range groups {
		switch a := <-answers; {
		case a.err == nil && !there[a.number], errors.Is(a.err, journal.ErrRefused) && there[a.number],
			errors.Is(a.err, journal.ErrLost) && !errors.Is(a.err, journal.ErrUnknown) && there[a.number],
			a.err != nil && !errors.Is(a.err, journal.ErrUnknown) && !errors.Is(a.err, journal.ErrLost) &&
				!errors.Is(a.err, journal.ErrRefused):
			t.Errorf("group %d is in the log of the second owner: %t; the first was told %v", a.number,
				there[a.number], a.err)
		}
	}
	mustLearn(t, first)
	if n := len(scan(t, second, 0)); n != len(there)+1 {
		t.Errorf("the log has %d groups, the second owner found %d and appended one", n, len(there))
	}
}

// testUnknownAndLost: a group whose fate is unknown may be there or not; nothing comes behind it.
func testUnknownAndLost(t *testing.T, o Owned) {
	first := o.own(t, 1)
	appendWait(t, first, message(1, 100))
	o.Hang(first, true)
	fate := make(chan error, 1)
	if err := first.Append([]journal.Record{message(2, 100)}, func(_ journal.Position, err error, _ int) {
		fate <- err
	}); err != nil {
		t.Fatal(err)
	}
	second := o.own(t, 2)
	found := scan(t, second, 0)
	o.Hang(first, false)
	if err := <-fate; err == nil && len(found) != 2 {
		t.Error("the second owner does not find a group that was answered")
	}
	mustLearn(t, first)
	shut(t, second)
	mustHaveLost(t, first) // also when nobody has it
	third := o.own(t, 3)
	mustHaveLost(t, first)
	mustHaveEnded(t, second)
	if diff := cmp.Diff(found, scan(t, third, 0)); diff != "" {
		t.Errorf("the log of the third owner is not that of the second:\n%s", diff)
	}
}

// mustHaveEnded fails unless j, which was closed before it lost the log, takes nothing.
func mustHaveEnded(t *testing.T, j journal.Journal) {
	t.Helper()
	err := j.Append([]journal.Record{settle(1)}, func(journal.Position, error, int) { t.Error("done was called") })
	if !errors.Is(err, journal.ErrClosed) && !errors.Is(err, journal.ErrLost) {
		t.Errorf("append after Close: %v", err)
	}
}

// testLostReleases: what the new owner needs is there, whatever the old one says of it.
func testLostReleases(t *testing.T, o Owned) {
	first := o.own(t, 1)
	first.Keep(slices.Values([]journal.Address(nil)))
	addrs, records := fill(t, first, 20, 900)
	saved := first.End()
	saveCheckpoint(t, first, saved, []byte("of the first"))
	second := o.own(t, 2)
	second.Keep(slices.Values(addrs))
	mustLearn(t, first)
	first.Release(addrs[0])
	first.Release(addrs[0], addrs[0], addrs[1])
	first.ReleaseBefore(addrs[10].Position)
	first.Keep(slices.Values(addrs[15:]))
	err := first.SaveCheckpoint(t.Context(), saved, func(w io.Writer) error {
		_, err := w.Write([]byte("of one who has lost the log"))
		return err
	})
	if !errors.Is(err, journal.ErrLost) {
		t.Errorf("a checkpoint: %v", err)
	}
	waittest.Until(t, "the second owner has the checkpoint of the first", func() bool { // it may be on another node
		_, r, _, err := second.LoadCheckpoint(t.Context())
		return !errors.Is(err, journal.ErrNoCheckpoint) && r.Close() == nil
	})
	mustLoad(t, second, saved, []byte("of the first"), 0)
	reclaimable(t, second)
	mustRead(t, second, addrs, records)
	second.Release(addrs[2])
	second.Release(addrs[2]) // twice is no more than once
	mustRead(t, second, addrs[3:], records[3:])
}
