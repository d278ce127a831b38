package sqldriver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hikyaku/hikyaku/tsurugi"
)

// mostObject is how many bytes of a large object a row takes.
const mostObject = 64 << 20

func large(typ tsurugi.Type) bool { return typ == tsurugi.BlobType || typ == tsurugi.ClobType }

// upload puts the bytes and texts that are to be large objects in places of the server's.
func (s *stmt) upload(ctx context.Context, st *tsurugi.Statement, values []tsurugi.Value) error {
	for i, h := range st.Placeholders() {
		if !large(h.Type) || large(values[i].Type()) || values[i].IsNull() {
			continue
		}
		v, err := s.c.s.PutObject(ctx, h.Type, strings.NewReader(values[i].Text()))
		if err != nil {
			return s.c.lost(err)
		}
		values[i] = v
	}
	return nil
}

// object reads a large object: bytes of a BLOB, text of a CLOB. Without a relay there is only what it is called.
func object(ctx context.Context, tx *tsurugi.Tx, v tsurugi.Value) (any, error) {
	r, err := tx.OpenObject(ctx, v)
	if errors.Is(err, tsurugi.ErrNoRelay) {
		return v.Any(), nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // what was read is whole, or there is an error
	b, err := io.ReadAll(io.LimitReader(r, mostObject+1))
	switch {
	case err != nil:
		return nil, err
	case len(b) > mostObject:
		return nil, fmt.Errorf("tsurugi: a %v of more than %d bytes is not read into a row; read it with "+
			"tsurugi.Tx.OpenObject", v.Type(), mostObject)
	case v.Type() == tsurugi.ClobType:
		return string(b), nil
	}
	return b, nil
}
