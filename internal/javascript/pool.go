package javascript

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"
)

// Options say how much a Pool may do at once.
type Options struct {
	Processes int           // 0: 2. Each has at most 320 MiB of its own
	Idle      time.Duration // after which a process without work ends; 0: a minute
	Time      time.Duration // for all functions of a Run together, a message; 0: MessageTime
}

// Pool runs functions in processes, which it starts when it needs them. Its methods may be called concurrently.
type Pool struct {
	idle  time.Duration
	time  time.Duration
	slots chan *slot

	closing context.Context
	close   context.CancelFunc
	once    sync.Once
}

// New makes a Pool; no process is started yet.
func New(o Options) *Pool {
	if o.Processes <= 0 {
		o.Processes = 2
	}
	if o.Idle <= 0 {
		o.Idle = time.Minute
	}
	if o.Time <= 0 {
		o.Time = MessageTime
	}
	p := &Pool{idle: o.Idle, time: o.Time, slots: make(chan *slot, o.Processes)}
	p.closing, p.close = context.WithCancel(context.Background())
	for range o.Processes {
		p.slots <- &slot{pool: p}
	}
	return p
}

// Close ends all processes, and with them what they are at.
func (p *Pool) Close() {
	p.once.Do(func() {
		p.close()
		for range cap(p.slots) {
			(<-p.slots).end()
		}
	})
}

var nameOf = regexp.MustCompile(`^[\pL_$][\pL\pN_$]*$`)

// Check tells whether a function can be run: its code parses, runs to its end, and defines it. The error is a
// *FunctionError, or one of the Pool or of ctx.
func (p *Pool) Check(ctx context.Context, f Function) error {
	if !nameOf.MatchString(f.Name) {
		return &FunctionError{f.Name, "that is no name of a function"}
	}
	_, rest, err := p.ask(ctx, &request{functions: []Function{f}}, 1)
	if err == nil && len(rest) > 0 {
		err = rest[0].Err
	}
	return err
}

// Run gives each message to the functions, one behind the other. Each message has a Result, in their order; the error
// is of the whole: ErrClosed, ErrUnsupported, ErrTooLarge, or ctx's. Messages that a process ended at have a
// *FunctionError; those behind them are run by the next one. What ctx leaves no time for has ErrLate.
func (p *Pool) Run(ctx context.Context, functions []Function, messages []Message) ([]Result, error) {
	results := make([]Result, 0, len(messages))
	for len(results) < len(messages) {
		left := messages[len(results):]
		done, failed, err := p.ask(ctx, &request{functions: functions, messages: left}, len(left))
		for i, a := range done {
			r := Result{Message: left[i]}
			switch a.kind {
			case isMessage:
				r.Data, r.Attributes = a.data, a.attributes
			case isDropped:
				r.Dropped = true
			default:
				r.Err = &FunctionError{a.function, a.reason}
			}
			results = append(results, r)
		}
		for _, f := range failed {
			results = append(results, Result{Message: left[len(done)], Err: f.Err})
		}
		switch {
		case err == nil:
		case len(results) > 0 && ctx.Err() != nil && p.closing.Err() == nil:
			for _, m := range messages[len(results):] {
				results = append(results, Result{Message: m, Err: ErrLate})
			}
		default:
			return nil, err
		}
	}
	return results, nil
}

// ask lets a process answer a request. failed is of the message at which it ended.
func (p *Pool) ask(ctx context.Context, q *request, n int) (done []*answer, failed []Result, err error) {
	if !supported {
		return nil, nil, ErrUnsupported
	}
	q.time = p.time
	body := q.append(make([]byte, frameHead))
	if len(body)-frameHead > maxFrame {
		return nil, nil, ErrTooLarge
	}
	var s *slot
	select {
	case s = <-p.slots:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	case <-p.closing.Done():
		return nil, nil, ErrClosed
	}
	defer func() { p.slots <- s }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.closing, cancel)()
	for {
		c, err := s.take(ctx)
		if err != nil {
			return nil, nil, p.why(err)
		}
		done, died := c.ask(ctx, body, n, maxRounds*p.time+patience)
		if died == nil {
			s.leave()
			if len(q.messages) == 0 && done[0].kind == isFailed {
				return nil, []Result{{Err: &FunctionError{done[0].function, done[0].reason}}}, nil
			}
			return done, nil, nil
		}
		how := s.end()
		switch {
		case ctx.Err() != nil:
			return done, nil, p.why(ctx.Err())
		case errors.Is(died, errUnused):
			s.fail()
			continue // it ended while nothing was asked of it
		}
		s.fail()
		return done, []Result{{Err: &FunctionError{names(q.functions), how(died, p.time)}}}, nil
	}
}

func (p *Pool) why(err error) error {
	if p.closing.Err() != nil {
		return ErrClosed
	}
	return err
}

// names are those of functions of which one ended a process.
func names(functions []Function) string {
	text := functions[0].Name
	for _, f := range functions[1:] {
		text += ", " + f.Name
	}
	return text
}

// slot is a place for one process. Who has taken it out of the Pool's slots uses it alone.
type slot struct {
	pool     *Pool
	child    *child
	idle     *time.Timer
	failures int // one behind the other
}

// Rests after processes that ended: the first is started again at once.
const (
	minRest = 20 * time.Millisecond
	maxRest = 2 * time.Second
)

// take is the process, started if there is none.
func (s *slot) take(ctx context.Context) (*child, error) {
	if s.child != nil {
		if s.idle == nil || s.idle.Stop() {
			return s.child, nil
		}
		s.end() // its time was over
	}
	if s.failures > 1 {
		rest := time.NewTimer(min(minRest<<min(s.failures-2, 10), maxRest))
		defer rest.Stop()
		select {
		case <-rest.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	c, err := start()
	if err != nil {
		s.fail()
		return nil, fmt.Errorf("cannot start a process for functions of JavaScript: %w", err)
	}
	s.child, s.idle = c, nil
	return c, nil
}

func (s *slot) fail() { s.failures++ }

// leave keeps the process for the next request.
func (s *slot) leave() {
	s.failures = 0
	c := s.child
	s.idle = time.AfterFunc(s.pool.idle, c.kill)
}

// end ends the process, and says how it came to its end.
func (s *slot) end() (how func(error, time.Duration) string) {
	if s.child == nil {
		return nil
	}
	if s.idle != nil {
		s.idle.Stop()
	}
	c := s.child
	s.child, s.idle = nil, nil
	c.end()
	return c.how
}
