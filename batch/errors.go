package batch

import (
	"errors"
	"fmt"
)

var (
	// ErrClosed: Close or Shutdown was called. The item was not taken.
	ErrClosed = errors.New("batch: grouper is closed")
	// ErrFull: as much waits as the configuration allows. The item was not taken; try again later, or use a call that
	// waits.
	ErrFull = errors.New("batch: too much is waiting")
	// ErrNoHandler is the result of every item when Config.Handle is nil.
	ErrNoHandler = errors.New("batch: no Handle function is configured")
	// ErrHandlerExit is the result of every item of a group whose handler ended its goroutine (runtime.Goexit).
	ErrHandlerExit = errors.New("batch: handler ended its goroutine instead of returning")
)

// PanicError is the result of every item of a group whose handler panicked.
type PanicError struct {
	Value any    // what was given to panic
	Stack []byte // the stack of the handler's goroutine
}

func (e *PanicError) Error() string { return fmt.Sprintf("batch: handler panicked: %v", e.Value) }

// Unwrap returns the panic's value if it was an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// ResultsError is the result of every item of a group whose handler returned a slice of the wrong length: nobody can
// tell which items succeeded.
type ResultsError struct {
	Items, Results int
}

func (e *ResultsError) Error() string {
	return fmt.Sprintf("batch: handler returned %d results for %d items; it must return one an item, or nil", e.Results,
		e.Items)
}
