package tsurugi

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// PoolConfig says how a pool keeps its sessions. The zero value is good for a server without authentication.
type PoolConfig struct {
	Config
	Sessions int           // at most; default 4
	Idle     time.Duration // after which a session that nobody uses is closed; default 5 min, less than 0: never
	// a session that nobody used for so long is asked for a sign of life before it is given out; default 1 min, less
	// than 0: never
	CheckAfter time.Duration
	Retry      RetryPolicy // of Do
}

const (
	defaultSessions   = 4
	defaultIdle       = 5 * time.Minute
	defaultCheckAfter = time.Minute
	// closeWait is how long a session that is let go of may take to end cleanly.
	closeWait = 2 * time.Second
)

// A Pool keeps sessions for many goroutines. Sessions are opened when they are needed.
type Pool struct {
	endpoint string
	cfg      PoolConfig
	seats    chan struct{} // has an entry for each session that exists or is being opened
	handed   chan struct{} // has an entry when a session was given back
	done     chan struct{} // closed: the pool is
	wg       sync.WaitGroup

	mu     sync.Mutex
	idle   []idle // the one given back last at the end
	used   map[*Session]bool
	closed bool
	stats  PoolStats
}

type idle struct {
	s     *Session
	since time.Time
}

// PoolStats is what a pool has done, and what it has.
type PoolStats struct {
	Opened int64 // sessions
	Failed int64 // attempts to open one
	Lost   int64 // sessions that had ended when they were given back or wanted
	Idle   int
	Used   int
}

// NewPool makes a pool for an endpoint. It does not connect yet.
func NewPool(endpoint string, cfg PoolConfig) (*Pool, error) {
	if _, err := parseEndpoint(endpoint); err != nil {
		return nil, err
	}
	if cfg.Sessions < 0 {
		return nil, fmt.Errorf("tsurugi: a pool of %d sessions", cfg.Sessions)
	}
	if cfg.Sessions == 0 {
		cfg.Sessions = defaultSessions
	}
	if cfg.Idle == 0 {
		cfg.Idle = defaultIdle
	}
	if cfg.CheckAfter == 0 {
		cfg.CheckAfter = defaultCheckAfter
	}
	p := &Pool{
		endpoint: endpoint, cfg: cfg, used: make(map[*Session]bool), done: make(chan struct{}),
		seats: make(chan struct{}, cfg.Sessions), handed: make(chan struct{}, cfg.Sessions),
	}
	if cfg.Idle > 0 {
		p.wg.Go(p.sweep)
	}
	return p, nil
}

// Acquire gives out a session, which is the caller's alone until Release. It waits while all are given out.
func (p *Pool) Acquire(ctx context.Context) (*Session, error) {
	for {
		s, err := p.take(ctx)
		if s != nil || err != nil {
			return s, err
		}
		select {
		case <-p.handed:
		case p.seats <- struct{}{}:
			return p.open(ctx)
		case <-p.done:
			return nil, ErrPoolClosed
		case <-ctx.Done():
			return nil, fmt.Errorf("tsurugi: waiting for a session of the pool: %w", context.Cause(ctx))
		}
	}
}

// take gives out a session that nobody uses; it is nil if there is none.
func (p *Pool) take(ctx context.Context) (*Session, error) {
	for {
		p.mu.Lock()
		if p.closed {
			p.mu.Unlock()
			return nil, ErrPoolClosed
		}
		n := len(p.idle)
		if n == 0 {
			p.mu.Unlock()
			return nil, nil
		}
		last := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.used[last.s] = true
		p.mu.Unlock()
		err := last.s.Err()
		if err == nil && p.cfg.CheckAfter > 0 && time.Since(last.since) >= p.cfg.CheckAfter {
			err = last.s.Ping(ctx)
		}
		if err == nil {
			return last.s, nil
		}
		p.discard(last.s)
		if ctx.Err() != nil {
			return nil, err
		}
	}
}

