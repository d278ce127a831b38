package postgres

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hikyaku/hikyaku/internal/rows"
)

// failure is an error of a session, judged where it was known what was going on.
type failure struct {
	rows.Fault
	err error
}

// Error is the database's own message.
func (e *failure) Error() string { return "PostgreSQL: " + text(e.err) }

// Unwrap is what happened.
func (e *failure) Unwrap() error { return e.err }

// text is an error with all that the database says to people about it.
func text(err error) string {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return err.Error()
	}
	said := e.Message
	if e.Detail != "" {
		said += " (" + strings.TrimSuffix(e.Detail, ".") + ")"
	}
	if e.Hint != "" {
		said += "; hint: " + strings.TrimSuffix(e.Hint, ".")
	}
	return said + " [" + e.Code + "]"
}

// valueError is about a value that cannot be sent as what its column holds.
type valueError struct {
	row    int
	column string
	err    error
}

func (e *valueError) Error() string { return fmt.Sprintf("column %s: %v", e.column, e.err) }
func (e *valueError) Unwrap() error { return e.err }

func (s *session) fail(f rows.Fault, err error) error {
	f.Broken = s.broken
	return &failure{f, err}
}

// failed judges an error of something that writes no rows. It keeps nil.
func (s *session) failed(err error) error {
	if err == nil {
		return nil
	}
	return s.fail(classify(err), err)
}

// blamed judges an error of writing a block that the server has answered to its end. It keeps nil.
func (s *session) blamed(b *rows.Block, err error) error {
	if err == nil {
		return nil
	}
	f := classify(err)
	var e *pgconn.PgError
	if errors.As(err, &e) && f.Class == rows.BadRow {
		f.Row, f.Column = place(e.Where, b)
		if e.ColumnName != "" {
			f.Column = e.ColumnName
		}
	}
	return s.fail(f, err)
}

// place reads where in the block the server was: "COPY readings, line 3, column b". In other languages the words
// differ, but not what is between them.
func place(where string, b *rows.Block) (row int, column string) {
	name := b.Table.Name[len(b.Table.Name)-1]
	for line := range strings.Lines(where) {
		_, rest, ok := strings.Cut(line, name)
		if !ok || !strings.Contains(line, "COPY") {
			continue
		}
		begin := strings.IndexAny(rest, "0123456789")
		if begin < 0 {
			continue
		}
		rest = rest[begin:]
		end := 0
		for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
			end++
		}
		n, err := strconv.Atoi(rest[:end])
		if err != nil || n < 1 || n > b.Rows() {
			continue
		}
		for _, c := range b.Columns {
			if after, ok := strings.CutPrefix(rest[end:], ", "); ok &&
				strings.HasSuffix(strings.TrimSpace(strings.SplitN(after, ":", 2)[0]), " "+c.Name) {
				column = c.Name
			}
		}
		return n - 1, column
	}
	return -1, ""
}

// classify says what an error means, whatever was going on.
func classify(err error) rows.Fault {
	f := rows.Fault{Class: rows.Away, Row: -1}
	var e *pgconn.PgError
	var value *valueError
	var missing *noTableError
	var untrusted *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.As(err, &e):
		f.Class = classOf(e)
	case errors.As(err, &value):
		f.Class, f.Row, f.Column = rows.BadRow, value.row, value.column
	case errors.As(err, &missing):
		f.Class = rows.NoTable
	case errors.As(err, &untrusted), errors.As(err, &unknown):
		f.Class = rows.Refused
	}
	return f
}

// states are the classes of PostgreSQL's codes: of a whole code, or of its first two letters.
var states = map[string]rows.Class{
	"40": rows.Conflict, "40002": rows.BadRow, "55P03": rows.Conflict,
	// The values; a trigger's objection; a view's; a key that is in one block twice, which is in two blocks when it is
	// divided.
	"22": rows.BadRow, "23": rows.BadRow, "P0": rows.BadRow, "44": rows.BadRow, "21000": rows.BadRow, "54": rows.BadRow,
	"42P01": rows.NoTable, "3F000": rows.NoTable,
	// Types are not what they were; a format that does not fit them; no key of these columns; a column that is computed
	// now.
	"42": rows.Drift, "22P03": rows.Drift, "22P04": rows.Drift, "08P01": rows.Drift, "0A000": rows.Drift,
	"28": rows.Refused, "42501": rows.Refused, "3D000": rows.Refused, "25006": rows.Refused, "0L": rows.Refused,
	"0P": rows.Refused,
	"53": rows.Away, "57": rows.Away, "58": rows.Away, "08": rows.Away, "XX": rows.Away,
}

func classOf(e *pgconn.PgError) rows.Class {
	if e.Routine == "ExecWithCheckOptions" {
		return rows.BadRow // a policy for rows, which has the code of a right that is missing
	}
	if class, ok := states[e.Code]; ok {
		return class
	}
	if len(e.Code) == 5 {
		if class, ok := states[e.Code[:2]]; ok {
			return class
		}
	}
	return rows.BadRow // whoever has reasons of his own: a function in a trigger
}

func isState(err error, code string) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == code
}

// cause adds why ctx ended, if it has: the connection only knows that it was told to hurry.
func cause(ctx context.Context, err error) error {
	if why := context.Cause(ctx); why != nil {
		return fmt.Errorf("no answer in time: %w (%w)", why, err)
	}
	return err
}

func asFailure(err error) (*failure, bool) {
	var e *failure
	ok := errors.As(err, &e)
	return e, ok
}
