// Package function measures functions, cold and warm, and what is billed for them. Run says what is measured; it is
// hikyaku bench function.
package function

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// The works of the function bench.
const (
	workPid        = "pid"
	workStackTrace = "stacktrace"
	workWait1      = "wait1"
	workWait2      = "wait2"
	workWait3      = "wait3"
	workFib        = "fib"
	workDynamoDB   = "dynamodb"
	workCold       = "cold"
	workWarm       = "warm"
	workConcurrent = "concurrent"
	workHundred    = "burst"
	workTraffic    = "traffic"
	workInstances  = "instances"
)

// Run measures package function with the experiments of a field report on AWS Lambda, and beyond. Each row of the
// report's says in words why it is as it is.
//
//   - pid: twelve calls one after the other, each of which prints the name of its process and a counter: sent to two
//     machines in the order that the report saw (reported), to two machines in turns (spread), and to the instance used
//     last (warm, ahead).
//   - stacktrace: what runs inside an instance: threads, and the frames below the handler.
//   - wait1, wait2, wait3: a handler that rests for 10 s, a start that does, and one of 2 s: what is billed, today and
//     then, and what a watch says.
//   - fib: the 38th Fibonacci number (the 20th in a quick run), twice (the first time to warm up; not in Python), with
//     the report's 128 MB and with a whole processor.
//   - dynamodb: one item is read through seven calls, with the client made in the handler and in the start, from
//     DynamoDB Local, if it is below Options.Clients. Credentials likewise.
//   - cold: an instance is started for the call, isolated as users have it and not isolated; beside it the same program
//     is started by hand.
//   - warm: one call after the other: into the pool, over the Lambda door, and through another emulator where
//     Options.RIE is its address.
//   - concurrent: as many callers at once, and 16 connections to the door.
//   - burst: a hundred calls at the same moment, and a hundred more when the instances of the first have been idle for
//     too long, under each policy.
//   - traffic: a Poisson stream with bursts, the same for each policy at the same time: the share of the calls that
//     wait for an instance to start.
//   - instances: what 200 idle instances cost this process.
//
// Functions in Go are built by the go command; Node.js and Python run behind our loaders. With the folder that
// scripts/need-clients makes as Options.Clients the runtimes' own clients (their names end in +ric), Java and Rust are
// measured too.
func Run(ctx context.Context, o harness.Options) error {
	s := &session{Session: harness.New("function", o, view()),
		extent: whole}
	if o.Quick {
		s.extent = quick
	}
	ctx, cancel := context.WithTimeoutCause(ctx, tooLong, fmt.Errorf("it was not done after %v, many times what it "+
		"takes: measure works one by one (--only) to see which", tooLong))
	defer cancel()
	return s.Measure(ctx, s.experiments(), s.gather, nil)
}

// tooLong is how long the whole may take, on a machine that is busy with other things.
const tooLong = time.Hour

// extent says how much is measured.
type extent struct {
	calls     int           // of pid
	limit     time.Duration // of the initialisation
	long      time.Duration // what wait1 and wait2 wait for
	short     time.Duration // what wait3 waits for
	waits     int           // calls of each of these at most
	few       int           // how many runtimes do these and fib; 0: all
	fib       int           // the number wanted
	fibCalls  int
	memories  []int
	reads     int // calls of each reader of DynamoDB
	starts    int // cold ones of each runtime
	warm      harness.Pacing
	crowds    []int // callers at once
	crowd     time.Duration
	burst     int // calls
	idle      time.Duration
	traffic   time.Duration
	gap       time.Duration // between the calls of the stream, on average
	startup   time.Duration // of a function in it
	instances int
}

var (
	whole = extent{
		calls: 12, limit: 10 * time.Second, long: 10 * time.Second, short: 2 * time.Second, waits: 4, fib: 38,
		fibCalls: 3, memories: []int{128, 1769}, reads: 7,
		starts: 15, warm: harness.Pacing{Pairs: 5, Slice: 300 * time.Millisecond},
		crowds: []int{1, 2, 5, 10, 20, 50, 100, 200},
		crowd:  time.Second, burst: 100, idle: 2 * time.Second,
		traffic: 50 * time.Second, gap: 100 * time.Millisecond, startup: 300 * time.Millisecond, instances: 200,
	}
	quick = extent{
		calls: 12, limit: 200 * time.Millisecond, long: 550 * time.Millisecond, short: 10 * time.Millisecond, waits: 3,
		few: 1, fib: 20, fibCalls: 1, memories: []int{1769}, reads: 2,
		starts: 1, warm: harness.Pacing{Pairs: 1, Slice: 50 * time.Millisecond}, crowds: []int{1, 4},
		crowd: 50 * time.Millisecond, burst: 5,
		idle:    50 * time.Millisecond,
		traffic: 300 * time.Millisecond, gap: 20 * time.Millisecond, startup: 10 * time.Millisecond, instances: 4,
	}
)

// session is one run.
type session struct {
	harness.Session
	extent
	runtimes []*functionRuntime
}

// experiments lists what can be measured, in the order of the report.
func (s *session) experiments() (es []harness.Experiment) {
	add := func(work string, steps int, takes time.Duration, run func(ctx context.Context) error) {
		es = append(es, harness.Experiment{Work: work, Steps: steps, Takes: takes, Disk: harness.Slack, Run: run})
	}
	add(workPid, 4, 10*time.Second, s.pids)
	add(workStackTrace, 1, 5*time.Second, s.stacks)
	for _, w := range s.waitings() {
		add(w.work, 1, w.takes, func(ctx context.Context) error { return s.waits3(ctx, w) })
	}
	add(workFib, 5*len(s.memories), time.Duration(s.fibCalls)*70*time.Second, s.fibonacci)
	add(workDynamoDB, len(itemReaders()), time.Minute, s.dynamo)
	add(workCold, s.starts, time.Duration(s.starts)*time.Second, s.cold)
	add(workWarm, s.warm.Pairs, time.Duration(s.warm.Pairs*8)*s.warm.Slice, s.warmCalls)
	add(workConcurrent, len(s.crowds)+1, time.Duration(len(s.crowds)+1)*s.crowd, s.concurrent)
	add(workHundred, 4, 4*(2*s.idle+time.Second), s.bursts)
	add(workTraffic, 1, s.traffic, s.streams)
	add(workInstances, 1, 5*time.Second, s.many)
	return es
}

// Works lists the names of the works.
func Works() []string {
	return harness.WorksOf((&session{extent: quick}).experiments())
}

// first is the runtime that does what one is enough for: the quickest there is.
func (s *session) first() *functionRuntime { return s.runtimes[0] }

// some are the runtimes that do what takes long.
func (s *session) some() []*functionRuntime {
	if s.few > 0 {
		return s.runtimes[:s.few]
	}
	return s.runtimes
}

// because joins what explains a row.
func because(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "; ")
}
