package rows

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// How a database that cannot be reached is asked again.
const (
	openPatience = 15 * time.Second // that an opening may take
	firstRest    = 100 * time.Millisecond
	longestRest  = 5 * time.Second
)

// pool keeps sessions. After an opening has failed only one caller at a time tries again, after a rest that doubles: a
// database that comes back is not met by a storm.
type pool struct {
	driver Driver
	counts *counts
	seats  chan struct{} // one for each session in use

	mu         sync.Mutex
	idle       []*session
	generation int // of the sessions that are good: one that broke takes the others that wait with it
	opened     bool
	rest       time.Duration // the last one; 0: the last opening succeeded
	until      time.Time     // nobody opens before
	why        error         // what the last opening failed of
	probing    bool          // somebody opens, after a failure
	closed     bool
}

// session is a Session and what the pool knows of it.
type session struct {
	Session
	generation int
	used       bool // it has written before
}

func newPool(d Driver, size int, c *counts) *pool {
	return &pool{driver: d, counts: c, seats: make(chan struct{}, size)}
}

// restError says that no session was tried, because the database is known to be away.
type restError struct {
	left time.Duration
	err  error
}

func (e *restError) Error() string { return e.err.Error() }
func (e *restError) Unwrap() error { return e.err }

var errClosed = errors.New("the sink is closed")

// take gives a session, an idle one if there is one. It waits while all are in use. An error is ctx's, a *restError, or
// an opening's.
func (p *pool) take(ctx context.Context) (*session, error) {
	select {
	case p.seats <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("all %d sessions are in use (pool_size): %w", cap(p.seats), context.Cause(ctx))
	}
	s, err := p.seated(ctx)
	if err != nil {
		<-p.seats
	}
	return s, err
}

func (p *pool) seated(ctx context.Context) (*session, error) {
	p.mu.Lock()
	now := time.Now()
	switch {
	case p.closed:
		p.mu.Unlock()
		return nil, errClosed
	case len(p.idle) > 0:
		s := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		p.mu.Unlock()
		return s, nil
	case p.rest > 0 && (p.probing || now.Before(p.until)):
		defer p.mu.Unlock()
		return nil, &restError{max(p.until.Sub(now), firstRest), p.why}
	}
	probe := p.rest > 0
	p.probing = p.probing || probe
	generation := p.generation
	p.mu.Unlock()

	opening, cancel := context.WithTimeout(ctx, openPatience)
	made, err := p.driver.Open(opening)
	cancel()

	p.mu.Lock()
	defer p.mu.Unlock()
	if probe {
		p.probing = false
	}
	if err != nil {
		p.rest = min(max(2*p.rest, firstRest), longestRest)
		p.until = time.Now().Add(p.rest/2 + rand.N(p.rest))
		p.why = err
		return nil, err
	}
	p.rest, p.why = 0, nil
	if p.opened && generation > 0 {
		p.counts.reconnects.Add(1)
	}
	p.opened = true
	return &session{Session: made, generation: generation}, nil
}

// give takes a session back, to keep it, or to close it when it is broken.
func (p *pool) give(s *session, broken bool) {
	p.mu.Lock()
	var over []*session
	switch {
	case broken:
		over = append(over, s)
		if s.generation == p.generation {
			p.generation++
			over = append(over, p.idle...)
			p.idle = nil
		}
	case p.closed || s.generation != p.generation:
		over = append(over, s)
	default:
		p.idle = append(p.idle, s)
	}
	p.mu.Unlock()
	for _, s := range over {
		s.Close() // it is of no more use, whatever it says
	}
	<-p.seats
}

// close closes the idle sessions; those in use are closed when they are given back.
func (p *pool) close() error {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	var errs []error
	for _, s := range idle {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
