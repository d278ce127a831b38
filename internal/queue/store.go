// Package queue keeps topics and queues: puts, claims by condition, settling, leases, redelivery, dead letters. It is a
// state folded from a journal: everything that matters after a crash is a record, and replaying the records gives the
// state again.
//
// A Store is used by doors (package api), by pipelines and by benches. It knows no protocol and no file.
//
//	s, err := queue.Open(ctx, queue.Options{Journal: j, OnDemand: true})
//	news := queue.Name{Namespace: "default", Name: "news"}
//	s.Put(ctx, news, []message.Message{{Body: []byte("hello")}})
//	claims, _ := s.Claim(ctx, queue.ClaimRequest{From: []queue.From{{Queue: news}}, Wait: 20 * time.Second})
//	s.Settle(ctx, []queue.Settlement{{Token: claims[0].Token, Kind: queue.Done}})
//
// Nothing is visible to anybody before it is durable, a settled message never comes back, and an acknowledged one that
// is not settled is never lost.
//
// Inside, state (pure: no I/O, no clock) is fed by events and asked questions, and Store is the little that connects it
// to a journal, a clock and waiting callers. What the state wants to have done it leaves in lists. Its files compile
// without those that name Store (docs/decisions/0080). Events reach the state when their group is durable; only a claim
// takes effect when its record is written, since a claim that a power cut forgets is merely handed out again.
package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/message"
)

// Options say over what a Store works.
type Options struct {
	Journal journal.Journal  // the Store is its only user; Close does not close it
	Clock   func() time.Time // nil: time.Now
	// Monotonic is the time that has passed since some moment, whatever becomes of the clock; nil: what the readings of
	// Clock say of it (see time.Time).
	Monotonic func() time.Duration
	// Noticed, if set, is told when the clock and journaled time part and meet again. It must not call the Store.
	Noticed    func(ClockNotice)
	Limits     Limits              // zero fields have defaults
	OnDemand   bool                // a put or a claim makes the queue that it names
	Namespaces map[string][]string // namespace → other names for it
	// Observe, if set, is told the hops of every message settled Done. It must be quick and must not call the Store.
	Observe func(n Name, hops *message.Hops)
	// Looked, if set, is told how long each claim looked for its messages in memory. It must be quick and must not call
	// the Store.
	Looked func(time.Duration)
	// Trace, if set, is told where messages have been, behind the work and without the lock.
	Trace *journey.Store
	// Taps are told what happens, for those who watch; nil: nobody does.
	Taps *journey.Taps
	// Untraced, if set, tells of which queues it is not told anything.
	Untraced func(Name) bool
	// CheckpointBytes is how much is appended between checkpoints, at least; 0: 64 MiB.
	CheckpointBytes uint64
	// Elsewhere, if set, tells of a queue's or topic's name whether it is another store's: then the Store makes no
	// queue of that name, and puts what goes there (dead letters, replays) into a queue of its own, from which somebody
	// else carries it on. nil: it is this one's. It is called under the lock: it must be quick and must not call the
	// Store.
	Elsewhere func(n Name, as Meaning) *Lane
	// Begin, if set, is closed when the Store may begin its own work: leases, dead letters, checkpoints. It has to be
	// closed, or the Store, in the end. nil: at once.
	Begin <-chan struct{}
	// Numbers bounds the numbers that queues and topics ever get (see Token.Queue): they are below it; 0: 1<<32 - 1.
	Numbers uint32
}

// Meaning is what the name of a message's destination may be of.
type Meaning bool

const (
	AQueue      Meaning = false // a queue
	TopicBefore Meaning = true  // a topic or, where there is none, a queue
)

// Lane is a queue of what is on its way to another store.
type Lane struct {
	Queue      Name
	Definition Definition
	Use        func() // is called, without the lock, when something is about to be put there; nil: nobody wants to know
}

// use tells that something is about to be put into the lane, if it is one.
func (l *Lane) use() {
	if l != nil && l.Use != nil {
		l.Use()
	}
}

