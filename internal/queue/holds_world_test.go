package queue

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/message"
)

// How much there is in the store whose lock is watched.
const (
	holdsLong      = 280_000 // messages of one queue, in more pages than a loop may turn,
	holdsShort     = 100_000 // of each of five,
	holdsOther     = 220_000 // and of one that nobody asks for
	holdsQueues    = 20_000
	holdsSnapshots = 5_000 - 10 - fewSnapshots // some are taken by exercises
	holdsOfOne     = 800                       // of one queue,
	holdsOfMany    = 20_000                    // which has so many messages; the others are of a queue that has one
	holdsNotes     = 20_000
)

// holdsWorld is a store with much in it.
type holdsWorld struct {
	t       *testing.T
	s       *Store
	puts    int          // messages in one put
	wide    int          // subscriptions of one topic
	skipped atomic.Int64 // how far the store's clock is before ours
}

func holdsName(format string, args ...any) Name {
	return Name{DefaultNamespace, fmt.Sprintf(format, args...)}
}

// newHoldsWorld fills a store over m, as far as what one call brings goes to the limits that the journal leaves it.
func newHoldsWorld(t *testing.T, m *memory) *holdsWorld {
	t.Helper()
	w := &holdsWorld{t: t}
	s, err := Open(t.Context(), Options{
		Journal: holdsJournal{m}, CheckpointBytes: 1 << 50, Limits: Limits{Bytes: 4 << 30},
		Trace: journey.New(journey.Options{}),
		Clock: func() time.Time { return time.Now().Add(time.Duration(w.skipped.Load())) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	w.s, w.puts, w.wide = s, s.limits.PutMessages, s.limits.Subscriptions
	w.fill()
	return w
}

func (w *holdsWorld) fill() {
	w.fillKeys()
	w.create("topic-dead", Definition{})
	if _, err := w.s.CreateTopic(w.t.Context(), holdsName("topic"), nil); err != nil {
		w.t.Fatal(err)
	}
	w.create("graves", Definition{})
	for i := range holdsQueues {
		w.create(fmt.Sprintf("q%d", i), Definition{DeadLetter: "graves"})
	}
	w.create("subscribed", Definition{Topic: holdsName("topic").String()})
	if _, err := w.s.CreateTopic(w.t.Context(), holdsName("siblings"), nil); err != nil {
		w.t.Fatal(err)
	}
	w.create("long", Definition{})
	w.put("long", holdsLong, "")
	w.create("other", Definition{})
	w.put("other", holdsOther, "")
	for name, d := range map[string]Definition{
		"purged": {}, "deleted": {}, "moved": {}, "sought": {History: time.Hour}, "expiring": {Retention: time.Hour},
	} {
		w.create(name, d)
		w.put(name, holdsShort, "")
	}
	for _, name := range []string{"sibling", "snapped"} {
		w.create(name, Definition{Topic: holdsName("siblings").String(), History: time.Hour})
	}
	w.publish("siblings", holdsShort)
	began := w.s.clock()
	w.create("many", Definition{History: time.Hour})
	w.put("many", holdsOfMany, "")
	w.seek("many", w.s.clock().Add(time.Second)) // none of its snapshots holds any of them
	defer w.seek("many", began.Add(-time.Second))
	w.create("brief", Definition{})
	w.put("brief", 1, "")
	for i := range holdsSnapshots {
		of := holdsName("brief")
		if i < holdsOfOne {
			of = holdsName("many")
		}
		if _, err := w.s.TakeSnapshot(w.t.Context(), holdsName("s%d", i), of, SnapshotOptions{}); err != nil {
			w.t.Fatal(err)
		}
	}
	var notes []Note
	for i := range holdsNotes {
		notes = append(notes, Note{"room", fmt.Sprintf("key%d", i), []byte("value")})
		if len(notes) == min(1000, w.puts) {
			if err := w.s.SetNotes(w.t.Context(), notes...); err != nil {
				w.t.Fatal(err)
			}
			notes = nil
		}
	}
	if err := w.s.SetNotes(w.t.Context(), notes...); err != nil {
		w.t.Fatal(err)
	}
}

func (w *holdsWorld) create(name string, d Definition) {
	w.t.Helper()
	if _, err := w.s.CreateQueue(w.t.Context(), holdsName("%s", name), d); err != nil {
		w.t.Fatal(err)
	}
}

func (w *holdsWorld) seek(name string, to time.Time) {
	w.t.Helper()
	if _, err := w.s.Seek(w.t.Context(), holdsName("%s", name), SeekTo{Time: to}); err != nil {
		w.t.Fatal(err)
	}
}

// put puts messages: half of them in each of two languages, numbered, with a mark whose beginning is the same in all.
func (w *holdsWorld) put(name string, n int, key string) {
	w.t.Helper()
	for first := 0; first < n; first += w.puts {
		ms := make([]message.Message, min(w.puts, n-first))
		for i := range ms {
			number := first + i
			ms[i] = message.Message{Body: fmt.Appendf(nil, "body %d", number), Key: key}
			ms[i].Attributes.Set("n", message.Int(int64(number)))
			ms[i].Attributes.Set("lang", message.String([]string{"ja", "en"}[number%2]))
			ms[i].Attributes.Set("mark", message.String(fmt.Sprintf("the same for all of them %07d", number)))
		}
		if _, err := w.s.Put(w.t.Context(), holdsName("%s", name), ms); err != nil {
			w.t.Fatal(err)
		}
	}
}

// publish publishes messages.
func (w *holdsWorld) publish(topic string, n int) {
	w.t.Helper()
	for first := 0; first < n; first += w.puts {
		ms := make([]message.Message, min(w.puts, n-first))
		for i := range ms {
			ms[i].Body = fmt.Appendf(nil, "body %d", first+i)
		}
		if _, err := w.s.PublishEach(w.t.Context(), holdsName("%s", topic), ms); err != nil {
			w.t.Fatal(err)
		}
	}
}

func holdsWhere(text string) *condition.Expr {
	if text == "" {
		return nil
	}
	e, err := condition.Parse(text)
	if err != nil {
		panic(err)
	}
	return e
}

// claim claims and puts back what it got, and tells how many there were.
func (w *holdsWorld) claim(name, where string, most int) (int, error) {
	cs, err := w.hold(name, where, most)
	if err != nil {
		return 0, err
	}
	var back []Settlement
	for _, c := range cs {
		back = append(back, Settlement{Token: c.Token, Kind: Back, Uncounted: true})
	}
	_, err = w.s.Settle(w.t.Context(), back)
	return len(cs), err
}

// hold claims.
func (w *holdsWorld) hold(name, where string, most int) ([]Claim, error) {
	return w.s.Claim(w.t.Context(), ClaimRequest{From: []From{{holdsName("%s", name), holdsWhere(where)}}, Max: most})
}

// wants tells an error unless there are so many.
func holdsWants(want, n int, err error) error {
	if err == nil && n != want {
		err = fmt.Errorf("%d, want %d", n, want)
	}
	return err
}

// saving begins a checkpoint that goes on, or ends it: while one is taken each page that changes leaves its image.
func (w *holdsWorld) saving(t *testing.T, on bool) {
	t.Helper()
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	if on {
		w.s.state.saves.begin()
	} else {
		w.s.state.saves.end()
	}
}

// rest waits until the store has nothing left to do.
func (w *holdsWorld) rest(t *testing.T) {
	t.Helper()
	for {
		s := w.s
		s.mu.Lock()
		s.catchUp()
		idle := s.closed || s.flights == 0 && len(s.state.exhausted)+len(s.state.overdue) == 0
		if due := s.state.due(); due != 0 && due <= s.state.now {
			idle = false
		}
		s.mu.Unlock()
		if idle {
			return
		}
		if t.Context().Err() != nil {
			t.Fatal(context.Cause(t.Context()))
		}
		time.Sleep(time.Millisecond)
	}
}
