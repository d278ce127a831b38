package door

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// ErrNeverFits: a request takes more memory to work on than all requests together may take. Trying again is in vain.
var ErrNeverFits = errors.New("too large for the memory of all requests together")

// firstBytes of a body come before the rest has its room: who promises much and sends nothing takes nothing from
// others.
const firstBytes = 64 << 10

// Body reads bodies of requests, each after it has room in an account for what is made of it.
type Body struct {
	Hold *Hold // of the request; its owner ends it
	Most int64 // bytes of a body
	// What a large body takes while it is worked on, in its own length: where that is known before, and where it shows
	// as the body comes.
	Cost    float64
	Growing int64
	// Hurry begins the client's time for the body anew. It is called when a request has waited for its room. nil:
	// nobody is told.
	Hurry func()
}

// Read reads the whole body of r. The errors are *http.MaxBytesError, ErrNeverFits, ErrBusy, ctx's, and those of the
// connection.
func (b *Body) Read(ctx context.Context, r *http.Request) ([]byte, error) {
	switch n := r.ContentLength; {
	case n == 0:
		return nil, nil
	case n > b.Most:
		return nil, &http.MaxBytesError{Limit: b.Most}
	case n < 0:
		return b.Whole(r.Body)
	case n <= firstBytes:
		return b.small(ctx, r.Body, n)
	default:
		return b.large(ctx, r.Body, int(n))
	}
}

func (b *Body) small(ctx context.Context, from io.Reader, n int64) ([]byte, error) {
	if !b.Hold.Try(n) {
		if err := b.Hold.Take(ctx, n); err != nil {
			return nil, err
		}
		b.hurry()
	}
	data := make([]byte, n)
	_, err := io.ReadFull(from, data)
	return data, err
}

// large reads a body of n bytes. Its time begins anew when it has the room.
func (b *Body) large(ctx context.Context, from io.Reader, n int) ([]byte, error) {
	cost := int64(b.Cost * float64(n))
	if all := b.Hold.Of.Limit(); cost > all {
		return nil, neverFits(int64(n), cost, all)
	}
	if err := b.Hold.Take(ctx, firstBytes); err != nil {
		return nil, err
	}
	first := make([]byte, firstBytes)
	if _, err := io.ReadFull(from, first); err != nil {
		return nil, err
	}
	b.Hold.End()
	if err := b.Hold.Take(ctx, cost); err != nil {
		return nil, err
	}
	b.hurry()
	data := make([]byte, n)
	_, err := io.ReadFull(from, data[copy(data, first):])
	return data, err
}

func (b *Body) hurry() {
	if b.Hurry != nil {
		b.Hurry()
	}
}

func neverFits(n, cost, all int64) error {
	return fmt.Errorf("%w: a body of %d bytes takes %d bytes to work on, and there are %d", ErrNeverFits, n, cost, all)
}

// Whole reads a body whose length is not known before, also what one becomes that is unpacked. It takes room for what
// comes and does not wait for it: two who each hold a part would wait for each other. What has none is read on without
// being kept, until it is known whether there can ever be room. The errors are those of Read.
func (b *Body) Whole(from io.Reader) ([]byte, error) {
	all := b.Hold.Of.Limit()
	counted := &countedBody{b: b, from: from, fits: min(b.Most, all/b.Growing)}
	data, err := io.ReadAll(counted)
	if err != nil || !counted.full {
		return data, err
	}
	return nil, fmt.Errorf("%w: they hold %d of %d bytes, and a body whose length is not known before does not wait "+
		"for more", ErrBusy, b.Hold.Of.Used(), all)
}

// countedBody takes room for what it reads.
type countedBody struct {
	b    *Body
	from io.Reader
	read int64
	fits int64 // as many bytes there may be
	full bool  // there was no room, so nothing is kept any more
}

// Read implements io.Reader.
func (c *countedBody) Read(p []byte) (int, error) {
	for {
		n, err := c.from.Read(p)
		c.read += int64(n)
		switch {
		case c.read > c.b.Most:
			return 0, &http.MaxBytesError{Limit: c.b.Most}
		case c.read > c.fits:
			return 0, neverFits(c.read, c.b.Growing*c.read, c.b.Hold.Of.Limit())
		}
		if !c.full && !c.b.Hold.Try(c.b.Growing*int64(n)) {
			c.full = true
			c.b.Hold.End()
		}
		if !c.full || err != nil {
			return n, err
		}
	}
}
