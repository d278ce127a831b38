package queue

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/sampletest"
)

// siblings makes a topic with a subscription of each definition, called a, b, …
func siblings(t *testing.T, s *Store, of ...Definition) (topic Name, subscribed []Name) {
	t.Helper()
	topic = Name{DefaultNamespace, "t"}
	if _, err := s.CreateTopic(t.Context(), topic, nil); err != nil {
		t.Fatal(err)
	}
	for i, d := range of {
		d.Topic = "t"
		n := Name{DefaultNamespace, string(rune('a' + i))}
		if _, err := s.CreateQueue(t.Context(), n, d); err != nil {
			t.Fatal(err)
		}
		subscribed = append(subscribed, n)
	}
	return topic, subscribed
}

func mustPublish(t *testing.T, s *Store, topic Name, msgs ...message.Message) {
	t.Helper()
	if _, err := s.Publish(t.Context(), topic, msgs); err != nil {
		t.Fatal(err)
	}
}

// settleBodies claims all there is, settles what has one of the bodies and gives back the rest.
func settleBodies(t *testing.T, s *Store, n Name, bodies ...string) {
	t.Helper()
	var ss []Settlement
	for _, c := range mustClaim(t, s, ClaimRequest{From: from(n), Max: 10_000, Lease: time.Hour}) {
		end := Back
		if slices.Contains(bodies, string(c.Message.Body)) {
			end = Done
		}
		ss = append(ss, Settlement{Token: c.Token, Kind: end})
	}
	settle(t, s, ss...)
}

func TestASnapshotTakesAnotherSubscriptionOfItsTopicToWhatItsOwnHadNotSettled(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		topic, subs := siblings(t, s, Definition{}, Definition{History: time.Hour})
		a, b := subs[0], subs[1]
		mustPublish(t, s, topic, text("1", "2", "3", "4", "5")...)
		mustPut(t, s, a, text("of a alone")...)
		settleBodies(t, s, a, "1", "3", "5")
		time.Sleep(time.Second)
		if _, err := s.TakeSnapshot(t.Context(), Name{DefaultNamespace, "monday"}, a, SnapshotOptions{}); err != nil {
			t.Fatal(err)
		}
		mustPublish(t, s, topic, text("6", "7")...)
		settleBodies(t, s, a, "2", "6")
		settleBodies(t, s, b, "2", "3", "4", "7")
		if got := mustSeek(t, s, b, SeekTo{Snapshot: Name{DefaultNamespace, "monday"}}); got != (Sought{Back: 3,
			Settled: 2}) {
			t.Errorf("%+v", got)
		}
		if got := there(t, s, b); got != "2 4 6 7" {
			t.Errorf("the other subscription has %q", got)
		}
		if got := there(t, s, a); got != "4 of a alone 7" {
			t.Errorf("its own has %q", got)
		}
		again := open(t, m.after(false))
		if got := there(t, again, b); got != "2 4 6 7" {
			t.Errorf("after a restart the other subscription has %q", got)
		}
	})
}

// What the snapshot's subscription does not take is settled there from the beginning; what came since waits.
func TestASnapshotOfAFilteredSubscriptionHoldsForOthersWhatCameSince(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		topic, subs := siblings(t, s, Definition{Filter: "lang = 'ja'"}, Definition{History: time.Hour})
		ms := func(texts ...string) []message.Message {
			all := text(texts...)
			for i := range all {
				all[i].Attributes.Set("lang", message.String(texts[i][:2]))
			}
			return all
		}
		mustPublish(t, s, topic, ms("ja1", "en1", "ja2")...)
		time.Sleep(time.Second)
		if _, err := s.TakeSnapshot(t.Context(), news, subs[0], SnapshotOptions{}); err != nil {
			t.Fatal(err)
		}
		mustPublish(t, s, topic, ms("en2", "ja3")...)
		mustSeek(t, s, subs[1], SeekTo{Snapshot: news})
		if got := there(t, s, subs[1]); got != "ja1 ja2 en2 ja3" {
			t.Errorf("there are %q", got)
		}
	})
}

// What the snapshot holds and its own subscription lost, since it kept it for a shorter time, is not taken from others.
func TestWhatExpiredInTheSnapshotsSubscriptionStaysInOthers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		topic, subs := siblings(t, s, Definition{Retention: time.Minute}, Definition{})
		mustPublish(t, s, topic, text("1", "2")...)
		if _, err := s.TakeSnapshot(t.Context(), news, subs[0], SnapshotOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if got := there(t, s, subs[0]); got != "" {
			t.Fatalf("there still are %q", got)
		}
		mustSeek(t, s, subs[1], SeekTo{Snapshot: news})
		if got := there(t, s, subs[1]); got != "1 2" {
			t.Errorf("there are %q", got)
		}
	})
}

func TestASnapshotOfAnotherTopicIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		topic, subs := siblings(t, s, Definition{})
		mustPublish(t, s, topic, text("1")...)
		mustPut(t, s, news, text("2")...)
		if _, err := s.TakeSnapshot(t.Context(), news, subs[0], SnapshotOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Seek(t.Context(), news, SeekTo{Snapshot: news}); !errors.Is(err, ErrDefinition) {
			t.Errorf("a queue of no topic: %v", err)
		}
		if _, err := s.TakeSnapshot(t.Context(), topic, news, SnapshotOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Seek(t.Context(), subs[0], SeekTo{Snapshot: topic}); !errors.Is(err, ErrDefinition) {
			t.Errorf("a snapshot of no topic: %v", err)
		}
	})
}

// TestSeeksAcrossAreAsAModelHasThem publishes to two subscriptions, one of which has messages of its own between,
// settles, takes a snapshot, and holds the other's messages after the seek against sets.
func TestSeeksAcrossAreAsAModelHasThem(t *testing.T) {
	seeds := make([]uint64, 40)
	for i := range seeds {
		seeds[i] = uint64(i)
	}
	for _, seed := range sampletest.Of(t, amount(40, 40, 10), seeds...) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			bubble(t, func(t *testing.T) { seekAcross(t, rand.New(rand.NewPCG(seed, 0))) })
		})
	}
}

func seekAcross(t *testing.T, r *rand.Rand) {
	m := newMemory()
	s := open(t, m)
	topic, subs := siblings(t, s, Definition{}, Definition{History: time.Hour})
	var all []string // bodies of what was published
	publish := func() {
		for range 1 + r.IntN(5) {
			var some []string
			for range r.IntN(150) {
				some = append(some, fmt.Sprint(len(all)))
				all = append(all, fmt.Sprint(len(all)))
			}
			mustPublish(t, s, topic, text(some...)...)
			for _, n := range subs {
				mustPut(t, s, n, text(make([]string, r.IntN(300))...)...)
			}
		}
	}
	settleSome := func(n Name) map[string]bool {
		gone := map[string]bool{"": true} // what is of one queue alone
		for _, b := range all {
			if r.IntN(4) > 0 {
				gone[b] = true
			}
		}
		settleBodies(t, s, n, slices.Collect(maps.Keys(gone))...)
		return gone
	}
	publish()
	gone := settleSome(subs[0])
	time.Sleep(time.Second)
	if _, err := s.TakeSnapshot(t.Context(), news, subs[0], SnapshotOptions{}); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, b := range all {
		if !gone[b] {
			want = append(want, b)
		}
	}
	before := len(all)
	publish()
	want = append(want, all[before:]...)
	settleSome(subs[0])
	settleSome(subs[1])
	if r.IntN(2) == 0 {
		s = open(t, m.after(false))
	}
	mustSeek(t, s, subs[1], SeekTo{Snapshot: news})
	settleBodies(t, s, subs[1], "") // of its own since the snapshot
	if got := strings.Fields(there(t, s, subs[1])); !slices.Equal(got, want) {
		t.Errorf("there are %v, not %v", got, want)
	}
}

// setOf is a set of sequences.
func setOf(all ...uint64) *sequences {
	s := new(sequences)
	for _, seq := range all {
		s.Add(seq)
	}
	return s
}

// A seek looks for few pages of the other queue in one step, and goes on behind.
func TestASeekAcrossGoesOnWhereMessagesLieFarApart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		topic, subs := siblings(t, s, Definition{}, Definition{History: time.Hour})
		const many = acrossSearches + 20
		for i := range many {
			mustPublish(t, s, topic, text(fmt.Sprint(i))...)
			mustPut(t, s, subs[0], text(make([]string, pageSize)...)...)
		}
		settleOldest(t, s, subs[0], 1) // the first that was published
		if _, err := s.TakeSnapshot(t.Context(), news, subs[0], SnapshotOptions{}); err != nil {
			t.Fatal(err)
		}
		settleOldest(t, s, subs[1], many)
		if got := mustSeek(t, s, subs[1], SeekTo{Snapshot: news}); got != (Sought{Back: many - 1}) {
			t.Errorf("%+v", got)
		}
	})
}
