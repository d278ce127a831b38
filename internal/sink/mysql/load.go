package mysql

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"

	"github.com/go-sql-driver/mysql"

	"github.com/hikyaku/hikyaku/internal/rows"
)

// notAllowed are the errors of a server, or a user's account, for which LOAD DATA LOCAL is switched off.
var notAllowed = map[uint16]bool{1148: true, 3948: true, 4166: true, 1235: true, 1290: true}

// loadBlock writes a block by LOAD DATA. done is false when it was not, and has to be written otherwise: the server
// does not allow it, or has changed or left out a row, which LOCAL makes warnings of. An insert then says which and
// why.
func (s *session) loadBlock(ctx context.Context, b *rows.Block, p *plan) (done bool, err error) {
	text, err := p.appendBlock(s.text[:0], b)
	s.text = text[:0]
	if err != nil {
		return false, s.failed(err)
	}
	if _, err := s.tell(ctx, "START TRANSACTION"); err != nil {
		return false, s.failed(s.ended(ctx, err))
	}
	mysql.RegisterReaderHandler(s.reader, func() io.Reader { return bytes.NewReader(text) })
	result, err := s.tell(ctx, "LOAD DATA LOCAL INFILE 'Reader::"+s.reader+"' "+p.load)
	mysql.DeregisterReaderHandler(s.reader)
	var e *mysql.MySQLError
	switch {
	case err == nil:
	case errors.As(err, &e) && notAllowed[e.Number]:
		s.loads = false
		s.driver.denied.Add(1)
		return false, s.undo(ctx, nil)
	case s.broken:
		return false, s.failed(s.ended(ctx, err))
	default:
		s.driver.undone.Add(1)
		return false, s.undo(ctx, s.again(err))
	}
	whole, err := s.whole(ctx, b, result)
	if err != nil {
		return false, s.undo(ctx, s.failed(s.ended(ctx, err)))
	}
	if !whole {
		s.driver.undone.Add(1)
		return false, s.undo(ctx, nil)
	}
	return true, s.commit(ctx)
}

// again is the error of a LOAD DATA, nil if an insert is to find out which row is to blame.
func (s *session) again(err error) error {
	if classify(err).Class == rows.BadRow {
		return nil
	}
	return s.failed(err)
}

// whole tells whether every row was written as it is.
func (s *session) whole(ctx context.Context, b *rows.Block, result interface{ RowsAffected() (int64, error) }) (bool,
	error) {
	written, err := result.RowsAffected()
	if err != nil || written != int64(b.Rows()) {
		return false, err
	}
	found, err := s.ask(ctx, "SELECT @@warning_count")
	if err != nil {
		return false, err
	}
	return len(found) == 1 && found[0][0] == "0", nil
}

// appendBlock appends the rows as the plan's LOAD DATA reads them.
func (p *plan) appendBlock(dst []byte, b *rows.Block) (_ []byte, err error) {
	for i := range b.Rows() {
		for j, v := range b.Row(i) {
			if j > 0 {
				dst = append(dst, '\t')
			}
			if p.hexed[j] && !v.IsNull() {
				dst = hex.AppendEncode(dst, []byte(v.Text()))
				continue
			}
			if dst, err = appendField(dst, v); err != nil {
				return dst, &valueError{i, b.Columns[j].Name, err}
			}
		}
		dst = append(dst, '\n')
	}
	return dst, nil
}
