package tsurugidb

import (
	"context"
	"net"
	"sync"
	"testing"
)

// proxy stands between a sink and the server, and misbehaves as networks and machines do.
type proxy struct {
	t       testing.TB
	server  string
	address string
	work    sync.WaitGroup

	mu       sync.Mutex
	listener net.Listener // nil: down
	conns    map[net.Conn]bool
	left     int           // bytes that are passed on to the server before the connection is cut
	cutting  bool          // whether that holds
	free     chan struct{} // closed: answers are passed on
}

func newProxy(t testing.TB, server string) *proxy {
	t.Helper()
	p := &proxy{t: t, server: server, conns: map[net.Conn]bool{}, free: make(chan struct{})}
	close(p.free)
	p.listen("127.0.0.1:0")
	p.address = p.listener.Addr().String()
	t.Cleanup(func() {
		p.down()
		p.resume()
		p.work.Wait()
	})
	return p
}

func (p *proxy) endpoint() string { return "tcp://" + p.address }

func (p *proxy) listen(address string) {
	var lc net.ListenConfig
	l, err := lc.Listen(context.Background(), "tcp", address)
	if err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	p.listener = l
	p.mu.Unlock()
	p.work.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p.work.Go(func() { p.serve(conn) })
		}
	})
}

// serve passes on what goes to and fro on one connection.
func (p *proxy) serve(client net.Conn) {
	var d net.Dialer
	server, err := d.DialContext(context.Background(), "tcp", p.server)
	if err != nil {
		_ = client.Close()
		return
	}
	p.mu.Lock()
	up := p.listener != nil
	if up {
		p.conns[client], p.conns[server] = true, true
	}
	p.mu.Unlock()
	end := func() {
		_, _ = client.Close(), server.Close()
	}
	if !up {
		end()
		return
	}
	var both sync.WaitGroup
	both.Go(func() { p.pass(server, client, p.count); end() })
	both.Go(func() { p.pass(client, server, p.hold); end() })
	both.Wait()
	p.mu.Lock()
	delete(p.conns, client)
	delete(p.conns, server)
	p.mu.Unlock()
}

// pass copies from one connection to the other; before it passes bytes on it asks how many.
func (p *proxy) pass(to, from net.Conn, allow func(n int) (allowed int)) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		allowed := allow(n)
		if _, failed := to.Write(buf[:allowed]); failed != nil || err != nil || allowed < n {
			return
		}
	}
}

// count is how many of n bytes are passed on to the server.
func (p *proxy) count(n int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.cutting {
		return n
	}
	if n < p.left {
		p.left -= n
		return n
	}
	p.cutting = false
	return p.left - 1 // at least one byte too few
}

// hold waits while answers are not passed on.
func (p *proxy) hold(n int) int {
	p.mu.Lock()
	free := p.free
	p.mu.Unlock()
	<-free
	return n
}

// cutAfter cuts a connection when so many bytes more have been passed on to the server.
func (p *proxy) cutAfter(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left, p.cutting = max(n, 1), true
}

// hang holds all answers back, until resume.
func (p *proxy) hang() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = make(chan struct{})
}

func (p *proxy) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.free:
	default:
		close(p.free)
	}
}

// down refuses connections and ends those that there are, until up.
func (p *proxy) down() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		_ = p.listener.Close() // it is over
		p.listener = nil
	}
	for c := range p.conns {
		_ = c.Close()
	}
}

func (p *proxy) up() { p.listen(p.address) }
