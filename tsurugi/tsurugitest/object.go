package tsurugitest

import (
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
	"github.com/hikyaku/hikyaku/tsurugi/internal/value"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest/internal/store"
)

// objects are the files that result sets have named. What a column keeps of a large object is its file's path; nothing
// is copied.
type objects struct {
	mu    sync.Mutex
	paths []string // the object's id is its place, from 1
}

// locate finds the files of what the header of a request says is with the relay. A session has one way for large
// objects.
func (c *session) locate(blobs []wire.Blob) error {
	for i, b := range blobs {
		switch {
		case (b.Relayed != nil) != (c.relay != 0):
			return errors.New("BLOB handling in this mode is not allowed")
		case b.Relayed != nil:
			path, err := c.server.relay.take(c.relay, *b.Relayed)
			if err != nil {
				return err
			}
			blobs[i].Path = path
		}
	}
	return nil
}

// open gives parameters that are large objects the paths of the files in the request's header; one whose channel is not
// there is NULL.
func open(values []value.Value, blobs []wire.Blob) {
	for i, v := range values {
		t := v.Type()
		if t != value.Blob && t != value.Clob {
			continue
		}
		at := slices.IndexFunc(blobs, func(b wire.Blob) bool { return b.Channel == v.Text() })
		switch {
		case at < 0:
			values[i] = value.Value{}
		case t == value.Blob:
			values[i] = value.OfBlobFile(blobs[at].Path)
		default:
			values[i] = value.OfClobFile(blobs[at].Path)
		}
	}
}

// tag is what makes a reference hard to guess.
const tag = 0x9e3779b97f4a7c15

// show is a row as result sets have it: with references instead of files, which are good in the transaction.
func (o *objects) show(tx uint64, row []value.Value) []value.Value {
	shown := row
	for i, v := range row {
		if v.Type() != value.Blob && v.Type() != value.Clob {
			continue
		}
		if &shown[0] == &row[0] {
			shown = slices.Clone(row)
		}
		o.mu.Lock()
		o.paths = append(o.paths, v.Text())
		id := uint64(len(o.paths))
		o.mu.Unlock()
		shown[i] = value.OfReference(v.Type(), value.Reference{Provider: message.RelayDatabase, Object: id,
			Tag: id*tag ^ tx})
	}
	return shown
}

// path is the file of a reference, which was shown in the transaction. The error is the relay's.
func (o *objects) path(tx uint64, r value.Reference) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case r.Provider != message.RelayDatabase:
		return "", &rpcError{rpcInvalidArgument, "there is no such storage"}
	case r.Object == 0 || r.Object > uint64(len(o.paths)):
		return "", &rpcError{rpcNotFound, "there is no such object"}
	case r.Tag != r.Object*tag^tx:
		return "", &rpcError{rpcPermissionDenied, "the given tag does not match the desiring value"}
	}
	return o.paths[r.Object-1], nil
}

// object tells the file of a large object.
func (c *session) object(slot uint16, r *message.Request, t *tx) {
	path, err := c.server.objects.path(t.handle, r.Reference)
	if err != nil {
		c.refuse(slot, r.Kind, &store.Error{Code: sqlExecution,
			Detail: "invalid reference tag in the request to get large object data"})
		return
	}
	channel := "lob-" + strconv.FormatUint(r.Reference.Object, 10)
	a := message.Answer{Kind: message.LargeObjectAnswer, Name: channel}
	c.answer(slot, wire.Answer{Message: a.Append(nil), Blobs: []wire.Blob{{Channel: channel, Path: path}}})
}
