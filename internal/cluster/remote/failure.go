package remote

import (
	"context"
	"errors"

	"github.com/hikyaku/hikyaku/internal/cluster"
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// ErrAway: the node was not reached, and nothing was done.
var ErrAway = errors.New("the node of the shard is away")

// errHeld: the caller's own Hold or Home failed.
var errHeld = errors.New("the caller does not want it")

// kinds are the errors that keep their identity between nodes. Their numbers are part of the protocol: append, never
// change the order.
var kinds = []error{
	queue.ErrBadName, queue.ErrNotFound, queue.ErrExists, queue.ErrSnapshot, queue.ErrDefinition, queue.ErrTooLarge,
	queue.ErrMismatch, queue.ErrCondition, queue.ErrStale, queue.ErrBadToken, queue.ErrUnheard, queue.ErrGone,
	queue.ErrQueueFull, queue.ErrTooManyWaiters, queue.ErrElsewhere, queue.ErrChanged, queue.ErrClosed,
	queue.ErrUnavailable,
	journal.ErrTooLarge, journal.ErrFull, journal.ErrRefused, journal.ErrUnknown, journal.ErrFailed, journal.ErrLost,
	journal.ErrStalled, journal.ErrClosed, journal.ErrReleased,
	context.Canceled, context.DeadlineExceeded, cluster.ErrNotOwner, errHeld,
}

// failure is an error of another node.
type failure struct {
	Text      string
	Kinds     []int                 `cbor:",omitempty"` // see kinds
	Different *queue.DifferentError `cbor:",omitempty"`
	Full      *queue.FullError      `cbor:",omitempty"`
	Copies    *queue.CopiesError    `cbor:",omitempty"`
	Column    *message.ColumnError  `cbor:",omitempty"`
	Condition *condition.Error      `cbor:",omitempty"`
	Attribute *attribute            `cbor:",omitempty"`
	Damage    *journal.DamageError  `cbor:",omitempty"`
}

// attribute is a message.AttributeError.
type attribute struct{ Name, Reason string }

// failureOf is an error as it goes to another node; nil: none.
func failureOf(err error) *failure {
	if err == nil {
		return nil
	}
	f := &failure{Text: err.Error()}
	for i, kind := range kinds {
		if errors.Is(err, kind) {
			f.Kinds = append(f.Kinds, i)
		}
	}
	errors.As(err, &f.Different)
	errors.As(err, &f.Full)
	errors.As(err, &f.Copies)
	errors.As(err, &f.Column)
	errors.As(err, &f.Condition)
	errors.As(err, &f.Damage)
	var a *message.AttributeError
	if errors.As(err, &a) {
		f.Attribute = &attribute{a.Name, a.Reason.Error()}
	}
	return f
}

// err is the error that was told; nil: none.
func (f *failure) err() error {
	if f == nil {
		return nil
	}
	return f
}

// Error implements error: the text is that of the other node.
func (f *failure) Error() string { return f.Text }

// Unwrap is what errors.Is and errors.As find in it.
func (f *failure) Unwrap() (all []error) {
	for _, i := range f.Kinds {
		if i >= 0 && i < len(kinds) {
			all = append(all, kinds[i])
		}
	}
	if f.Different != nil {
		all = append(all, f.Different)
	}
	if f.Full != nil {
		all = append(all, f.Full)
	}
	if f.Copies != nil {
		all = append(all, f.Copies)
	}
	if f.Column != nil {
		all = append(all, f.Column)
	}
	if f.Condition != nil {
		all = append(all, f.Condition)
	}
	if f.Attribute != nil {
		all = append(all, &message.AttributeError{Name: f.Attribute.Name, Reason: errors.New(f.Attribute.Reason)})
	}
	if f.Damage != nil {
		all = append(all, f.Damage)
	}
	return all
}

func failuresOf(errs []error) []*failure {
	if errs == nil {
		return nil
	}
	all := make([]*failure, len(errs))
	for i, err := range errs {
		all[i] = failureOf(err)
	}
	return all
}

func errorsOf(fs []*failure) []error {
	if fs == nil {
		return nil
	}
	all := make([]error, len(fs))
	for i, f := range fs {
		all[i] = f.err()
	}
	return all
}
