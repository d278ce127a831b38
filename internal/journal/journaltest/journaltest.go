// Package journaltest is the suite that every implementation of journal.Journal passes. It tests what the contract
// promises and nothing else: no file, no segment, no stream is named here. How an implementation behaves in a power cut
// or on a full disk is tested next to it, with its own means.
//
//	func TestContract(t *testing.T) {
//		journaltest.Run(t, func(t *testing.T) journaltest.Harness {
//			dir := t.TempDir()
//			return journaltest.Harness{
//				Open:             func() (journal.Journal, error) { return file.Open(t.Context(), file.Options{Dir: dir}) },
//				DamageCheckpoint: func() error { return flipByteOfNewest(dir) },
//			}
//		})
//	}
package journaltest

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// Harness is one log, empty at first.
type Harness struct {
	// Open opens the log. It is called again after the journal it returned was closed.
	Open func() (journal.Journal, error)
	// DamageCheckpoint alters a byte of the newest saved checkpoint that is not damaged yet, while the journal is
	// closed.
	DamageCheckpoint func() error
}

// Run runs the suite. fresh makes a new, empty log for each test.
func Run(t *testing.T, fresh func(t *testing.T) Harness) {
	tests := []struct {
		name string
		test func(t *testing.T, h Harness)
	}{
		{"GroupsComeBackInTheOrderOfTheCalls", testOrder},
		{"GroupOfManyRecordsComesBackWhole", testManyRecords},
		{"DoneIsCalledInTheOrderOfTheLog", testDoneOrder},
		{"AsManyFollowAsAreSaidTo", testLeft},
		{"DoneIsNeverCalledFromWithinAppend", testDoneOutside},
		{"ConcurrentAppendsAreEachThereOnce", testConcurrent},
		{"DoneIsCalledWhenATurnIsTaken", testTurn},
		{"TurnsAndAppendsShareOneOrder", testTurnOrder},
		{"WriteKeepsItsPlaceBeforeALaterAppend", testWriteBeforeAppend},
		{"SyncWaitsForWhatWasWritten", testSync},
		{"SlicesMayBeUsedAgainAfterAppend", testSlicesAreNotKept},
		{"ScanBeginsAfterAnyPosition", testScanFrom},
		{"ScanEndsAtTheGroupThatWasLastWhenItBegan", testScanEnds},
		{"ScanStopsWhenAsked", testScanStops},
		{"WhoFollowsSeesEveryGroupOnceItIsDurable", testFollow},
		{"WhoFollowsSeesWhatWasWritten", testFollowWritten},
		{"FollowingEndsWithTheJournal", testFollowEnds},
		{"WhoFollowsIsToldThatGroupsMayBeGone", testFollowBehind},
		{"WhoFollowsMissesNothingThatIsReclaimedMeanwhile", testFollowReclaimed},
		{"ReadFetchesInAnyOrderAndNumber", testRead},
		{"ReadAnswersForUnknownAddresses", testReadUnknown},
		{"LargestGroupIsTakenAndALargerOneRefused", testLimits},
		{"ReleasedRecordsHarmNoOthers", testRelease},
		{"ReleaseBeforeHarmsNothingBehindIt", testReleaseBefore},
		{"KeepReleasesOnlyTheRest", testKeep},
		{"AddressesStayValidWhileOthersAreReleased", testAddressesStay},
		{"NewestCheckpointIsLoaded", testCheckpoint},
		{"DamagedCheckpointFallsBackToTheOneBefore", testDamagedCheckpoint},
		{"CheckpointThatFailsToWriteChangesNothing", testFailedCheckpoint},
		{"LogGoesOnAfterReopening", testReopen},
		{"CloseTwiceDoesNothing", testClose},
		{"OneJournalHasALogOpen", testLocked},
		{"JournalBehavesLikeASlice", testModel},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.test(t, fresh(t)) })
	}
}

// open opens the log for the length of the test.
func open(t *testing.T, h Harness) journal.Journal {
	t.Helper()
	j, err := h.Open()
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return j
}

// shut closes a journal before the end of the test.
func shut(t *testing.T, j journal.Journal) {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
}

