package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// many is a StreamTransform that makes n messages of each, and counts what becomes of them.
type many struct {
	n    int
	fail func(try, i int) error // before the i-th

	mu         sync.Mutex
	tries      map[string]int
	sent, live int
	most       int
	settled    map[string]int
	ways       []uint64
}

func (f *many) Stream(ctx context.Context, d component.Delivery, out component.Out) error {
	f.mu.Lock()
	if f.tries == nil {
		f.tries, f.settled = map[string]int{}, map[string]int{}
	}
	f.tries[string(d.Message.Body)]++
	f.ways = append(f.ways, d.Way)
	try := f.tries[string(d.Message.Body)]
	f.mu.Unlock()
	var left atomic.Int64
	var back atomic.Bool
	left.Store(1)
	end := func() {
		if left.Add(-1) > 0 {
			return
		}
		if back.Load() {
			d.Settle(component.Again(0, errDown))
		} else {
			d.Settle(component.OK(time.Time{}))
		}
	}
	for i := range f.n {
		if f.fail != nil {
			if err := f.fail(try, i); err != nil {
				return err
			}
		}
		m := d.Message.Clone()
		m.ID = message.NewID()
		m.Body = fmt.Appendf(nil, "%s/%d", d.Message.Body, i)
		left.Add(1)
		f.count(1)
		err := out.Send(ctx, component.Delivery{Message: m, Settle: func(o component.Outcome) {
			f.count(-1)
			f.mu.Lock()
			f.settled[string(m.Body)]++
			f.mu.Unlock()
			if o.Verdict != component.Delivered {
				back.Store(true)
			}
			end()
		}})
		if err != nil {
			f.count(-1)
			return err
		}
	}
	end()
	return nil
}

func (f *many) count(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.live += n
	f.most = max(f.most, f.live)
	if n > 0 {
		f.sent++
	}
}

func TestAMessageBecomesManyAndIsSettledWhenAllOfThemAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, out, src := &many{n: 5000}, &answer{}, feedOf("a", "b")
		var early atomic.Bool
		out.send = func(_ context.Context, batch []*message.Message) ([]component.Outcome, error) {
			<-time.After(time.Millisecond)
			if d, _ := src.verdicts(); d > 0 && string(batch[0].Body[0]) == "a" {
				early.Store(true)
			}
			return make([]component.Outcome, len(batch)), nil
		}
		r := mustRun(t, mustNew(t, &keeper{}, Options{MaxInFlight: 100}, Node{Name: "in", Source: src},
			Node{Name: "fan", Inputs: []string{"in"}, Stream: f},
			Node{Name: "out", Inputs: []string{"fan"}, Sink: out,
				Settings: Settings{Request: Request{Concurrency: 1}}}))
		if len(out.got()) != 10_000 || r.Delivered != 10_002 || early.Load() {
			t.Errorf("%d arrived, settled early %v, %+v", len(out.got()), early.Load(), r)
		}
		if f.most > 110 {
			t.Errorf("%d were in flight at once, of 100", f.most)
		}
		for body, n := range f.settled {
			if n != 1 {
				t.Errorf("%s settled %d times", body, n)
			}
		}
		src.once(t, 2)
	})
}

func TestStreamsDoNotWaitForTheRoomThatTheirOwnMessagesTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second, out := &many{n: 7}, &many{n: 5}, &answer{}
		src := feedOf(numbers(50)...)
		r := mustRun(t, mustNew(t, &keeper{}, Options{MaxInFlight: 3}, Node{Name: "in", Source: src},
			Node{Name: "fan", Inputs: []string{"in"}, Stream: first},
			Node{Name: "again", Inputs: []string{"fan"}, Stream: second, Workers: 2},
			Node{Name: "out", Inputs: []string{"again"}, Sink: out}))
		if len(out.got()) != 50*35 || r.GivenBack != 0 {
			t.Errorf("%d arrived, %+v", len(out.got()), r)
		}
		src.once(t, 50)
	})
}

func TestEachOfTheManyIsRetriedAndDiesByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, k, src := &many{n: 10}, &keeper{}, feedOf("a")
		src.deliveries[0].Queue = "default/campaigns"
		var mu sync.Mutex
		tries := map[string]int{}
		out := &answer{send: each(func(body string) component.Outcome {
			mu.Lock()
			defer mu.Unlock()
			switch tries[body]++; {
			case body == "a/3":
				return component.Reject(errors.New("unknown user"))
			case body == "a/5" && tries[body] < 3:
				return component.Again(0, errDown)
			}
			return component.OK(time.Time{})
		})}
		r := mustRun(t, mustNew(t, k, Options{}, Node{Name: "in", Source: src},
			Node{Name: "fan", Inputs: []string{"in"}, Stream: f},
			Node{Name: "out", Inputs: []string{"fan"}, Sink: out}))
		if len(out.got()) != 9 || r.DeadLettered != 1 || r.Delivered != 10 {
			t.Errorf("%d arrived, %+v", len(out.got()), r)
		}
		letter := k.queues["out_dead"][0]
		if string(letter.Body) != "a/3" || letter.Death.Step != "fan/out" || letter.Death.Queue != "default/campaigns" {
			t.Errorf("the dead letter is %s, %+v", letter.Body, letter.Death)
		}
		if d, _ := src.verdicts(); d != 1 {
			t.Error("its message is not settled")
		}
	})
}

