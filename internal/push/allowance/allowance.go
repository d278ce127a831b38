package allowance

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Store is what an allowance needs of the house's store; a queue.Service is one.
type Store interface {
	Notes(ctx context.Context, room string) ([]queue.Note, error)
	Commit(ctx context.Context, c queue.Change) ([][]queue.PutResult, []error, error)
}

// Config says what is allowed.
type Config struct {
	Store    Store
	Room     string        // tells allowances of one store apart
	Most     int           // pushes of a user
	Within   time.Duration // in whole seconds
	Remember int           // pushes of all users; beyond, the oldest are forgotten
	// Clock is asked at the start what time it is, and Passed from then on how much has passed since New. nil:
	// time.Now, and what Clock says, by the monotonic clock if it has one.
	Clock  func() time.Time
	Passed func() time.Duration
}

// Push is one that is to be sent, or was.
type Push struct {
	User    string
	Message message.ID
}

// Stats tell how an allowance is used. Counts are since the start.
type Stats struct {
	Remembered int    // pushes that count now
	Over       uint64 // pushes that were one too many
	Forgotten  uint64 // pushes that were forgotten while they still counted
}

// Bounds.
const (
	// MostAtOnce is how many pushes are to be taken at once.
	MostAtOnce = 1000
	// mostLater bounds what waits to be kept within a second. What is beyond is not kept: it is right until a restart.
	mostLater = 100_000
	// saveEvery is how often that is kept.
	saveEvery = time.Second
	// grain is the part of Within by which the time of a push may be wrong after a restart.
	grain = 100
)

// ErrNoStore: there is no store to remember pushes in.
var ErrNoStore = errors.New("there is no store to remember pushes in")

// Allowance remembers pushes. Its methods may be called by several goroutines at once.
type Allowance struct {
	config Config
	room   string
	within uint32
	begun  time.Time
	// saving is held while something is made durable.
	saving sync.Mutex
	pages  pages // saving guards it

	mu    sync.Mutex
	book  *book
	later []entry // that are in the book, and not kept yet
	over  uint64

	stop context.CancelFunc
	done chan struct{}
}

// New makes an allowance. Start opens it.
func New(c Config) *Allowance {
	if c.Clock == nil {
		c.Clock = time.Now
	}
	room, begun := "push/cap/"+c.Room, c.Clock()
	if c.Passed == nil {
		c.Passed = func() time.Duration { return c.Clock().Sub(begun) }
	}
	return &Allowance{config: c, room: room, within: uint32(c.Within / time.Second), begun: begun,
		pages: pages{room: room}, book: newBook(c.Remember)}
}

// Start reads what is remembered.
func (a *Allowance) Start(ctx context.Context) error {
	if a.config.Store == nil {
		return ErrNoStore
	}
	now := a.now()
	since := a.since(now)
	notes, err := a.config.Store.Notes(ctx, a.room)
	if err != nil {
		return fmt.Errorf("read the pushes that count for %s: %w", a.config.Room, err)
	}
	for _, n := range notes { // in the order of their numbers
		number, err := pageNumber(n.Key)
		if err == nil {
			err = readEntries(n.Value, func(e entry) { a.remembered(e, now, since) })
		}
		if err != nil {
			return fmt.Errorf("read the pushes that count for %s: note %q is damaged: %w", a.config.Room, n.Key, err)
		}
		a.pages.load(number, a.book.next, n.Value)
	}
	a.book.forgotten = 0
	saving, cancel := context.WithCancel(context.Background())
	a.stop, a.done = cancel, make(chan struct{})
	go func() {
		defer close(a.done)
		a.saveOften(saving)
	}()
	return nil
}

// remembered takes an entry of an earlier start. One of a time to come was made when the clock was ahead: it counts
// from now on, where it would count until that time and for as long again.
func (a *Allowance) remembered(e entry, now, since uint32) {
	ahead := e.at > now
	e.at = min(e.at, now)
	if a.book.take(e, since); ahead {
		a.keepLater(e)
	}
}

// Close keeps what is not kept yet.
func (a *Allowance) Close() error {
	if a.stop == nil {
		return nil
	}
	a.stop()
	<-a.done
	return a.save(context.Background(), nil)
}

// now is the second that has not passed: what counts from then on does so for long enough. It goes by the monotonic
// clock: were the other one set forward, by mistake perhaps, users would get as many again.
func (a *Allowance) now() uint32 {
	return uint32(a.begun.Add(a.config.Passed() + time.Second - 1).Unix())
}

// since is the last instant that does not count any more.
func (a *Allowance) since(now uint32) uint32 { return now - min(now, a.within) }

