package lines

import (
	"context"
	"errors"
	"io"
	"os"
)

// pipeBytes can be written to a pipe that is ready without blocking (POSIX's PIPE_BUF is at least 512; it is 4096 where
// this runs).
const pipeBytes = 4096

// Port reads or writes a stream so that a context can end a call that blocks. It never changes the mode of an open
// file, which other processes may share: it waits until the file is ready, and for the context, at once.
//
// A stream that is not a file is read and written as it is, and so is every stream on a system that has no poll: then
// the context is looked at only between calls. A Port is for one goroutine at a time; Close lets go of what it holds,
// not of the stream.
type Port struct {
	file         *os.File // nil: not one that can be waited for
	r            io.Reader
	w            io.Writer
	woken, waker *os.File // the two ends of the pipe that wakes a waiting call
}

// NewInput makes a Port that reads.
func NewInput(r io.Reader) (*Port, error) {
	p := &Port{r: r}
	return p, p.open(r)
}

// NewOutput makes a Port that writes.
func NewOutput(w io.Writer) (*Port, error) {
	p := &Port{w: w}
	return p, p.open(w)
}

func (p *Port) open(stream any) error {
	f, ok := stream.(*os.File)
	if !ok || !canWait {
		return nil
	}
	if st, err := f.Stat(); err != nil || st.Mode().IsRegular() {
		return err // a regular file never blocks for long
	}
	woken, waker, err := os.Pipe()
	if err != nil {
		return err
	}
	p.file, p.woken, p.waker = f, woken, waker
	return nil
}

// Read is io.Reader's Read that returns ctx's error when ctx ends first.
func (p *Port) Read(ctx context.Context, b []byte) (int, error) {
	if err := p.ready(ctx, toRead); err != nil {
		return 0, err
	}
	return p.r.Read(b)
}

// Write is io.Writer's Write that returns ctx's error when ctx ends first; n tells how much was written by then.
func (p *Port) Write(ctx context.Context, b []byte) (n int, err error) {
	for n < len(b) {
		if err := p.ready(ctx, toWrite); err != nil {
			return n, err
		}
		part := b[n:]
		if p.file != nil {
			part = part[:min(len(part), pipeBytes)]
		}
		m, err := p.w.Write(part)
		n += m
		if err != nil {
			return n, err
		}
		if m < len(part) {
			return n, io.ErrShortWrite
		}
	}
	return n, nil
}

// Close lets go of the Port, not of the stream.
func (p *Port) Close() error {
	if p.woken == nil {
		return nil
	}
	return errors.Join(p.woken.Close(), p.waker.Close())
}

// ready returns when the stream can be read or written, or with ctx's error.
func (p *Port) ready(ctx context.Context, events int16) error {
	if err := ctx.Err(); err != nil || p.file == nil {
		return err
	}
	called := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(called)
		p.waker.Write([]byte{0})
	})
	err := p.poll(events)
	if !stop() {
		<-called
		var b [1]byte
		if _, rerr := p.woken.Read(b[:]); rerr != nil {
			return rerr
		}
		return ctx.Err()
	}
	return err
}
