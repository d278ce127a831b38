package flow

import (
	"context"
	"fmt"
	"runtime"
	"sync"
)

// Scheduler says how much runs at once. It has a number of workers, and whatever runs on it holds one of them: a
// function of Map, or a stream (On, FlatMap). Stages and programs may share one.
//
// Work is taken, not dealt out: it waits in line, and a worker that becomes free takes what is first in the line of the
// stream whose turn it is, so a stream with much to do does not hold up one with little.
//
// Who waits for something of this package (an item of another stage, room for one, a tick, a Loader's answer, Sleep,
// Await) gives its worker back while it waits. So stages can be nested on one scheduler to any depth without a
// deadlock, and sources that only wait need few workers. Anything else that blocks, a driver or time.Sleep, keeps its
// worker; that is what Elastic is for.
//
// A scheduler has no goroutines of its own and need not be closed. Its methods may be called from any goroutine.
type Scheduler struct {
	name string
	max  int

	mu    sync.Mutex
	made  int   // workers that there ever were at once: they are numbered from 1
	free  []int // of those, the last one that became free first
	stats SchedulerStats
	lines map[*client]*line // those in which somebody waits
	turns ring[*line]       // the same, in the order of their turns
}

// SchedulerStats say what a scheduler does at the moment.
type SchedulerStats struct {
	Max     int // workers at most
	Busy    int // workers that are held
	Peak    int // most workers that were held at once
	Waiting int // pieces of work that wait for a worker
}

// client is a stream in the eyes of a scheduler: the goroutines of one run of one stage share one.
type client struct{ _ byte }

// line is the work of one stream that waits for a worker.
type line struct {
	of      *client
	waiting []*waiter
}

type waiter struct{ worker chan int } // room for one, so that whoever gives a worker never waits

// Single has one worker.
func Single() *Scheduler { return newScheduler("single", 1) }

// Parallel has n workers. 0 or less: as many as there are processors, at least 4. It is for work that computes.
func Parallel(n int) *Scheduler {
	if n <= 0 {
		n = max(4, runtime.GOMAXPROCS(0))
	}
	return newScheduler("parallel", n)
}

// Elastic has as many workers as there is work, at most so many, and none when there is no work. 0 or less: at
// most 256. It is for work that blocks.
func Elastic(most int) *Scheduler {
	if most <= 0 {
		most = 256
	}
	return newScheduler("elastic", most)
}

func newScheduler(name string, most int) *Scheduler {
	return &Scheduler{name: name, max: most, lines: make(map[*client]*line)}
}

// String returns the scheduler's kind and its number of workers.
func (s *Scheduler) String() string { return fmt.Sprintf("%s(%d)", s.name, s.max) }

// Stats returns a snapshot.
func (s *Scheduler) Stats() SchedulerStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := s.stats
	stats.Max = s.max
	return stats
}

// acquire waits for a worker and returns its number, or the context's error.
func (s *Scheduler) acquire(ctx context.Context, c *client) (int, error) {
	s.mu.Lock()
	if s.stats.Busy < s.max { // then nobody waits
		worker := s.hire()
		s.mu.Unlock()
		return worker, nil
	}
	w := &waiter{worker: make(chan int, 1)}
	l := s.lines[c]
	if l == nil {
		l = &line{of: c}
		s.lines[c] = l
		s.turns.push(l)
	}
	l.waiting = append(l.waiting, w)
	s.stats.Waiting++
	s.mu.Unlock()

	select {
	case worker := <-w.worker:
		return worker, nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	left := s.forget(l, w)
	s.mu.Unlock()
	if !left { // it was given a worker meanwhile
		s.release(<-w.worker)
	}
	return 0, context.Cause(ctx)
}

func (s *Scheduler) hire() int {
	s.stats.Busy++
	s.stats.Peak = max(s.stats.Peak, s.stats.Busy)
	if n := len(s.free); n > 0 {
		worker := s.free[n-1]
		s.free = s.free[:n-1]
		return worker
	}
	s.made++
	return s.made
}

// release lets a worker take the next work, or go.
func (s *Scheduler) release(worker int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turns.n == 0 {
		s.free = append(s.free, worker)
		s.stats.Busy--
		return
	}
	l := s.turns.pop()
	w := l.waiting[0]
	l.waiting[0] = nil
	l.waiting = l.waiting[1:]
	if len(l.waiting) > 0 {
		s.turns.push(l)
	} else {
		delete(s.lines, l.of)
	}
	s.stats.Waiting--
	w.worker <- worker
}

// forget takes a waiter out of its line; false: it is no longer there.
func (s *Scheduler) forget(l *line, w *waiter) bool {
	for i, other := range l.waiting {
		if other != w {
			continue
		}
		l.waiting = append(l.waiting[:i:i], l.waiting[i+1:]...)
		s.stats.Waiting--
		if len(l.waiting) == 0 {
			delete(s.lines, l.of)
			for range s.turns.n { // once around, so that the order stays
				if t := s.turns.pop(); t != l {
					s.turns.push(t)
				}
			}
		}
		return true
	}
	return false
}
