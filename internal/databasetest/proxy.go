package databasetest

import (
	"errors"
	"net"
	"sync"
)

// Proxy stands between a client and a server, and cuts the connections through it when told. Its methods may be called
// from several goroutines at once.
type Proxy struct {
	listener net.Listener
	to       string
	commits  func() func(sent []byte) bool
	running  sync.WaitGroup

	mu     sync.Mutex
	closed bool
	pairs  map[*pair]bool
	left   int // bytes that clients may send until they are cut off; -1: no end
	losing *loss
}

// pair is one connection through the proxy.
type pair struct {
	client, server net.Conn
	commits        func(sent []byte) bool
	last           bool // a commit was sent, and its answer is to be lost
}

type loss struct{ happened bool }

// NewProxy listens on a port of the loopback for connections to an address. commits makes, for each connection, what
// looks at all that the client sends, piece by piece, and tells whether a piece asks for a commit; it may be nil when
// nobody calls LoseAnswer.
func NewProxy(to string, commits func() func(sent []byte) bool) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: l, to: to, commits: commits, pairs: map[*pair]bool{}, left: -1}
	p.running.Go(p.serve)
	return p, nil
}

// Address is where it listens.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// CutAfter cuts the connection that sends the byte after so many more from all clients together.
func (p *Proxy) CutAfter(bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = bytes
}

// LoseAnswer lets the next commit through, and cuts the connection instead of passing on the answer. lost tells whether
// that has happened.
func (p *Proxy) LoseAnswer() (lost func() bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := &loss{}
	p.losing = l
	return func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return l.happened
	}
}

// Cut cuts all connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.pairs {
		c.close()
	}
}

// Close ends the proxy and its connections.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	err := p.listener.Close()
	p.Cut()
	p.running.Wait()
	return err
}

func (c *pair) close() {
	_ = c.client.Close()
	_ = c.server.Close()
}

func (p *Proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.to)
		if err != nil {
			if t, ok := client.(*net.TCPConn); ok {
				_ = t.SetLinger(0) // it is refused, as the server would have done
			}
			_ = client.Close()
			continue
		}
		c := &pair{client: client, server: server}
		if p.commits != nil {
			c.commits = p.commits()
		}
		if !p.add(c) {
			c.close()
			return
		}
		p.running.Go(func() { p.pass(c, server, client, p.sending) })
		p.running.Go(func() {
			p.pass(c, client, server, p.answering)
			p.remove(c)
		})
	}
}

func (p *Proxy) add(c *pair) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pairs[c] = true
	return !p.closed
}

func (p *Proxy) remove(c *pair) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.pairs, c)
}

var errCut = errors.New("the connection is cut")

// pass copies what one side says to the other, until either ends or look says so.
func (p *Proxy) pass(c *pair, to, from net.Conn, look func(*pair, []byte) (int, error)) {
	defer c.close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		n, cut := look(c, buf[:n])
		if _, err := to.Write(buf[:n]); err != nil || cut != nil {
			return
		}
	}
}

// sending looks at what a client says, and tells how much of it is passed on.
func (p *Proxy) sending(c *pair, sent []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.commits != nil && c.commits(sent) && p.losing != nil {
		c.last = true
	}
	if p.left < 0 {
		return len(sent), nil
	}
	if len(sent) > p.left {
		n := p.left
		p.left = -1
		return n, errCut
	}
	p.left -= len(sent)
	return len(sent), nil
}

// answering looks at what a server says.
func (p *Proxy) answering(c *pair, said []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.last && p.losing != nil {
		p.losing.happened = true
		p.losing = nil
		return 0, errCut
	}
	return len(said), nil
}
