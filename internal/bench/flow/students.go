package flow

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/flow"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// program is one of the field report's five. Times are in fetches.
type program struct {
	name      string
	scheduler func() *flow.Scheduler // nil: everything is done where it is read
	blocking  bool                   // sources block, as a driver does; else they wait for ticks
	atOnce    int
	ideal     int
	asked     float64
	report    float64 // milliseconds that the field report's program took, by its log
}

func programs() []program {
	return []program{
		{"non-blocking", func() *flow.Scheduler { return flow.Parallel(0) }, false, 256, 35, 35 * 1.02, 3527},
		{"single", flow.Single, false, 256, 35, 35 * 1.02, 3531},
		{"sequence", nil, true, 1, 180, 180 * 1.01, 18653},
		{"elastic", func() *flow.Scheduler { return flow.Elastic(0) }, true, 256, 35, 35 * 1.02, 3681},
		{"parallel-4", func() *flow.Scheduler { return flow.Parallel(4) }, true, 256, 45, 49, 6778},
	}
}

type student struct {
	id   int
	name string
}

func (s student) String() string { return fmt.Sprint(s.id, " ", s.name) }

type score struct {
	student int
	subject string
	points  int
}

func (s score) String() string { return fmt.Sprint(s.student, " ", s.subject, " ", s.points) }

// someStudents are the field report's, as far as it names them.
func someStudents() []student {
	named := map[int]string{
		1: "Muto", 2: "Miyoshi", 3: "Matsui", 4: "Nakamoto", 5: "Iida", 6: "Horiuchi", 7: "Sugisaki", 8: "Sato",
		9: "Mizuno", 10: "Kikuchi",
		11: "Notsu", 12: "Taguchi", 13: "Ooga", 14: "Sugimoto", 15: "Shiroi", 16: "Isono", 17: "Kurosawa",
		18: "Kurashima", 20: "Yamaide",
		22: "Shintani", 28: "Mori", 29: "Tanaka", 30: "Yagi",
	}
	all := make([]student, 30)
	for i := range all {
		all[i] = student{i + 1, named[i+1]}
		if all[i].name == "" {
			all[i].name = fmt.Sprint("No. ", i+1)
		}
	}
	return all
}

func someScores(id int) []score {
	return []score{{id, "国語", 80}, {id, "数学", 90}, {id, "英語", 85}, {id, "社会", 93}, {id, "理科", 72}}
}

// fetch is a source in which each item takes so long.
func fetch[T any](items []T, each time.Duration, blocking bool) flow.Stream[T] {
	if !blocking {
		ticks := flow.Zip(flow.Interval(each), flow.Of(items...))
		return flow.Map(ticks, func(_ context.Context, p flow.Pair[int, T]) (T, error) { return p.Second, nil },
			flow.Options{})
	}
	return flow.Source(func(_ context.Context, emit func(T) bool) error {
		for _, item := range items {
			time.Sleep(each)
			if !emit(item) {
				return nil
			}
		}
		return nil
	})
}

// students runs a program and reports it.
func (s *session) students(ctx context.Context, p program) error {
	var scheduler *flow.Scheduler
	if p.scheduler != nil {
		scheduler = p.scheduler()
	}
	var most atomic.Int64 // goroutines
	before := runtime.NumGoroutine()
	tell := func(flow.Event) {}
	if s.Log != nil {
		tell = flow.LogTo(s.Log)
		if _, err := fmt.Fprintf(s.Log, "# %s\n", p.name); err != nil {
			return fmt.Errorf("write the log: %w", err)
		}
	}
	note := func(e flow.Event) {
		now := int64(runtime.NumGoroutine() - before)
		for known := most.Load(); now > known && !most.CompareAndSwap(known, now); {
			known = most.Load()
		}
		tell(e)
	}

	began := time.Now()
	lists, err := flow.CollectMap(ctx, studentLists(p, scheduler, s.fetching, note),
		func(l flow.Pair[student, []score]) (student, []score) { return l.First, l.Second })
	took := time.Since(began)
	if err != nil {
		return err
	}
	if err := checkLists(lists); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	ideal := time.Duration(p.ideal) * s.fetching
	r := s.Report.Row(p.name, workStudents).Set("total_ms", measure.Milliseconds(took)).Set("ideal_ms",
		measure.Milliseconds(ideal)).
		Set("ratio_ideal", harness.Hundredths(float64(took)/float64(ideal))).Set("report_ms",
		p.report*float64(s.fetching)/float64(whole.fetching)).
		Set("workers", 1).Set("goroutines", most.Load())
	if scheduler != nil {
		r.Set("workers", scheduler.Stats().Peak)
	}
	harness.Judge(r, s.Quick, harness.AtMost("total_ms", math.Round(10*p.asked*measure.Milliseconds(s.fetching))/10))
	s.Step()
	return nil
}

// studentLists is what the five programs have in common.
func studentLists(p program, scheduler *flow.Scheduler, fetching time.Duration,
	tell func(flow.Event)) flow.Stream[flow.Pair[student, []score]] {
	fetchStudents := flow.Log(on(scheduler, fetch(someStudents(), fetching, p.blocking)), "fetchStudents", tell)
	return flow.Map(fetchStudents, func(ctx context.Context, s student) (flow.Pair[student, []score], error) {
		fetchScores := flow.Log(on(scheduler, fetch(someScores(s.id), fetching, p.blocking)), "fetchScores", tell)
		scores, err := flow.Collect(ctx, fetchScores)
		return flow.Pair[student, []score]{First: s, Second: scores}, err
	}, flow.Options{Concurrency: p.atOnce})
}

// on is flow.On, if there is a scheduler.
func on[T any](s *flow.Scheduler, in flow.Stream[T]) flow.Stream[T] {
	if s == nil {
		return in
	}
	return flow.On(s, in)
}

// checkLists looks whether every student has every score.
func checkLists(lists map[student][]score) error {
	for _, s := range someStudents() {
		want := someScores(s.id)
		got := lists[s]
		if len(got) != len(want) {
			return fmt.Errorf("%d scores of %v, want %d", len(got), s, len(want))
		}
		for i := range want {
			if got[i] != want[i] {
				return fmt.Errorf("score %d of %v is %v, want %v", i, s, got[i], want[i])
			}
		}
	}
	return nil
}
