package flow_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/flow"
)

// The experiment behind this package: thirty students, each with five scores, and every one of them takes 100 ms to
// fetch.

const fetching = 100 * time.Millisecond

type student struct {
	id   int
	name string
}

type score struct {
	student int
	subject string
	points  int
}

func students() (all []student) {
	for i := range 30 {
		all = append(all, student{i + 1, fmt.Sprint("student ", i+1)})
	}
	return all
}

func scores(of int) []score {
	return []score{{of, "国語", 80}, {of, "数学", 90}, {of, "英語", 85}, {of, "社会", 93}, {of, "理科", 72}}
}

// nonBlocking fetches items without a worker: it waits for ticks.
func nonBlocking[T any](items []T) flow.Stream[T] {
	pairs := flow.Zip(flow.Interval(fetching), flow.Of(items...))
	return flow.Map(pairs, func(_ context.Context, p flow.Pair[int, T]) (T, error) { return p.Second, nil },
		flow.Options{})
}

// blocking fetches items as a driver does that knows no contexts.
func blocking[T any](items []T) flow.Stream[T] {
	return flow.Source(func(_ context.Context, emit func(T) bool) error {
		for _, item := range items {
			time.Sleep(fetching)
			if !emit(item) {
				return nil
			}
		}
		return nil
	})
}

// reports is what all five programs have in common.
func reports(fetchStudents flow.Stream[student], fetchScores func(student) flow.Stream[score],
	o flow.Options) flow.Stream[flow.Pair[student, []score]] {
	return flow.Map(fetchStudents, func(ctx context.Context, s student) (flow.Pair[student, []score], error) {
		list, err := flow.Collect(ctx, fetchScores(s))
		return flow.Pair[student, []score]{First: s, Second: list}, err
	}, o)
}

func TestTheFiveProgramsTakeExactlyTheirTime(t *testing.T) {
	none := func(*flow.Scheduler) *flow.Scheduler { return nil }
	same := func(s *flow.Scheduler) *flow.Scheduler { return s }
	for _, c := range []struct {
		name        string
		scheduler   *flow.Scheduler
		on          func(*flow.Scheduler) *flow.Scheduler
		blocking    bool
		concurrency int
		takes       time.Duration
		workers     int
	}{
		{"non-blocking", flow.Parallel(4), same, false, 256, 3500 * time.Millisecond, 4},
		{"single", flow.Single(), same, false, 256, 3500 * time.Millisecond, 1},
		{"sequence", flow.Single(), none, true, 1, 18 * time.Second, 0},
		{"elastic", flow.Elastic(0), same, true, 256, 3500 * time.Millisecond, 7},
		{"parallel-4", flow.Parallel(4), same, true, 256, 4800 * time.Millisecond, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fetch := nonBlocking[student]
				fetchScores := nonBlocking[score]
				if c.blocking {
					fetch, fetchScores = blocking[student], blocking[score]
				}
				first := fetch(students())
				each := func(s student) flow.Stream[score] { return fetchScores(scores(s.id)) }
				if s := c.on(c.scheduler); s != nil {
					first = flow.On(s, first)
					inner := each
					each = func(st student) flow.Stream[score] { return flow.On(s, inner(st)) }
				}
				began := time.Now()
				got, err := flow.CollectMap(t.Context(), reports(first, each, flow.Options{Concurrency: c.concurrency}),
					func(p flow.Pair[student, []score]) (student, []score) { return p.First, p.Second })
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took != c.takes {
					t.Errorf("it took %v, want %v", took, c.takes)
				}
				if len(got) != 30 || len(got[students()[29]]) != 5 {
					t.Errorf("%d students, %v", len(got), got[students()[29]])
				}
				if s := c.scheduler.Stats(); s.Busy != 0 || s.Waiting != 0 || s.Peak > c.workers {
					t.Errorf("%+v; want %d workers at most", s, c.workers)
				}
			})
		})
	}
}
