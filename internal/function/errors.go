package function

import (
	"errors"
	"fmt"
)

// Errors that a caller can tell apart. Each says more when it is printed.
var (
	// ErrUnknown is about a function, or a version of it, that was not deployed.
	ErrUnknown = errors.New("there is no such function")
	// ErrThrottled is about too many invocations at once: try again later. See ThrottledError.
	ErrThrottled = errors.New("too many invocations at once")
	// ErrTooLarge is about an event that is too large.
	ErrTooLarge = errors.New("the event is too large")
	// ErrClosed is about a pool that was closed, or a function that was removed, while the invocation waited.
	ErrClosed = errors.New("the function ends")
)

// ThrottledError is an ErrThrottled with its reason, in the provider's words.
type ThrottledError struct {
	Function string
	// Reason is ReservedFunctionConcurrentInvocationLimitExceeded, or ConcurrentInvocationLimitExceeded for the pool's
	// own limit.
	Reason string
	Limit  int
}

func (e *ThrottledError) Error() string {
	return fmt.Sprintf("function %s: too many invocations at once: the limit is %d (%s); try again later, or raise it",
		e.Function, e.Limit, e.Reason)
}

func (e *ThrottledError) Unwrap() error { return ErrThrottled }

// The reasons of a ThrottledError.
const (
	reasonReserved = "ReservedFunctionConcurrentInvocationLimitExceeded"
	reasonPool     = "ConcurrentInvocationLimitExceeded"
)

// Kinds of errors that the machine finds, as the provider names them. Those that a runtime reports come as it names
// them.
const (
	errorTimeout     = "Sandbox.Timedout"
	errorExit        = "Runtime.ExitError"
	errorMemory      = "Runtime.OutOfMemory"
	errorEntry       = "Runtime.InvalidEntrypoint"
	errorUnknown     = "Runtime.Unknown"
	errorExtension   = "Extension.Crash"
	unhandled        = "Unhandled"
	statusTimeout    = "timeout"
	statusError      = "error"
	phaseInit        = "init"
	phaseInvocation  = "invoke"
	shutdownSpindown = "spindown"
	shutdownTimeout  = "timeout"
	shutdownFailure  = "failure"
)
