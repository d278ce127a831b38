package tsurugitest

import (
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

// provider is that of objects which are stored, and tag what makes a reference hard to guess.
const (
	provider = 1
	tag      = 0x9e3779b97f4a7c15
)

// show is a row as result sets have it: with references instead of files.
func (o *objects) show(row []value.Value) []value.Value {
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
		shown[i] = value.OfReference(v.Type(), value.Reference{Provider: provider, Object: id, Tag: id * tag})
	}
	return shown
}

func (o *objects) path(r value.Reference) (string, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if r.Provider != provider || r.Object == 0 || r.Object > uint64(len(o.paths)) || r.Tag != r.Object*tag {
		return "", false
	}
	return o.paths[r.Object-1], true
}

// object tells the file of a large object.
func (c *session) object(slot uint16, r *message.Request) {
	path, ok := c.server.objects.path(r.Reference)
	if !ok {
		c.refuse(slot, r.Kind, &store.Error{Code: sqlExecution,
			Detail: "invalid reference tag in the request to get large object data"})
		return
	}
	channel := "lob-" + strconv.FormatUint(r.Reference.Object, 10)
	a := message.Answer{Kind: message.LargeObjectAnswer, Name: channel}
	c.answer(slot, wire.Answer{Message: a.Append(nil), Blobs: []wire.Blob{{Channel: channel, Path: path}}})
}
