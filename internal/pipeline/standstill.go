package pipeline

import (
	"errors"
	"time"

	"github.com/hikyaku/hikyaku/internal/away"
	"github.com/hikyaku/hikyaku/internal/component"
)

const (
	watchEvery = time.Second
	// without a message that leaves: then the step waits, also if its component knows of no reason
	stillFor = 5 * time.Second
)

var errNoAnswerYet = errors.New("no answer yet: requests are under way")

// standstill is what the watcher knows of one step.
type standstill struct {
	node     *node
	progress uint64    // as of the last look
	moved    time.Time // when the step was last seen to move, or to have nothing to do
	failed   time.Time // of the node's last error, as of then

	began   time.Time // of the waiting; zero: it does not wait
	telling away.Telling
}

// watch looks at the steps while the pipeline works, and tells the log which of them wait, how long already, and why:
// within ten seconds, and again at intervals.
func (p *Pipeline) watch() {
	steps := make([]standstill, len(p.stages))
	now := time.Now()
	for i, s := range p.stages {
		steps[i] = standstill{node: s.node, moved: now}
	}
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-p.drained:
			for i := range steps {
				steps[i].goOn(p, time.Now())
			}
			return
		case <-p.work.Done():
			return
		case now := <-tick.C:
			for i := range steps {
				steps[i].look(p, now)
			}
		}
	}
}

// look tells the log what is new of one step.
func (s *standstill) look(p *Pipeline, now time.Time) {
	n := s.node
	state := n.stage.standing()
	failure, failed := n.lastFailure()
	progress := state.left + n.out.Load()
	moves := progress != s.progress || state.held == 0
	s.progress = progress
	if moves {
		s.moved, s.failed = now, failed
	}
	reason := p.waits(n)
	if reason == nil && now.Sub(s.moved) >= stillFor && !state.paced.After(now) {
		switch {
		case !failed.Equal(s.failed):
			reason = errors.New(failure)
		// others' work may rightly take long
		case state.busy > 0 && n.kind == KindSink && limitsOf(n.Sink).DefaultTimeout == 0:
			reason = errNoAnswerYet
		}
	}
	switch {
	case reason != nil:
		s.wait(p, now, state.held, reason)
	case moves && !s.began.IsZero():
		s.goOn(p, now)
	}
}

// waits asks the component why it cannot work.
func (p *Pipeline) waits(n *node) (why error) {
	w, ok := n.component().(component.Waiter)
	if !ok {
		return nil
	}
	defer p.recovered(n, "wait", &why)
	return w.Waits()
}

// wait tells that the step waits, if it is time to.
func (s *standstill) wait(p *Pipeline, now time.Time, held int, reason error) {
	if s.began.IsZero() {
		s.began = now
		if held > 0 {
			s.began = s.moved
		}
	}
	if !s.telling.Due(now) {
		return
	}
	p.options.Logger.Warn("a step waits, and tries again", "step", s.node.Name, "messages", held,
		"for", now.Sub(s.began).Round(time.Second), "reason", cut(reasonText(reason), obituaryReason))
}

// goOn tells that the step waits no more.
func (s *standstill) goOn(p *Pipeline, now time.Time) {
	if s.telling.Over(now) {
		p.options.Logger.Info("a step goes on", "step", s.node.Name, "after", now.Sub(s.began).Round(time.Second))
	}
	s.began = time.Time{}
}

// standing is what a stage has in hand.
type standing struct {
	held, busy int
	left       uint64
	paced      time.Time // nothing leaves before, because the settings say so
}

func (s *stage) standing() standing {
	s.mu.Lock()
	defer s.mu.Unlock()
	return standing{held: s.held, busy: s.busy, left: s.left, paced: s.pacer.next()}
}

func (c *counters) lastFailure() (text string, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lastError, c.lastErrorTime
}
