package http

import (
	"io"
	"sync"
)

// gatherWriter writes to a pipe from a goroutine of its own: what is written while the pipe is busy gathers and leaves
// together. It never waits for company, and holds no more than flushAfter bytes and one write.
type gatherWriter struct {
	to   *io.PipeWriter
	done chan struct{}

	mu     sync.Mutex
	change *sync.Cond // of anything below
	buf    []byte
	err    error // of the pipe
	closed bool
}

func newGatherWriter(to *io.PipeWriter) *gatherWriter {
	g := &gatherWriter{to: to, done: make(chan struct{})}
	g.change = sync.NewCond(&g.mu)
	go g.run()
	return g
}

func (g *gatherWriter) write(p []byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(g.buf) >= flushAfter && g.err == nil {
		g.change.Wait()
	}
	if g.err != nil {
		return g.err
	}
	g.buf = append(g.buf, p...)
	g.change.Broadcast()
	return nil
}

// close sends what is left and ends the pipe: with an error, so that the other side sees the stream broken off; else
// with its end.
func (g *gatherWriter) close(reason error) error {
	g.mu.Lock()
	g.closed = true
	g.change.Broadcast()
	g.mu.Unlock()
	<-g.done
	_ = g.to.CloseWithError(reason) // always nil
	return g.err
}

func (g *gatherWriter) run() {
	defer close(g.done)
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		for len(g.buf) == 0 && !g.closed {
			g.change.Wait()
		}
		if len(g.buf) == 0 {
			return
		}
		out := g.buf
		g.buf = nil
		g.change.Broadcast()
		g.mu.Unlock()
		_, err := g.to.Write(out)
		g.mu.Lock()
		if err != nil {
			g.err = err
			g.buf = nil
			g.change.Broadcast()
			return
		}
	}
}