// Store keeps all topics and queues. Its methods may be called from any goroutine.
type Store struct {
	journal  journal.Journal
	clock    func() time.Time
	passed   func() time.Duration // Options.Monotonic
	limits   Limits
	groups   groups
	demand   bool
	aliases  map[string]string
	observe  func(Name, *message.Hops)
	trace    *journey.Store // nil: nobody wants to know
	taps     *journey.Taps  // likewise
	untraced func(Name) bool
	looked   func(time.Duration)
	noticed  func(ClockNotice)
	away     func(Name, Meaning) *Lane
	numbers  uint32
	every    uint64

	room chan struct{} // one place for each group under way to the journal

	// The journal calls one done function at a time: these are theirs.
	arrived        []arrived
	arrivedRecords int
	arrivedMost    int // flights to land together

	mu       sync.Mutex
	state    *state
	packing  packing
	handed   claimed // what a claim wrote down last
	failed   error   // the journal takes nothing more; over is closed then
	closed   bool
	flights  int              // groups under way
	landing  *sync.Cond       // flights became fewer, or a pause ended
	paused   int              // how many wait for no group to be under way, and want no new ones
	defining map[Name]*flight // definitions on their way
	// those of them that concern subscriptions, by topic
	redefining map[*topicState]map[*flight]struct{}
	draining   int // alterations that wait for what is on its way
	waiting    int
	claimant   uint64

	checkpointed   uint64 // journal bytes appended up to the last checkpoint
	checkpointSize uint64
	pressed        int // checkpoints to take soon, because the disk is full

	sleeping int64 // until when keepTime sleeps, µs
	late     lateness

	saveNow chan chan error // checkpoints that somebody asks for, and waits for
	alarm   chan struct{}   // capacity 1: the timer's goroutine should look again
	aside   chan struct{}   // capacity 1: there are messages whose bodies somebody's condition asks for
	over    chan struct{}   // closed when the journal takes nothing more
	stop    context.CancelFunc
	ctx     context.Context // ends with Close
	ending  sync.WaitGroup
}

// maxFlights bounds the groups under way to the journal; a caller with one more waits.
const maxFlights = 4096

// Open folds the journal and starts the Store's own work: leases, delays, expiry, dead letters, checkpoints.
func Open(ctx context.Context, o Options) (*Store, error) {
	set := o.Clock != nil
	if !set {
		o.Clock = time.Now
	}
	aliases, err := aliasTable(o.Namespaces)
	if err != nil {
		return nil, err
	}
	groups, err := groupsOf(o.Journal.Info())
	if err != nil {
		return nil, err
	}
	s := &Store{
		late:    lateness{off: set},
		journal: o.Journal, clock: o.Clock, passed: o.Monotonic, limits: groups.bound(o.Limits.WithDefaults()),
		groups: groups,
		demand: o.OnDemand, aliases: aliases, observe: o.Observe, trace: o.Trace, taps: o.Taps, untraced: o.Untraced,
		looked: o.Looked, noticed: o.Noticed,
		away: o.Elsewhere, every: o.CheckpointBytes, numbers: cmp.Or(o.Numbers, math.MaxUint32),
		room: make(chan struct{}, maxFlights), defining: map[Name]*flight{},
		redefining: map[*topicState]map[*flight]struct{}{},
		saveNow:    make(chan chan error),
		alarm:      make(chan struct{}, 1),
		aside:      make(chan struct{}, 1),
		over:       make(chan struct{}),
	}
	if s.every == 0 {
		s.every = 64 << 20
	}
	s.landing = sync.NewCond(&s.mu)
	if s.state, err = fold(ctx, o.Journal); err != nil {
		return nil, fmt.Errorf("start from journal %s: %w", o.Journal.Info().Where, err)
	}
	s.state.limits = &s.limits
	s.state.traced = s.trace != nil
	s.advance()
	s.state.settleDown()
	s.state.takeReleased() // Keep tells the journal what is needed
	s.journal.Keep(s.state.live())
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	s.state.beginVersions()
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.ending.Add(4)
	go s.watch()
	for _, keep := range []func(){s.keepServing, s.keepTime, s.keepCheckpoints} {
		go func() {
			if o.Begin != nil {
				select {
				case <-o.Begin:
				case <-s.ctx.Done():
				}
			}
			keep()
		}()
	}
	return s, nil
}

// begin writes down that a new epoch starts, so that tokens of earlier ones can be told apart.
func (s *Store) begin(ctx context.Context) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	f := newFlight(&started{epoch: s.state.epoch + 1})
	if err := s.submit(f); err != nil {
		s.leave()
		return fmt.Errorf("start: %w", err)
	}
	s.mu.Unlock()
	return f.wait(ctx)
}

// Close stops the Store's own work, saves a checkpoint and returns when everything under way is durable. Waiting claims
// return ErrClosed. It does not close the journal. A second Close does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.landing.Broadcast()
	s.mu.Unlock()
	s.stop()
	s.ending.Wait()
	s.mu.Lock()
	for s.flights > 0 {
		s.landing.Wait()
	}
	failed := s.failed
	s.mu.Unlock()
	if failed != nil {
		return nil // said to every caller already
	}
	if err := s.checkpoint(context.Background()); err != nil {
		return fmt.Errorf("close the store: checkpoint: %w", err)
	}
	return nil
}

