// Package queue is a source that claims messages from queues of this process's store.
//
//	sources:
//	  waiting: { type: queue, queue: news, where: "priority >= 3", lease: 30s }
//	  both:    { type: queue, from: [ { queue: orders, where: "vip = true" }, { queue: orders }, { queue: invoices } ] }
//
// Entries of from are asked in strict priority order. Claims last for the lease, which is extended for as long as a
// message is on its way through the pipeline; what a clean stop finds under way is ready again at once, with its
// attempt taken back. After a kill it is ready again when its lease ends.
//
// Settlements that come together share one commit: while one is being made durable, the next ones gather.
//
// A message from a queue with columns has its row as a JSON object for a body, as at any door without columns.
package queue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/batch"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Config is the source's settings. Either Queue, with Where, or From is set.
type Config struct {
	// Queue to claim from, as "name" or "namespace/name".
	Queue string `yaml:"queue"`
	// Where is the condition that a message has to meet. "": every message.
	Where string `yaml:"where"`
	// From are several queues and conditions, in strict priority order.
	From []From `yaml:"from"`
	// Lease is how long a claim lasts without being extended: how long a message waits after a kill. 0: 30 s.
	Lease time.Duration `yaml:"lease"`
	// Max is the most messages taken by one claim. 0: 100.
	Max int `yaml:"max"`
}

// From is one queue to claim from.
type From struct {
	Queue string `yaml:"queue"`
	Where string `yaml:"where"`
}

// Defaults and bounds of Config.
const (
	DefaultMax = 100
	maxMax     = 10_000
	minLease   = time.Second // extending shorter ones would be most of the work
)

// ErrNoStore: there is no store to claim from.
var ErrNoStore = errors.New("there is no store to claim messages from")

// Source claims messages.
type Source struct {
	name  string
	store queue.Service
	wants []want
	lease time.Duration
	max   int
	// mostHeld is the constant, but in a test.
	mostHeld int

	from    []queue.From // wants with their conditions, since Start
	passes  passes       // of campaigns that are paused
	owner   queue.Owner
	settles *batch.Grouper[queue.Settlement]
	feeding chan (<-chan struct{}) // holds one, once Finish was called

	mu        sync.Mutex
	held      map[queue.Token]time.Time // claims under way → when their lease ends
	receipts  receipts                  // that wait for the settlement of their claim
	running   context.Context           // Run's: when it has ended the source is stopping
	keeper    context.CancelFunc        // ends the goroutine that extends leases; nil: there is none
	kept      chan struct{}             // closed when that has ended
	finishing bool                      // nothing feeds the queues any more
	interrupt context.CancelFunc        // ends the wait for messages; nil: nobody waits
	failed    error                     // the first settlement that could not be kept
}

type want struct {
	name  queue.Name
	where string
}

// New checks the settings.
func New(c Config, env component.Env) (component.Source, error) {
	s := &Source{
		name: env.Name, store: env.Store, lease: c.Lease, max: c.Max, mostHeld: mostHeld,
		feeding: make(chan (<-chan struct{}), 1),
		held:    map[queue.Token]time.Time{},
		passes:  passes{campaigns: env.Campaigns},
	}
	if err := s.choose(c); err != nil {
		return nil, err
	}
	switch {
	case c.Lease == 0:
		s.lease = queue.DefaultLease
	case c.Lease < minLease || c.Lease > queue.MaxLease:
		return nil, component.Setting("lease", fmt.Errorf("%v is not between %v and %v", c.Lease, minLease,
			queue.MaxLease))
	}
	switch {
	case c.Max == 0:
		s.max = DefaultMax
	case c.Max < 0 || c.Max > maxMax:
		return nil, component.Setting("max", fmt.Errorf("%d is not between 1 and %d", c.Max, maxMax))
	}
	return s, nil
}

// choose reads which messages are wanted.
func (s *Source) choose(c Config) error {
	switch {
	case c.Queue != "" && len(c.From) > 0:
		return component.Setting("from", errors.New("stands beside queue: put that queue into from, first if it "+
			"comes first"))
	case c.Queue != "":
		return s.add("", From{Queue: c.Queue, Where: c.Where})
	case len(c.From) == 0:
		return component.Setting("queue", errors.New("is missing: name the queue to claim from, or several in from"))
	case c.Where != "":
		return component.Setting("where", errors.New("stands beside from: put it into the entries that it is for"))
	}
	for i, f := range c.From {
		if err := s.add(fmt.Sprintf("from[%d].", i), f); err != nil {
			return err
		}
	}
	return nil
}

func (s *Source) add(at string, f From) error {
	if f.Queue == "" {
		return component.Setting(at+"queue", errors.New("is missing: name the queue to claim from"))
	}
	name, err := queue.ParseName(f.Queue)
	if err != nil {
		return component.Setting(at+"queue", err)
	}
	if f.Where != "" {
		if _, err := condition.Parse(f.Where); err != nil {
			return whereError(at+"where", err)
		}
	}
	s.wants = append(s.wants, want{name, f.Where})
	return nil
}

// whereError says where in a condition it is wrong, when that is known.
func whereError(setting string, err error) error {
	e := &component.SettingError{Setting: setting, Offset: -1, Err: err}
	var wrong *condition.Error
	if errors.As(err, &wrong) {
		e.Offset = wrong.Offset
	}
	return e
}

// Queues are the queues claimed from, in order. Several entries may name one queue.
func (s *Source) Queues() []queue.Name {
	names := make([]queue.Name, len(s.wants))
	for i, w := range s.wants {
		names[i] = w.name
	}
	return names
}

// Start checks the conditions against the queues.
func (s *Source) Start(ctx context.Context) error {
	if s.store == nil {
		return ErrNoStore
	}
	s.from = make([]queue.From, len(s.wants))
	for i, w := range s.wants {
		where, err := s.store.Parse(ctx, w.name, w.where)
		if err != nil {
			at := "where"
			if len(s.wants) > 1 {
				at = fmt.Sprintf("from[%d].where", i)
			}
			return whereError(at, err)
		}
		s.from[i] = queue.From{Queue: w.name, Where: where}
	}
	s.passes.unfollow = s.passes.campaigns.Follow(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.stir()
	})
	s.owner = s.store.NewOwner("source " + s.name)
	s.settles = batch.New(batch.Config[queue.Settlement]{
		MaxCount: maxSettles,
		Pending:  pendingSettles,
		Handle:   s.settle,
	})
	return nil
}

// Finish lets Run end: when feeding is closed, nothing puts into the queues any more, and once nothing in them matches,
// Run returns nil. It is called at most once, before or while Run runs; without it Run goes on until its context ends.
func (s *Source) Finish(feeding <-chan struct{}) { s.feeding <- feeding }

// Close keeps the last settlements and puts back what is still held.
func (s *Source) Close() error {
	if s.settles == nil {
		return nil
	}
	s.passes.unfollow()
	err := s.settles.Close()
	s.stopKeeper()
	s.owner.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(err, s.failed)
}
