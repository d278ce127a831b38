package queue

import (
	"fmt"
	"sync"
	"testing"
)

// manySubscriptions are more than one piece of a deletion concerns.
const manySubscriptions = 2*atOnce + 100

// wide makes a topic with many subscriptions: every third has columns, every fourth a filter.
func wide(t *testing.T, s *Store) (topic Name, subscribed []Name) {
	t.Helper()
	topic = Name{DefaultNamespace, "wide"}
	if _, err := s.CreateTopic(t.Context(), topic, nil); err != nil {
		t.Fatal(err)
	}
	for i := range manySubscriptions {
		d := Definition{Topic: topic.String()}
		if i%3 == 0 {
			d.Columns = columnsOf(t, "a int")
		}
		if i%4 == 0 {
			d.Filter = "a > 1"
		}
		n := Name{DefaultNamespace, fmt.Sprintf("wide%d", i)}
		if _, err := s.CreateQueue(t.Context(), n, d); err != nil {
			t.Fatal(err)
		}
		subscribed = append(subscribed, n)
	}
	return topic, subscribed
}

// TestATopicThatIsDeletedBesideOtherWorkIsDeletedAlikeByAReplay deletes a topic while its subscriptions are altered,
// renamed, deleted and put to, and compares what there is with what a replay of the journal gives.
func TestATopicThatIsDeletedBesideOtherWorkIsDeletedAlikeByAReplay(t *testing.T) {
	m := newMemory()
	s := open(t, m)
	topic, subscribed := wide(t, s)
	if _, err := s.Publish(t.Context(), topic, text(`{"a": 1}`, `{"a": 2}`)); err != nil {
		t.Fatal(err)
	}
	var working sync.WaitGroup
	for k := range 4 {
		working.Go(func() {
			for i := k; i < len(subscribed); i += 4 {
				n := subscribed[i]
				var err error
				switch i % 5 {
				case 0:
					err = s.DeleteQueue(t.Context(), n)
				case 1:
					err = s.RenameQueue(t.Context(), n, Name{n.Namespace, "once-" + n.Name})
				case 2:
					d, _, _ := s.Definition(t.Context(), n)
					d.Topic, d.Filter, d.MaxAttempts = "", "", 7
					err = s.AlterQueue(t.Context(), n, d)
				case 3:
					_, err = s.Put(t.Context(), n, text(`{"a": 3}`))
				}
				if err != nil {
					t.Errorf("subscription %d: %v", i, err)
				}
			}
		})
	}
	if err := s.DeleteTopic(t.Context(), topic); err != nil {
		t.Fatal(err)
	}
	for _, n := range subscribed {
		if d, _, err := s.Definition(t.Context(), n); err == nil && (d.Topic != "" || d.Filter != "") {
			t.Fatalf("%s still subscribes to %q, filter %q", n.Short(), d.Topic, d.Filter)
		}
	}
	working.Wait()
	s.mu.Lock()
	now := portrait(s.state)
	s.mu.Unlock()
	again := open(t, m.after(false))
	again.mu.Lock()
	defer again.mu.Unlock()
	if replayed := portrait(again.state); now != replayed {
		t.Errorf("there is\n%s\na replay gives\n%s", now, replayed)
	}
}

// TestAPublishGoesByTheColumnsOfItsSubscriptionsAsTheyAre alters and adds subscriptions between and beside publishes.
func TestAPublishGoesByTheColumnsOfItsSubscriptionsAsTheyAre(t *testing.T) {
	s := open(t, newMemory())
	topic := Name{DefaultNamespace, "topic"}
	if _, err := s.CreateTopic(t.Context(), topic, nil); err != nil {
		t.Fatal(err)
	}
	create := func(name string, columns ...string) Name {
		d, n := Definition{Topic: topic.String()}, Name{DefaultNamespace, name}
		if columns != nil {
			d.Columns = columnsOf(t, columns...)
		}
		if _, err := s.CreateQueue(t.Context(), n, d); err != nil {
			t.Fatal(err)
		}
		return n
	}
	rows := create("rows", "a int")
	plain := create("plain")
	published := 0
	var publishing sync.WaitGroup
	publish := func() {
		published++
		publishing.Go(func() {
			if _, err := s.Publish(t.Context(), topic, text(`{"a": 1}`)); err != nil {
				t.Error(err)
			}
		})
	}
	publish()
	late := create("late", "a int", "c varchar(5)")
	publish()
	if err := s.AlterQueue(t.Context(), rows, Definition{Columns: columnsOf(t, "a int", "b varchar(5)")}); err != nil {
		t.Fatal(err)
	}
	publish()
	if err := s.DeleteQueue(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	publish()
	publishing.Wait()
	for n, columns := range map[Name]int{rows: 2, plain: 0} {
		ps, err := s.Peek(t.Context(), n, PeekRequest{})
		if err != nil || len(ps) != published {
			t.Fatalf("%s has %d messages, %v", n.Short(), len(ps), err)
		}
		for _, p := range ps {
			if len(p.Message.Row) != columns {
				t.Errorf("%s: message %d has a row of %d values", n.Short(), p.Sequence, len(p.Message.Row))
			}
		}
	}
}
