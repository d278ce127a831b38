package queue

import (
	"errors"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// What the caller asked for is wrong; the same call will fail again.
var (
	ErrBadName    = errors.New("not a name")
	ErrNotFound   = errors.New("no such queue or topic")
	ErrExists     = errors.New("already exists with another definition")
	ErrSnapshot   = errors.New("there is a snapshot of that name")
	ErrDefinition = errors.New("definition is not valid")
	ErrTooLarge   = errors.New("message is too large")
	ErrMismatch   = errors.New("message does not fit the queue's columns")
	ErrCondition  = errors.New("condition does not fit the queue")
	ErrStale      = errors.New("claim is no longer valid: it was settled, or its lease ended")
	ErrBadToken   = errors.New("not a claim token")
	ErrUnheard    = errors.New("topic has no subscription")
	ErrProtected  = errors.New("protected from changes")
	ErrGone       = errors.New("no such message: it was settled or removed, or was never there")
)

// What may pass: try again later.
var (
	// ErrQueueFull: a bound of the queue or the store is reached. Doors translate it to their own error.
	ErrQueueFull = errors.New("queue full")
	// ErrTooManyWaiters: Limits.Waiters is reached.
	ErrTooManyWaiters = errors.New("too many waiting readers")
	// ErrElsewhere: the name is another store's by now, see Options.Elsewhere.
	ErrElsewhere = errors.New("it is in another store")
	// ErrChanged: what a change depends on is not as it says: look again.
	ErrChanged = errors.New("it was changed meanwhile")
	// ErrStalled: the disk does not answer, and puts wait until it does. Only Ready says so.
	ErrStalled = journal.ErrStalled
	// ErrNoRoom: the disk is full.
	ErrNoRoom = journal.ErrFull
	// ErrRefused: the journal could not take it and has kept nothing of it, as when the process may have no more files
	// open. It may be tried again.
	ErrRefused = journal.ErrRefused
)

// The store is over.
var (
	ErrClosed = errors.New("store is closed")
	// ErrUnavailable: the journal has failed, or is somebody else's by now (journal.ErrLost), and takes nothing until a
	// restart; what was asked for may or may not have been kept.
	ErrUnavailable = errors.New("store is unavailable")
)

// DifferentError says that a definition differs from the one that is there. It is ErrExists.
type DifferentError struct {
	Name         Name
	Have, Wanted Definition
	Differences  []Difference
}

// Difference is one field of two definitions, as text.
type Difference struct {
	Field, Have, Wanted string
}

func (e *DifferentError) Error() string {
	s := fmt.Sprintf("queue %s already exists with another definition:", e.Name.Short())
	for i, d := range e.Differences {
		if i > 0 {
			s += ","
		}
		s += fmt.Sprintf(" %s is %s, not %s", d.Field, d.Have, d.Wanted)
	}
	return s
}

func (e *DifferentError) Is(target error) bool { return target == ErrExists }

// FullError says which bound is reached. It is ErrQueueFull.
type FullError struct {
	Name  Name   // the queue; zero for the store's own bound
	Bound string // "messages" or "bytes"
	Limit int64
}

func (e *FullError) Error() string {
	who := "the store"
	if e.Name != (Name{}) {
		who = "queue " + e.Name.Short()
	}
	return fmt.Sprintf("queue full: %s holds its limit of %d %s (take or purge some, or raise the limit)", who, e.Limit,
		e.Bound)
}

func (e *FullError) Is(target error) bool { return target == ErrQueueFull }

// CopiesError says that a group would make too many copies for the subscriptions of topics. It is ErrTooLarge.
type CopiesError struct {
	Copies, Limit int
}

func (e *CopiesError) Error() string {
	return fmt.Sprintf("too large: %d or more copies for the subscriptions of topics in one group, the limit is %d: "+
		"publish, or give up, fewer messages at once", e.Copies, e.Limit)
}

// Is makes it ErrTooLarge.
func (e *CopiesError) Is(target error) bool { return target == ErrTooLarge }

// errAgain: something changed between preparing and launching.
var errAgain = errors.New("prepare again")
