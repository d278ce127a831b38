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
