package store

import (
	"errors"
	"fmt"
)

// An Error is what the server tells a client; the code is the protocol's.
type Error struct {
	Code   uint64
	Detail string
}

func (e *Error) Error() string { return e.Detail }

// ErrDissipated is of a request that the server drops without an answer of the SQL service. TsurugiDB 1.9 does that to
// an INSERT that was prepared for a table which has been dropped since, whether or not there is another of its name.
var ErrDissipated = errors.New("request dissipated")

func refuse(code uint64, format string, args ...any) error {
	return &Error{code, fmt.Sprintf(format, args...)}
}

// codes that this package uses.
const (
	codeExecution    = 2
	codeUnique       = 4
	codeNotNull      = 5
	codeEvaluation   = 9
	codeNotFound     = 11
	codeExists       = 12
	codeReadOnly     = 16
	codeNoPreserve   = 17
	codeInactive     = 19
	codePlaceholder  = 21
	codeTooManyRows  = 27
	codeTxNotFound   = 33
	codeOutOfRange   = 39
	codeInvalidValue = 38
	codeTooLong      = 40
	codeSyntax       = 102
	codeType         = 104
	codeSymbol       = 105
	codeOCCRead      = 203
	codePreserved    = 204
	codeLTX          = 206
	codeBadParameter = 20
)
