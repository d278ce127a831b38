package mysql

import (
	"context"
	"database/sql/driver"
	"errors"

	"github.com/hikyaku/hikyaku/internal/rows"
)

// Write writes a block in one transaction.
func (s *session) Write(ctx context.Context, b *rows.Block) error {
	if b.Rows() == 0 {
		return nil
	}
	p, err := s.plans.of(b)
	if err != nil {
		return s.failed(err)
	}
	if s.loads && p.load != "" {
		if done, err := s.loadBlock(ctx, b, p); done || err != nil {
			return err
		}
	}
	if b.Mode.Finds() {
		err = s.findBlock(ctx, b, p)
	} else {
		err = s.insertBlock(ctx, b, p)
	}
	if err != nil && (&sessions{}).Judge(err).Class == rows.Drift {
		s.plans.close() // what was prepared is of the table as it was
	}
	return err
}

// insertBlock writes a block by statements of so many rows that a few of them, prepared once, serve blocks of any size.
// One statement alone is a transaction of its own.
func (s *session) insertBlock(ctx context.Context, b *rows.Block, p *plan) error {
	n := s.part(b, p, 0)
	if n == b.Rows() {
		err := s.insert(ctx, b, p, 0, n)
		if err != nil && undecided(err) && s.broken {
			return s.fail(rows.Fault{Class: rows.Unknown, Row: -1}, cause(ctx, err))
		}
		return s.blamed(b, 0, n, s.ended(ctx, err))
	}
	if _, err := s.tell(ctx, "START TRANSACTION"); err != nil {
		return s.failed(s.ended(ctx, err))
	}
	for at := 0; at < b.Rows(); at += n {
		n = s.part(b, p, at)
		if err := s.insert(ctx, b, p, at, n); err != nil {
			judged := s.blamed(b, at, n, s.ended(ctx, err))
			return s.undo(ctx, judged)
		}
	}
	return s.commit(ctx)
}

// commit ends the transaction.
func (s *session) commit(ctx context.Context) error {
	_, err := s.tell(ctx, "COMMIT")
	switch {
	case err == nil:
		return nil
	case undecided(err):
		return s.fail(rows.Fault{Class: rows.Unknown, Row: -1}, cause(ctx, err))
	}
	return s.undo(ctx, s.failed(err))
}

// undo undoes what the transaction has done because of an error, which it returns. If that is not possible, the
// session's end does it.
func (s *session) undo(ctx context.Context, because error) error {
	if s.broken {
		return because
	}
	if _, err := s.tell(ctx, "ROLLBACK"); err != nil {
		s.broken = true
		var e *failure
		if errors.As(because, &e) {
			return s.fail(e.Fault, e.err)
		}
	}
	return because
}

// ended tells the error of a connection that was broken off because ctx ended from others.
func (s *session) ended(ctx context.Context, err error) error {
	if err == nil || !s.broken {
		return err
	}
	return cause(ctx, err)
}

// part is how many rows from the given one on go into one statement: a power of two.
func (s *session) part(b *rows.Block, p *plan, at int) int {
	n := powerOfTwo(min(b.Rows()-at, p.most))
	room := s.packet / 2
	for bytes, i := 0, 0; i < n; i++ {
		for _, v := range b.Row(at + i) {
			bytes += size(v) * max(p.repeats, 1)
		}
		if bytes > room && i > 0 {
			return powerOfTwo(i)
		}
	}
	return n
}

// insert writes n rows from the given one on by one statement.
func (s *session) insert(ctx context.Context, b *rows.Block, p *plan, at, n int) error {
	_, err := s.statement(ctx, b, p, at, n)
	return err
}

// statement runs the plan's statement for n rows from the given one on.
func (s *session) statement(ctx context.Context, b *rows.Block, p *plan, at, n int) (driver.Result, error) {
	stmt, ok := p.stmts[n]
	if !ok {
		made, err := s.PrepareContext(ctx, p.statement(n))
		if err != nil {
			return nil, s.prepared(err)
		}
		stmt, p.stmts[n] = made, made
	}
	run, ok := stmt.(driver.StmtExecContext)
	if !ok {
		return nil, errors.New("the library's statements cannot be run")
	}
	s.args, s.text = s.args[:0], s.text[:0]
	if err := s.fill(b, p, at, n); err != nil {
		return nil, err
	}
	done, err := run.ExecContext(ctx, s.args)
	clear(s.args) // so that nothing keeps the values
	if p.guarded && isNumber(err, columnNull) {
		return nil, &otherKeyError{err}
	}
	return done, s.seen(err)
}

// fill makes the arguments of a statement for n rows from the given one on.
func (s *session) fill(b *rows.Block, p *plan, at, n int) error {
	if b.Mode.Finds() {
		return p.order(at, n, func(row, column int) error { return s.add(b, row, column, b.Row(row)[column]) })
	}
	for i := range n {
		for j, v := range b.Row(at + i) {
			if err := s.add(b, at+i, j, v); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *session) add(b *rows.Block, row, column int, v rows.Value) error {
	var arg driver.Value
	var err error
	if s.text, arg, err = argument(s.text, v); err != nil {
		return &valueError{row, b.Columns[column].Name, err}
	}
	s.args = append(s.args, driver.NamedValue{Ordinal: len(s.args) + 1, Value: arg})
	return nil
}

// prepared is an error of a preparation: whatever it is, nothing was written.
func (s *session) prepared(err error) error {
	_ = s.seen(err)
	return &preparing{err}
}

// preparing is an error from before a statement was sent.
type preparing struct{ err error }

func (e *preparing) Error() string { return e.err.Error() }
func (e *preparing) Unwrap() error { return e.err }
