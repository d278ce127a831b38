package shard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Options say of what a Router is made.
type Options struct {
	// Journals are one for each shard, in their order, and always the same ones: the number of shards is fixed when the
	// first message is put. The Router is their only user; Close does not close them.
	Journals []journal.Journal
	// Store is how the store of each shard works; Journal, Elsewhere and Numbers are the Router's. Limits are those of
	// all shards together: each has its share.
	Store queue.Options
	// Report is told what holds up the relay, at most once in a while for each lane. nil: nobody is told.
	Report func(error)
	// Reopen, if set, opens the journal of a shard again that has failed with journal.ErrReopen (why); j is the failed
	// one. It may take its time, and fails when the shard cannot come back. The others serve meanwhile. Shard 0, whose
	// notes others keep in memory, is never opened again by itself.
	Reopen func(ctx context.Context, shard int, j journal.Journal, why error) (journal.Journal, error)
	// Lost is told, once, that a shard has failed and does not come back; nil: nobody is told. The others go on until
	// the Router is closed.
	Lost func(shard int, err error)
	// Told is told when a shard does not serve (why), and when it does again (nil). nil: nobody is told.
	Told func(shard int, why error)

	idle time.Duration // how long a carrier waits at a lane without messages; 0: laneIdle
}

// MaxShards bounds the shards of one process.
const MaxShards = 64

// store is a shard's.
type store interface {
	queue.Shard
	JournalStats() journal.Stats
	Checkpoint(context.Context) error
	Close() error
}

// Router is a queue.Service over the stores of several shards. Its methods may be called from any goroutine.
type Router struct {
	stores  []store // the slots
	slots   []*slot
	options Options
	places  places
	numbers numbers
	demand  bool
	report  func(error)
	reopen  func(ctx context.Context, shard int, j journal.Journal, why error) (journal.Journal, error)
	lost    func(shard int, err error)
	told    func(shard int, why error)

	naming     stripes // definitions of one name do not overtake each other
	keys       stripes // nor do the notes of one key; held while they are written
	owed       owed
	snapshots  stripes // names of snapshots are not given twice
	resuming   stripes // one: shards come back one by one
	relay      *relay
	guarding   sync.WaitGroup
	stopWaits  context.CancelFunc // ends what the Router itself waits for
	closing    context.Context
	closeOnce  sync.Once
	closeError error
}

var _ queue.Service = (*Router)(nil)

// Open opens the store of each shard, carries out what was left to do between them, and starts the relay. The error is
// a *CountError where a journal was made for another number of shards.
func Open(ctx context.Context, o Options) (*Router, error) {
	n := len(o.Journals)
	if n == 0 || n > MaxShards {
		return nil, fmt.Errorf("%d shards: there are 1 to %d", n, MaxShards)
	}
	r := &Router{places: newPlaces(n), numbers: numbersOf(n), demand: o.Store.OnDemand, report: o.Report,
		naming: newStripes(64), keys: newStripes(1024), snapshots: newStripes(16),
		owed: newOwed(), options: o, reopen: o.Reopen, lost: o.Lost, told: o.Told, resuming: newStripes(1)}
	if r.lost == nil {
		r.lost = func(int, error) {}
	}
	if r.told == nil {
		r.told = func(int, error) {}
	}
	if r.report == nil {
		r.report = func(error) {}
	}
	r.closing, r.stopWaits = context.WithCancel(context.WithoutCancel(ctx))
	r.relay = newRelay(r, cmp.Or(o.idle, laneIdle))
	if err := r.open(ctx, &o); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	for i, j := range o.Journals {
		r.guarding.Go(func() { r.guard(i, j) })
	}
	return r, nil
}

func (r *Router) open(ctx context.Context, o *Options) error {
	begin := make(chan struct{})
	for i, j := range o.Journals {
		s, err := r.openStore(ctx, i, j, begin)
		if err != nil {
			return err
		}
		l := newSlot(i, s)
		r.slots, r.stores = append(r.slots, l), append(r.stores, l)
	}
	for _, step := range []func(context.Context) error{r.settleCount, r.look, r.notePending, r.tellPending,
		r.relay.begin} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	close(begin)
	return nil
}

// openStore opens the store of a shard. It begins its own work when begin is closed: dead letters need to know where
// everything is.
func (r *Router) openStore(ctx context.Context, shard int, j journal.Journal, begin <-chan struct{}) (store,
	error) {
	each := r.options.Store
	each.Journal, each.Numbers, each.Begin = j, r.numbers.most(), begin
	each.Limits = share(each.Limits, r.places.shards)
	if observe := each.Observe; observe != nil { // what a lane has let go of has not arrived
		each.Observe = func(n queue.Name, hops *message.Hops) {
			if !reserved(n) {
				observe(n, hops)
			}
		}
	}
	each.Untraced = reserved
	each.Elsewhere = func(n queue.Name, as queue.Meaning) *queue.Lane { return r.elsewhere(shard, n, as) }
	s, err := queue.Open(ctx, each)
	if err != nil {
		return nil, fmt.Errorf("shard %d: %w", shard, err)
	}
	return s, nil
}

