package tsurugi

import (
	"errors"
	"fmt"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
	"github.com/hikyaku/hikyaku/tsurugi/internal/session"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

// An Error is what the server says of a request that it did not fulfil.
type Error struct {
	Code       Code
	Message    string
	Supplement string // more for whoever looks for the cause; often empty
}

// Error is the server's message with the name of its code.
func (e *Error) Error() string {
	if e.Supplement != "" {
		return fmt.Sprintf("tsurugi: %v: %s (%s)", e.Code, e.Message, e.Supplement)
	}
	return fmt.Sprintf("tsurugi: %v: %s", e.Code, e.Message)
}

// A LostError tells that a session could not be opened, or has ended before the answer to a request came. A transaction
// that was not committed then never will be.
type LostError = session.LostError

// A CommitUnknownError tells that a commit was sent and its answer did not come: the transaction may be committed, or
// not.
type CommitUnknownError struct{ Err error }

func (e *CommitUnknownError) Error() string {
	return "tsurugi: it is unknown whether the transaction was committed: " + e.Err.Error()
}

func (e *CommitUnknownError) Unwrap() error { return e.Err }

// Errors of the client.
var (
	// ErrClosed tells that the session was closed by the program.
	ErrClosed = session.ErrClosed
	// ErrSilent tells that the server left a renewal of the session without an answer: it hangs, or cannot be reached.
	ErrSilent = session.ErrSilent
	// ErrMalformed tells that what came is not what TsurugiDB sends.
	ErrMalformed = wire.ErrMalformed
	// ErrTxDone tells that the transaction has been committed or rolled back.
	ErrTxDone = errors.New("tsurugi: the transaction is over")
	// ErrPoolClosed tells that the pool was closed.
	ErrPoolClosed = errors.New("tsurugi: the pool is closed")
	// ErrParams tells that a statement was given values that do not fit its placeholders, or that the server would not
	// take.
	ErrParams = errors.New("tsurugi: values that do not fit the statement")
)

// SafeToRetry tells whether it is certain that nothing was committed, and the same work may succeed in a new
// transaction: the transaction lost a conflict with another one, the session was lost, or never there, or the server
// had no room. A commit whose answer was lost is not safe; a row that breaks a rule will break it again.
func SafeToRetry(err error) bool {
	var unknown *CommitUnknownError
	if errors.As(err, &unknown) {
		return false
	}
	var e *Error
	if errors.As(err, &e) {
		switch e.Code {
		case CodeResourceLimitReached, CodeServiceUnavailable, CodeSessionClosed, CodeSessionExpired,
			CodeSQLRequestTimeout:
			return true
		case CodeAuthenticationError, CodePermissionError:
			return false
		default:
			return e.Code.Conflict()
		}
	}
	var lost *LostError
	return errors.As(err, &lost) && !errors.Is(err, ErrClosed)
}

// IsConflict tells whether the server ended the transaction for the sake of another one.
func IsConflict(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code.Conflict()
}

// IsConstraint tells whether a row was refused because of its values.
func IsConstraint(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code.Constraint()
}

// IsDissipated tells whether the server dropped a request and answers that it did (UNKNOWN, "request dissipated").
// TsurugiDB 1.9 does that to an INSERT that was prepared before its table was dropped, for as long as the statement is
// used, also when there is a table of that name again: prepare it anew. Of a commit it is the cause of a
// CommitUnknownError.
func IsDissipated(err error) bool {
	var e *Error
	var unknown *CommitUnknownError
	return errors.As(err, &e) && e.Code == CodeUnknown && !errors.As(err, &unknown)
}

// convert makes a session's errors those of this package.
func convert(err error) error {
	var d *session.DiagnosticError
	if !errors.As(err, &d) {
		return err
	}
	return &Error{Code: core + Code(d.Code), Message: d.Message}
}

// result reads the answer of the SQL service, and makes an error of it if it is one.
func result(a wire.Answer) (*message.Answer, error) {
	if d := a.Diagnostic; d != nil {
		return nil, &Error{Code: core + Code(d.Code), Message: d.Message}
	}
	answer, err := message.ParseAnswer(a.Message)
	if err != nil {
		return nil, err
	}
	if e := answer.Error; e != nil && answer.Kind != message.ErrorInfoAnswer {
		return nil, &Error{Code: Code(e.Code), Message: e.Detail, Supplement: e.Supplement}
	}
	return answer, nil
}
