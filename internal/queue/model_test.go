package queue

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
)

// noDeadline hides a test's deadline, which a bubble refuses to tell.
type noDeadline struct{ rapid.TB }

// modelMessage is what the reference remembers of a message.
type modelMessage struct {
	seq      uint64
	body     string
	n        int64
	key      string
	attempts int
	token    Token
	claimed  bool
	deadline time.Time
	wake     time.Time
	retry    bool // sleeps because it was put back
}

// model is the simple reference: a list, looked through from the front.
type model struct {
	messages []*modelMessage
	next     uint64
}

var modelConditions = []struct {
	text  string
	match func(n int64) bool
}{
	{"", func(int64) bool { return true }},
	{"n = 0", func(n int64) bool { return n == 0 }},
	{"n >= 1", func(n int64) bool { return n >= 1 }},
	{"n in (0, 2)", func(n int64) bool { return n == 0 || n == 2 }},
	{"n between 1 and 2 and n % 2 = 1", func(n int64) bool { return n == 1 }}, // no index serves it
}

func (m *model) tick(now time.Time) {
	due := slices.Clone(m.messages)
	slices.SortStableFunc(due, func(a, b *modelMessage) int { return a.deadline.Compare(b.deadline) })
	for _, x := range due {
		if x.claimed && !x.deadline.After(now) {
			m.back(x, time.Time{})
		}
		if !x.wake.IsZero() && !x.wake.After(now) {
			x.wake, x.retry = time.Time{}, false
		}
	}
}

// back puts x back, and those of its key that were handed out after it in the same call. (In this test a call takes at
// most one of a key, unless by several of one claim.)
func (m *model) back(x *modelMessage, wake time.Time) {
	x.claimed = false
	x.wake, x.retry = wake, !wake.IsZero()
	for _, y := range m.messages {
		if x.key != "" && y.key == x.key && y.seq > x.seq && y.claimed {
			y.claimed = false
			y.attempts--
		}
	}
}

// ready lists what a reader without claims could get, in order; taken is what this very claim took already.
func (m *model) ready(match func(int64) bool, taken []*modelMessage) *modelMessage {
	blocked := map[string]bool{}
	for _, x := range m.messages {
		if x.key != "" {
			if blocked[x.key] || slices.Contains(taken, x) {
				continue
			}
			if x.claimed || x.retry {
				blocked[x.key] = true
				continue
			}
			if !x.wake.IsZero() {
				continue
			}
			blocked[x.key] = true
		}
		if !x.claimed && x.wake.IsZero() && match(x.n) {
			return x
		}
	}
	return nil
}

func (m *model) drop(x *modelMessage) {
	m.messages = slices.DeleteFunc(m.messages, func(y *modelMessage) bool { return x == y })
}

