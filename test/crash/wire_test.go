//go:build linux

package crash

import (
	"io"
	"net"
	"sync"
	"testing"
)

// wire is the way from one node to another, which can be cut.
type wire struct {
	listener net.Listener
	to       string
	copying  sync.WaitGroup

	mu     sync.Mutex
	mended *sync.Cond
	silent bool // what is sent waits
	cut    bool // and whoever connects is refused
	ended  bool
	conns  map[net.Conn]bool
}

// newWire makes a way to an address.
func newWire(t *testing.T, to string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	w := &wire{listener: l, to: to, conns: map[net.Conn]bool{}}
	w.mended = sync.NewCond(&w.mu)
	w.copying.Go(w.accept)
	t.Cleanup(func() {
		_ = l.Close()
		w.set(false, true, true)
		w.copying.Wait()
	})
	return w
}

func (w *wire) address() string { return w.listener.Addr().String() }

func (w *wire) accept() {
	for {
		c, err := w.listener.Accept()
		if err != nil {
			return
		}
		if !w.add(c) {
			continue
		}
		far, err := net.Dial("tcp", w.to)
		if err != nil {
			w.drop(c)
			continue
		}
		if !w.add(far) {
			w.drop(c)
			continue
		}
		for _, way := range [][2]net.Conn{{c, far}, {far, c}} {
			w.copying.Go(func() {
				w.copy(way[1], way[0])
				w.drop(way[0])
				w.drop(way[1])
			})
		}
	}
}

// copy copies what comes, unless that has to wait.
func (w *wire) copy(to io.Writer, from io.Reader) {
	b := make([]byte, 1<<16)
	for {
		n, err := from.Read(b)
		w.mu.Lock()
		for w.silent && !w.ended {
			w.mended.Wait()
		}
		w.mu.Unlock()
		if err != nil {
			return
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

func (w *wire) add(c net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cut || w.ended {
		_ = c.Close()
		return false
	}
	w.conns[c] = true
	return true
}

func (w *wire) drop(c net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = c.Close()
	delete(w.conns, c)
}

// set says what becomes of what is sent.
func (w *wire) set(silent, cut, ended bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.silent, w.cut, w.ended = silent, cut, w.ended || ended
	if cut {
		for c := range w.conns {
			_ = c.Close()
		}
	}
	w.mended.Broadcast()
}
