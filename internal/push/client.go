package push

import (
	"context"
	"crypto/tls"
	"sync"
	"time"
)

// A Client sends requests to one far end. Its methods may be called by several goroutines at once.
type Client struct {
	config Config
	secure *tls.Config // nil: plain
	base   time.Time   // the client's clock starts here

	ctx    context.Context // ends connecting when the client closes
	stop   context.CancelFunc
	conns  sync.WaitGroup
	keeper sync.WaitGroup

	// The mutex guards what follows and the state of all calls and connections. It is never held during I/O or in calls
	// of others' functions.
	mu       sync.Mutex
	clock    time.Duration // when somebody last looked
	line     line
	shunning int // calls that wait in the lines of connections which they avoid
	wheel    wheel
	open     []*conn // take requests
	leaving  []*conn // finish those they have
	dialing  bool
	// so long a call waits for the connection being made rather than to go where it does not want to
	dialTill    time.Duration
	greeting    *conn // is being made: the far end's SETTINGS have not come
	lastFailure error // why the last connection came to nothing; nil once one takes requests
	useless     error // why the last connection that answered nothing ended; nil once there is an answer
	dials       int   // connections begun
	budget      budget

	outstanding int      // calls not finished
	rejected    []answer // to be given out by the keeper
	events      []Event  // to be told by the keeper
	count       Stats    // the counts only

	keeperAt time.Duration // when the keeper looks next
	poked    chan struct{}
	pokedAt  time.Duration // when the keeper was asked to look, and has not yet; 0: it was not
	looking  bool          // it looks right now

	closing bool          // takes no more
	drained chan struct{} // closed when closing and nothing is outstanding
	ending  bool          // the keeper is to end
	closed  chan struct{} // all have ended
}

// New makes a client. It connects when the first request comes, so an error is about the configuration only.
func New(config Config) (*Client, error) {
	config, err := config.complete()
	if err != nil {
		return nil, err
	}
	c := &Client{
		config: config, secure: config.security(), base: time.Now(), budget: newBudget(&config),
		poked: make(chan struct{}, 1), drained: make(chan struct{}), closed: make(chan struct{}),
	}
	c.ctx, c.stop = context.WithCancel(context.Background())
	c.keeper.Go(c.keep)
	return c, nil
}

func (c *Client) now() time.Duration { return time.Since(c.base) }

// tickNow looks at the clock and notes it. Under the mutex.
func (c *Client) tickNow() time.Duration {
	c.clock = c.now()
	return c.clock
}

// Send puts a request into the line and returns; it never blocks. Done is called exactly once, from a goroutine of the
// client: it must be quick and may call Send, but it may not wait for the client. A zero deadline means
// Config.RequestTimeout from now. Once Close has been called, done is called before Send returns.
func (c *Client) Send(r *Request, deadline time.Time, done func(Result)) { c.Start(r, deadline, done) }

// Start is Send for those who may want to give the request up.
func (c *Client) Start(r *Request, deadline time.Time, done func(Result)) *Call {
	return c.StartElsewhere(r, deadline, 0, done)
}

// StartElsewhere is Start for a request that had a bad answer on a connection (see Result.Connection): it goes to
// another one that takes requests, and one is made for it if there is none and Config.MaxConnections leaves room. Where
// that cannot be soon, it goes to any.
func (c *Client) StartElsewhere(r *Request, deadline time.Time, avoid int, done func(Result)) *Call {
	call, err := c.newCall(r, done)
	now := c.now()
	until := now + c.config.RequestTimeout
	if !deadline.IsZero() {
		until = deadline.Sub(c.base)
	}
	if err == nil && until <= now {
		err = ErrDeadline
	}
	c.mu.Lock()
	if c.closing {
		call.state = finished
		c.mu.Unlock()
		done(Result{Err: ErrClosed, Unprocessed: true})
		return call
	}
	if err == nil && c.waiting() >= c.config.MaxWaiting {
		err = ErrFull
	}
	if err != nil {
		call.state = finished
		c.rejected = append(c.rejected, answer{done, Result{Err: err, Unprocessed: true}})
		c.poke()
		c.mu.Unlock()
		return call
	}
	c.outstanding++
	c.wheel.add(call, tickOf(until))
	c.due(time.Duration(call.tick * tickLen))
	c.enter(call, avoid)
	c.kick()
	c.mu.Unlock()
	return call
}

// Cancel gives a request up: it is answered with ErrCanceled, unless it has been answered already.
func (call *Call) Cancel() {
	c := call.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if call.state == finished {
		return
	}
	var out answers
	c.count.Canceled++
	c.abandon(call, ErrCanceled, &out)
	c.rejected = append(c.rejected, out.list...)
	c.poke()
}

// Do sends a request and waits for its answer, at most as long as the context lives and Config.RequestTimeout.
func (c *Client) Do(ctx context.Context, r *Request) (*Response, error) {
	result := make(chan Result, 1)
	call := c.Start(r, time.Time{}, func(r Result) { result <- r })
	select {
	case r := <-result:
		return r.Response, r.Err
	case <-ctx.Done():
		call.Cancel()
		r := <-result
		if r.Err != nil {
			return nil, ctx.Err()
		}
		return r.Response, nil
	}
}

// Stats tells the state and the counts.
func (c *Client) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.count
	s.Connections, s.Leaving, s.Waiting = len(c.open), len(c.leaving), c.waiting()
	if c.dialing {
		s.Dialing = 1
	}
	for _, k := range c.open {
		s.StreamsUsed += len(k.streams)
		s.StreamsLimit += k.limit()
	}
	for _, k := range c.leaving {
		s.StreamsUsed += len(k.streams)
	}
	return s
}

// Close takes no more requests, waits until those under way are answered or the context ends, answers the rest with
// ErrClosed, and closes the connections. When it returns nil, all goroutines of the client have ended. Its error is the
// context's, if requests were cut off. It may be called again.
func (c *Client) Close(ctx context.Context) error {
	c.mu.Lock()
	first := !c.closing
	c.closing = true
	if first && c.outstanding == 0 {
		close(c.drained)
	}
	c.mu.Unlock()
	if !first {
		<-c.closed
		return nil
	}
	var cut error
	select {
	case <-c.drained:
	case <-ctx.Done():
		cut = ctx.Err()
	}
	c.stop()
	var out answers
	c.mu.Lock()
	for _, k := range c.open {
		k.unshun()
	}
	for c.line.first != nil {
		c.finish(c.line.first, Result{Err: ErrClosed, Unprocessed: true}, &out)
	}
	for _, k := range append(append([]*conn(nil), c.open...), c.leaving...) {
		for _, call := range k.streams {
			c.abandon(call, ErrClosed, &out)
		}
		k.end(ErrClosed, codeNone)
	}
	if c.greeting != nil {
		c.greeting.end(ErrClosed, codeNone)
	}
	c.mu.Unlock()
	out.give(c)
	c.conns.Wait()
	c.mu.Lock()
	c.ending = true
	c.poke()
	c.mu.Unlock()
	c.keeper.Wait()
	close(c.closed)
	return cut
}