// TestTheStoreDoesWhatASimpleListDoes drives a Store and the reference with the same random operations, through power
// cuts and deaths of the process at any point between them.
func TestTheStoreDoesWhatASimpleListDoes(t *testing.T) {
	cases(t, 100, 25)
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(noDeadline{t}, func(t *rapid.T) {
			ctx := context.Background()
			mem := newMemory()
			start := func() *Store {
				s, err := Open(ctx, Options{Journal: mem, CheckpointBytes: 1 << 40})
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			s := start()
			stop := func() {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				mem.Close()
			}
			defer func() { stop() }()
			if _, err := s.CreateQueue(ctx, news, Definition{}); err != nil {
				t.Fatal(err)
			}
			ref := &model{next: 1}
			pickClaimed := func(t *rapid.T) *modelMessage {
				var c []*modelMessage
				for _, x := range ref.messages {
					if x.claimed {
						c = append(c, x)
					}
				}
				if len(c) == 0 {
					t.Skip("nothing is claimed")
				}
				return rapid.SampledFrom(c).Draw(t, "claim")
			}
			restart := func(powerCut bool) {
				old := mem
				before := mem.after(powerCut)
				stop()
				_ = old
				mem = before
				s = start()
			}
			settleOne := func(t *rapid.T, st Settlement) {
				errs, err := s.Settle(ctx, []Settlement{st})
				if err != nil || errs[0] != nil {
					t.Fatalf("settle: %v %v", err, errs)
				}
			}
			t.Repeat(map[string]func(*rapid.T){
				"put": func(t *rapid.T) {
					var ms []message.Message
					for range rapid.IntRange(1, 4).Draw(t, "group") {
						x := &modelMessage{seq: ref.next, body: fmt.Sprint("m", ref.next),
							n:   rapid.Int64Range(0, 3).Draw(t, "n"),
							key: rapid.SampledFrom([]string{"", "", "a", "b"}).Draw(t, "key")}
						m := message.Message{Body: []byte(x.body), Key: x.key}
						m.Attributes.Set("n", message.Int(x.n))
						if rapid.IntRange(0, 4).Draw(t, "sleeps") == 0 {
							x.wake = time.Now().Add(5 * time.Second)
							m.NotBefore = x.wake
						}
						ref.next++
						ref.messages = append(ref.messages, x)
						ms = append(ms, m)
					}
					r, err := s.Put(ctx, news, ms)
					if err != nil {
						t.Fatal(err)
					}
					if r[0].Sequence != ref.next-uint64(len(ms)) {
						t.Fatalf("sequence %d, the reference is at %d", r[0].Sequence, ref.next)
					}
				},
				"claim": func(t *rapid.T) {
					c := rapid.SampledFrom(modelConditions).Draw(t, "condition")
					from := []From{{Queue: news}}
					if c.text != "" {
						e, err := condition.Parse(c.text)
						if err != nil {
							t.Fatal(err)
						}
						from[0].Where = e
					}
					max := rapid.IntRange(1, 3).Draw(t, "max")
					got, err := s.Claim(ctx, ClaimRequest{From: from, Max: max, Lease: 20 * time.Second})
					if err != nil {
						t.Fatal(err)
					}
					var taken []*modelMessage
					for i := 0; i < max; i++ {
						x := ref.ready(c.match, taken)
						if x == nil {
							if len(got) != i {
								t.Fatalf("claimed %q, the reference has only %d for %q", bodies(got), i, c.text)
							}
							break
						}
						if i >= len(got) || string(got[i].Message.Body) != x.body {
							t.Fatalf("claimed %q, the reference has %q next for %q", bodies(got), x.body, c.text)
						}
						x.claimed, x.deadline, x.token = true, time.Now().Add(20*time.Second), got[i].Token
						if x.attempts++; got[i].Attempt != x.attempts {
							t.Fatalf("%s: attempt %d, the reference counts %d", x.body, got[i].Attempt, x.attempts)
						}
						taken = append(taken, x)
					}
				},
				"done": func(t *rapid.T) {
					x := pickClaimed(t)
					settleOne(t, Settlement{Token: x.token})
					ref.drop(x)
				},
				"back": func(t *rapid.T) {
					x := pickClaimed(t)
					delay := time.Duration(rapid.IntRange(0, 3).Draw(t, "delay")) * time.Second
					settleOne(t, Settlement{Token: x.token, Kind: Back, Delay: delay})
					wake := time.Time{}
					if delay > 0 {
						wake = time.Now().Add(delay)
					}
					ref.back(x, wake)
				},
				"extend": func(t *rapid.T) {
					x := pickClaimed(t)
					if errs, err := s.Extend(ctx, []Token{x.token}, 30*time.Second); err != nil || errs[0] != nil {
						t.Fatal(err, errs)
					}
					x.deadline = time.Now().Add(30 * time.Second)
				},
				"remove": func(t *rapid.T) {
					seqs := rapid.SliceOfN(rapid.Uint64Range(1, ref.next), 1, 3).Draw(t, "sequences")
					want := 0
					for _, x := range slices.Clone(ref.messages) {
						if slices.Contains(seqs, x.seq) && !x.claimed {
							ref.drop(x)
							want++
						}
					}
					if n, err := s.Remove(ctx, news, seqs); err != nil || n != want {
						t.Fatalf("removed %d of %v, the reference %d: %v", n, seqs, want, err)
					}
				},
				"purge": func(t *rapid.T) {
					if rapid.IntRange(0, 9).Draw(t, "really") > 0 {
						t.Skip()
					}
					n, err := s.Purge(ctx, news)
					if err != nil || n != len(ref.messages) {
						t.Fatalf("purged %d of %d: %v", n, len(ref.messages), err)
					}
					ref.messages = nil
				},
				"time": func(t *rapid.T) {
					time.Sleep(time.Duration(rapid.IntRange(1, 12).Draw(t, "seconds")) * time.Second)
					synctest.Wait()
					ref.tick(time.Now())
				},
				"checkpoint": func(t *rapid.T) {
					if err := s.checkpoint(ctx); err != nil {
						t.Fatal(err)
					}
				},
				"death": func(t *rapid.T) { restart(false) },
				"power cut": func(t *rapid.T) {
					// claims that a power cut forgets are TestAClaimMayBeForgotten's business
					if err := mem.Sync(ctx); err != nil {
						t.Fatal(err)
					}
					restart(true)
				},
				"": func(t *rapid.T) {
					p, err := s.Peek(ctx, news, PeekRequest{Max: 10000})
					if err != nil {
						t.Fatal(err)
					}
					if len(p) != len(ref.messages) {
						t.Fatalf("the store holds %d messages, the reference %d", len(p), len(ref.messages))
					}
					for i, x := range ref.messages {
						if p[i].Sequence != x.seq || string(p[i].Message.Body) != x.body ||
							(p[i].State == Claimed) != x.claimed || p[i].Attempts != x.attempts {
							t.Fatalf("the store holds %+v, the reference %+v", p[i], x)
						}
					}
				},
			})
		})
	})
}