// appendWait appends a group and waits until it is durable.
func appendWait(t *testing.T, j journal.Journal, records ...journal.Record) journal.Position {
	t.Helper()
	p, err := appendSync(j, records)
	if err != nil {
		t.Fatalf("append: %v", err)
	}
	return p
}

func appendSync(j journal.Journal, records []journal.Record) (journal.Position, error) {
	type answer struct {
		p   journal.Position
		err error
	}
	answers := make(chan answer, 1)
	if err := j.Append(records, func(p journal.Position, err error, _ int) { answers <- answer{p, err} }); err != nil {
		return 0, err
	}
	a := <-answers
	return a.p, a.err
}

// message is a lasting record with a recognisable content.
func message(n int, size int) journal.Record {
	return journal.Record{
		Queue:    uint32(n%3 + 1),
		Life:     journal.Lasting,
		Sequence: uint64(n),
		Head:     fmt.Appendf(nil, "head %d", n),
		Body:     bytes.Repeat([]byte{byte(n), byte(n >> 8), 'b'}, size/3+1)[:size],
	}
}

// settle is a passing record.
func settle(n int) journal.Record {
	return journal.Record{Queue: uint32(n%3 + 1), Life: journal.Passing, Sequence: uint64(n),
		Head: fmt.Appendf(nil, "settle %d", n)}
}

// scanned is a copied group.
type scanned struct {
	Position journal.Position
	Records  []journal.Record
}

func scan(t *testing.T, j journal.Journal, from journal.Position) []scanned {
	t.Helper()
	var groups []scanned
	for g, err := range j.Scan(t.Context(), from) {
		if err != nil {
			t.Fatalf("scan: %v", err)
		}
		groups = append(groups, copyGroup(g))
	}
	return groups
}

func copyGroup(g journal.Group) scanned {
	c := scanned{Position: g.Position}
	for _, r := range g.Records {
		r.Head = append([]byte{}, r.Head...)
		c.Records = append(c.Records, r)
	}
	return c
}

// withoutBodies is what a scan shows of records.
func withoutBodies(records []journal.Record) []journal.Record {
	var c []journal.Record
	for _, r := range records {
		r.Body = nil
		r.Head = append([]byte{}, r.Head...)
		c = append(c, r)
	}
	return c
}

// readAll reads addresses and fails when one of them is not answered exactly once.
func readAll(t *testing.T, j journal.Journal, addrs ...journal.Address) ([]journal.Record, []error) {
	t.Helper()
	records, errs := make([]journal.Record, len(addrs)), make([]error, len(addrs))
	calls := make([]int, len(addrs))
	err := j.Read(t.Context(), addrs, func(i int, r journal.Record, err error) {
		records[i], errs[i] = r, err
		calls[i]++
	})
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	for i, n := range calls {
		if n != 1 {
			t.Fatalf("read answered %d times for address %d of %d", n, i, len(addrs))
		}
	}
	return records, errs
}

// mustRead fails unless the records at addrs are want.
func mustRead(t *testing.T, j journal.Journal, addrs []journal.Address, want []journal.Record) {
	t.Helper()
	got, errs := readAll(t, j, addrs...)
	for i := range addrs {
		if errs[i] != nil {
			t.Fatalf("read %v: %v", addrs[i], errs[i])
		}
		if !sameRecord(got[i], want[i]) {
			t.Fatalf("read %v: %s", addrs[i], cmp.Diff(want[i], got[i]))
		}
	}
}

// sameRecord takes an empty slice and nil as the same.
func sameRecord(a, b journal.Record) bool {
	return a.Queue == b.Queue && a.Life == b.Life && a.Sequence == b.Sequence && bytes.Equal(a.Head, b.Head) &&
		bytes.Equal(a.Body, b.Body)
}

// goneOrSame fails unless a released record is either gone or still what it was.
func goneOrSame(t *testing.T, got journal.Record, err error, want journal.Record) {
	t.Helper()
	switch {
	case errors.Is(err, journal.ErrReleased):
	case err != nil:
		t.Fatalf("a released record answers %v", err)
	case !sameRecord(got, want):
		t.Fatalf("a released record is another one: %s", cmp.Diff(want, got))
	}
}
