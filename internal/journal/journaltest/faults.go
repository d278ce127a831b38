package journaltest

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// Faults are what the medium of a log can be made to do, until it is told otherwise.
type Faults struct {
	Break func(broken bool) // whatever is asked of it fails, and what it has is in doubt
	// it refuses what is to be written, and what it has is in no doubt; nil: of this medium nobody can tell
	Reject func(rejects bool)
	Fill   func(full bool)  // it has no room for many messages more
	Hang   func(hangs bool) // it does not answer
}

// RunFaults runs the part of the suite in which the medium fails. fresh makes a new, empty log for each test.
func RunFaults(t *testing.T, fresh func(t *testing.T) (Harness, Faults)) {
	tests := []struct {
		name string
		test func(t *testing.T, h Harness, f Faults)
	}{
		{"NothingIsTakenOnceTheFateOfAGroupIsUnknown", testUnknown},
		{"FullMediumRefusesMessagesAndTakesSettlements", testFull},
		{"MediumThatDoesNotAnswerIsToldAndGoesOn", testStalled},
		{"NobodyWaitsForAMediumThatDoesNotAnswerButWhoAsksForIt", testGiven},
		{"WhoFollowsSeesNothingThatIsNotDurable", testFollowDurable},
		{"WhoFollowsSeesAllThatWasDurableWhenTheJournalFailed", testFollowFailed},
		{"WhatIsInDoubtIsNotOpenedAgainByTheSameProcess", testDoubt},
		{"WhatIsInNoDoubtCanBeOpenedAgain", testReopenFailed},
		{"AJournalThatHasNotFailedCanBeOpenedAgain", testReopenSound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, f := fresh(t)
			tt.test(t, h, f)
		})
	}
}

// testUnknown: whoever does not know what became of a group must not write behind it. What was durable before is there
// after reopening, the group itself may be, and nothing else.
func testUnknown(t *testing.T, h Harness, f Faults) {
	j, err := h.Open()
	if err != nil {
		t.Fatal(err)
	}
	before := appendWait(t, j, message(1, 100))
	f.Break(true)
	unknown := message(2, 100)
	switch _, err := appendSync(j, []journal.Record{unknown}); {
	case err == nil:
		t.Fatal("a group is durable on a medium that is broken")
	case !errors.Is(err, journal.ErrUnknown) && !errors.Is(err, journal.ErrFailed):
		t.Fatalf("a group on a broken medium: %v", err)
	}
	f.Break(false) // it would be taken now
	never := func(journal.Position, error, int) { t.Error("done was called for a group that was refused") }
	turn, turnErr := j.AppendTurn([]journal.Record{message(3, 100)}, never)
	if turn != nil {
		t.Error("a turn is given away for a group that was refused")
	}
	for what, err := range map[string]error{
		"append": j.Append([]journal.Record{message(3, 100)}, never),
		"turn":   turnErr,
		"write":  j.Write([]journal.Record{settle(3)}),
		"flush":  j.Flush(),
		"sync":   j.Sync(t.Context()),
		"health": j.Health(),
	} {
		if !errors.Is(err, journal.ErrFailed) {
			t.Errorf("%s after a group whose fate is unknown: %v", what, err)
		}
	}
	select {
	case <-j.Failed():
	default:
		t.Error("nobody is told that the journal has failed")
	}
	_ = j.Close() // which may say so once more
	j = open(t, h)
	groups := scan(t, j, 0)
	if n := len(groups); n == 0 || n > 2 || groups[0].Position != before ||
		n == 2 && string(groups[1].Records[0].Head) != string(unknown.Head) {
		t.Fatalf("after reopening the log has %v", groups)
	}
	if p := appendWait(t, j, message(4, 100)); p <= groups[len(groups)-1].Position {
		t.Errorf("position %d follows %d", p, groups[len(groups)-1].Position)
	}
}

// testFull: what makes room is taken when there is none for messages, and nothing of what was refused is ever seen.
func testFull(t *testing.T, h Harness, f Faults) {
	j := open(t, h)
	f.Fill(true)
	var addrs []journal.Address
	var records []journal.Record
	for n := 0; ; n++ {
		r := message(n, 1000)
		p, err := appendSync(j, []journal.Record{r})
		if errors.Is(err, journal.ErrFull) {
			break
		}
		if err != nil || n > 100_000 {
			t.Fatalf("message %d: %v", n, err)
		}
		addrs, records = append(addrs, journal.Address{Position: p}), append(records, r)
	}
	if err := j.Health(); !errors.Is(err, journal.ErrFull) {
		t.Errorf("health says %v", err)
	}
	p := appendWait(t, j, settle(1))
	if err := j.Write([]journal.Record{settle(2)}); err != nil {
		t.Errorf("a settlement that nobody waits for: %v", err)
	}
	if err := j.Flush(); err != nil {
		t.Errorf("a flush of it: %v", err)
	}
	mustRead(t, j, addrs, records)
	f.Fill(false)
	if after := appendWait(t, j, message(3, 1000)); after <= p {
		t.Errorf("position %d follows %d", after, p)
	}
	if err := j.Health(); err != nil {
		t.Errorf("with room again health says %v", err)
	}
	shut(t, j)
	j = open(t, h)
	if n := len(scan(t, j, 0)); n != len(addrs)+3 {
		t.Errorf("the log has %d groups, %d were taken", n, len(addrs)+3)
	}
}

// testStalled: Health does not wait for a medium that does not answer, and says so. Nothing is lost by that.
func testStalled(t *testing.T, h Harness, f Faults) {
	j := open(t, h)
	f.Hang(true)
	done := make(chan error, 1)
	go func() {
		_, err := appendSync(j, []journal.Record{message(1, 100)})
		done <- err
	}()
	waittest.Until(t, "health says that the medium does not answer",
		func() bool { return errors.Is(j.Health(), journal.ErrStalled) })
	select {
	case err := <-done:
		t.Errorf("a group is answered by a medium that does not: %v", err)
	default:
	}
	f.Hang(false)
	if err := <-done; err != nil {
		t.Error(err)
	}
	waittest.Until(t, "all is well again", func() bool { return j.Health() == nil })
	appendWait(t, j, message(2, 100))
	if n := len(scan(t, j, 0)); n != 2 {
		t.Errorf("the log has %d groups", n)
	}
}

// testGiven: who appends and writes waits for no medium. He may hold a lock that everybody needs.
func testGiven(t *testing.T, h Harness, f Faults) {
	j := open(t, h)
	appendWait(t, j, message(0, 100))
	f.Hang(true)
	var all sync.WaitGroup
	answered := func(_ journal.Position, err error, _ int) {
		defer all.Done()
		if err != nil {
			t.Error(err)
		}
	}
	given := make(chan error)
	go func() {
		for n := range 20 {
			all.Add(1)
			err := j.Append([]journal.Record{message(2*n+1, 100)}, answered)
			given <- errors.Join(err, j.Write([]journal.Record{settle(2*n + 2)}))
		}
		close(given)
	}()
	for n := range 20 {
		select {
		case err := <-given:
			if err != nil {
				t.Errorf("groups %d: %v", n, err)
			}
		case <-time.After(time.Minute):
			t.Fatal("an append or a write waits for a medium that does not answer")
		}
	}
	f.Hang(false)
	all.Wait()
	if err := j.Flush(); err != nil {
		t.Error(err)
	}
	for i, g := range scan(t, j, 0) {
		if g.Records[0].Sequence != uint64(i) {
			t.Fatalf("group %d is %d", i, g.Records[0].Sequence)
		}
	}
}
