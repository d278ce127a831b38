package component

import (
	"errors"
	"fmt"
	"time"
)

// Verdict is what became of a message.
type Verdict uint8

const (
	Delivered Verdict = iota // the far end has it
	Retry                    // not now: try again, not before After has passed
	Rejected                 // never: it becomes a dead letter with the reason
	// nobody wants it any more (expired, replaced by a newer one): settled and counted, no dead letter
	Dropped
)

var verdictNames = [...]string{"delivered", "retry", "rejected", "dropped"}

func (v Verdict) String() string { return verdictNames[v] }

// Outcome is a sink's answer for one message. The zero Outcome is Delivered.
type Outcome struct {
	Verdict Verdict
	After   time.Duration // Retry: what the far end asked for; 0: the pipeline's own back-off
	Reason  error         // Retry, Rejected, Dropped: what happened, for a person
	// Held says that a Retry was no try of the message: nothing was sent, because the far end is known to want a rest,
	// or what it answered is about everybody, not about the message. It counts against no bound of tries.
	Held bool
	// Back says that a message that is Held is not wanted here for a while: it goes back to its source, and is handed
	// out again after After, so that it is in nobody's way. What else was made of its delivery is sent again, too.
	Back bool
	// Slow says that a Retry is the far end's way to ask for less (429, 503): adaptive concurrency heeds it.
	Slow bool
	Sent time.Time // when the last byte of the request left; zero: not known
	// Receipt is what a sink that is Receipted says of the message, and, for the Settle of a Delivery that takes
	// receipts, what is to be put. nil: nothing.
	Receipt *Receipt
}

// OK is a Delivered outcome, sent at t.
func OK(t time.Time) Outcome { return Outcome{Sent: t} }

// Again is a Retry outcome.
func Again(after time.Duration, reason error) Outcome {
	return Outcome{Verdict: Retry, After: after, Reason: reason}
}

// Hold is a Retry outcome of a message that was not tried, because the far end wants a rest for so long.
func Hold(left time.Duration, reason error) Outcome {
	return Outcome{Verdict: Retry, After: left, Reason: reason, Held: true}
}

// GiveBack is a Hold outcome of a message that goes back to its source.
func GiveBack(after time.Duration, reason error) Outcome {
	return Outcome{Verdict: Retry, After: after, Reason: reason, Held: true, Back: true}
}

// Reject is a Rejected outcome.
func Reject(reason error) Outcome { return Outcome{Verdict: Rejected, Reason: reason} }

// Drop is a Dropped outcome.
func Drop(reason error) Outcome { return Outcome{Verdict: Dropped, Reason: reason} }

// Reasons of Dropped outcomes, for sinks to wrap.
var (
	// ErrExpired: the time after which nobody wants the message has passed.
	ErrExpired = errors.New("expired")
	// ErrReplaced: a newer message stands for it (a collapse id, a topic).
	ErrReplaced = errors.New("replaced by a newer message")
	// ErrCancelled: whoever ordered the message has cancelled it.
	ErrCancelled = errors.New("cancelled")
)

// Reasons of Retry outcomes.
var (
	// ErrNoAnswer: nothing was heard in time.
	ErrNoAnswer = errors.New("no answer came")
	// ErrMayDouble: the request had left when its answer was lost.
	ErrMayDouble = errors.New("the answer was lost, and trying again may double it")
)

// All answers the same for n messages.
func All(n int, o Outcome) []Outcome {
	os := make([]Outcome, n)
	for i := range os {
		os[i] = o
	}
	return os
}

// retryError and rejectError carry a verdict through Go's error chain.
type retryError struct {
	error
	after time.Duration
	held  bool
	back  bool
}

func (e *retryError) Unwrap() error { return e.error }

type rejectError struct{ error }

func (e *rejectError) Unwrap() error { return e.error }

// RetryError marks err as one that may pass: try again, not before after has passed (0: the pipeline's own back-off).
func RetryError(after time.Duration, err error) error { return &retryError{error: err, after: after} }

// HoldError marks err as one after which nothing was tried, because the far end is away: as Hold does for an outcome.
func HoldError(after time.Duration, err error) error {
	return &retryError{error: err, after: after, held: true}
}

// BackError is HoldError of a message that goes back to its source, as with GiveBack.
func BackError(after time.Duration, err error) error {
	return &retryError{error: err, after: after, held: true, back: true}
}

// IsBack tells whether err was marked by BackError.
func IsBack(err error) bool {
	var r *retryError
	return errors.As(err, &r) && r.back
}

// IsHold tells whether err was marked by HoldError.
func IsHold(err error) bool {
	var r *retryError
	return errors.As(err, &r) && r.held
}

// RejectError marks err as final.
func RejectError(err error) error { return &rejectError{err} }

// AsRetry tells whether err was marked by RetryError or HoldError, and the wait it asks for.
func AsRetry(err error) (after time.Duration, ok bool) {
	var r *retryError
	if errors.As(err, &r) {
		return r.after, true
	}
	return 0, false
}

// IsReject tells whether err was marked by RejectError.
func IsReject(err error) bool {
	var r *rejectError
	return errors.As(err, &r)
}

// Stopper is met by errors of a Sink after which nothing can be delivered there any more, such as an output that nobody
// reads: the pipeline stops and gives back what it has in hand, instead of making dead letters of it.
type Stopper interface {
	error
	Stop() bool
}

// IsStop tells whether err, or one it wraps, asks for the end of the pipeline.
func IsStop(err error) bool {
	var s Stopper
	return errors.As(err, &s) && s.Stop()
}

// SettingError says which setting of a component is wrong, so that the reader of the configuration can show the place.
// Constructors return it for anything they find wrong in their Config.
type SettingError struct {
	Setting string // dotted path of yaml names below the component: "program", "encoding.codec", "columns[2]"
	Offset  int    // byte in the setting's text, for settings that hold a program or a condition; -1: the whole setting
	Err     error
	Hint    string // what to do, when Err does not say it
}

func (e *SettingError) Error() string {
	if e.Hint != "" {
		return fmt.Sprintf("%s: %v (%s)", e.Setting, e.Err, e.Hint)
	}
	return fmt.Sprintf("%s: %v", e.Setting, e.Err)
}

func (e *SettingError) Unwrap() error { return e.Err }

// Setting makes a SettingError for the whole of a setting.
func Setting(name string, err error) error { return &SettingError{Setting: name, Offset: -1, Err: err} }
