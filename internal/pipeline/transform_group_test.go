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

// together is a GroupTransform made of a function.
type together struct {
	grouping component.Grouping
	do       func(ctx context.Context, ms []*message.Message, emit component.EmitFor) []error
}

func (g together) Grouping() component.Grouping { return g.grouping }

func (g together) TransformGroup(ctx context.Context, ms []*message.Message, emit component.EmitFor) []error {
	return g.do(ctx, ms, emit)
}

func emitAll(_ context.Context, ms []*message.Message, emit component.EmitFor) []error {
	for i, m := range ms {
		emit(i, "", upper(m))
	}
	return nil
}

func TestALoneMessageIsAGroupAtOnceAndThoseThatComeMeanwhileAreTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sizes []int
		g := together{component.Grouping{MaxEvents: 100},
			func(ctx context.Context, ms []*message.Message, emit component.EmitFor) []error {
				sizes = append(sizes, len(ms))
				<-time.After(time.Second)
				return emitAll(ctx, ms, emit)
			}}
		src, out := feedOf(numbers(150)...), &answer{}
		mustRun(t, mustNew(t, &keeper{}, Options{}, Node{Name: "in", Source: src},
			Node{Name: "look", Inputs: []string{"in"}, Group: g},
			Node{Name: "out", Inputs: []string{"look"}, Sink: out}))
		if sizes[0] != 1 || len(sizes) > 4 {
			t.Errorf("groups of %v", sizes)
		}
		src.once(t, 150)
	})
}

func TestOrderedGroupsLeaveInOrderWhateverOvertakesWhat(t *testing.T) {
	for _, ordered := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var calls, most, now atomic.Int32
			g := together{component.Grouping{MaxEvents: 3, Concurrency: 4, Ordered: ordered},
				func(ctx context.Context, ms []*message.Message, emit component.EmitFor) []error {
					most.Store(max(most.Load(), now.Add(1)))
					defer now.Add(-1)
					<-time.After(time.Duration(10-calls.Add(1)%10) * time.Millisecond) // later ones are faster
					return emitAll(ctx, ms, emit)
				}}
			out := &answer{limits: component.SinkLimits{Concurrency: 1}}
			want := numbers(200)
			mustRun(t, mustNew(t, &keeper{}, Options{}, Node{Name: "in", Source: feedOf(want...)},
				Node{Name: "look", Inputs: []string{"in"}, Group: g},
				Node{Name: "out", Inputs: []string{"look"}, Sink: out}))
			got := out.got()
			for i := range got {
				got[i] = strings.ToLower(got[i])
			}
			if slices.Equal(got, want) != ordered {
				t.Errorf("ordered %v: %.200q", ordered, got)
			}
			slices.Sort(got)
			equal(t, "what arrived", got, want)
			if most.Load() != 4 {
				t.Errorf("%d groups at once, want 4", most.Load())
			}
		})
	}
}

func TestEachMessageOfAGroupHasItsOwnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := map[string]int{}
		g := together{component.Grouping{MaxEvents: 10},
			func(_ context.Context, ms []*message.Message, emit component.EmitFor) []error {
				errs := make([]error, len(ms))
				for i, m := range ms {
					body := string(m.Body)
					tries[body]++
					emit(i, "", upper(m)) // also of those that fail: it must not go on
					switch {
					case body == "m0003":
						errs[i] = errors.New("never")
					case body == "m0005" && tries[body] < 3:
						errs[i] = component.RetryError(0, errDown)
					}
				}
				return errs
			}}
		k, out, src := &keeper{}, &answer{}, feedOf(numbers(10)...)
		r := mustRun(t, mustNew(t, k, Options{}, Node{Name: "in", Source: src},
			Node{Name: "look", Inputs: []string{"in"}, Group: g},
			Node{Name: "out", Inputs: []string{"look"}, Sink: out}))
		if r.Delivered != 9 || r.DeadLettered != 1 || r.Retried != 2 || tries["m0005"] != 3 {
			t.Errorf("%+v, tries %v", r, tries)
		}
		equal(t, "dead letters", k.bodies("look_dead"), []string{"m0003"})
		if got := out.got(); len(got) != 9 || slices.Contains(got, "M0003") {
			t.Errorf("got %q", got)
		}
	})
}

func TestAGroupThatPanicsIsAskedAgainByHalves(t *testing.T) {
	for name, bad := range map[string]func(errs []error) []error{
		"panic":   func([]error) []error { panic("no") },
		"answers": func(errs []error) []error { return append(errs, nil) },
	} {
		synctest.Test(t, func(t *testing.T) {
			g := together{component.Grouping{MaxEvents: 16, Concurrency: 2, Ordered: true},
				func(ctx context.Context, ms []*message.Message, emit component.EmitFor) []error {
					<-time.After(time.Millisecond)
					emitAll(ctx, ms, emit)
					for _, m := range ms {
						if string(m.Body) == "m0007" {
							return bad(make([]error, len(ms)))
						}
					}
					return nil
				}}
			k, out, src := &keeper{}, &answer{}, feedOf(numbers(32)...)
			mustRun(t, mustNew(t, k, Options{}, Node{Name: "in", Source: src},
				Node{Name: "look", Inputs: []string{"in"}, Group: g},
				Node{Name: "out", Inputs: []string{"look"}, Sink: out}))
			equal(t, name, k.bodies("look_dead"), []string{"m0007"})
			if len(out.got()) != 31 {
				t.Errorf("%s: %d arrived", name, len(out.got()))
			}
			src.once(t, 32)
		})
	}
}

func TestAStopGivesBackWhatAGroupWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var began sync.Once
		ctx, stop := context.WithCancel(t.Context())
		g := together{component.Grouping{MaxEvents: 4, Concurrency: 3, Ordered: true},
			func(ctx context.Context, ms []*message.Message, _ component.EmitFor) []error {
				began.Do(stop)
				<-ctx.Done() // a source that hangs
				errs := make([]error, len(ms))
				for i := range errs {
					errs[i] = component.RetryError(0, ctx.Err())
				}
				return errs
			}}
		src := feedOf(numbers(20)...)
		src.stay = true
		p := mustNew(t, &keeper{}, Options{StopGrace: time.Second}, Node{Name: "in", Source: src},
			Node{Name: "look", Inputs: []string{"in"}, Group: g},
			Node{Name: "out", Inputs: []string{"look"}, Sink: &answer{}})
		r, err := p.Run(ctx)
		if err != nil || r.Delivered != 0 || r.GivenBack == 0 {
			t.Errorf("%+v, %v", r, err)
		}
		if delivered, back := src.verdicts(); delivered != 0 || uint64(back) != r.GivenBack {
			t.Errorf("%d delivered, %d given back, %+v", delivered, back, r)
		}
	})
}

func TestANodeHasOneKindOfTransform(t *testing.T) {
	_, err := New([]Node{{Name: "in", Source: feedOf()},
		{Name: "both", Inputs: []string{"in"}, Transform: same, Group: together{}},
		{Name: "out", Inputs: []string{"both"}, Sink: &answer{}}}, Options{})
	if err == nil || !strings.Contains(err.Error(), "this is 2 of them") {
		t.Error(fmt.Sprint(err))
	}
}