// Take tells which of some pushes, at most MostAtOnce, are within what their users may have. Those that are have been
// counted when it returns, durably. After an error none of them is.
func (a *Allowance) Take(ctx context.Context, pushes []Push) ([]bool, error) {
	a.saving.Lock()
	defer a.saving.Unlock()
	may := make([]bool, len(pushes))
	var fresh []entry
	var over uint64
	a.mu.Lock()
	now := a.now()
	since := a.since(now)
	for i := range pushes {
		e := pushes[i].entry(now)
		n, same := a.book.count(e.user, e.push, since)
		switch {
		case same != nil:
			may[i] = true
			a.renew(same, e)
		case n < a.config.Most:
			may[i] = true
			a.book.add(e, since)
			fresh = append(fresh, e)
		default:
			over++
		}
	}
	a.mu.Unlock()
	if len(fresh) == 0 {
		a.count(over)
		return may, nil
	}
	if err := a.keep(ctx, fresh); err != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, e := range fresh {
			a.book.remove(e.user, e.push)
		}
		return nil, fmt.Errorf("count %d pushes: %w", len(fresh), err)
	}
	a.count(over)
	return may, nil
}

func (a *Allowance) count(over uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over += over
}

// renew lets a push that counts do so from now on, if its time is off by more than a grain. The lock is held.
func (a *Allowance) renew(same *slot, e entry) {
	if e.at <= same.at || e.at-same.at <= a.within/grain {
		return
	}
	a.book.remove(e.user, e.push)
	a.book.add(e, a.since(e.at))
	a.keepLater(e)
}

// Renew lets a push that was taken count from now on: it leaves only now.
func (a *Allowance) Renew(p Push) { a.again(p, false) }

// Confirm lets a push that was taken count from now on, to the second: the far end has it.
func (a *Allowance) Confirm(p Push) { a.again(p, true) }

func (a *Allowance) again(p Push, exact bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e := p.entry(a.now())
	_, same := a.book.count(e.user, e.push, a.since(e.at))
	if same == nil {
		return
	}
	a.renew(same, e)
	if exact && same.push == e.push { // it is where it was, and may be a little too old
		same.at = max(same.at, e.at)
	}
}

// Return lets a push count no more: it was not sent.
func (a *Allowance) Return(p Push) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e := p.entry(0)
	if _, same := a.book.count(e.user, e.push, 0); same == nil {
		return
	}
	a.book.remove(e.user, e.push)
	a.keepLater(e)
}

// keepLater keeps an entry within saveEvery. The lock is held.
func (a *Allowance) keepLater(e entry) {
	if len(a.later) < mostLater {
		a.later = append(a.later, e)
	}
}

// Stats may be called at any time.
func (a *Allowance) Stats() Stats {
	a.mu.Lock()
	defer a.mu.Unlock()
	return Stats{a.book.live, a.over, a.book.forgotten}
}

// saveOften keeps what waits for it, and forgets what counts no more.
func (a *Allowance) saveOften(ctx context.Context) {
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = a.save(ctx, nil) // what could not be kept is kept the next time, or by Close
		}
	}
}

func (a *Allowance) save(ctx context.Context, fresh []entry) error {
	a.saving.Lock()
	defer a.saving.Unlock()
	return a.keep(ctx, fresh)
}

// keep makes entries durable, with those that wait for it. saving is held.
func (a *Allowance) keep(ctx context.Context, fresh []entry) error {
	a.mu.Lock()
	later := a.later
	a.later = nil
	a.book.expire(a.since(a.now()))
	from, until := a.book.first, a.book.next
	a.mu.Unlock()
	// What is fresh comes last: a push that was returned may have been taken again since.
	all := append(later[:len(later):len(later)], fresh...)
	for done := 0; ; {
		some := all[done:min(done+pageEntries, len(all))]
		value := make([]byte, 0, entrySize*len(some))
		for _, e := range some {
			value = appendEntry(value, e)
		}
		notes, take := a.pages.add(value, until, from)
		if len(notes) == 0 {
			return nil
		}
		if _, _, err := a.config.Store.Commit(ctx, queue.Change{Notes: notes}); err != nil {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.later = append(later, a.later...)
			return err
		}
		take()
		if done += len(some); done == len(all) {
			return nil
		}
	}
}

// entry is what is remembered of a push.
func (p *Push) entry(at uint32) entry {
	sum := sha256.Sum256([]byte(p.User))
	id := p.Message
	// An id begins with a time and ends at random, or is as random as a whole: the halves together tell it from others.
	push := binary.BigEndian.Uint64(id[:8])*0x9e3779b97f4a7c15 ^ binary.BigEndian.Uint64(id[8:])
	return entry{binary.BigEndian.Uint64(sum[:]), max(1, push), at}
}