// Resolve gives a name its namespace's first name.
func (s *Store) Resolve(n Name) Name {
	if ns, ok := s.aliases[n.Namespace]; ok {
		n.Namespace = ns
	}
	return n
}

func aliasTable(namespaces map[string][]string) (map[string]string, error) {
	table := map[string]string{}
	for ns, others := range namespaces {
		for _, other := range others {
			if was, ok := table[other]; ok && was != ns {
				return nil, fmt.Errorf("namespaces: %q is another name of both %q and %q", other, min(was, ns),
					max(was, ns))
			}
			if _, ok := namespaces[other]; ok && other != ns {
				return nil, fmt.Errorf("namespaces: %q is a namespace and another name of %q", other, ns)
			}
			table[other] = ns
		}
	}
	return table, nil
}

// JournalStats describes the journal now.
func (s *Store) JournalStats() journal.Stats { return s.journal.Stats() }

// usable tells why nothing can be done, if so. The lock is held.
func (s *Store) usable() error {
	switch {
	case s.closed:
		return ErrClosed
	default:
		return s.failure()
	}
}

// failure tells why the journal takes nothing more, if so. The lock is held.
func (s *Store) failure() error {
	if s.failed != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, s.failed)
	}
	return nil
}

// sound tells why what the state says may not be so any more, if so: the log is somebody else's, who goes on with it.
// The lock is held.
func (s *Store) sound() error {
	if errors.Is(s.failed, journal.ErrLost) {
		return s.failure()
	}
	return nil
}

// soundNow is sound without the lock.
func (s *Store) soundNow() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sound()
}

// watch ends the Store when it has lost the log, also when nobody asks the journal for anything: who waits or reads
// does not. A journal that has failed shows in the next change, and what the state says stays true.
func (s *Store) watch() {
	defer s.ending.Done()
	select {
	case <-s.ctx.Done():
	case <-s.journal.Failed():
		if err := s.journal.Health(); errors.Is(err, journal.ErrLost) {
			s.mu.Lock()
			_ = s.journalError(err) // told to everybody from now on
			s.mu.Unlock()
		}
	}
}

// enter waits for a place for one more group, and for the end of a pause. On success the lock is held and leave has to
// be called unless submit is, successfully. Journaled time has moved on.
func (s *Store) enter(ctx context.Context) error {
	select {
	case s.room <- struct{}{}:
	default:
		select {
		case s.room <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.mu.Lock()
	for s.paused > 0 && !s.closed {
		s.landing.Wait()
	}
	if err := s.usable(); err != nil {
		s.leave()
		return err
	}
	s.advance()
	return nil
}

// advance moves journaled time on to what the clocks say, and returns it. The lock is held.
func (s *Store) advance() int64 {
	t := s.clock()
	if s.passed != nil {
		s.state.time.hear(s.passed())
	}
	last, froze := s.state.now, s.late.look(t)
	now := s.state.advance(t)
	if froze > 0 {
		s.state.spare(last)
		s.state.time.froze(froze)
	}
	return now
}

// locked calls f with the lock held.
func (s *Store) locked(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// leave gives up what enter got.
func (s *Store) leave() {
	s.mu.Unlock()
	<-s.room
}

// settleUp ends every piece of work under the lock: it tells those who were served, and wakes the timer if there is
// work for it.
func (s *Store) settleUp() {
	s.state.effort = 0
	s.handOver()
	if len(s.state.unserved)+len(s.state.offerings) > 0 {
		select {
		case s.aside <- struct{}{}:
		default:
		}
	}
	due := s.state.due()
	if len(s.state.exhausted) > 0 || len(s.state.overdue) > 0 || len(s.state.over) > 0 || len(s.state.released) > 0 ||
		len(s.state.lapses) > 0 ||
		due != 0 && due < s.sleeping {
		s.sleeping, s.late.sleep = 0, time.Time{}
		select {
		case s.alarm <- struct{}{}:
		default:
		}
	}
}

// journalError turns a journal's error into the Store's, and remembers the end of a journal. The lock is held.
func (s *Store) journalError(err error) error {
	switch {
	case errors.Is(err, journal.ErrFull):
		s.pressed = 2 // checkpoints let the journal reclaim what is settled, and it keeps the last two
		return err
	case errors.Is(err, journal.ErrTooLarge):
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	case errors.Is(err, journal.ErrRefused):
		return err
	}
	if s.failed == nil {
		s.failed = err
		close(s.over)
		s.landing.Broadcast()
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// bodyPart reads one body part from the journal.
func (s *Store) bodyPart(a journal.Address) (part []byte, err error) {
	e := s.journal.Read(context.Background(), []journal.Address{a},
		func(_ int, r journal.Record, e error) { part, err = r.Body, e })
	return part, errors.Join(e, err)
}