// share is what each of n shards has of the limits of all. What bounds one call or one queue is the same for each.
func share(l queue.Limits, n int) queue.Limits {
	whole := l.WithDefaults()
	part := func(v int64) int64 { return max(1, v/int64(n)) }
	l.Messages, l.Bytes = part(whole.Messages), part(whole.Bytes)
	if l.Memory > 0 {
		l.Memory = part(l.Memory)
	}
	return l
}

// look finds the topics, and the queues that are not where their names say.
func (r *Router) look(ctx context.Context) error {
	at := map[queue.Name]int{}
	for i, s := range r.stores {
		topics, err := s.Topics(ctx)
		if err != nil {
			return err
		}
		for _, n := range topics {
			if said := r.places.said(n); said != i {
				return fmt.Errorf("topic %s is in shard %d of %d, its name says %d: the folders are not of one store, or "+
					"not all of them", n.Short(), i, len(r.stores), said)
			}
			r.places.setTopic(n, true)
		}
		names, err := s.Queues(ctx)
		if err != nil {
			return err
		}
		for _, n := range names {
			if reserved(n) {
				continue
			}
			if other, twice := at[n]; twice {
				return fmt.Errorf("queue %s is in shard %d and in shard %d: the folders are not of one store", n.Short(),
					other, i)
			}
			at[n] = i
		}
	}
	for n, i := range at {
		if r.places.said(n) != i {
			r.places.set(n, i)
		}
	}
	for n, i := range at { // a moved queue has its dead letters looked for beside it
		if r.places.queue(n) != i {
			r.places.set(n, i)
		}
	}
	return nil
}

// Close stops the relay and closes the stores. It does not close the journals. A second Close does nothing.
func (r *Router) Close() error {
	r.closeOnce.Do(func() {
		r.stopWaits()
		r.guarding.Wait()
		r.relay.end()
		for i, s := range r.stores {
			if err := s.Close(); err != nil {
				r.closeError = errors.Join(r.closeError, fmt.Errorf("shard %d: %w", i, err))
			}
		}
	})
	return r.closeError
}

// ShardOf is the shard in which a queue is, or in which it would be made.
func (r *Router) ShardOf(n queue.Name) int { return r.places.queue(r.Resolve(n)) }

// Resolve implements queue.Service.
func (r *Router) Resolve(n queue.Name) queue.Name { return r.stores[0].Resolve(n) }

// of is the store that has a queue, or in which it is to be made.
func (r *Router) of(n queue.Name) (shard int, s store, err error) {
	n = r.Resolve(n)
	if reserved(n) {
		return 0, nil, errReserved(n)
	}
	shard = r.places.queue(n)
	return shard, r.stores[shard], nil
}

// topicOf is the store that has a topic, or in which it is to be made.
func (r *Router) topicOf(n queue.Name) store { return r.stores[r.places.topic(r.Resolve(n))] }

// JournalStats are the sums of all journals; of a time the latest one.
func (r *Router) JournalStats() (sum journal.Stats) {
	for _, s := range r.stores {
		sum = sum.And(s.JournalStats())
	}
	return sum
}

// Checkpoint saves the states of all shards now, and returns when that is done.
func (r *Router) Checkpoint(ctx context.Context) error {
	for i, s := range r.stores {
		if err := s.Checkpoint(ctx); err != nil {
			return fmt.Errorf("shard %d: %w", i, err)
		}
	}
	return nil
}

// Ready is nil when every shard would take a small put; else it is a *ReadyError, or ctx's.
func (r *Router) Ready(ctx context.Context) error {
	var not ReadyError
	for i, s := range r.stores {
		err := s.Ready(ctx)
		if err != nil && ctx.Err() != nil {
			return err
		}
		if err != nil {
			not.shards, not.why = append(not.shards, i), append(not.why, err)
		}
	}
	if not.why == nil {
		return nil
	}
	return &not
}

// ReadyError says which shards would take nothing, and why.
type ReadyError struct {
	shards []int
	why    []error
}

func (e *ReadyError) Error() string {
	var all []string
	for i, shard := range e.shards {
		all = append(all, fmt.Sprintf("shard %d: %v", shard, e.why[i]))
	}
	return strings.Join(all, "; ")
}

// Unwrap is why they would not.
func (e *ReadyError) Unwrap() []error { return e.why }

// Shards are the shards that would take nothing.
func (e *ReadyError) Shards() []int { return e.shards }
