package queue

import (
	"fmt"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
)

// TestReadersByConditionsThatNoIndexServesAreAskedInPieces lets thousands wait by conditions that have to be tested one
// by one, and puts what the last of them wants.
func TestReadersByConditionsThatNoIndexServesAreAskedInPieces(t *testing.T) {
	for _, wishes := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d wishes", wishes), func(t *testing.T) {
			side := newTwinSide()
			s, q := side.s, side.qs[0]
			s.advance(time.Unix(1, 0))
			const many = 5 * servePiece
			told := -1
			for i := range many {
				w := &waiter{asker: asker{max: 1, claimant: uint64(i + 1)}}
				for k := range wishes {
					w.asker.from = append(w.asker.from,
						wanted{q: q, where: holdsWhere(fmt.Sprintf("n %% %d = %d", many, (i+k)%many))})
				}
				w.who = func(*waiter) { told = i }
				s.wait(w)
			}
			m := message.Message{}
			m.Attributes.Set("n", message.Int(many-1))
			come := &put{queue: q.id, seq: 1, head: appendHead(nil, &m)}
			group := []applied{{at: s.now, event: come, addr: journal.Address{Position: 1}}}
			if err := s.applyMost(group, 0); err != nil {
				t.Fatal(err)
			}
			if s.serveAll(); told >= 0 {
				t.Fatalf("reader %d is served under the hold of the lock that brought the message", told)
			}
			holds := 0
			for ; len(s.offerings)+len(s.unserved) > 0 && holds < 100; holds++ {
				s.goOnServing()
			}
			if told != many-wishes || holds < 3 {
				t.Errorf("reader %d is served after %d holds of the lock", told, holds)
			}
		})
	}
}

// TestQueuesWithManyReadersAreAskedBesideEachOther puts something to several queues each of which has more readers than
// one hold of the lock can ask: what was asked for one of them is not asked again because others were asked meanwhile.
func TestQueuesWithManyReadersAreAskedBesideEachOther(t *testing.T) {
	side := newTwinSide()
	s := side.s
	s.advance(time.Unix(1, 0))
	s.share = 10
	const many, queues = 1000, 2
	told := map[int]bool{}
	for i := range queues * many {
		q := side.qs[i%queues]
		w := &waiter{asker: asker{max: 1, claimant: uint64(i + 1),
			from: []wanted{{q: q, where: holdsWhere(fmt.Sprintf("n %% %d = %d", many, i/queues))}}}}
		w.who = func(*waiter) { told[i/queues] = true }
		s.wait(w)
	}
	var group []applied
	for i, q := range side.qs {
		m := message.Message{}
		m.Attributes.Set("n", message.Int(int64(many-1-i)))
		group = append(group, applied{at: s.now, event: &put{queue: q.id, seq: 1, head: appendHead(nil, &m)},
			addr: journal.Address{Position: journal.Position(i + 1)}})
	}
	if err := s.applyMost(group, 0); err != nil {
		t.Fatal(err)
	}
	s.serveAll()
	enough := 2 * queues * (many/s.share + 2) // for each of them, had there been no others, and as much again
	for holds := 0; len(s.unserved) > 0; holds++ {
		if s.goOnServing(); holds == enough {
			t.Fatalf("after %d holds of the lock %d queues are left", holds, len(s.unserved))
		}
	}
	if !told[many-1] || !told[many-2] {
		t.Errorf("served are %v", told)
	}
}

