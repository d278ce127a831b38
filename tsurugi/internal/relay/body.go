package relay

import (
	"fmt"
	"io"
	"sync"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

// An upload makes frames of what a reader has.
type upload struct {
	mu     sync.Mutex // net/http closes a body while it reads
	from   io.Reader
	buf    []byte
	frame  []byte
	left   []byte // of frame
	err    error  // of from
	closed chan struct{}
}

// Read is io.Reader's.
func (u *upload) Read(p []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	select {
	case <-u.closed:
		return 0, io.ErrClosedPipe
	default:
	}
	for len(u.left) == 0 {
		if u.err != nil {
			return 0, u.err
		}
		var n int
		if n, u.err = u.from.Read(u.buf); n > 0 {
			u.frame = AppendFrame(u.frame[:0], message.RelayPart{Chunk: u.buf[:n]}.AppendUpload)
			u.left = u.frame
		}
	}
	n := copy(p, u.left)
	u.left = u.left[n:]
	return n, nil
}

// Close tells Put that nobody reads any more. It may be called twice.
func (u *upload) Close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	select {
	case <-u.closed:
	default:
		close(u.closed)
	}
	return nil
}

// An object is the bytes of a download.
type object struct {
	a     *answers
	chunk []byte
	got   uint64
	size  uint64 // if sized
	sized bool
	err   error
}

// Read is io.Reader's.
func (o *object) Read(p []byte) (int, error) {
	for len(o.chunk) == 0 {
		if o.err != nil {
			return 0, o.err
		}
		o.err = o.fill()
	}
	n := copy(p, o.chunk)
	o.chunk = o.chunk[n:]
	return n, nil
}

// fill takes the next message.
func (o *object) fill() error {
	b, err := o.a.next()
	if err == io.EOF && o.sized && o.got != o.size {
		return fmt.Errorf("tsurugi: %d bytes of a large object came instead of %d: %w", o.got, o.size,
			io.ErrUnexpectedEOF)
	}
	if err != nil {
		return err
	}
	part, err := message.ParseDownload(b)
	switch {
	case err != nil:
		return err
	case !part.Head:
		o.chunk = part.Chunk
		o.got += uint64(len(part.Chunk))
	case o.got > 0:
		return fmt.Errorf("%w: the head of a large object behind its bytes", wire.ErrMalformed)
	case part.Sized:
		o.size, o.sized = part.Size, true
	}
	return nil
}

// Close ends the download, however far it is.
func (o *object) Close() error {
	o.a.close()
	return nil
}
