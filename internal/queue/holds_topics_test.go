package queue

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// holdsReader is how many readers wait for one queue.
const holdsReader = 20_000

// holdsCopied are the functions that do something for each copy of a group, and how many times more than elsewhere that
// may be: limits bound these copies as they bound the messages of a put. A head is made of several fields.
var holdsCopied = map[string]uint32{"plan.publish": 3, "plan.putLetter": 3, "plan.giveBack": 3, "Store.open": 3,
	"Store.submit": 3, "Store.land": 3, "state.applyMost": 3, "state.serve": 3, "appendHead": 12,
	"headRoom": 3, "bodyPart": 3}

// holdsMost is how often a place may be come by, in one hold, while an exercise is done.
func holdsMost(doing string, p *holdsPlace) uint32 {
	if strings.Contains(doing, "to a topic") {
		return p.most * max(1, holdsCopied[p.in])
	}
	return p.most
}

// holdsTopics are the exercises with a topic of many subscriptions.
func holdsTopics() []holdsExercise {
	topic := holdsName("wide")
	return append([]holdsExercise{
		{"CreateQueue: many subscriptions of a topic", func(w *holdsWorld) error {
			if _, err := w.s.CreateTopic(w.t.Context(), topic, nil); err != nil {
				return err
			}
			for i := range w.wide { // as many as there may be
				w.create(fmt.Sprintf("wide%d", i), Definition{Topic: topic.String()})
			}
			return nil
		}},
		{"checkpoint: of a topic with many subscriptions", func(w *holdsWorld) error {
			return w.s.checkpoint(w.t.Context())
		}},
		{"HasTopic", func(w *holdsWorld) error {
			if !must(w.s.HasTopic(w.t.Context(), topic)) || must(w.s.HasTopic(w.t.Context(), holdsName("long"))) {
				return errors.New("a topic is there, a queue of that name is none")
			}
			return nil
		}},
		{"TopicStats: of many subscriptions", func(w *holdsWorld) error {
			st, err := w.s.TopicStats(w.t.Context(), topic)
			return holdsWants(w.wide, len(st.Subscriptions), err)
		}},
	}, holdsMany()...)
}

// holdsMany are those that make copies for all of its subscriptions, and those that end it.
func holdsMany() []holdsExercise {
	topic := holdsName("wide")
	return append([]holdsExercise{
		{"Publish: to a topic with many subscriptions", func(w *holdsWorld) error {
			_, err := w.s.Publish(w.t.Context(), topic, text("x"))
			return err
		}},
		{"Publish: of ten messages to a topic with many subscriptions", func(w *holdsWorld) error {
			var many *CopiesError
			if _, err := w.s.Publish(w.t.Context(), topic, make([]message.Message, 10)); !errors.As(err, &many) {
				return fmt.Errorf("%w, want a *CopiesError", err)
			}
			return nil
		}},
		{"PublishEach: to a topic with many subscriptions", func(w *holdsWorld) error {
			results, err := w.s.PublishEach(w.t.Context(), topic, text("x", "y", "z"))
			return holdsWants(3, len(results), err)
		}},
		{"Settle: dead letters to a topic with many subscriptions", func(w *holdsWorld) error {
			w.create("mortal", Definition{DeadLetter: topic.String()})
			return w.giveUp("mortal", Dead)
		}},
		{"Settle: out of attempts, to a topic with many subscriptions", func(w *holdsWorld) error {
			w.create("tired", Definition{DeadLetter: topic.String(), MaxAttempts: 1})
			return w.giveUp("tired", Back)
		}},
		{"CreateQueue: one subscription more than there may be", func(w *holdsWorld) error {
			_, err := w.s.CreateQueue(w.t.Context(), holdsName("more"), Definition{Topic: topic.String()})
			if !errors.Is(err, ErrDefinition) {
				return fmt.Errorf("%w, want %w", err, ErrDefinition)
			}
			return nil
		}},
		{"DeleteQueue: one of many subscriptions", func(w *holdsWorld) error {
			return w.s.DeleteQueue(w.t.Context(), holdsName("wide7"))
		}},
		{"DeleteTopic: with many subscriptions", func(w *holdsWorld) error {
			if err := w.s.DeleteTopic(w.t.Context(), topic); err != nil {
				return err
			}
			d, _, err := w.s.Definition(w.t.Context(), holdsName("wide%d", w.wide-1))
			return holdsWants(0, len(d.Topic), err)
		}},
	}, holdsReaders()...)
}