// TestAReaderThatComesBackInItsOldPlaceIsAskedAgain alters a queue while many are being asked for a message: the first
// of them, who did not want it, waits on in its old place with a condition that means something else now.
func TestAReaderThatComesBackInItsOldPlaceIsAskedAgain(t *testing.T) {
	side := newTwinSide()
	s, q := side.s, side.qs[0]
	s.advance(time.Unix(1, 0))
	s.share = 10
	const many = 200
	told := -1
	var wait func(i, n int, number uint64)
	wait = func(i, n int, number uint64) {
		w := &waiter{number: number, asker: asker{max: 1, claimant: uint64(i + 1),
			from: []wanted{{q: q, where: holdsWhere(fmt.Sprintf("n %% %d = %d", many, n))}}}}
		w.who = func(w *waiter) {
			switch {
			case len(w.asker.picks) > 0:
				told = i
			case w.again && i == 0:
				wait(i, many-1, w.number)
			case w.again:
				wait(i, n, w.number)
			}
		}
		s.wait(w)
	}
	for i := range many {
		wait(i, i, 0)
	}
	m := message.Message{}
	m.Attributes.Set("n", message.Int(many-1))
	group := []applied{{at: s.now, event: &put{queue: q.id, seq: 1, head: appendHead(nil, &m)},
		addr: journal.Address{Position: 1}}}
	if err := s.applyMost(group, 0); err != nil {
		t.Fatal(err)
	}
	s.serveAll()
	for range 5 { // the first of them was asked
		s.goOnServing()
	}
	if told >= 0 {
		t.Fatalf("reader %d is served already: the test looks at nothing", told)
	}
	s.askAgain(q)
	for s.doPostponed() {
	}
	s.serveAll()
	for n := 0; len(s.unserved) > 0; n++ {
		if s.goOnServing(); n == 100 {
			t.Fatal("there is no end")
		}
	}
	if told != 0 {
		t.Errorf("reader %d is served, not the first", told)
	}
}

// TestOneQueuesManyReadersHoldUpNoOthers puts something to a queue while what came to another is still being offered.
func TestOneQueuesManyReadersHoldUpNoOthers(t *testing.T) {
	side := newTwinSide()
	s := side.s
	s.advance(time.Unix(1, 0))
	told := false
	wait := func(i int, from ...wanted) {
		w := &waiter{asker: asker{from: from, max: 1, claimant: uint64(i + 1)}}
		w.who = func(*waiter) { told = true }
		s.wait(w)
	}
	const many = 5 * servePiece
	for i := range many {
		never := holdsWhere(fmt.Sprintf("n %% %d = %d", many, i))
		wait(i, wanted{q: side.qs[0], where: never}, wanted{q: side.qs[0], where: never})
	}
	wait(many, wanted{q: side.qs[1]})
	for i, q := range side.qs {
		m := message.Message{}
		m.Attributes.Set("n", message.Int(-1))
		come := &put{queue: q.id, seq: 1, head: appendHead(nil, &m)}
		group := []applied{{at: s.now, event: come, addr: journal.Address{Position: journal.Position(i + 1)}}}
		if err := s.applyMost(group, 0); err != nil {
			t.Fatal(err)
		}
		s.serveAll()
		if left := len(s.offerings) + len(s.unserved); left == 0 || told != (i == 1) {
			t.Errorf("after the message of queue %d: %d to go on with, the reader of queue 1 is served: %v", i, left, told)
		}
	}
	for n := 0; len(s.offerings)+len(s.unserved) > 0; n++ {
		if s.goOnServing(); n == 100 {
			t.Fatal("there is no end")
		}
	}
	if n := side.qs[0].waiting.offers; n != 0 {
		t.Errorf("%d offerings are counted", n)
	}
}

// TestReadersOfOtherQueuesDoNotWaitForThoseOfOne offers many messages to thousands of readers of one queue, and
// meanwhile one to a reader with two wishes at another queue.
func TestReadersOfOtherQueuesDoNotWaitForThoseOfOne(t *testing.T) {
	side := newTwinSide()
	s := side.s
	s.advance(time.Unix(1, 0))
	s.share = 10
	told := map[int]bool{}
	wait := func(i int, from ...wanted) {
		w := &waiter{asker: asker{from: from, max: 1, claimant: uint64(i + 1)}}
		w.who = func(*waiter) { told[i] = true }
		s.wait(w)
	}
	const many = 200
	for i := range many {
		never := holdsWhere(fmt.Sprintf("n %% %d = %d", many, i))
		wait(i, wanted{q: side.qs[0], where: never}, wanted{q: side.qs[0], where: never})
	}
	odd := holdsWhere("n % 2 = -1")
	for i := range 2 {
		wait(many+i, wanted{q: side.qs[1], where: odd}, wanted{q: side.qs[1]})
	}
	come := func(qs ...int) {
		var group []applied
		for _, i := range qs {
			m := message.Message{}
			m.Attributes.Set("n", message.Int(-2))
			q := side.qs[i]
			group = append(group, applied{at: s.now, event: &put{queue: q.id, seq: q.next, head: appendHead(nil, &m)},
				addr: journal.Address{Position: journal.Position(q.next*2 + uint64(i) + 1)}})
		}
		if err := s.applyMost(group, 0); err != nil {
			t.Fatal(err)
		}
		s.serveAll()
	}
	come(0)
	come(0)
	come(1)
	holds := 0
	for ; len(s.offerings) > 0 && !told[many]; holds++ {
		s.goOnServing()
	}
	if !told[many] || holds > 2 || len(s.offerings) == 0 {
		t.Errorf("the reader of the other queue is served after %d holds of the lock: %v", holds, told)
	}
	come(1, 0) // goes behind those of both
	for n := 0; len(s.offerings)+len(s.unserved) > 0; n++ {
		if s.goOnServing(); n == 1000 {
			t.Fatal("there is no end")
		}
	}
	if !told[many+1] || side.qs[0].waiting.offers+side.qs[1].waiting.offers > 0 {
		t.Errorf("served are %v", told)
	}
}

