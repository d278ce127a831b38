package campaign

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Store is what the registry needs of the house's store; a queue.Service is one.
type Store interface {
	Resolve(n queue.Name) queue.Name
	Commit(ctx context.Context, c queue.Change) ([][]queue.PutResult, []error, error)
	Notes(ctx context.Context, room string) ([]queue.Note, error)
	Stats(ctx context.Context, n queue.Name) (queue.Stats, error)
	TopicStats(ctx context.Context, n queue.Name) (queue.TopicStats, error)
	HasTopic(ctx context.Context, n queue.Name) (bool, error)
	Parse(ctx context.Context, n queue.Name, where string) (*condition.Expr, error)
	Idle(ctx context.Context, n queue.Name, where *condition.Expr) (bool, error)
}

// Registry remembers campaigns. Its methods may be called from any goroutine; those that components call do nothing on
// a nil Registry.
type Registry struct {
	store Store
	clock func() time.Time
	// changing is held while a definition is changed, also while that becomes durable.
	changing sync.Mutex

	mu      sync.Mutex
	all     map[string]*campaign
	byKey   map[string]*campaign // by queue and key
	guarded []queue.Name
	follows map[int]func()
	follow  int

	stopped atomic.Pointer[Stopped]
	counted atomic.Pointer[map[string]*campaign] // all, for those without the lock

	stop context.CancelFunc
	done chan struct{}
}

// campaign is one that is remembered. The registry's lock guards it, but for tally.
type campaign struct {
	id      string
	def     definition
	runs    map[string]run
	problem string
	tally   tally
	pulse   pulse
}

// Stopped are the campaigns that do not go on. It does not change.
type Stopped struct {
	Paused []string // ordered
	state  map[string]State
}

// State is Paused or Cancelled; "": the campaign goes on, or is not known.
func (s *Stopped) State(id string) State {
	if s == nil || len(s.state) == 0 {
		return ""
	}
	return s.state[id]
}

// Open reads what is remembered; ctx only bounds that. clock is for tests; nil: time.Now. The store outlives the
// registry. Errors are the store's, such as queue.ErrUnavailable, and those of notes that cannot be read.
func Open(ctx context.Context, store Store, clock func() time.Time) (*Registry, error) {
	if clock == nil {
		clock = time.Now
	}
	r := &Registry{
		store: store, clock: clock, all: map[string]*campaign{}, byKey: map[string]*campaign{},
		follows: map[int]func(){},
		done:    make(chan struct{}),
	}
	if err := r.load(ctx); err != nil {
		return nil, err
	}
	r.publish()
	beating, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r.stop = cancel
	go func() {
		defer close(r.done)
		r.beat(beating)
	}()
	return r, nil
}

// Close keeps the last counts.
func (r *Registry) Close() error {
	r.stop()
	<-r.done
	return r.flush(context.Background())
}

// publish makes what components look at. The lock is held, or nobody else knows r.
func (r *Registry) publish() {
	s := &Stopped{state: map[string]State{}}
	for id, c := range r.all {
		if c.def.State == Paused {
			s.Paused = append(s.Paused, id)
		}
		if c.def.State == Paused || c.def.State == Cancelled {
			s.state[id] = c.def.State
		}
	}
	slices.Sort(s.Paused)
	all := maps.Clone(r.all)
	r.counted.Store(&all)
	r.stopped.Store(s)
}

// Stopped are the campaigns that do not go on now; nil: there is no registry.
func (r *Registry) Stopped() *Stopped {
	if r == nil {
		return nil
	}
	return r.stopped.Load()
}

// Follow calls changed, which must be quick, after each change of a state, until stop is called.
func (r *Registry) Follow(changed func()) (stop func()) {
	if r == nil {
		return func() {}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.follow
	r.follow++
	r.follows[n] = changed
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.follows, n)
	}
}

// Guard says that what is in a queue is counted by the transform campaign once it comes out.
func (r *Registry) Guard(n queue.Name) {
	if r == nil {
		return
	}
	n = r.store.Resolve(n)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.guarded, n) {
		r.guarded = append(r.guarded, n)
	}
}

// List names the campaigns of queues that may be seen, the newest first.
func (r *Registry) List(may func(queue string) bool) (ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, c := range r.all {
		if may(c.def.Queue) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(b, a) })
	return ids
}

// Show shows one. The error is ErrNotFound.
func (r *Registry) Show(id string) (View, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.all[id]
	if c == nil {
		return View{}, ErrNotFound
	}
	return r.view(c), nil
}

// Totals counts the campaigns that are remembered, by state.
func (r *Registry) Totals() map[State]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	totals := map[State]int{}
	for _, c := range r.all {
		totals[r.shown(c)]++
	}
	return totals
}

// shown is the state as it is shown. The lock is held.
func (r *Registry) shown(c *campaign) State {
	if c.def.State == Running && c.made() == 0 && c.def.Due.After(r.clock()) {
		return Scheduled
	}
	return c.def.State
}

// None tells whether all campaigns go on.
func (s *Stopped) None() bool { return s == nil || len(s.state) == 0 }
