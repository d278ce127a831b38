package queue

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// How much more there is, for topics and for those who wait.
const (
	holdsWide   = 10_000 // subscriptions of one topic
	holdsReader = 20_000 // readers that wait for one queue
)

// holdsCopied are the functions that do something for each copy of a group. Limits bound these copies, as they bound
// the messages of a put, by more than one loop may turn elsewhere.
var holdsCopied = []string{"plan.publish", "plan.putLetter", "plan.giveBack", "Store.open", "Store.submit",
	"Store.land", "state.applyMost", "state.serve"}

// holdsMost is how often a place may be come by, in one hold, while an exercise is done.
func holdsMost(doing string, p *holdsPlace) uint32 {
	if strings.Contains(doing, "to a topic") && slices.Contains(holdsCopied, p.in) {
		return 3 * p.most
	}
	return p.most
}

// holdsTopics are the exercises with a topic of many subscriptions.
func holdsTopics() []holdsExercise {
	topic := holdsName("wide")
	return append([]holdsExercise{
		{"CreateQueue: ten thousand subscriptions of a topic", func(w *holdsWorld) error {
			if _, err := w.s.CreateTopic(w.t.Context(), topic, nil); err != nil {
				return err
			}
			for i := range holdsWide {
				w.create(fmt.Sprintf("wide%d", i), Definition{Topic: topic.String()})
			}
			return nil
		}},
		{"checkpoint: of a topic with ten thousand subscriptions", func(w *holdsWorld) error {
			return w.s.checkpoint(w.t.Context())
		}},
		{"HasTopic", func(w *holdsWorld) error {
			if !w.s.HasTopic(topic) || w.s.HasTopic(holdsName("long")) {
				return errors.New("a topic is there, a queue of that name is none")
			}
			return nil
		}},
		{"TopicStats: of ten thousand subscriptions", func(w *holdsWorld) error {
			st, err := w.s.TopicStats(topic)
			return holdsWants(holdsWide, len(st.Subscriptions), err)
		}},
		{"Publish: to a topic with ten thousand subscriptions", func(w *holdsWorld) error {
			_, err := w.s.Publish(w.t.Context(), topic, text("x"))
			return err
		}},
		{"DeleteQueue: one of ten thousand subscriptions", func(w *holdsWorld) error {
			return w.s.DeleteQueue(w.t.Context(), holdsName("wide7"))
		}},
		{"DeleteTopic: with ten thousand subscriptions", func(w *holdsWorld) error {
			if err := w.s.DeleteTopic(w.t.Context(), topic); err != nil {
				return err
			}
			d, _, err := w.s.Definition(holdsName("wide%d", holdsWide-1))
			return holdsWants(0, len(d.Topic), err)
		}},
	}, holdsReaders()...)
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
		st, err = w.s.Stats(holdsName("%s", name))
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