// TestTheRestOfAGroupIsAskedInPieces offers a long group to a reader with many wishes that takes two: it is given the
// first of them together with the last, when all in between were asked for.
func TestTheRestOfAGroupIsAskedInPieces(t *testing.T) {
	side := newTwinSide()
	s, q := side.s, side.qs[0]
	s.advance(time.Unix(1, 0))
	s.share = 10
	const many, wishes = 500, 10
	told := ""
	w := &waiter{asker: asker{max: 2, claimant: 1}}
	for i := range wishes {
		w.asker.from = append(w.asker.from, wanted{q: q, where: holdsWhere(fmt.Sprintf("n %% %d = -%d", many, i+1))})
	}
	w.who = func(*waiter) {
		for _, p := range w.asker.picks {
			told += fmt.Sprintf("%d as wish %d, ", p.e.seq(), p.from)
		}
		told += "served"
	}
	s.wait(w)
	var group []applied
	for i := range many {
		m := message.Message{}
		switch i {
		case 0:
			m.Attributes.Set("n", message.Int(-1))
		case many - 1:
			m.Attributes.Set("n", message.Int(-wishes))
		}
		group = append(group, applied{at: s.now, event: &put{queue: q.id, seq: uint64(i), head: appendHead(nil, &m)},
			addr: journal.Address{Position: 1, Index: uint32(i)}})
	}
	if err := s.applyMost(group, 0); err != nil {
		t.Fatal(err)
	}
	if s.serveAll(); told != "" {
		t.Fatalf("%q under the hold of the lock that brought the messages", told)
	}
	holds := 0
	for ; told == "" && holds < 1000; holds++ {
		s.goOnServing()
	}
	if want := fmt.Sprintf("0 as wish 0, %d as wish %d, served", many-1, wishes-1); told != want || holds < 10 {
		t.Errorf("%q after %d holds of the lock, want %q", told, holds, want)
	}
}

// TestEachOfManyReadersGetsItsOwn lets more readers wait than are asked at once, and puts what each of them wants.
func TestEachOfManyReadersGetsItsOwn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		const many = 2*servePiece + 10
		got := make(chan error, many)
		for i := range many {
			go func() {
				wishes := where(t, news, fmt.Sprintf("n %% %d = %d", many, i))
				if i%2 == 0 {
					wishes = append(wishes, where(t, news, fmt.Sprintf("n %% %d = %d + 0", many, i))...)
				}
				cs, err := s.Claim(t.Context(), ClaimRequest{From: wishes, Wait: time.Hour})
				if err == nil && (len(cs) != 1 || string(cs[0].Body()) != fmt.Sprint(i)) {
					err = fmt.Errorf("reader %d got %v", i, cs)
				}
				got <- err
			}()
		}
		time.Sleep(time.Second)
		var ms []message.Message
		for _, i := range []int{many - 1, 7, many - 2, servePiece, 8} {
			m := message.Message{Body: fmt.Append(nil, i)}
			m.Attributes.Set("n", message.Int(int64(i)))
			ms = append(ms, m)
		}
		mustPut(t, s, news, ms...)
		for range ms {
			select {
			case err := <-got:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(time.Minute):
				t.Fatal("a reader was not served")
			}
		}
		if err := s.DeleteQueue(t.Context(), news); err != nil {
			t.Fatal(err)
		}
		for range many - len(ms) {
			<-got
		}
	})
}
