package queue

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
)

// TestNobodyIsHandedAMessageByColumnsThatWere tells more readers than one piece concerns to look again, while a message
// comes for which those wait who were not told yet.
func TestNobodyIsHandedAMessageByColumnsThatWere(t *testing.T) {
	side := newTwinSide()
	s, q := side.s, side.qs[0]
	s.advance(time.Unix(1, 0))
	told := map[int]string{}
	wait := func(i int, where string) {
		w := &waiter{asker: asker{max: 1, claimant: uint64(i + 1), from: []wanted{{q: q, where: holdsWhere(where)}}}}
		w.who = func(w *waiter) {
			told[i] += strings.Repeat("handed ", len(w.asker.picks)) + fmt.Sprint("again: ", w.again)
		}
		s.wait(w)
	}
	const many, plain = 2*atOnce + 10, 2*atOnce + 5
	for i := range many {
		if i == plain {
			wait(i, "")
		} else {
			wait(i, "gone is null")
		}
	}
	s.askAgain(q)
	more := s.doPostponed()
	if s.tellAll(); !more || len(told) != atOnce {
		t.Fatalf("the first piece told %d readers; more: %v", len(told), more)
	}
	come := &put{queue: q.id, seq: 1, head: appendHead(nil, &message.Message{})}
	group := []applied{{at: s.now, event: come, addr: journal.Address{Position: 1}}}
	if err := s.applyMost(group, 0); err != nil {
		t.Fatal(err)
	}
	s.serveAll()
	if len(told) != atOnce {
		t.Fatalf("a message that comes meanwhile is handed to somebody: %v", told)
	}
	for s.doPostponed() {
	}
	s.serveAll()
	for i := range many {
		want := "again: true"
		if i == plain {
			want = "handed again: false"
		}
		if told[i] != want {
			t.Errorf("reader %d is told %q, want %q", i, told[i], want)
		}
	}
	if q.waiting.Len() != 0 || len(q.unhanded) != 0 || q.waiting.recalled {
		t.Errorf("%d wait, %d messages are held back", q.waiting.Len(), len(q.unhanded))
	}
}

// TestReadersOfManyPiecesGoOnByTheColumnsThatAreNow alters a queue for which many wait, and then puts what they want.
func TestReadersOfManyPiecesGoOnByTheColumnsThatAreNow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		columns := columnsOf(t, "a int", "b int")
		if _, err := s.CreateQueue(t.Context(), news, Definition{Columns: columns}); err != nil {
			t.Fatal(err)
		}
		const many = 2*atOnce + 10
		got := make(chan error, many)
		for i := range many {
			go func() {
				cs, err := s.Claim(t.Context(), ClaimRequest{Wait: time.Hour,
					From: where(t, news, fmt.Sprintf("%s = %d", []string{"a", "b"}[i%2], i))})
				if err == nil && (len(cs) != 1 || string(cs[0].Body()) != fmt.Sprintf(`{"a":%d}`, i)) {
					err = fmt.Errorf("reader %d got %v", i, cs)
				}
				got <- err
			}()
		}
		time.Sleep(time.Second)
		if err := s.AlterColumns(t.Context(), news, Definition{Columns: columns[:1]}, []int{0}, 0); err != nil {
			t.Fatal(err)
		}
		for range many / 2 {
			if err := <-got; !errors.Is(err, ErrCondition) {
				t.Errorf("a reader whose column is gone is told %v", err)
			}
		}
		time.Sleep(time.Second)
		for i := 0; i < many; i += 2 {
			mustPut(t, s, news, message.Message{Row: []message.Value{message.Int(int64(i))}})
		}
		for range many / 2 {
			if err := <-got; err != nil {
				t.Error(err)
			}
		}
	})
}

// TestReadersWithSeveralWishesOnBodiesAreServedFromALongGroup puts, as one group, more messages than are read at once,
// of which one of the last is wanted.
func TestReadersWithSeveralWishesOnBodiesAreServedFromALongGroup(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		got := make(chan error, 1)
		go func() {
			wishes := append(where(t, news, "body = 'nothing'"), where(t, news, "body = 'body 900'")...)
			cs, err := s.Claim(t.Context(), ClaimRequest{From: wishes, Wait: time.Hour})
			if err == nil && (len(cs) != 1 || string(cs[0].Body()) != "body 900") {
				err = fmt.Errorf("it got %v", cs)
			}
			got <- err
		}()
		time.Sleep(time.Second)
		var bodies []string
		for i := range 1000 {
			bodies = append(bodies, fmt.Sprint("body ", i))
		}
		mustPut(t, s, news, text(bodies...)...)
		select {
		case err := <-got:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Error("the reader was not served")
		}
	})
}

// TestASnapshotMayTakeTheNameOfOneThatGoesWithItsQueue deletes a queue of more snapshots than one piece concerns, and
// meanwhile takes one of another queue that has the name of the last of them.
func TestASnapshotMayTakeTheNameOfOneThatGoesWithItsQueue(t *testing.T) {
	side := newTwinSide()
	s, q, other := side.s, side.qs[0], side.qs[1]
	s.advance(time.Unix(1, 0))
	do := func(e event) {
		t.Helper()
		if err := s.applyMost([]applied{{at: s.now, event: e, addr: journal.Address{Position: 1}}}, 0); err != nil {
			t.Fatal(err)
		}
	}
	const many = 2*atOnce + 10
	name := func(i int) Name { return holdsName("s%d", i) }
	before := s.idBytes
	for i := range many {
		do(&snapshotTaken{queue: q.id, name: name(i)})
	}
	do(&queueGone{q.id})
	if s.snapshot(name(many-1)) != nil || s.snapshot(name(0)) != nil {
		t.Error("a snapshot of a queue that is gone is found")
	}
	do(&snapshotTaken{queue: other.id, name: name(many - 1)})
	for s.doPostponed() {
	}
	sn := s.snapshot(name(many - 1))
	if sn == nil || sn.queue != other || len(s.snapshots) != 1 || s.snapshotList.Len() != 1 ||
		s.idBytes != before+sn.bytes() {
		t.Errorf("%d snapshots are left, of %d bytes; the new one is %v", len(s.snapshots), s.idBytes-before, sn)
	}
}
