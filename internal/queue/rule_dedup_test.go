package queue

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
)

// TestRuleADeduplicationIdOutlivesItsMessage ends messages in every way there is, restarts from the log and from a
// checkpoint, and puts the same ids again: within the window, and at its end.
func TestRuleADeduplicationIdOutlivesItsMessage(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		m := newMemory()
		s := open(t, m)
		if _, err := s.CreateQueue(ctx, news, Definition{MaxAttempts: 2, DedupWindow: time.Hour}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		put := func(id string) PutResult {
			t.Helper()
			return mustPut(t, s, news,
				message.Message{Body: []byte(id), Dedup: id, Expires: time.Now().Add(10 * time.Minute)})[0]
		}
		take := func(want string, kind SettleKind) {
			t.Helper()
			c := mustClaim(t, s, ClaimRequest{From: from(news)})
			if bodies(c) != want {
				t.Fatalf("claimed %q, not %q", bodies(c), want)
			}
			settle(t, s, Settlement{Token: c[0].Token, Kind: kind})
		}
		first := map[string]PutResult{}
		ends := []struct {
			id  string
			end func()
		}{
			{"done", func() { take("done", Done) }},
			{"dead", func() { take("dead", Dead) }},
			{"out of attempts", func() {
				take("out of attempts", Back)
				take("out of attempts",
					Back)
				synctest.Wait()
			}},
			{"replayed", func() {
				if r, err := s.Replay(ctx, news, ReplayRequest{To: Name{DefaultNamespace, "elsewhere"}}); err != nil ||
					r.Moved != 1 {
					t.Fatal(r, err)
				}
			}},
			{"purged", func() {
				if n, err := s.Purge(ctx, news); err != nil || n != 1 {
					t.Fatal(n, err)
				}
			}},
			{"expired", func() { time.Sleep(10*time.Minute + time.Second) }},
		}
		for _, e := range ends {
			first[e.id] = put(e.id)
			e.end()
			if st, err := s.Stats(t.Context(), news); err != nil || st.Messages() != 0 {
				t.Fatalf("%s: %d messages are left, %v", e.id, st.Messages(), err)
			}
		}
		again := func(when string, duplicate bool) {
			t.Helper()
			for id, was := range first {
				r := put(id)
				if r.Duplicate != duplicate || duplicate && (r.ID != was.ID || r.Sequence != was.Sequence) {
					t.Errorf("%s: the id of a message that is %s answers %+v, the first was %+v", when, id, r, was)
				}
			}
		}
		again("at once", true)
		m = m.after(true)
		s = open(t, m)
		again("folded from the log", true)
		for range 2 { // so that even the older checkpoint is of a time at which the messages are gone
			if err := s.checkpoint(ctx); err != nil {
				t.Fatal(err)
			}
		}
		m = m.after(true)
		m.Lose(func(journal.Group) bool { return true }) // nothing but the checkpoint
		st, err := fold(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		m.Close()
		for id := range first {
			if st.queueNames[news].dedup[id] == nil {
				t.Errorf("the checkpoint does not know the id of a message that is %s", id)
			}
		}
		time.Sleep(time.Hour - time.Since(began) - time.Second)
		again("a second before the first window ends", true)
		time.Sleep(time.Hour)
		again("when all windows have ended", false)
	})
}

// TestRuleIdsWhoseWindowHasEndedTakeNoMemory puts many, and looks at what is kept.
func TestRuleIdsWhoseWindowHasEndedTakeNoMemory(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		for i := range 20 {
			ms := make([]message.Message, 100)
			for j := range ms {
				ms[j].Dedup = fmt.Sprint(i, j)
			}
			mustPut(t, s, news, ms...)
			time.Sleep(DefaultDedupWindow / 2)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		q := s.state.queueNames[news]
		if len(q.dedup) > 300 || len(q.forget) > 300 {
			t.Errorf("%d ids are known, %d stand in line", len(q.dedup), len(q.forget))
		}
	})
}

// TestRulePlacesOfSourcesCount takes lines of many files, of which one stands still while others behind its line are
// taken. What a queue remembers of them counts against the limits, as much after a start, until its queue is gone.
func TestRulePlacesOfSourcesCount(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		line := func(source string, offset, mark uint64) {
			t.Helper()
			mustPut(t, s, news, message.Message{Origin: message.Origin{Source: source, Offset: offset, Mark: mark}})
		}
		counted := func(s *Store) int64 {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.state.idBytes
		}
		const many = 100
		for i := range uint64(many) {
			line(fmt.Sprintf("file %02d", i), 10, 11)
			line("stands still", 10*i, 0)
		}
		one := int64(originBytes + len("file 00"))
		want := many*one + originBytes + int64(len("stands still")) + many*placeBytes
		if got := counted(s); got != want {
			t.Errorf("%d bytes count, want %d", got, want)
		}
		if err := s.checkpoint(t.Context()); err != nil {
			t.Fatal(err)
		}
		again := open(t, m.after(true))
		if got := counted(again); got != want {
			t.Errorf("after a start %d bytes count, want %d", got, want)
		}
		for i := range uint64(many) { // it goes on
			line("stands still", 10*(many+i), 10*(many+i))
		}
		want -= (many - 1) * placeBytes // its last line is not settled
		if got := counted(s); got != want {
			t.Errorf("%d bytes count when it has gone on, want %d", got, want)
		}
		if err := s.DeleteQueue(t.Context(), news); err != nil {
			t.Fatal(err)
		}
		if got := counted(s); got != 0 {
			t.Errorf("%d bytes count for a queue that is gone", got)
		}
	})
}
