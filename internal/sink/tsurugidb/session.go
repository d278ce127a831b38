package tsurugidb

import (
	"context"
	"errors"
	"time"

	"github.com/hikyaku/hikyaku/internal/rows"
	"github.com/hikyaku/hikyaku/tsurugi"
)

// closeWait is how long a session may take to end cleanly.
const closeWait = 2 * time.Second

// session is one connection and the statements that are prepared on it.
type session struct {
	d      *driver
	inner  *tsurugi.Session
	shapes shapes
	values []tsurugi.Value // of the statement that is being sent; used again for the next
	broken bool            // nobody knows what the server still does on it
}

// Describe asks the server for the table's columns.
func (s *session) Describe(ctx context.Context, table rows.Name) (*rows.Table, error) {
	t, err := s.inner.DescribeTable(ctx, tableName(table))
	if err != nil {
		return nil, s.failed(err)
	}
	return describe(table, t, s.d.strict), nil
}

// Create makes a table, in a transaction of its own.
func (s *session) Create(ctx context.Context, t *rows.Table) error {
	err := s.inner.Do(ctx, tsurugi.TxOptions{Label: "hikyaku"}, func(ctx context.Context, tx *tsurugi.Tx) error {
		_, err := tx.Exec(ctx, definition(t))
		return err
	})
	var e *tsurugi.Error
	if errors.As(err, &e) && e.Code == tsurugi.CodeTargetAlreadyExists {
		return nil // somebody else was quicker
	}
	if err != nil {
		return s.failed(err)
	}
	return nil
}

// Close ends the session; the server undoes what was not committed.
func (s *session) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	if s.broken {
		cancel() // a server that may hang is not waited for
	}
	_ = s.inner.Close(ctx) // whatever it says, the session is over
	return nil
}

// failed notes what Judge cannot see of an error: whether the session can be used again.
func (s *session) failed(err error) error { return s.failedAt(err, -1) }

// failedAt is failed with the row of the block that is at fault; -1: not known.
func (s *session) failedAt(err error, row int) *failure {
	s.broken = s.broken || s.inner.Err() != nil || suspect(err)
	return &failure{err: err, row: row, broken: s.broken}
}

// failure is an error of a session and what the session knows of it.
type failure struct {
	err    error
	row    int
	broken bool
	stale  bool // the statements were prepared for a table that was dropped
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }
