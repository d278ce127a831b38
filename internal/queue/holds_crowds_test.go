package queue

import (
	"errors"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// holdsCrowds are the exercises with many who wait with several wishes, or for what only one of them may have.
func holdsCrowds() []holdsExercise {
	at := func(name, where string) From { return From{holdsName("%s", name), holdsWhere(where)} }
	return []holdsExercise{
		{"Put: when many wait for several things in one queue", func(w *holdsWorld) error {
			w.create("wishes", Definition{})
			return w.crowd([]From{at("wishes", "n = 1"), at("wishes", "")}, func() error {
				_, err := w.s.Put(w.t.Context(), holdsName("wishes"), text("x"))
				return err
			}, 1)
		}},
		{"Put: when many wait at several queues", func(w *holdsWorld) error {
			w.create("near", Definition{})
			w.create("far", Definition{})
			return w.crowd([]From{at("near", ""), at("far", "")}, func() error {
				_, err := w.s.Put(w.t.Context(), holdsName("far"), text("x", "y", "z"))
				return err
			}, 3)
		}},
		{"Put: behind a message of its key that is held, when many wait", func(w *holdsWorld) error {
			w.create("locked", Definition{})
			ms := []message.Message{{Key: "k"}}
			if _, err := w.s.Put(w.t.Context(), holdsName("locked"), ms); err != nil {
				return err
			}
			if _, err := w.hold("locked", "", 1); err != nil {
				return err
			}
			return w.crowd([]From{at("locked", "")}, func() error {
				_, err := w.s.Put(w.t.Context(), holdsName("locked"), ms)
				return err
			}, 0)
		}},
	}
}

// crowd lets many readers wait, does something, and wants so many of them to be handed a message. Then it ends the
// queues where they wait.
func (w *holdsWorld) crowd(from []From, do func() error, served int) error {
	got := make(chan error, holdsReader)
	for range holdsReader {
		go func() {
			_, err := w.s.Claim(w.t.Context(), ClaimRequest{From: from, Wait: time.Hour})
			got <- err
		}()
	}
	waittest.Until(w.t, "all wait", func() bool {
		st, err := w.s.Stats(w.t.Context(), from[0].Queue)
		return err != nil || st.Waiters == holdsReader
	})
	if err := do(); err != nil {
		return err
	}
	for range served {
		if err := <-got; err != nil {
			return err
		}
	}
	for i, f := range from {
		if i > 0 && f.Queue == from[0].Queue {
			continue
		}
		if err := w.s.DeleteQueue(w.t.Context(), f.Queue); err != nil {
			return err
		}
	}
	for range holdsReader - served {
		if err := <-got; !errors.Is(err, ErrNotFound) {
			return fmt.Errorf("%w, want %w", err, ErrNotFound)
		}
	}
	return nil
}

// holdsHolding are the exercises with an owner that holds much.
func holdsHolding() []holdsExercise {
	return []holdsExercise{
		{"Claim: by a condition, of the owner of many keys", func(w *holdsWorld) error {
			o := w.s.NewOwner("test")
			defer o.Close()
			for range holdsHeld / 1000 {
				cs, err := w.s.Claim(w.t.Context(), ClaimRequest{From: from(holdsName("keys")), Max: 1000, Owner: o})
				if err := holdsWants(1000, len(cs), err); err != nil {
					return err
				}
			}
			for where, want := range map[string]int{"n = -1": 0, "key = 'k7'": 1, "n % 7 = 3": 0} {
				cs, err := w.s.Claim(w.t.Context(), ClaimRequest{Owner: o,
					From: []From{{holdsName("keys"), holdsWhere(where)}}})
				if err := holdsWants(want, len(cs), err); err != nil {
					return fmt.Errorf("%s: %w", where, err)
				}
			}
			return nil
		}},
		{"Owner.Close: while much that it held is on its way to an end", func(w *holdsWorld) error {
			o := w.s.NewOwner("test")
			cs, err := holdsOwn(w, o, "nacked", 0)
			if err != nil {
				return err
			}
			holdsNow.on.Store(false)
			w.settling(cs, true)
			holdsNow.on.Store(true)
			o.Close()
			holdsNow.on.Store(false)
			w.settling(cs, false)
			holdsNow.on.Store(true)
			return w.until("nacked", "all are back", func(st Stats) bool { return st.Claimed == 0 })
		}},
		{"Claim: from a thousand queues", func(w *holdsWorld) error {
			var froms []From
			for i := range 1000 {
				froms = append(froms, From{holdsName("q%d", 100+i), nil})
			}
			cs, err := w.s.Claim(w.t.Context(), ClaimRequest{From: froms})
			return holdsWants(0, len(cs), err)
		}},
	}
}

// settling marks claims as being on their way to an end, or not any more.
func (w *holdsWorld) settling(cs []Claim, on bool) {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	for _, c := range cs {
		if q, e := w.s.state.find(c.Token.Queue, c.Token.Sequence); on {
			w.s.state.settling(q, e, true, false)
		} else {
			w.s.state.unsettle(q, e)
		}
	}
}

// holdsKeeping are the exercises with much that is kept: of the past, of sources, of pages in the journal.
func holdsKeeping() []holdsExercise {
	return []holdsExercise{
		{"Stats: when the last of many messages is the only one of the past", func(w *holdsWorld) error {
			if err := w.s.AlterQueue(w.t.Context(), holdsName("long"), Definition{History: time.Hour}); err != nil {
				return err
			}
			cs, err := w.hold("long", "n = 279995", 1)
			if err := holdsWants(1, len(cs), err); err != nil {
				return err
			}
			if _, err := w.s.Settle(w.t.Context(), []Settlement{{Token: cs[0].Token}}); err != nil {
				return err
			}
			st, err := w.s.Stats(w.t.Context(), holdsName("long"))
			if err == nil && (st.Past != 1 || st.PastFrom.IsZero()) {
				err = fmt.Errorf("%d are past, since %v", st.Past, st.PastFrom)
			}
			return err
		}},
		{"checkpoint: when a long queue stands in the journal already", func(w *holdsWorld) error {
			for range 2 {
				if err := w.s.checkpoint(w.t.Context()); err != nil {
					return err
				}
			}
			return nil
		}},
		{"checkpoint: of a queue that many sources fill", func(w *holdsWorld) error {
			w.create("sources", Definition{})
			holdsNow.on.Store(false) // a put of many messages bounds itself
			w.each("sources", holdsHeld, func(i int, m *message.Message) {
				m.Origin = message.Origin{Source: fmt.Sprintf("file%d", i), Offset: 1}
			})
			holdsNow.on.Store(true)
			return w.s.checkpoint(w.t.Context())
		}},
		{"Publish: to a topic of many subscriptions with columns", func(w *holdsWorld) error {
			columns, err := message.ParseColumns([]string{"a int"})
			if err != nil {
				return err
			}
			topic := holdsName("rowed")
			if _, err := w.s.CreateTopic(w.t.Context(), topic, nil); err != nil {
				return err
			}
			for i := range w.wide {
				w.create(fmt.Sprintf("rowed%d", i), Definition{Topic: topic.String(), Columns: columns})
			}
			_, err = w.s.Publish(w.t.Context(), topic, text(`{"a": 1}`))
			return err
		}},
		{"AlterQueue: with a shorter history, when many snapshots hold the past", func(w *holdsWorld) error {
			if err := w.end("many", 1000); err != nil {
				return err
			}
			if err := w.s.AlterQueue(w.t.Context(), holdsName("many"), Definition{}); err != nil {
				return err
			}
			return w.until("many", "the past is forgotten", func(st Stats) bool { return st.Past == 0 })
		}},
		{"Settle: done, of a queue with many snapshots", func(w *holdsWorld) error {
			if err := w.end("many", 1000); err != nil {
				return err
			}
			return w.until("many", "the past is forgotten", func(st Stats) bool { return st.Past == 0 })
		}},
		{"Remove: of a queue with many snapshots", func(w *holdsWorld) error {
			var seqs []uint64
			for i := range 1000 {
				seqs = append(seqs, uint64(10_000+i))
			}
			n, err := w.s.Remove(w.t.Context(), holdsName("many"), seqs)
			return holdsWants(len(seqs), n, err)
		}},
		{"Remove: all over a queue with a history and many snapshots", func(w *holdsWorld) error {
			if err := w.s.AlterQueue(w.t.Context(), holdsName("many"), Definition{History: time.Hour}); err != nil {
				return err
			}
			n, err := w.s.Remove(w.t.Context(), holdsName("many"), holdsSpread(12_000, holdsOfMany))
			return holdsWants(holdsSpreadOut, n, err)
		}},
		{"Settle: done, all over a queue with some snapshots", func(w *holdsWorld) error { return w.some(true) }},
		{"Remove: all over a queue with some snapshots", func(w *holdsWorld) error { return w.some(false) }},
	}
}

// holdsSpreadOut is how many messages are settled or removed that lie all over a queue.
const holdsSpreadOut = 100

// holdsSpread are as many sequences, all over those between two.
func holdsSpread(from, to int) (seqs []uint64) {
	for i := range holdsSpreadOut {
		seqs = append(seqs, uint64(from+i*(to-from)/holdsSpreadOut))
	}
	return seqs
}

// some ends messages all over a queue with as many snapshots as are asked at once when one message is settled.
func (w *holdsWorld) some(settle bool) error {
	const there = 7000
	name := holdsName("some")
	holdsNow.on.Store(false)
	w.create("some", Definition{History: time.Hour})
	began := w.s.clock()
	w.put("some", there, "")
	w.seek("some", w.s.clock().Add(time.Second)) // none of its snapshots holds any of them
	for i := range fewSnapshots {
		if _, err := w.s.TakeSnapshot(w.t.Context(), holdsName("some%d", i), name, SnapshotOptions{}); err != nil {
			return err
		}
	}
	w.seek("some", began.Add(-time.Second))
	if err := w.s.AlterQueue(w.t.Context(), name, Definition{}); err != nil {
		return err
	}
	cs, err := w.hold("some", "", there)
	if err != nil {
		return err
	}
	var ends []Settlement
	for i := 0; i < len(cs); i += there / holdsSpreadOut {
		ends = append(ends, Settlement{Token: cs[i].Token})
	}
	if !settle {
		var back []Settlement
		for _, c := range cs {
			back = append(back, Settlement{Token: c.Token, Kind: Back})
		}
		if _, err := w.s.Settle(w.t.Context(), back); err != nil {
			return err
		}
	}
	holdsNow.on.Store(true)
	if settle {
		_, err = w.s.Settle(w.t.Context(), ends)
	} else {
		var n int
		n, err = w.s.Remove(w.t.Context(), name, holdsSpread(1, there))
		err = holdsWants(holdsSpreadOut, n, err)
	}
	if err == nil {
		err = w.until("some", "the past is forgotten", func(st Stats) bool { return st.Past == 0 })
	}
	holdsNow.on.Store(false)
	if err == nil {
		err = w.s.DeleteQueue(w.t.Context(), name)
	}
	holdsNow.on.Store(true)
	return err
}

// end settles the first messages of a queue.
func (w *holdsWorld) end(name string, n int) error {
	cs, err := w.hold(name, "", n)
	if err := holdsWants(n, len(cs), err); err != nil {
		return err
	}
	var ends []Settlement
	for _, c := range cs {
		ends = append(ends, Settlement{Token: c.Token})
	}
	_, err = w.s.Settle(w.t.Context(), ends)
	return err
}

// holdsGoing are those of pages that stood in the journal and have gone.
func holdsGoing() []holdsExercise {
	return []holdsExercise{
		{"Purge: of a long queue", func(w *holdsWorld) error {
			_, err := w.s.Purge(w.t.Context(), holdsName("long"))
			return err
		}},
		{"checkpoint: when many pages have gone", func(w *holdsWorld) error {
			for range 4 {
				if err := w.s.checkpoint(w.t.Context()); err != nil {
					return err
				}
			}
			return nil
		}},
	}
}
