package tsurugidb

import (
	"context"
	"errors"

	"github.com/hikyaku/hikyaku/internal/rows"
	"github.com/hikyaku/hikyaku/tsurugi"
)

// Judge says what an error means.
func (d *driver) Judge(err error) rows.Fault {
	fault := rows.Fault{Row: -1, Class: classOf(err), Broken: suspect(err)}
	var f *failure
	if errors.As(err, &f) {
		fault.Broken = f.broken
		if f.stale {
			fault.Class = rows.Drift
		}
		if fault.Class == rows.BadRow {
			fault.Row = f.row
		}
	}
	return fault
}

// suspect tells whether an error leaves a session of which nobody knows what the server still does on it.
func suspect(err error) bool {
	var unknown *tsurugi.CommitUnknownError
	var lost *tsurugi.LostError
	var e *tsurugi.Error
	if errors.As(err, &e) && (e.Code == tsurugi.CodeSessionClosed || e.Code == tsurugi.CodeSessionExpired) {
		return true
	}
	return errors.As(err, &unknown) || errors.As(err, &lost) || errors.Is(err, tsurugi.ErrMalformed) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

func classOf(err error) rows.Class {
	var unknown *tsurugi.CommitUnknownError
	var e *tsurugi.Error
	switch {
	case errors.As(err, &unknown):
		return rows.Unknown
	case errors.As(err, &e):
		return classOfCode(e.Code)
	case errors.Is(err, errCredential):
		return rows.Refused
	case errors.Is(err, tsurugi.ErrParams):
		return rows.BadRow
	default: // the connection, or the time that it was given
		return rows.Away
	}
}

func classOfCode(c tsurugi.Code) rows.Class {
	switch {
	case c.Conflict():
		return rows.Conflict
	case c.Constraint():
		return rows.BadRow
	}
	switch c {
	// the server has ended it, for whatever reason of its own
	case tsurugi.CodeInactiveTransaction, tsurugi.CodeTransactionNotFound:
		return rows.Conflict
	case tsurugi.CodeSQLLimitReached: // so much is not taken at a time: halves may be
		return rows.BadRow
	case tsurugi.CodeTargetNotFound:
		return rows.NoTable
	case tsurugi.CodeSymbolAnalyze, tsurugi.CodeTypeAnalyze, tsurugi.CodeValueAnalyze, tsurugi.CodeAnalyze,
		tsurugi.CodeCompile, tsurugi.CodeStatementNotFound,
		tsurugi.CodeParameter, tsurugi.CodeUnresolvedPlaceholder, tsurugi.CodeInconsistentStatement:
		return rows.Drift
	case tsurugi.CodeAuthenticationError, tsurugi.CodePermissionError, tsurugi.CodeAccessExpired,
		tsurugi.CodeRefreshExpired, tsurugi.CodeBrokenCredential,
		tsurugi.CodeRestrictedOperation, tsurugi.CodeWriteOperationByRTX,
		tsurugi.CodeLTXWriteOperationWithoutWritePreserve, tsurugi.CodeReadOperationOnRestrictedReadArea,
		tsurugi.CodeSyntax, tsurugi.CodeUnsupportedCompilerFeature, tsurugi.CodeUnsupportedRuntimeFeature,
		tsurugi.CodeOperationDenied:
		return rows.Refused
	default: // no room, no disk, a failure inside the server, a session that has expired
		return rows.Away
	}
}
