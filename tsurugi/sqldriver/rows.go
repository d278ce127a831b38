package sqldriver

import (
	"context"
	"database/sql/driver"
	"io"

	"github.com/hikyaku/hikyaku/tsurugi"
)

// rows is a result set and, outside a transaction, the one that it is in.
type rows struct {
	ctx  context.Context // database/sql closes the rows when it ends, and gives Next none
	rows *tsurugi.Rows
	in   *tsurugi.Tx
	tx   *tsurugi.Tx // the same, if it ends with the rows
}

func (r *rows) Columns() []string {
	names := make([]string, len(r.rows.Columns()))
	for i, c := range r.rows.Columns() {
		names[i] = c.Name
	}
	return names
}

// ColumnTypeDatabaseTypeName is SQL's name of a column's type.
func (r *rows) ColumnTypeDatabaseTypeName(i int) string {
	return r.rows.Columns()[i].Type.String()
}

func (r *rows) Close() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), closeWait)
	defer cancel()
	err := r.rows.Close(ctx)
	if r.tx == nil {
		return err
	}
	if err != nil {
		rollback(r.ctx, r.tx)
		return err
	}
	return r.tx.Commit(ctx)
}

func (r *rows) Next(dest []driver.Value) error {
	if !r.rows.Next(r.ctx) {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	for i, v := range r.rows.Values() {
		if large(v.Type()) {
			var err error
			if dest[i], err = object(r.ctx, r.in, v); err != nil {
				return err
			}
			continue
		}
		switch any := v.Any().(type) {
		case int32:
			dest[i] = int64(any)
		case float32:
			dest[i] = float64(any)
		default:
			dest[i] = any
		}
	}
	return nil
}
