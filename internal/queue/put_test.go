package queue

import (
	"context"
	"reflect"
	"testing"
	"testing/synctest"

	"github.com/hikyaku/hikyaku/internal/message"
)

func TestPutsLeaveTheirCallersMessagesAsTheyWere(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		columns, err := message.ParseColumns([]string{"n int not null"})
		if err != nil {
			t.Fatal(err)
		}
		topic, rows := Name{DefaultNamespace, "topic"}, Name{DefaultNamespace, "rows"}
		if _, err := s.CreateTopic(t.Context(), topic, nil); err != nil {
			t.Fatal(err)
		}
		for n, d := range map[Name]Definition{
			rows:                           {Columns: columns},
			{DefaultNamespace, "reader"}:   {Topic: topic.String()},
			{DefaultNamespace, "counting"}: {Topic: topic.String(), Columns: columns},
		} {
			if _, err := s.CreateQueue(t.Context(), n, d); err != nil {
				t.Fatal(err)
			}
		}
		for _, to := range []Name{news, rows, topic} {
			msgs := text(`{"n": 1}`, `{"n": 2}`)
			if _, err := s.Publish(t.Context(), to, msgs); err != nil {
				t.Fatal(err)
			}
			if want := text(`{"n": 1}`, `{"n": 2}`); !reflect.DeepEqual(msgs, want) {
				t.Errorf("after a put to %s they are %v, were %v", to, msgs, want)
			}
		}
	})
}

func TestEachPutOfAChangeHasItsOwnResults(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		other := Name{DefaultNamespace, "other"}
		given := message.Message{ID: message.NewID(), Body: []byte("d")}
		c := Change{Puts: []QueuePut{
			{To: news, Messages: text("a", "b")},
			{To: other},
			{To: other, Messages: append(text("c"), given)},
			{To: news, Messages: text("e")},
		}}
		results, _, err := s.Commit(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		bodies := map[message.ID]string{}
		for _, n := range []Name{news, other} {
			ps, err := s.Peek(t.Context(), n, PeekRequest{})
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range ps {
				bodies[p.Message.ID] = string(p.Message.Body)
			}
		}
		if len(results) != len(c.Puts) || len(bodies) != 5 {
			t.Fatalf("%d results of %d puts, %d messages of 5", len(results), len(c.Puts), len(bodies))
		}
		sequence := map[Name]uint64{}
		for i, p := range c.Puts {
			if len(results[i]) != len(p.Messages) {
				t.Fatalf("put %d has %d results, %d messages", i, len(results[i]), len(p.Messages))
			}
			for j, r := range results[i] {
				sequence[p.To]++
				if r.Sequence != sequence[p.To] || bodies[r.ID] != string(p.Messages[j].Body) {
					t.Errorf("message %d of put %d is told to be %d, %q", j, i, r.Sequence, bodies[r.ID])
				}
			}
		}
		if results[2][1].ID != given.ID {
			t.Errorf("a message that had the id %s got %s", given.ID, results[2][1].ID)
		}
	})
}

func TestReplayedMessagesKeepTheirIDs(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		other := Name{DefaultNamespace, "other"}
		put := mustPut(t, s, news, text("a", "b", "c")...)
		if r, err := s.Replay(t.Context(), news, ReplayRequest{To: other}); err != nil || r.Moved != len(put) {
			t.Fatal(r, err)
		}
		ps, err := s.Peek(t.Context(), other, PeekRequest{})
		if err != nil || len(ps) != len(put) {
			t.Fatalf("%d messages, %v", len(ps), err)
		}
		for i := range ps {
			if ps[i].Message.ID != put[i].ID {
				t.Errorf("message %d had the id %s, has %s", i, put[i].ID, ps[i].Message.ID)
			}
		}
	})
}

// TestAPutOfALargeMessageReturnsWhenItsBodyIsTheCallersAgain: the journal copies none that large, and its bytes must
// not change before they are on the disk. So a caller that gives up waits for that.
func TestAPutOfALargeMessageReturnsWhenItsBodyIsTheCallersAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, text("x")...) // which makes the queue
		for size, waits := range map[int]bool{1000: false, 2 << 20: true} {
			m.hold(true)
			ctx, giveUp := context.WithCancel(t.Context())
			returned := make(chan error, 1)
			go func() {
				_, err := s.Put(ctx, news, []message.Message{{Body: make([]byte, size)}})
				returned <- err
			}()
			synctest.Wait()
			giveUp()
			synctest.Wait()
			if waits != (len(returned) == 0) {
				t.Errorf("a put of %d bytes that is given up has returned: %t", size, len(returned) > 0)
			}
			m.hold(false)
			if err := <-returned; waits != (err == nil) {
				t.Errorf("a put of %d bytes that is given up answers %v", size, err)
			}
			synctest.Wait()
		}
	})
}
