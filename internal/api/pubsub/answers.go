package pubsub

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/hikyaku/hikyaku/internal/door"
)

// answerKey is the context's key of what the answer of a call takes.
type answerKey struct{}

// answering begins to count what the answer of a call takes. The caller ends the hold.
func (d *Server) answering(ctx context.Context) (context.Context, *door.Hold) {
	h := &door.Hold{Of: d.answers, Traffic: d.traffic}
	return context.WithValue(ctx, answerKey{}, h), h
}

func answerOf(ctx context.Context) *door.Hold {
	if h, ok := ctx.Value(answerKey{}).(*door.Hold); ok {
		return h
	}
	return new(door.Hold)
}

// roomFor takes room for an answer of about n bytes, before it is made.
func roomFor(ctx context.Context, n int64) error {
	if n <= uncounted {
		return nil
	}
	h := answerOf(ctx)
	return h.Take(ctx, min(pullCost*n, h.Of.Limit()))
}

// written encodes an answer, which keeps what it takes until gRPC has written it or thrown it away. Of a change, which
// is made already, it counts whether there is room or not.
func written(res any, hold *door.Hold) (any, error) {
	m, ok := res.(proto.Message)
	if !ok { // it is a frame
		return res, nil
	}
	n := int64(proto.Size(m))
	if n <= uncounted {
		hold.End()
		return res, nil
	}
	if hold.None() {
		hold.Owe(streamCost * n)
	}
	data, err := codec{}.Marshal(res)
	if err != nil {
		return nil, err
	}
	return counted(&frame{data}, hold), nil
}

// listBytes bounds an answer with a list: clients refuse one of 4 MiB unless they are told otherwise.
const listBytes = 3 << 20

// entryBytes is what an entry of a list has at most, but for what is said of it in notes and labels.
const entryBytes = 1 << 10

// listing is how the things of a list are made entries of an answer.
type listing[T, E any] struct {
	key  func(T) string
	size func(T) (int64, error) // about how many bytes the entry will have
	// make makes the entry. Of what was deleted meanwhile it says NotFound.
	make func(T) (E, error)
}

// asked is what a request for a list says.
type asked interface {
	GetPageSize() int32
	GetPageToken() string
}

// gather makes a page of a list: as many entries as are asked for, as long as there is room for them.
func gather[T, E any](ctx context.Context, req asked, all []T, l listing[T, E]) (entries []E, next string, err error) {
	part, next, err := page(all, l.key, req.GetPageSize(), req.GetPageToken())
	if err != nil {
		return nil, "", err
	}
	hold := answerOf(ctx)
	p := door.Page{Hold: hold, Most: min(listBytes, hold.Of.Limit()/(2*pullCost)), Cost: pullCost}
	for i, x := range part {
		size, err := l.size(x)
		if err != nil {
			return nil, "", err
		}
		if ok, err := p.Room(ctx, size); err != nil {
			return nil, "", err
		} else if !ok {
			return entries, pageToken(l.key(part[i-1])), nil
		}
		e, err := l.make(x)
		if isNotFound(err) {
			continue
		}
		if err != nil {
			return nil, "", err
		}
		entries = append(entries, e)
	}
	return entries, next, nil
}

// noteSize is about how many bytes of an entry come from a note.
func (d *Server) noteSize(ctx context.Context, key string) (int64, error) {
	n, _, err := d.store.NoteSize(ctx, room, key)
	return entryBytes + int64(n), err
}

func labelBytes(labels map[string]string) (n int64) {
	for k, v := range labels {
		n += int64(len(k) + len(v) + 16)
	}
	return n
}
