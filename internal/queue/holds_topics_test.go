package queue

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// How much more there is, for topics and for those who wait.
const (
	holdsWide   = 10_000 // subscriptions of one topic
	holdsReader = 20_000 // readers that wait for one queue
)

// holdsCopied are the functions that do something for each copy of a group. Limits bound these copies, as they bound
// the messages of a put, by more than one loop may turn elsewhere.
var holdsCopied = []string{"plan.publish", "plan.putLetter", "plan.giveBack", "Store.open", "Store.submit", "Store.land",
	"state.applyMost", "state.serve"}

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
	return []holdsExercise{
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
	}
}