func TestAReplayedOneOfTheManyGoesOnWhereItCameToBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, k, src := &many{n: 10}, &keeper{}, feedOf("one", "two", "three")
		src.deliveries[0].Message.Only = "fan/out"
		src.deliveries[1].Message.Only = "gone/out"
		src.deliveries[2].Message.Only = "fan/gone"
		out, other := &answer{}, &answer{}
		r := mustRun(t, mustNew(t, k, Options{}, Node{Name: "in", Source: src},
			Node{Name: "fan", Inputs: []string{"in"}, Stream: f},
			Node{Name: "out", Inputs: []string{"fan"}, Sink: out},
			Node{Name: "other", Inputs: []string{"fan"}, Sink: other}))
		equal(t, "at the step", out.got(), []string{"one"})
		if len(other.got()) != 0 || f.sent != 0 {
			t.Errorf("%q elsewhere, %d made", other.got(), f.sent)
		}
		if r.DeadLettered != 2 || r.Delivered != 1 {
			t.Errorf("%+v", r)
		}
		var all []string
		for _, ms := range k.queues {
			for _, m := range ms {
				if !strings.Contains(m.Death.Reason, "that way is not there") {
					t.Error(m.Death.Reason)
				}
				all = append(all, string(m.Body))
			}
		}
		slices.Sort(all)
		equal(t, "dead letters", all, []string{"three", "two"})
	})
}

func TestAReplayedOneThatDiesAgainCanBeReplayedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, src := &keeper{}, feedOf("one")
		src.deliveries[0].Message.Only, src.deliveries[0].Queue = "fan/out", "default/campaigns"
		out := &answer{send: each(
			func(string) component.Outcome { return component.Reject(errors.New("still unknown")) })}
		mustRun(t, mustNew(t, k, Options{}, Node{Name: "in", Source: src},
			Node{Name: "fan", Inputs: []string{"in"}, Stream: &many{n: 10}},
			Node{Name: "out", Inputs: []string{"fan"}, Sink: out}))
		if letters := k.queues["out_dead"]; len(letters) != 1 || letters[0].Death.Step != "fan/out" ||
			string(letters[0].Body) != "one" {
			t.Errorf("%+v", letters)
		}
	})
}

func TestAStreamThatFailsIsTriedAgainOrBecomesADeadLetter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &many{n: 3, fail: func(try, i int) error {
			switch {
			case i < 2:
				return nil
			case try < 3:
				return component.RetryError(0, errDown)
			}
			return errors.New("no such campaign")
		}}
		k, src, out := &keeper{}, feedOf("a"), &answer{}
		r := mustRun(t, mustNew(t, k, Options{}, Node{Name: "in", Source: src},
			Node{Name: "fan", Inputs: []string{"in"}, Stream: f},
			Node{Name: "out", Inputs: []string{"fan"}, Sink: out}))
		equal(t, "dead letters", k.bodies("fan_dead"), []string{"a"})
		if f.tries["a"] != 3 || r.Retried != 2 || len(out.got()) != 6 {
			t.Errorf("%d tries, %d arrived, %+v", f.tries["a"], len(out.got()), r)
		}
	})
}

func TestAStopEndsAStreamAndGivesItsMessageBack(t *testing.T) {
	for _, hang := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			f, src := &many{n: 1_000_000}, feedOf("a")
			sent := 0
			out := &answer{send: func(ctx context.Context, batch []*message.Message) ([]component.Outcome, error) {
				if sent += len(batch); sent > 500 {
					stop()
					if hang {
						<-ctx.Done()
						return nil, ctx.Err()
					}
				}
				return make([]component.Outcome, len(batch)), nil
			}}
			p := mustNew(t, &keeper{}, Options{StopGrace: time.Second, MaxInFlight: 200}, Node{Name: "in", Source: src},
				Node{Name: "fan", Inputs: []string{"in"}, Stream: f},
				Node{Name: "out", Inputs: []string{"fan"}, Sink: out,
					Settings: Settings{Request: Request{Concurrency: 1}}})
			if _, err := p.Run(ctx); err != nil {
				t.Fatal(err)
			}
			if d, back := src.verdicts(); d != 0 || back != 1 {
				t.Errorf("%d delivered, %d given back", d, back)
			}
			if f.live != 0 || len(f.settled) != f.sent && len(f.settled) != f.sent-1 {
				t.Errorf("%d still live, %d of %d settled", f.live, len(f.settled), f.sent)
			}
			if hang == (len(out.got()) == len(f.settled)) {
				t.Errorf("hang %v: %d arrived of %d settled", hang, len(out.got()), len(f.settled))
			}
		})
	}
}

func TestTheWayOfAMessageIsTheSameWhereverItWasReadFrom(t *testing.T) {
	ways := func(origin message.Origin) []uint64 {
		f, src := &many{n: 1}, feedOf("a")
		src.deliveries[0].Message.Origin = origin
		twice := change(func(_ context.Context, m *message.Message, emit component.Emit) error {
			emit("", m.Clone())
			emit("", m.Clone())
			return nil
		})
		mustRun(t, mustNew(t, &keeper{}, Options{}, Node{Name: "in", Source: src},
			Node{Name: "twice", Inputs: []string{"in"}, Transform: twice},
			Node{Name: "fan", Inputs: []string{"in", "twice"}, Stream: f, Workers: 1},
			Node{Name: "out", Inputs: []string{"fan"}, Sink: &answer{}}))
		slices.Sort(f.ways)
		return f.ways
	}
	plain, read := ways(message.Origin{}), ways(message.Origin{Source: "file", Offset: 7, Part: 9})
	if len(slices.Compact(slices.Clone(plain))) != 3 || !slices.Equal(plain, read) {
		t.Errorf("ways %v and %v", plain, read)
	}
}