func TestAClaimMayBeForgottenByAPowerCutButNotByTheDeathOfTheProcess(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, text("x")...)
		old := mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Hour})
		if c := mustClaim(t, open(t, m.after(false)), ClaimRequest{From: from(news)}); len(c) != 0 {
			t.Errorf("after the death of the process it is handed out again: %v", c)
		}
		again := open(t, m.after(true))
		c := mustClaim(t, again, ClaimRequest{From: from(news)})
		if len(c) != 1 || c[0].Attempt != 1 {
			t.Fatalf("after a power cut: %v", c)
		}
		errs, err := again.Settle(context.Background(), []Settlement{{Token: old[0].Token}})
		if err != nil || errs[0] == nil {
			t.Errorf("the forgotten claim settles somebody else's: %v %v", errs, err)
		}
	})
}

func FuzzDecodeEvent(f *testing.F) {
	m := message.Message{Body: []byte("b"), Key: "k", Dedup: "d", Only: "o",
		Death: &message.Death{Queue: "q", Reason: "r"}, Row: []message.Value{message.Int(1), message.String("x")}}
	m.Attributes.Set("a", message.Float(1.5))
	columns, err := message.ParseColumns([]string{"a int"})
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range []event{
		&started{1}, &queueDefined{queue: 1, name: news,
			def: Definition{Columns: columns, Labels: map[string]string{"a": "b"}}}, &queueGone{1},
		&topicDefined{1, news, nil}, &topicGone{1},
		&put{queue: 1, seq: 2, origin: message.Origin{Source: "s", Offset: 3}, head: appendHead(nil, &m)},
		&shared{topic: 1, head: appendHead(nil, &m)},
		&share{queue: 1, seq: 2}, &claimed{queue: 1, seq: 2, attempt: 3}, &extended{1, 2, 3},
		&settled{queue: 1, seq: 2, end: endBack, wake: 5}, &purged{queue: 1, frontier: 2},
		&removed{queue: 1, runs: []run{{2, 3}, {9, 1}}}, &noted{note: Note{"r", "k", []byte("v")}},
		&sought{queue: 1, to: 2}, &sought{queue: 1, snapshot: news, from: 3, upto: 4},
		&sought{queue: 1, snapshot: news, from: 3, upto: 4, goes: setOf(3)}, &renamed{1, news},
		&reshaped{defined: queueDefined{queue: 1, name: news, def: Definition{Columns: columns}}, frontier: 7,
			from: []int{fixed}},
	} {
		f.Add(encodeEvent(nil, 12345, e))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		at, e, err := decodeEvent(head)
		if err != nil {
			return
		}
		again := encodeEvent(nil, at, e)
		at2, e2, err := decodeEvent(again)
		if err != nil || at2 != at || e2.kind() != e.kind() {
			t.Fatalf("%x reads as %+v, written as %x, which reads as %+v, %v", head, e, again, e2, err)
		}
		if p, ok := e.(*put); ok {
			_, _ = decodeMessage(p.head, nil)
			_, _ = decodeMessage(p.head, p.head)
		}
	})
}
