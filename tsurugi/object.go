package tsurugi

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
	"github.com/hikyaku/hikyaku/tsurugi/internal/relay"
	"github.com/hikyaku/hikyaku/tsurugi/internal/value"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

// ErrNoRelay is of a large object that should go over the network in a session that was opened without Config.Relay.
var ErrNoRelay = errors.New("tsurugi: the session has no relay for large objects; set Config.Relay")

// A RelayError is what the relay service says of a large object. Code is a status of gRPC, such as 5 for an object that
// is not there, 7 for one that belongs to another transaction, 8 for a session that has uploaded too much.
type RelayError = relay.Error

// PutObject uploads what r reads, up to its end, and returns a value for a column of the type, BlobType or ClobType;
// the bytes of a CLOB have to be UTF-8. The value is good for one statement of this session, in any transaction. What
// no statement takes the server keeps until the session ends.
//
// An error of r is returned as it is, in a chain; that of the relay is a *RelayError. PutObject returns after the last
// Read of r: the context does not end one that blocks.
func (s *Session) PutObject(ctx context.Context, typ Type, r io.Reader) (Value, error) {
	switch {
	case typ != BlobType && typ != ClobType:
		return Value{}, fmt.Errorf("%w: a %v is no large object", ErrParams, typ)
	case s.relay == nil:
		return Value{}, ErrNoRelay
	}
	ref, err := s.relay.Put(ctx, r)
	if err != nil {
		return Value{}, err
	}
	return value.OfRelayed(typ, Reference{Provider: ref.Storage, Object: ref.Object, Tag: ref.Tag}), nil
}

// OpenObject reads a large object that came with a result set of this transaction, while the transaction is open. The
// bytes come as they are read, in messages of at most Config.MaxAnswer bytes; those of a CLOB are UTF-8. The context
// bounds the reading, and the caller closes what is returned. The relay's errors are of the type *RelayError; a
// download that ends too early is io.ErrUnexpectedEOF, in a chain.
func (tx *Tx) OpenObject(ctx context.Context, v Value) (io.ReadCloser, error) {
	ref, ok := v.Reference()
	switch {
	case !ok:
		return nil, fmt.Errorf("%w: a %v is no large object of the server's", ErrParams, v.Type())
	case tx.s.relay == nil:
		return nil, ErrNoRelay
	case ref.Provider != message.RelayDatabase:
		return nil, fmt.Errorf("%w: the relay does not give objects of the provider %d", ErrParams, ref.Provider)
	}
	handle, _, err := message.ParseHandle(tx.bytes)
	if err != nil {
		return nil, err
	}
	return tx.s.relay.Get(ctx, handle, wire.RelayReference{Storage: message.RelayDatabase, Object: ref.Object,
		Tag: ref.Tag})
}
