package queue

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
)

// published finds the one record of a journal that holds a body.
func published(t *testing.T, m *memory) (a journal.Address, released bool) {
	t.Helper()
	n := 0
	for _, g := range m.Groups() {
		for i, r := range g.Records {
			if strings.Contains(string(r.Body), "published") && r.Queue == 1 { // the topic's
				a = journal.Address{Position: g.Position, Index: uint32(i)}
				n++
			}
		}
	}
	if n != 1 {
		t.Fatalf("the body is stored %d times", n)
	}
	return a, m.Released(a)
}

// TestRuleATopicsBodyIsReleasedWhenTheLastSubscriptionLetGo lets two subscriptions let go of a message in every pair of
// ways, with a restart in between: the counts are not journaled but made anew.
func TestRuleATopicsBodyIsReleasedWhenTheLastSubscriptionLetGo(t *testing.T) {
	ctx := context.Background()
	claimAs := func(kind SettleKind) func(*testing.T, *Store, Name) {
		return func(t *testing.T, s *Store, n Name) {
			c := mustClaim(t, s, ClaimRequest{From: from(n)})
			if len(c) != 1 {
				t.Fatalf("claimed %d", len(c))
			}
			settle(t, s, Settlement{Token: c[0].Token, Kind: kind})
		}
	}
	ways := []struct {
		name  string
		def   Definition
		letGo func(*testing.T, *Store, Name) // nil: it never held it
	}{
		{"settled", Definition{}, claimAs(Done)},
		{"dead", Definition{}, claimAs(Dead)},
		{"out of attempts", Definition{MaxAttempts: 1}, func(t *testing.T, s *Store, n Name) {
			claimAs(Back)(t, s, n)
			time.Sleep(time.Millisecond)
		}},
		{"expired", Definition{Retention: time.Minute},
			func(*testing.T, *Store, Name) { time.Sleep(time.Minute + time.Millisecond) }},
		{"purged", Definition{}, func(t *testing.T, s *Store, n Name) {
			if removed, err := s.Purge(ctx, n); err != nil || removed != 1 {
				t.Fatal(removed, err)
			}
		}},
		{"deleted", Definition{}, func(t *testing.T, s *Store, n Name) {
			if err := s.DeleteQueue(ctx, n); err != nil {
				t.Fatal(err)
			}
		}},
		{"replayed elsewhere", Definition{}, func(t *testing.T, s *Store, n Name) {
			if r, err := s.Replay(ctx, n, ReplayRequest{To: Name{DefaultNamespace, "elsewhere"}}); err != nil ||
				r.Moved != 1 {
				t.Fatal(r, err)
			}
		}},
		{"filtered", Definition{Filter: "n = 2"}, nil},
	}
	for _, first := range ways {
		for _, second := range ways {
			if second.letGo == nil || first.name == "expired" && second.name == "expired" {
				continue // both expire at once
			}
			t.Run(first.name+", then "+second.name, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					m := newMemory()
					s := open(t, m)
					a, b, topic := Name{DefaultNamespace, "a"}, Name{DefaultNamespace, "b"}, Name{DefaultNamespace, "t"}
					if _, err := s.CreateTopic(ctx, topic, nil); err != nil {
						t.Fatal(err)
					}
					first.def.Topic, second.def.Topic = "t", "t"
					if second.def.Retention != 0 {
						second.def.Retention *= 2 // not before the other
					}
					for n, d := range map[Name]Definition{a: first.def, b: second.def} {
						if _, err := s.CreateQueue(ctx, n, d); err != nil {
							t.Fatal(err)
						}
					}
					msg := message.Message{Body: []byte("published")}
					msg.Attributes.Set("n", message.Int(1))
					if _, err := s.Publish(ctx, topic, []message.Message{msg}); err != nil {
						t.Fatal(err)
					}
					needed := func(when string, want bool) {
						t.Helper()
						synctest.Wait()
						if _, released := published(t, m); released == want {
							t.Fatalf("%s the body is released: %v", when, released)
						}
					}
					needed("with two subscriptions that hold it", true)
					if err := s.checkpoint(ctx); err != nil {
						t.Fatal(err)
					}
					m = m.after(false)
					s = open(t, m)
					needed("with two, after a restart", true)
					if first.letGo != nil {
						first.letGo(t, s, a)
					}
					needed("with one that holds it", true)
					if err := s.checkpoint(ctx); err != nil {
						t.Fatal(err)
					}
					for range 2 { // from the log, and from a checkpoint with the rest of the log
						m = m.after(false)
						s = open(t, m)
						needed("after a restart", true)
						m.ForgetCheckpoints()
					}
					if second.letGo(t, s, b); second.def.Retention != 0 {
						time.Sleep(time.Minute)
					}
					needed("with none that holds it", false)
				})
			})
		}
	}
}
