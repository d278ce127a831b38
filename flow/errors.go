package flow

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

var (
	// ErrExited is the error of an item whose function ended its goroutine (runtime.Goexit) instead of returning.
	ErrExited = errors.New("flow: function ended its goroutine instead of returning")
	// ErrMissing is the error of a key that Loader asked for and Fetch did not return.
	ErrMissing = errors.New("flow: there is no value of that key")
	// ErrClosed is what a Loader answers after Close.
	ErrClosed = errors.New("flow: loader is closed")
)

// PanicError is what a panic of a source, a stage's function or a Fetch becomes.
type PanicError struct {
	Value any    // what was given to panic
	Stack []byte // of the goroutine that panicked
}

func (e *PanicError) Error() string { return fmt.Sprintf("flow: panic: %v", e.Value) }

// Unwrap returns the panic's value if it was an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// caught makes an error of what recover returned. It is called in the deferred function, where the stack still shows
// the culprit.
func caught(v any) error { return &PanicError{Value: v, Stack: debug.Stack()} }

// TimeoutError is the error of an item that was not done within Options.Timeout, or of a fetch within
// LoaderConfig.Timeout. It is context.DeadlineExceeded to errors.Is.
type TimeoutError struct {
	After string // how long was waited
	Err   error  // what the function returned
}

func (e *TimeoutError) Error() string {
	return "flow: not done within " + e.After + ": " + e.Err.Error()
}

// Unwrap returns what the function returned, and context.DeadlineExceeded.
func (e *TimeoutError) Unwrap() []error { return []error{e.Err, context.DeadlineExceeded} }
