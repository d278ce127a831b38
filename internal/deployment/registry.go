package deployment

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Config is what a Registry needs. Store and Dir have to be there.
type Config struct {
	Store queue.Service // the Registry does not close it
	// Dir is a folder for archives and for what runs. It is the Registry's alone, and is made when it is needed.
	Dir string
	// Pool are the settings of the pool of instances; its Dir is below the Registry's.
	Pool function.Config
	// Shared are the archives in Dir, where the Registry may be opened on other nodes as well; nil: on this one only.
	// The Registry does not close them.
	Shared *Shared
	// RetryDelay is how long an event waits before its first retry, and twice that before the second; 0: one minute.
	RetryDelay time.Duration
	// EventConcurrency is how many events of one function are in it at once; 0: 16.
	EventConcurrency int
	// Report is told what a person should know and no caller is. It may be called from several goroutines. nil: nobody
	// is told.
	Report func(error)
}

// Registry keeps functions and runs them. Its methods may be called from any goroutine.
type Registry struct {
	config Config
	store  queue.Service

	change sync.Mutex // held while functions are changed
	giving sync.Mutex // held while the pool is given a version; nothing else is waited for meanwhile

	placing sync.Mutex // held while an archive is put in its place

	mu       sync.RWMutex
	all      map[string]*Function // never changed: replaced
	layers   map[string]*Layer    // the same
	live     map[string]*live     // what was given to the pool, by name and version
	feeds    map[string]*feed     // by the mapping's id
	signings map[string]Signing   // by their ids
	pool     *function.Pool       // nil until it is needed
	closed   bool

	altered map[string]string // what is wrong with archives, by their checksums

	stopping context.Context
	stop     context.CancelFunc
	runners  map[string]*runner
	work     sync.WaitGroup
}

// live is a version that was given to the pool, or is being given.
type live struct {
	done     chan struct{}
	err      error
	revision string
}

// Open reads what the store knows, and goes on with events and mappings. An error of the store, such as
// queue.ErrUnavailable, changes nothing in the folder.
func Open(ctx context.Context, c Config) (*Registry, error) {
	if c.Store == nil || c.Dir == "" {
		return nil, errors.New("deployment: a store and a folder are needed")
	}
	if c.RetryDelay == 0 {
		c.RetryDelay = time.Minute
	}
	if c.EventConcurrency == 0 {
		c.EventConcurrency = 16
	}
	if c.Report == nil {
		c.Report = func(error) {}
	}
	if c.Pool.Region == "" {
		c.Pool.Region = "us-east-1"
	}
	if c.Pool.Account == "" {
		c.Pool.Account = "000000000000"
	}
	c.Pool.Dir = filepath.Join(c.Dir, "run")
	r := &Registry{config: c, store: c.Store, live: map[string]*live{}, feeds: map[string]*feed{},
		runners: map[string]*runner{}, altered: map[string]string{}}
	k, err := load(ctx, c.Store)
	if err != nil {
		return nil, err
	}
	queues, err := c.Store.Queues(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for events that wait: %w", err)
	}
	r.all, r.layers, r.signings = k.functions, k.layers, k.signings
	if err := r.sweep(); err != nil {
		return nil, err
	}
	r.stopping, r.stop = context.WithCancel(context.WithoutCancel(ctx))
	r.work.Go(r.checkArchives)
	for _, n := range queues {
		if n.Namespace == eventSpace && r.all[n.Name] != nil {
			r.run(n.Name)
		}
	}
	for _, m := range k.mappings {
		r.feed(m)
	}
	for name, f := range r.all {
		for qualifier, n := range f.Provisioned {
			if v, err := f.resolve(qualifier, noDice); err == nil && n > 0 {
				r.work.Go(func() {
					if err := r.ready(f, v); err != nil {
						c.Report(fmt.Errorf("provision %s:%s: %w", name, v.Number, err))
					}
				})
			}
		}
	}
	return r, nil
}

// Close ends events, mappings and instances. What runs for an event that nobody waits for is given back to its queue,
// uncounted.
func (r *Registry) Close() error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil
	}
	r.closed = true
	pool := r.pool
	r.mu.Unlock()
	r.stop()
	r.work.Wait()
	if pool == nil {
		return nil
	}
	return pool.Close()
}

// Region and Account stand in ARNs.
func (r *Registry) Region() string  { return r.config.Pool.Region }
func (r *Registry) Account() string { return r.config.Pool.Account }

// ARN is that of a function, with a qualifier if it is not "".
func (r *Registry) ARN(name, qualifier string) string {
	arn := "arn:aws:lambda:" + r.Region() + ":" + r.Account() + ":function:" + name
	if qualifier != "" {
		arn += ":" + qualifier
	}
	return arn
}

// Pool is the pool of instances. It is made when it is first asked for.
func (r *Registry) Pool() (*function.Pool, error) {
	r.mu.RLock()
	pool, closed := r.pool, r.closed
	r.mu.RUnlock()
	if pool != nil {
		return pool, nil
	}
	if closed {
		return nil, ErrClosed
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, ErrClosed
	}
	if r.pool == nil {
		if err := os.MkdirAll(r.config.Pool.Dir, 0o700); err != nil {
			return nil, fmt.Errorf("make a folder for functions: %w", err)
		}
		pool, err := function.New(r.config.Pool)
		if err != nil {
			return nil, err
		}
		r.pool = pool
	}
	return r.pool, nil
}

// NotIsolated says what of the isolation of functions is missing on this machine; nil: nothing, or it is not known
// before a function is wanted.
func (r *Registry) NotIsolated() []string {
	r.mu.RLock()
	pool := r.pool
	r.mu.RUnlock()
	if pool == nil {
		return nil
	}
	a := pool.Machine().Isolation
	return a.Missing
}

// Get is a function as it is now. It must not be changed.
func (r *Registry) Get(name string) (*Function, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if f := r.all[name]; f != nil {
		return f, nil
	}
	return nil, unknown("Function not found: %s", r.ARN(name, ""))
}

// List are the functions by name.
func (r *Registry) List() []*Function {
	r.mu.RLock()
	defer r.mu.RUnlock()
	all := make([]*Function, 0, len(r.all))
	for _, name := range slices.Sorted(maps.Keys(r.all)) {
		all = append(all, r.all[name])
	}
	return all
}
