package deployment

import (
	"errors"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/function"
)

// Errors that a caller can tell apart. Each says more when it is printed.
var (
	// ErrUnknown is about a function, version, alias or mapping that is not there. It is package function's.
	ErrUnknown = function.ErrUnknown
	// ErrExists: there is one of that name.
	ErrExists = errors.New("there is one already")
	// ErrInvalid: what was asked for cannot be.
	ErrInvalid = errors.New("this cannot be")
	// ErrChanged: the function is not as the caller knows it.
	ErrChanged = errors.New("it was changed meanwhile")
	// ErrFull: too many events of a function wait.
	ErrFull = errors.New("too many events wait")
	// ErrClosed: the Registry was closed.
	ErrClosed = function.ErrClosed
)

// wrong is an error with a text of its own.
type wrong struct {
	kind error
	text string
}

func (e *wrong) Error() string { return e.text }
func (e *wrong) Unwrap() error { return e.kind }

// Stale is about a revision that is not the latest of a function or an alias.
func Stale() error {
	return &wrong{ErrChanged, "The Revision Id provided does not match the latest Revision Id. Call the " +
		"GetFunction/GetAlias API to retrieve the latest Revision Id"}
}

func unknown(format string, args ...any) error {
	return &wrong{ErrUnknown, fmt.Sprintf(format, args...)}
}
func invalid(format string, args ...any) error {
	return &wrong{ErrInvalid, fmt.Sprintf(format, args...)}
}
