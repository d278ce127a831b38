package message

import (
	"fmt"

	"github.com/hikyaku/hikyaku/tsurugi/internal/value"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

// ParseRequest reads a request for the SQL service. A kind that this package does not know comes without its fields.
// Handles point into b.
func ParseRequest(b []byte) (*Request, error) {
	r := new(Request)
	err := wire.Fields(b, func(f wire.Field) error {
		switch {
		case f.Num == fieldVersion:
			r.Version.Major = f.Int
		case f.Num == fieldVersion+1:
			r.Version.Minor = f.Int
		case f.Num >= 2 && f.Num < fieldVersion:
			r.Kind = Kind(f.Num)
			return wire.Fields(f.Bytes, r.parse)
		}
		return nil
	})
	return r, err
}

func (r *Request) parse(f wire.Field) error {
	switch r.Kind {
	case Begin:
		return wire.Fields(f.Bytes, r.Options.parse)
	case Prepare:
		if f.Num == 1 {
			r.SQL = f.String()
			return nil
		}
		return r.placeholder(f.Bytes)
	case Statement, Query:
		if f.Num == 2 {
			r.SQL = f.String()
			return nil
		}
		r.Tx = f.Bytes
	case PreparedStatement, PreparedQuery:
		switch f.Num {
		case 1:
			r.Tx = f.Bytes
		case 2:
			r.Stmt = f.Bytes
		case 3:
			return r.Params.parse(f.Bytes)
		}
	case Explain:
		if f.Num == 1 {
			r.Stmt = f.Bytes
			return nil
		}
		return r.Params.parse(f.Bytes)
	case Commit:
		return r.commit(f)
	case DisposeStatement:
		r.Stmt = f.Bytes
	case Rollback, DisposeTx, ErrorInfo, TxStatus:
		r.Tx = f.Bytes
	case ExplainText:
		r.SQL = f.String()
	case DescribeTable:
		r.Table = f.String()
	case LargeObject:
		return r.object(f)
	}
	return nil
}

func (r *Request) commit(f wire.Field) error {
	switch f.Num {
	case 1:
		r.Tx = f.Bytes
	case 2:
		r.Until = f.Int
	case 3:
		r.AutoDispose = f.Int != 0
	case 11: // what newer clients send instead
		return wire.Fields(f.Bytes, func(f wire.Field) error {
			switch f.Num {
			case 11:
				r.Until = f.Int
			case 12:
				r.AutoDispose = f.Int != 0
			}
			return nil
		})
	}
	return nil
}

func (r *Request) object(f wire.Field) error {
	if f.Num == 1 {
		r.Tx = f.Bytes
		return nil
	}
	return wire.Fields(f.Bytes, func(f wire.Field) error {
		switch f.Num {
		case 1:
			r.Reference.Provider = f.Int
		case 2:
			r.Reference.Object = f.Int
		case 4:
			r.Reference.Tag = f.Int
		}
		return nil
	})
}

func (r *Request) placeholder(b []byte) error {
	var p Placeholder
	err := wire.Fields(b, func(f wire.Field) error {
		switch f.Num {
		case 2:
			p.Name = f.String()
		case 11:
			if f.Int > 99 {
				return fmt.Errorf("%w: a placeholder of type %d", wire.ErrMalformed, f.Int)
			}
			p.Type = value.Type(f.Int)
		}
		return nil
	})
	r.Placeholders = append(r.Placeholders, p)
	return err
}

func (o *Options) parse(f wire.Field) error {
	switch f.Num {
	case 1:
		o.Type = f.Int
	case 2:
		o.Priority = f.Int
	case 3:
		o.Label = f.String()
	case 4:
		o.DDL = f.Int != 0
	case 11, 12, 13:
		into := []*[]string{&o.Preserve, &o.Include, &o.Exclude}[f.Num-11]
		return wire.Fields(f.Bytes, func(f wire.Field) error {
			if f.Num == 1 {
				*into = append(*into, f.String())
			}
			return nil
		})
	}
	return nil
}

// AppendHandle appends the handle of a transaction (with its secret) or of a prepared statement (with whether it is a
// query, 1 or 0, for secret).
func AppendHandle(b []byte, id, secret uint64) []byte {
	return wire.Uint(wire.Uint(b, 1, id), 2, secret)
}

// ParseHandle reads what AppendHandle wrote.
func ParseHandle(b []byte) (id, secret uint64, err error) {
	err = wire.Fields(b, func(f wire.Field) error {
		switch f.Num {
		case 1:
			id = f.Int
		case 2:
			secret = f.Int
		}
		return nil
	})
	return id, secret, err
}