// giveUp settles four messages so that they become dead letters, and waits for that.
func (w *holdsWorld) giveUp(name string, how SettleKind) error {
	if _, err := w.s.Put(w.t.Context(), holdsName("%s", name), text("a", "b", "c", "d")); err != nil {
		return err
	}
	cs, err := w.hold(name, "", 4)
	if err != nil {
		return err
	}
	var ends []Settlement
	for _, c := range cs {
		ends = append(ends, Settlement{Token: c.Token, Kind: how})
	}
	if _, err := w.s.Settle(w.t.Context(), ends); err != nil {
		return err
	}
	waittest.Until(w.t, "all are dead letters", func() bool {
		var st Stats
		st, err = w.s.Stats(w.t.Context(), holdsName("%s", name))
		return err != nil || st.TotalDead == 4
	})
	return err
}

// holdsReaders are the exercises with many who wait for one queue.
func holdsReaders() []holdsExercise {
	return []holdsExercise{
		{"DeleteQueue: for which twenty thousand wait", func(w *holdsWorld) error {
			w.create("awaited", Definition{})
			ended, err := w.wait("awaited", "n = %d")
			if err != nil {
				return err
			}
			if err := w.s.DeleteQueue(w.t.Context(), holdsName("awaited")); err != nil {
				return err
			}
			return ended(ErrNotFound)
		}},
		{"AlterColumns: for which twenty thousand wait", func(w *holdsWorld) error {
			was, err := message.ParseColumns([]string{"a int", "b int"})
			if err != nil {
				return err
			}
			w.create("rowsawaited", Definition{Columns: was})
			ended, err := w.wait("rowsawaited", "b = %d")
			if err != nil {
				return err
			}
			if err := w.s.AlterColumns(w.t.Context(), holdsName("rowsawaited"), Definition{Columns: was[:1]}, []int{0},
				0); err != nil {
				return err
			}
			return ended(ErrCondition)
		}},
		{"Put: of many, when somebody waits for bodies that none has", func(w *holdsWorld) error {
			w.create("bodies", Definition{})
			got := make(chan error, 1)
			go func() {
				_, err := w.s.Claim(w.t.Context(), ClaimRequest{Wait: time.Hour,
					From: []From{{holdsName("bodies"), holdsWhere("body = 'nothing'")}}})
				got <- err
			}()
			waittest.Until(w.t, "somebody waits", func() bool {
				st, err := w.s.Stats(w.t.Context(), holdsName("bodies"))
				return err != nil || st.Waiters == 1
			})
			holdsNow.on.Store(false) // a put of many messages bounds itself
			w.put("bodies", 3*holdsShort, "")
			holdsNow.on.Store(true)
			waittest.Until(w.t, "all bodies were looked at", func() bool {
				w.s.mu.Lock()
				defer w.s.mu.Unlock()
				return len(w.s.state.unserved) == 0
			})
			if err := w.s.DeleteQueue(w.t.Context(), holdsName("bodies")); err != nil {
				return err
			}
			if err := <-got; !errors.Is(err, ErrNotFound) {
				return fmt.Errorf("%w, want %w", err, ErrNotFound)
			}
			return nil
		}},
	}
}

// wait lets many wait for messages of a queue, each with a condition made of its number. ended waits until all have got
// an error.
func (w *holdsWorld) wait(name, where string) (ended func(want error) error, err error) {
	got := make(chan error, holdsReader)
	for i := range holdsReader {
		go func() {
			_, err := w.s.Claim(w.t.Context(), ClaimRequest{Wait: time.Hour,
				From: []From{{holdsName("%s", name), holdsWhere(fmt.Sprintf(where, i))}}})
			got <- err
		}()
	}
	waittest.Until(w.t, "all wait", func() bool {
		var st Stats
		st, err = w.s.Stats(w.t.Context(), holdsName("%s", name))
		return err != nil || st.Waiters == holdsReader
	})
	return func(want error) error {
		for range holdsReader {
			if err := <-got; !errors.Is(err, want) {
				return fmt.Errorf("%w, want %w", err, want)
			}
		}
		return nil
	}, err
}