func (p *Pool) open(ctx context.Context) (*Session, error) {
	s, err := Connect(ctx, p.endpoint, p.cfg.Config)
	p.mu.Lock()
	if err != nil {
		p.stats.Failed++
		p.mu.Unlock()
		<-p.seats
		return nil, err
	}
	p.stats.Opened++
	p.used[s] = true
	closed := p.closed
	p.mu.Unlock()
	if closed {
		p.Release(s)
		return nil, ErrPoolClosed
	}
	return s, nil
}

// Release gives a session back. One that has ended is let go of. It must not have a transaction any more: the server
// would keep that.
func (p *Pool) Release(s *Session) {
	p.mu.Lock()
	if !p.used[s] {
		p.mu.Unlock()
		return
	}
	if s.Err() != nil || p.closed {
		p.mu.Unlock()
		p.discard(s)
		return
	}
	delete(p.used, s)
	p.idle = append(p.idle, idle{s, time.Now()})
	p.mu.Unlock()
	select {
	case p.handed <- struct{}{}:
	default:
	}
}

// discard ends a session that is given out and makes room for another.
func (p *Pool) discard(s *Session) {
	p.mu.Lock()
	delete(p.used, s)
	if s.Err() != nil {
		p.stats.Lost++
	}
	p.mu.Unlock()
	p.end(s)
}

func (p *Pool) end(s *Session) {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	_ = s.Close(ctx) // whatever it says, the session is over
	<-p.seats
}

// sweep ends sessions that nobody has used for long.
func (p *Pool) sweep() {
	tick := time.NewTicker(max(p.cfg.Idle/2, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-p.done:
			return
		case <-tick.C:
		}
		for _, s := range p.stale() {
			p.end(s)
		}
	}
}

func (p *Pool) stale() (old []*Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := p.idle[:0]
	for _, i := range p.idle {
		if i.s.Err() != nil || time.Since(i.since) >= p.cfg.Idle {
			old = append(old, i.s)
		} else {
			kept = append(kept, i)
		}
	}
	clear(p.idle[len(kept):])
	p.idle = kept
	return old
}

// Stats tells what the pool has done so far.
func (p *Pool) Stats() PoolStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	stats := p.stats
	stats.Idle, stats.Used = len(p.idle), len(p.used)
	return stats
}

// Do does work in a transaction and commits it. If that fails with an error that is SafeToRetry, as a conflict with
// another transaction is, it does all again, in a new transaction and if need be on a new session: so work must not do
// anything else that counts. It must neither commit nor keep the transaction.
func (p *Pool) Do(ctx context.Context, opts TxOptions, work func(ctx context.Context, tx *Tx) error) error {
	return Retry(ctx, p.cfg.Retry, func(ctx context.Context) error {
		s, err := p.Acquire(ctx)
		if err != nil {
			return err
		}
		defer p.Release(s)
		return s.Do(ctx, opts, work)
	})
}

// Do does work in a transaction and commits it; if work fails, the transaction is rolled back. It does not try again.
func (s *Session) Do(ctx context.Context, opts TxOptions, work func(ctx context.Context, tx *Tx) error) error {
	tx, err := s.Begin(ctx, opts)
	if err != nil {
		return err
	}
	if err := work(ctx, tx); err != nil {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWait)
		defer cancel()
		if failed := tx.Rollback(end); failed != nil && s.Err() == nil {
			return errors.Join(err, failed)
		}
		return err
	}
	return tx.Commit(ctx)
}

// Close ends the pool. It waits for sessions that are given out, as long as the context lets it.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	close(p.done)
	free := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, i := range free {
		p.end(i.s)
	}
	p.wg.Wait()
	for range cap(p.seats) {
		select {
		case p.seats <- struct{}{}:
		case <-ctx.Done():
			return fmt.Errorf("tsurugi: closing a pool whose sessions are in use: %w", context.Cause(ctx))
		}
	}
	return nil
}
