//go:build unix

package logbook

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
)

// Pipe reads what programs print and cuts it into lines.
type Pipe struct {
	file *os.File
	raw  syscall.RawConn
	done chan struct{}

	mu    sync.Mutex // held while bytes are read and given on, so that Drain leaves none under way
	lines splitter
	over  bool
}

// NewPipe makes a pipe. line is called for each line, without its end, one after the other; it must not call the pipe.
// The writer is for programs; whoever starts them closes it.
func NewPipe(line func(text string)) (p *Pipe, writer *os.File, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("cannot make a pipe for the log: %w", err)
	}
	raw, err := r.SyscallConn()
	if err != nil {
		_, _ = r.Close(), w.Close() // the first error says more
		return nil, nil, fmt.Errorf("cannot make a pipe for the log: %w", err)
	}
	p = &Pipe{file: r, raw: raw, done: make(chan struct{}), lines: splitter{line: line}}
	go p.run()
	return p, w, nil
}

func (p *Pipe) run() {
	defer close(p.done)
	_ = p.raw.Read(func(fd uintptr) bool { // it ends when the pipe does
		for {
			if empty, over := p.read(fd); empty || over {
				return over
			}
		}
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines.flush()
}

// most is how much is read at a time, and turns how often before others get their turn.
const (
	most  = 16 << 10
	turns = 16
)

var buffers = sync.Pool{New: func() any { return new([most]byte) }}

// read reads what is there, but not for ever, and tells whether nothing is left and whether the pipe has ended.
func (p *Pipe) read(fd uintptr) (empty, over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	buf := buffers.Get().(*[most]byte)
	defer buffers.Put(buf)
	for n := 0; n < turns && !p.over; {
		got, err := syscall.Read(int(fd), buf[:])
		switch {
		case got > 0:
			p.lines.write(buf[:got])
			n++
		case errors.Is(err, syscall.EAGAIN):
			return true, false
		case !errors.Is(err, syscall.EINTR):
			p.over = true // its end, or an error that will not go away
		}
	}
	return false, p.over
}

// Drain reads what was printed before it was called, also the beginning of a line that has no end yet. A program that
// prints on and on does not hold it up.
func (p *Pipe) Drain() {
	_ = p.raw.Control(func(fd uintptr) { p.read(fd) }) // a pipe that was closed has nothing
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines.flush()
}

// Close waits until the last writer has closed the pipe and all is read, or, with now set, closes it.
func (p *Pipe) Close(now bool) {
	if now {
		_ = p.file.Close() // it was only read
	}
	<-p.done
	_ = p.file.Close() // it may be closed already
}
