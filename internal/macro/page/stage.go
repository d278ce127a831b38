package page

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/pace"
)

const (
	maxWaiting   = 8  // presses
	maxListeners = 64 // browsers
)

var (
	errBusy   = errors.New("a macro is being played: stop it first")
	errFull   = errors.New("too many presses wait already")
	errClosed = errors.New("the page is closing")
)

// turn is what is to be played.
type turn struct {
	number int
	text   string
	script *macro.Script
	hands  bool // it is what is held
}

// news is what everybody who looks at the page is told.
type news struct {
	Number  int    `json:"number"` // of the run; 0: there was none
	Playing bool   `json:"playing"`
	Text    string `json:"text"`
	Frame   int64  `json:"frame"` // how many were played
	Frames  int64  `json:"frames"`
	Waiting int    `json:"waiting"`
	Hands   bool   `json:"hands"` // what is played is what is held on pads
	Last    *done  `json:"last"`  // the last run that ended; null: none
}

// done is what became of a run.
type done struct {
	Number   int      `json:"number"`
	Text     string   `json:"text"`
	Error    string   `json:"error"`
	Stopped  bool     `json:"stopped"`
	Frames   int64    `json:"frames"`
	Played   int64    `json:"played"`
	Summary  []string `json:"summary"`
	Lateness string   `json:"lateness"` // a picture, as SVG
}

// stage plays one turn after the other, in a goroutine that lives as long as the page.
type stage struct {
	config Config
	ctx    context.Context
	cancel context.CancelFunc
	ended  chan struct{}
	wake   chan struct{} // something waits

	mu        sync.Mutex
	now       news
	waiting   []turn
	run       *pace.Run          // nil: none is under way
	starting  context.CancelFunc // gives up a start that is under way
	stopped   int                // the number up to which runs are not wanted any more
	listeners map[chan news]bool
	hands     hands
}

func newStage(c Config) *stage {
	ctx, cancel := context.WithCancel(context.Background())
	s := &stage{config: c, ctx: ctx, cancel: cancel, ended: make(chan struct{}), wake: make(chan struct{}, 1),
		listeners: map[chan news]bool{}}
	go s.work()
	return s
}

func (s *stage) close() {
	s.cancel()
	<-s.ended
}

// enter lets a turn be played when those before it have been. Without wait it is refused when there is one.
func (s *stage) enter(t turn, wait bool) (number int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ctx.Err() != nil:
		return 0, errClosed
	case !wait && (s.hands.playing != nil || len(s.hands.holds) > 0):
		return 0, errHeld
	case !wait && (s.now.Playing || len(s.waiting) > 0):
		return 0, errBusy
	case len(s.waiting) >= maxWaiting:
		return 0, errFull
	}
	s.now.Number++ // numbers only grow; what is shown is set when it begins
	t.number = s.now.Number
	s.waiting = append(s.waiting, t)
	s.tell()
	s.rouse()
	return t.number, nil
}

// rouse lets the one who plays look for what is to be played.
func (s *stage) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// stop ends the run that is under way, and forgets those that wait.
func (s *stage) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = nil
	s.dropHands()
	s.stopped = s.now.Number
	if s.starting != nil {
		s.starting()
	}
	if s.run != nil {
		s.run.Stop()
	}
	s.tell()
}

func (s *stage) work() {
	defer close(s.ended)
	for {
		t, ok := s.next()
		if ok {
			s.play(t)
			continue
		}
		select {
		case <-s.wake:
		case <-s.ctx.Done():
			return
		}
	}
}

// next takes the turn that has waited longest.
func (s *stage) next() (t turn, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ctx.Err() != nil:
		return t, false
	case len(s.waiting) > 0:
		t = s.waiting[0]
		s.waiting = slices.Delete(s.waiting, 0, 1)
	case len(s.hands.holds) > 0:
		t = s.takeHands()
	default:
		return t, false
	}
	s.now.Hands = t.hands
	s.now.Playing, s.now.Text, s.now.Frame, s.now.Frames = true, t.text, 0, t.script.Frames()
	s.tell()
	return t, true
}

func (s *stage) play(t turn) {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	s.set(func() { s.starting = cancel })
	run, err := s.config.Start(ctx, t.script, func(p pace.Progress) {
		s.set(func() {
			s.now.Frame = p.Played
			s.tell()
		})
	})
	var report pace.Report
	if err == nil {
		s.set(func() {
			s.starting, s.run = nil, run
			if t.hands {
				s.hands.began = time.Now()
				s.look()
			}
			if s.stopped >= t.number {
				run.Stop()
			}
		})
		report, err = run.Wait()
	}
	d := conclude(t, &report, err, s.config.Rate)
	s.set(func() {
		s.starting, s.run = nil, nil
		if s.stopped >= t.number && errors.Is(err, context.Canceled) {
			d.Error, d.Stopped = "", true
		}
		if t.hands {
			s.handsEnded(d, &report, err)
		}
		s.now.Playing, s.now.Frame, s.now.Last = false, report.Played, d
		s.tell()
	})
}

// conclude says what became of a run.
func conclude(t turn, r *pace.Report, err error, rate pace.Rate) *done {
	d := &done{Number: t.number, Text: t.text, Stopped: r.Stopped, Frames: t.script.Frames(), Played: r.Played}
	if err != nil {
		d.Error = err.Error()
	}
	if r.Played == 0 {
		return d
	}
	l := &r.Lateness
	d.Summary = append(d.Summary, fmt.Sprintf("%d of %d frames at %s", r.Played, d.Frames, rate),
		fmt.Sprintf("median %s, 99 of 100 within %s, latest %s", l.Quantile(0.5), l.Quantile(0.99), l.Max()),
		r.Footing.String())
	d.Lateness = latenessPicture(l)
	return d
}

func (s *stage) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// tell tells the listeners; s.mu is held. One that has not read what it was told before is told the newest instead.
func (s *stage) tell() {
	s.now.Waiting = len(s.waiting)
	for l := range s.listeners {
		select {
		case <-l:
		default:
		}
		l <- s.now
	}
}

// listen tells l what there is now, and what comes; false: there are too many who listen.
func (s *stage) listen(l chan news) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.listeners) >= maxListeners {
		return false
	}
	s.listeners[l] = true
	s.now.Waiting = len(s.waiting)
	l <- s.now
	return true
}

func (s *stage) leave(l chan news) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
}
