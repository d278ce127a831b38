package tsurugidb

import (
	"context"
	"errors"

	"github.com/hikyaku/hikyaku/internal/rows"
	"github.com/hikyaku/hikyaku/tsurugi"
)

// A piece is the rows of a block that one statement writes: from row at, as many as its size has.
type piece struct {
	at int
	*size
	p *tsurugi.Pending
}

// statementBytes is how much text and bytes one statement carries at most, but for a single row.
const statementBytes = 1 << 20

// Write writes a block in one transaction.
func (s *session) Write(ctx context.Context, b *rows.Block) error {
	if b.Rows() == 0 {
		return nil
	}
	first := s.d.params.Load()
	for {
		limit := int(s.d.params.Load())
		sh := s.shapes.of(b, limit)
		pieces, err := s.attempt(ctx, sh, b)
		if err == nil {
			sh.written = true
			return s.missed(context.WithoutCancel(ctx), b, pieces)
		}
		if tsurugi.IsDissipated(err) {
			return s.stale(err, sh)
		}
		at := failedPiece(ctx, pieces)
		if s.shorter(err, sh, pieces, at, limit) {
			continue
		}
		if at >= 0 && long(err) {
			s.d.params.CompareAndSwap(int64(limit), first) // a single row is refused like many: it was not the length
		}
		row := -1
		switch class := classOf(err); {
		case class == rows.Drift || class == rows.NoTable:
			s.shapes.forget(sh)
		case class == rows.BadRow && at >= 0:
			row, err = s.narrow(ctx, sh, b, pieces, at, err)
		}
		return s.failedAt(err, row)
	}
}

// stale is the failure of a block whose statements the server has dropped without an answer. They are not used again.
// If they have written before, their table was dropped since, and there may be another of its name; if they were just
// prepared, the server has some other trouble, and the table need not be looked at for it.
func (s *session) stale(err error, sh *shape) error {
	s.shapes.forget(sh)
	f := s.failedAt(err, -1)
	f.stale = sh.written
	return f
}

// attempt does it once. It returns the pieces that were sent.
func (s *session) attempt(ctx context.Context, sh *shape, b *rows.Block) ([]piece, error) {
	pieces := cut(sh, b)
	for _, z := range pieces {
		if _, err := sh.statement(ctx, s.inner, z.size); err != nil {
			return []piece{z}, err
		}
	}
	tx, err := s.inner.Begin(ctx, s.d.options(tableName(b.Table.Name)))
	if err != nil {
		return nil, err
	}
	if err := s.send(ctx, tx, sh, b, pieces); err != nil {
		_ = tx.Rollback(ctx) // if it fails, the server does it when the session ends
		return pieces, err
	}
	return pieces, tx.Commit(ctx)
}

// missed tells of the rows that no row of the table was found for. All pieces are answered.
func (s *session) missed(ctx context.Context, b *rows.Block, pieces []piece) error {
	if !b.Mode.Finds() {
		return nil
	}
	for i := range pieces {
		done, err := pieces[i].p.Wait(ctx) // it is there
		if err != nil {
			return s.failed(err)
		}
		if done.Rows() == 0 {
			b.Miss(pieces[i].at)
		}
	}
	return nil
}

// cut divides a block among statements.
func cut(sh *shape, b *rows.Block) []piece {
	n := b.Rows()
	sh.expect(n)
	var pieces []piece
	for at := 0; at < n; {
		z := sh.own
		if z == nil || z.rows != n-at || heavy(b, at, z.rows) {
			i := 0
			for sh.sizes[i].rows > n-at || sh.sizes[i].rows > 1 && heavy(b, at, sh.sizes[i].rows) {
				i++
			}
			z = sh.sizes[i]
		}
		pieces = append(pieces, piece{at: at, size: z})
		at += z.rows
	}
	return pieces
}

// heavy tells whether so many rows carry too much for one statement.
func heavy(b *rows.Block, at, n int) bool {
	bytes := 0
	for _, v := range b.Values[at*len(b.Columns) : (at+n)*len(b.Columns)] {
		if bytes += len(v.Text()); bytes > statementBytes {
			return true
		}
	}
	return false
}

// send sends the statements of pieces and waits for no answer.
func (s *session) send(ctx context.Context, tx *tsurugi.Tx, sh *shape, b *rows.Block, pieces []piece) error {
	for k := range pieces {
		z := &pieces[k]
		st, err := sh.statement(ctx, s.inner, z.size)
		if err != nil {
			return err
		}
		w := len(b.Columns)
		if s.values, err = appendValues(s.values[:0], b.Columns, b.Values[z.at*w:(z.at+z.rows)*w]); err != nil {
			return err
		}
		s.values = sh.ordered(s.values)
		if z.p, err = tx.Send(ctx, st, s.values...); err != nil {
			return err
		}
	}
	return nil
}

// failedPiece is the place of the first piece that the server refused, -1 if none was: then it was the transaction.
func failedPiece(ctx context.Context, pieces []piece) int {
	for i := range pieces {
		p := pieces[i].p
		if p == nil {
			return i
		}
		select {
		case <-p.Done():
			if _, err := p.Wait(ctx); err != nil {
				return i
			}
		default:
			return -1 // it has not been answered: the session or the time is over
		}
	}
	return -1
}

// shorter tells whether the same is worth another try with shorter statements, and sees to it that they are.
func (s *session) shorter(err error, sh *shape, pieces []piece, at, limit int) bool {
	if at < 0 || pieces[at].rows == 1 || !long(err) || s.inner.Err() != nil {
		return false
	}
	less := pieces[at].rows / 2 * len(sh.columns)
	s.d.params.CompareAndSwap(int64(limit), int64(min(less, limit/2)))
	s.shapes.forget(sh)
	return true
}

// narrow finds the row that is to blame for the refusal of the piece at: it does the same again, but the rows of that
// piece one by one, and commits nothing. It returns the row, -1 if that cannot be told, and what the server said.
func (s *session) narrow(ctx context.Context, sh *shape, b *rows.Block, pieces []piece, at int, cause error) (int,
	error) {
	blamed := pieces[at]
	if blamed.rows == 1 {
		return blamed.at, cause
	}
	again := append([]piece(nil), pieces[:at]...)
	for k := range blamed.rows {
		again = append(again, piece{at: blamed.at + k, size: sh.smallest()})
	}
	if _, err := sh.statement(ctx, s.inner, sh.smallest()); err != nil {
		return -1, cause
	}
	tx, err := s.inner.Begin(ctx, s.d.options(tableName(b.Table.Name)))
	if err != nil {
		return -1, cause
	}
	err = s.send(ctx, tx, sh, b, again)
	if err != nil && !errors.Is(err, tsurugi.ErrTxDone) {
		_ = tx.Rollback(ctx)
		return -1, cause
	}
	row := -1
	for i := range again {
		if _, err := again[i].p.Wait(ctx); err != nil {
			if i >= at && classOf(err) == rows.BadRow {
				row, cause = again[i].at, err
			}
			break
		}
	}
	_ = tx.Rollback(ctx)
	return row, cause
}
