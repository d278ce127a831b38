package pubsub

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/schema"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// remembered is what was made of definitions and notes, by their keys, so that not each call makes it anew. It is
// bounded, by what the entries say that they take, and emptied when it is full.
type remembered struct {
	most  int64
	all   sync.Map // of *kept
	bytes atomic.Int64
}

// kept is an entry of it.
type kept struct {
	value any
	bytes int64
}

func (r *remembered) get(key any) (value any, ok bool) {
	k, ok := r.all.Load(key)
	if !ok {
		return nil, false
	}
	return k.(*kept).value, true
}

// put remembers a value of about so many bytes. What never fits is not remembered.
func (r *remembered) put(key, value any, bytes int64) {
	if bytes > r.most {
		r.forget(key)
		return
	}
	if r.bytes.Load()+bytes > r.most {
		r.all.Range(func(key, _ any) bool {
			r.forget(key)
			return true
		})
	}
	if old, there := r.all.Swap(key, &kept{value, bytes}); there {
		bytes -= old.(*kept).bytes
	}
	r.bytes.Add(bytes)
}

func (r *remembered) forget(key any) {
	if old, there := r.all.LoadAndDelete(key); there {
		r.bytes.Add(-old.(*kept).bytes)
	}
}

// Bounds of what is remembered, and about what an entry takes: of a topic or a subscription beside its note, and what
// that is turned into for each of its bytes.
const (
	maxKnown      = 16 << 20
	maxCompiled   = 16 << 20
	knownResident = 1 << 10
	noteCopies    = 4
)

// compiledKey is the key of a compiled revision.
type compiledKey struct {
	name     queue.Name
	revision string
}

// compiled is a revision, compiled. The caller calls give when it does not use it any more.
func (d *Server) compiled(ctx context.Context, r resource, s *pubsubpb.Schema) (c *schema.Schema, give func(),
	err error) {
	n := d.store.Resolve(r.name())
	key := compiledKey{n, s.RevisionId}
	if c, ok := d.schemas.get(key); ok {
		return c.(*schema.Schema), func() {}, nil
	}
	text, err := d.schemaText(ctx, n, s.RevisionId)
	if err != nil {
		return nil, nil, err
	}
	c, give, err = d.compile("schema", &pubsubpb.Schema{Type: s.Type, Definition: text})
	if err != nil {
		return nil, nil, fmt.Errorf("revision %s of %s: %w", s.RevisionId, r, err)
	}
	d.schemas.put(key, c, c.Size())
	return c, give, nil
}
