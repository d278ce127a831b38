package dead

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/batch"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Store is what a registry needs of the house's store; a queue.Service is one.
type Store interface {
	Notes(ctx context.Context, room string) ([]queue.Note, error)
	Commit(ctx context.Context, c queue.Change) ([][]queue.PutResult, []error, error)
}

// Config says where a registry keeps what it knows.
type Config struct {
	Store    Store
	Room     string        // tells registries of one store apart: the name of the sink
	Platform string        // for the reports: "apns", "fcm", "hms", "webpush", "wns"
	Feedback queue.Name    // queue or topic for the reports; zero: none are made
	Memory   time.Duration // a device that died longer ago is tried again; 0: never
	Clock    func() time.Time
}

// Death is what a far end said of a device.
type Death struct {
	App     string // the app, project or origin whose token it is
	Of      string // what of the app it is about: its environment and topic; "": what the app has by default
	Token   string
	Since   time.Time // when it died, as far as the far end says; zero: now
	Reason  string    // the far end's word: "Unregistered"
	Status  int       // of its answer; 0: there was none
	Message message.ID
	// Suspect says that it may be the sender's mistake: the device is reported, not remembered.
	Suspect bool
}

// key is what a death is remembered by.
func (d *Death) key() uint64 { return keyOf(d.App, d.Of, d.Token) }

// keyOf leaves the key without of as it was before there was any.
func keyOf(app, of, token string) uint64 {
	if of != "" {
		app += "\n" + of
	}
	return hash(app, token)
}

// Bounds of a registry.
const (
	mostPending = 100_000         // deaths that are not durable yet
	atOnce      = noteEntries / 5 // of one commit, each with its report
)

var (
	// ErrNoStore: there is no store to keep dead devices in.
	ErrNoStore = errors.New("there is no store to remember dead devices in")
	// ErrNotOpen: what is remembered has not been read yet.
	ErrNotOpen = errors.New("the dead devices are not read yet: the sink has not started")
)

// Keeper is met by sinks that remember dead devices.
type Keeper interface {
	// DeadDevices is the same registry from the making of the sink on. Its methods say ErrNotOpen before the sink has
	// started.
	DeadDevices() *Registry
}

// Registry remembers dead devices. Its methods may be called by several goroutines at once.
type Registry struct {
	config Config
	room   string
	known  table
	causes causes
	ledger ledger // the grouper's alone
	marks  atomic.Pointer[batch.Grouper[mark]]
	told   atomic.Uint64
	turn   chan struct{} // of revivals: there is one at a time
}

// mark is a death, or a revival, on its way to the store.
type mark struct {
	death  Death
	revive *revival // nil: it is a death
	done   func(error)
}

// New makes a registry. Start opens it.
func New(c Config) *Registry {
	if c.Clock == nil {
		c.Clock = time.Now
	}
	return &Registry{config: c, room: "push/dead/" + c.Room, turn: make(chan struct{}, 1)}
}

// Start reads what is remembered.
func (r *Registry) Start(ctx context.Context) error {
	if r.config.Store == nil {
		return ErrNoStore
	}
	if err := r.load(ctx); err != nil {
		return fmt.Errorf("read the dead devices of %s: %w", r.config.Room, err)
	}
	r.marks.Store(batch.New(batch.Config[mark]{MaxCount: atOnce, Pending: mostPending, Handle: r.keep}))
	return nil
}

// Close keeps what was marked, and tells those who wait for it.
func (r *Registry) Close() error {
	if marks := r.marks.Load(); marks != nil {
		return marks.Close()
	}
	return nil
}

// Dead tells whether a device is known to be dead, and since when; of is that of its Death. registered is when its
// token was registered, as the message says; a device that registered after its death is alive. Zero: not known.
func (r *Registry) Dead(app, of, token string, registered time.Time) (since time.Time, dead bool) {
	at := r.known.at(keyOf(app, of, token))
	if at == 0 {
		return time.Time{}, false
	}
	since = time.Unix(int64(at), 0)
	return since, !registered.After(since) && !r.forgotten(since)
}

func (r *Registry) forgotten(since time.Time) bool {
	return r.config.Memory > 0 && r.config.Clock().Sub(since) > r.config.Memory
}

// Mark remembers a death and reports it, as one atomic group; done is called, from a goroutine of the registry, when
// that is durable, or with the error for which it is not: then the device counts as alive. A death that is known
// already is not reported again. Mark does not block.
func (r *Registry) Mark(d Death, done func(error)) {
	if d.Since.IsZero() {
		d.Since = r.config.Clock()
	}
	marks := r.marks.Load()
	if marks == nil {
		done(ErrNotOpen)
		return
	}
	if err := marks.Post(mark{death: d, done: done}); err != nil {
		done(fmt.Errorf("remember a dead device: %w", err))
	}
}

// Reject marks a death, and then tells the outcome of the message that found it: it is rejected for a reason, or, where
// the death cannot be kept, to be tried again. done is called as Mark's is.
func (r *Registry) Reject(d Death, reason error, done func(component.Outcome)) {
	r.Mark(d, func(err error) {
		if err != nil {
			done(component.Again(0, fmt.Errorf("%w, which could not be kept: %w", reason, err)))
			return
		}
		done(component.Reject(reason))
	})
}

// Len is how many dead devices are remembered.
func (r *Registry) Len() int { return r.known.len() }

// Reported is how many deaths were reported since the start.
func (r *Registry) Reported() uint64 { return r.told.Load() }

// hash names a device: the first eight bytes of a SHA-256. Among ten million dead devices, a live one in two million
// million is taken for dead by chance.
func hash(app, token string) uint64 {
	b := make([]byte, 0, 256)
	b = append(b, app...)
	b = append(b, 0)
	b = append(b, token...)
	sum := sha256.Sum256(b)
	return binary.BigEndian.Uint64(sum[:])
}
