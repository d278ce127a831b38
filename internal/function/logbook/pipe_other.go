//go:build !unix

package logbook

import (
	"fmt"
	"os"
	"sync"
)

// Pipe reads what programs print and cuts it into lines.
type Pipe struct {
	file  *os.File
	done  chan struct{}
	mu    sync.Mutex
	lines splitter
}

// NewPipe makes a pipe. line is called for each line, without its end, one after the other; it must not call the pipe.
// The writer is for programs; whoever starts them closes it.
func NewPipe(line func(text string)) (p *Pipe, writer *os.File, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("cannot make a pipe for the log: %w", err)
	}
	p = &Pipe{file: r, done: make(chan struct{}), lines: splitter{line: line}}
	go p.run()
	return p, w, nil
}

func (p *Pipe) run() {
	defer close(p.done)
	buf := make([]byte, 16<<10)
	for {
		n, err := p.file.Read(buf)
		p.mu.Lock()
		p.lines.write(buf[:n])
		if err != nil {
			p.lines.flush()
			p.mu.Unlock()
			return
		}
		p.mu.Unlock()
	}
}

// Drain gives the beginning of a line that has no end yet. What is still in the pipe comes later: it cannot be looked
// into here.
func (p *Pipe) Drain() {
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
