package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
)

// others is a queue that has nothing to do with the others.
var others = Name{DefaultNamespace, "beside"}

// laborious is a condition that no message meets and that costs a read of the whole value for each of its terms.
func laborious(t *testing.T, name string, terms int) *condition.Expr {
	t.Helper()
	var b strings.Builder
	for i := range terms {
		if i > 0 {
			b.WriteString(" or ")
		}
		fmt.Fprintf(&b, "%s like '%%y_%dz%%'", name, i)
	}
	e, err := condition.Parse(b.String())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestRuleAConditionThatIsMuchWorkIsAskedWithoutTheLock lets others put messages while a condition is asked that keeps
// a processor busy for seconds. They are done long before it is, and it ends when its caller gives up: it is not over
// by itself before twenty of them were answered.
func TestRuleAConditionThatIsMuchWorkIsAskedWithoutTheLock(t *testing.T) {
	const most, values, puts = 200, 64 << 10, 20
	long := strings.Repeat("x", values)
	with := func() (m message.Message) {
		m.Body = []byte(long)
		m.Attributes.Set("a", message.String(long))
		return m
	}
	some := make([]message.Message, 50)
	for i := range some {
		some[i] = with()
	}
	claim := func(wait time.Duration) func(ctx context.Context, s *Store, where *condition.Expr) error {
		return func(ctx context.Context, s *Store, where *condition.Expr) error {
			_, err := s.Claim(ctx, ClaimRequest{From: []From{{news, where}}, Wait: wait})
			return err
		}
	}
	for name, do := range map[string]func(ctx context.Context, s *Store, where *condition.Expr) error{
		"claim":            claim(0),
		"claim that waits": claim(time.Hour),
		"first": func(ctx context.Context, s *Store, where *condition.Expr) error {
			_, _, err := s.First(ctx, From{news, where})
			return err
		},
		"idle": func(ctx context.Context, s *Store, where *condition.Expr) error {
			_, err := s.Idle(ctx, news, where)
			return err
		},
		"peek": func(ctx context.Context, s *Store, where *condition.Expr) error {
			_, err := s.Peek(ctx, news, PeekRequest{Where: where})
			return err
		},
		"replay": func(ctx context.Context, s *Store, where *condition.Expr) error {
			_, err := s.Replay(ctx, news, ReplayRequest{To: others, Where: where})
			return err
		},
	} {
		for _, of := range []string{"a", "body"} {
			for _, later := range []bool{false, true} {
				if later && name != "claim that waits" {
					continue
				}
				t.Run(fmt.Sprintf("%s, by %s, later %v", name, of, later), func(t *testing.T) {
					s := open(t, newMemory())
					mustPut(t, s, others, text("begin")...)
					mustPut(t, s, news)
					if !later {
						mustPut(t, s, news, some...)
					}
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					over := make(chan error, 1)
					where := laborious(t, of, most)
					go func() { over <- do(ctx, s, where) }()
					if later {
						waitFor(t, s, 1)
						mustPut(t, s, news, some...)
					}
					for i := range puts {
						mustPut(t, s, others, text("x")...)
						select {
						case err := <-over:
							t.Fatalf("it was over before %d puts were answered: %v", i+1, err)
						default:
						}
						time.Sleep(time.Millisecond) // it is under way
					}
					cancel()
					if err := <-over; !errors.Is(err, context.Canceled) {
						t.Errorf("%v, want that it was given up", err)
					}
				})
			}
		}
	}
}

// TestWhoWaitsWithAConditionThatIsMuchWorkLooksItself lets readers wait with such conditions: they are told to look,
// those that find nothing wait again, and those that find something have it, whoever else waits, and by whatever else.
func TestWhoWaitsWithAConditionThatIsMuchWorkLooksItself(t *testing.T) {
	long := func(name, end string) (m message.Message) {
		value := strings.Repeat("x", 16<<10) + end
		if name == "body" {
			m.Body = []byte(value)
			return m
		}
		m.Attributes.Set(name, message.String(value))
		return m
	}
	for _, of := range []string{"a", "body"} {
		for _, wishes := range []int{1, 2} {
			t.Run(fmt.Sprintf("%d by %s", wishes, of), func(t *testing.T) {
				s := open(t, newMemory())
				mustPut(t, s, news)
				mustPut(t, s, others)
				got := make(chan string)
				wait := func(where *condition.Expr) {
					from := []From{{news, where}}
					if wishes > 1 {
						from = append(from, From{others, where})
					}
					cs := mustClaim(t, s, ClaimRequest{From: from, Wait: time.Hour})
					got <- fmt.Sprint(cs[0].Sequence)
				}
				where := laborious(t, of, 200)
				go wait(where) // is given y_7z
				waitFor(t, s, 1)
				mustPut(t, s, news, long(of, "y_7")) // nobody wants it
				mustPut(t, s, news, long(of, "y_8"))
				waitFor(t, s, 1)
				mustPut(t, s, news, long(of, "yy7z"))
				if found := <-got; found != "3" {
					t.Errorf("message %s is claimed, want 3", found)
				}
				go wait(where)
				waitFor(t, s, 1)
				go wait(nil)
				mustPut(t, s, news, long(of, "y_9z"))
				if a, b := <-got, <-got; a == b || a > "4" || b > "4" {
					t.Errorf("messages %s and %s are claimed", a, b)
				}
			})
		}
	}
}

// TestRuleFiltersThatAreMuchWorkAreAskedWithoutTheLock publishes a message to subscriptions whose filters keep a
// processor busy for seconds. Others put messages meanwhile, and who publishes may give up.
func TestRuleFiltersThatAreMuchWorkAreAskedWithoutTheLock(t *testing.T) {
	const puts = 20
	long := strings.Repeat("x", 256<<10)
	m := message.Message{Body: []byte(long)}
	m.Attributes.Set("a", message.String(long))
	for _, of := range []string{"a", "body"} {
		for name, do := range map[string]func(ctx context.Context, s *Store) error{
			"publish": func(ctx context.Context, s *Store) error {
				_, err := s.Publish(ctx, news, []message.Message{m})
				return err
			},
			"dead letter": func(ctx context.Context, s *Store) error {
				mustPut(t, s, others, m)
				c := mustClaim(t, s, ClaimRequest{From: []From{{others, nil}}})[0]
				_, err := s.Settle(ctx, []Settlement{{Token: c.Token, Kind: Dead}})
				return err
			},
		} {
			t.Run(name+" by "+of, func(t *testing.T) {
				s := open(t, newMemory())
				if _, err := s.CreateTopic(t.Context(), news, nil); err != nil {
					t.Fatal(err)
				}
				if _, err := s.CreateQueue(t.Context(), others, Definition{DeadLetter: news.Short()}); err != nil {
					t.Fatal(err)
				}
				filter := laborious(t, of, 400).String()
				for i := range 10 {
					n := Name{DefaultNamespace, fmt.Sprint("s", i)}
					d := Definition{Topic: news.Short(), Filter: filter}
					if _, err := s.CreateQueue(t.Context(), n, d); err != nil {
						t.Fatal(err)
					}
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				over := make(chan error, 1)
				go func() { over <- do(ctx, s) }()
				beside := Name{DefaultNamespace, "third"}
				for i := range puts {
					mustPut(t, s, beside, text("x")...)
					select {
					case err := <-over:
						t.Fatalf("it was over before %d puts were answered: %v", i+1, err)
					default:
					}
					time.Sleep(time.Millisecond)
				}
				cancel()
				if err := <-over; !errors.Is(err, context.Canceled) {
					t.Errorf("%v, want that it was given up", err)
				}
			})
		}
	}
}

// TestFiltersAskedBeforehandDecideAsUnderTheLock publishes messages to subscriptions, with columns and without, whose
// filters are much work; new ones come between two messages.
func TestFiltersAskedBeforehandDecideAsUnderTheLock(t *testing.T) {
	s := open(t, newMemory())
	if _, err := s.CreateTopic(t.Context(), news, nil); err != nil {
		t.Fatal(err)
	}
	columns := message.Columns{{Name: "a", Type: message.TypeText, Length: 1<<16 - 1}}
	long := strings.Repeat("x", 16<<10)
	for round := range 3 {
		for i, cs := range []message.Columns{nil, columns} {
			filter := laborious(t, "a", 40).String() + " or a like '%_yes%'"
			n := Name{DefaultNamespace, fmt.Sprintf("s%d-%d", round, i)}
			d := Definition{Topic: news.Short(), Filter: filter, Columns: cs}
			if _, err := s.CreateQueue(t.Context(), n, d); err != nil {
				t.Fatal(err)
			}
		}
		var ms []message.Message
		for _, end := range []string{"no", "yes", "y_7z"} {
			m := message.Message{Body: fmt.Appendf(nil, `{"a":%q}`, long+end)}
			m.Attributes.Set("a", message.String(long+end))
			ms = append(ms, m)
		}
		if _, err := s.Publish(t.Context(), news, ms); err != nil {
			t.Fatal(err)
		}
		for r := range round + 1 {
			for i := range 2 {
				n := Name{DefaultNamespace, fmt.Sprintf("s%d-%d", r, i)}
				if st, err := s.Stats(t.Context(), n); err != nil || st.Ready != int64(2*(round-r+1)) {
					t.Errorf("round %d, %s: %d messages, %v", round, n.Short(), st.Ready, err)
				}
			}
		}
	}
}
