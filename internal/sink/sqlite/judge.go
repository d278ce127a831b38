package sqlite

import (
	"errors"
	"strings"

	"modernc.org/sqlite"

	"github.com/hikyaku/hikyaku/internal/rows"
)

// rowError is a row that was refused.
type rowError struct {
	row    int
	column string
	err    error
}

func (e *rowError) Error() string { return e.err.Error() }
func (e *rowError) Unwrap() error { return e.err }

// commitError is a commit that failed.
type commitError struct{ err error }

func (e *commitError) Error() string { return "commit: " + e.err.Error() }
func (e *commitError) Unwrap() error { return e.err }

// brokenError is a session whose transaction could not be ended.
type brokenError struct{ err error }

func (e *brokenError) Error() string { return e.err.Error() }
func (e *brokenError) Unwrap() error { return e.err }

// SQLite's primary result codes, https://www.sqlite.org/rescode.html; the higher bits say more of the same.
const (
	codeError      = 1
	codePerm       = 3
	codeBusy       = 5
	codeLocked     = 6
	codeReadOnly   = 8
	codeIO         = 10
	codeCorrupt    = 11
	codeCantOpen   = 14
	codeProtocol   = 15
	codeSchema     = 17
	codeTooBig     = 18
	codeConstraint = 19
	codeMismatch   = 20
	codeMisuse     = 21
	codeAuth       = 23
	codeNotADB     = 26
)

// Judge goes by the result code.
func (d *database) Judge(err error) rows.Fault {
	f := rows.Fault{Class: rows.Away, Row: -1}
	bad, broken, commit, e := (*rowError)(nil), (*brokenError)(nil), (*commitError)(nil), (*sqlite.Error)(nil)
	f.Broken = errors.As(err, &broken)
	named := errors.As(err, &bad)
	switch {
	case errors.Is(err, errNoTable):
		f.Class = rows.NoTable
		return f
	case errors.Is(err, errDigits):
		f.Class = rows.BadRow
	case errors.As(err, &e):
		f.Class = class(e)
		switch e.Code() & 0xff {
		case codeIO, codeMisuse, codeCorrupt, codeNotADB, codeCantOpen:
			f.Broken = true
			if errors.As(err, &commit) {
				f.Class = rows.Unknown
			}
		}
	}
	if f.Class == rows.BadRow && named {
		f.Row, f.Column = bad.row, bad.column
	}
	return f
}

func class(e *sqlite.Error) rows.Class {
	switch e.Code() & 0xff {
	case codeConstraint, codeMismatch, codeTooBig:
		return rows.BadRow
	case codeBusy, codeLocked, codeProtocol:
		return rows.Conflict
	case codeSchema:
		return rows.Drift
	case codeReadOnly, codePerm, codeAuth, codeCorrupt, codeNotADB, codeCantOpen:
		return rows.Refused
	case codeError: // the text alone tells them apart
		switch said := e.Error(); {
		case strings.Contains(said, "no such table"):
			return rows.NoTable
		case strings.Contains(said, "no such column"), strings.Contains(said, "has no column named"),
			strings.Contains(said, "ON CONFLICT clause does not match"):
			return rows.Drift
		}
		return rows.Refused
	}
	return rows.Away // full, no memory, interrupted, the disk
}
