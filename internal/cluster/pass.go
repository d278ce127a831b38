package cluster

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/caller"
	"github.com/hikyaku/hikyaku/internal/link"
)

// bring has a connection that came in here get to the owner.
func (f *Front) bring(e *entrance, c net.Conn) {
	door := e.name
	late, cancel := context.WithTimeout(f.ctx, f.o.Wait)
	defer cancel()
	if owner, l, _ := f.now(door); e.Live && (owner.Node != f.o.Node || l == nil || l.over()) {
		if c = f.alive(c); c == nil {
			return
		}
	}
	var why error // the owner did not take it
	for {
		owner, _, turned := f.now(door)
		again := time.After(retry)
		switch owner.Node {
		case "":
			again = nil
		case f.o.Node:
			if f.hand(f.ctx, late.Done(), door, &landed{Conn: c}) {
				return
			}
		default:
			p, err := f.passTo(owner, turned, e, c)
			if p != nil {
				p.splice()
				f.leave(p)
				return
			}
			why = err
		}
		select {
		case <-turned:
		case <-again:
		case <-late.Done():
			f.unowned.Add(1)
			f.unbrought(door, owner.Node, why)
			_ = c.Close() // nothing of it was heard, so its client may say it again to another node
			return
		}
	}
}

// unbrought reports a connection that nobody took: one a minute, for there may be many.
func (f *Front) unbrought(door, owner string, why error) {
	if f.ctx.Err() != nil || !f.ofUnowned.Due() {
		return
	}
	err := fmt.Errorf("%s door: connections are closed: nobody owns the shard", door)
	if owner != "" {
		err = fmt.Errorf("%s door: connections are closed: node %s owns the shard and has not taken them", door, owner)
	}
	if why != nil {
		err = fmt.Errorf("%w: %w", err, why)
	}
	f.o.Report(err)
}

// retry is how soon an owner is asked again that was away, or did not know yet that it is one.
const retry = 50 * time.Millisecond

// farewell is how long a client may go on sending after the owner's door has said that it sends no more: it has closed
// the connection, as a rule, and a client that does not close its end would keep its place here.
var farewell = 5 * time.Second

// passage is a connection that is passed on.
type passage struct {
	to         link.Peer
	client     net.Conn
	owner      *tls.Conn
	cutting    sync.Once
	wasCut     chan struct{}
	acceptedBy bool // the owner's door has it
}

// cut ends it at once.
func (p *passage) cut() {
	p.cutting.Do(func() {
		close(p.wasCut)
		_ = p.owner.NetConn().Close() // whoever waits on it goes on
		if p.acceptedBy {
			_ = p.client.Close()
		}
	})
}

// passTo brings a connection to the owner, and says who comes; nil: it does not take it, perhaps because of an error,
// and nothing was read of the client.
func (f *Front) passTo(owner link.Peer, turned <-chan struct{}, e *entrance, c net.Conn) (*passage, error) {
	if owner.Address == "" {
		return nil, errors.New("this node does not know where it is reached")
	}
	ctx, cancel := context.WithTimeout(f.ctx, f.o.Wait)
	defer cancel()
	f.active.Go(func() {
		select {
		case <-turned: // perhaps to one that can be reached
			cancel()
		case <-ctx.Done():
		}
	})
	select {
	case e.offers <- struct{}{}:
		defer func() { <-e.offers }()
	case <-ctx.Done():
		return nil, errors.New("others wait for its door")
	}
	up, spare, err := f.spares.take(ctx, owner, false)
	if err != nil {
		return nil, err
	}
	if p := f.offer(owner, e.name, c, up); p != nil || !spare {
		return p, nil
	}
	// It may have been dead for long, and so may the others.
	f.spares.turn(owner)
	if up, _, err = f.spares.take(ctx, owner, true); err != nil {
		return nil, err
	}
	return f.offer(owner, e.name, c, up), nil
}

// offer asks the owner, through a stream to it, to take a connection.
func (f *Front) offer(owner link.Peer, door string, c net.Conn, up *tls.Conn) *passage {
	p := &passage{to: owner, client: c, owner: up, wasCut: make(chan struct{})}
	if !f.enter(p) {
		_ = up.Close() // it was not needed
		return nil
	}
	a := arrivalOf(door, c)
	err := a.write(up)
	if err == nil {
		err = readTaken(up) // it may take long: the owner's door may have no seat left
	}
	if err == nil && f.accepted(p) {
		return p
	}
	f.leave(p)
	_ = up.NetConn().Close() // it was refused, or cut
	return nil
}

// enter has a passage be cut when the owner changes. False: it has changed already.
func (f *Front) enter(p *passage) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.owner != p.to || f.ctx.Err() != nil {
		return false
	}
	f.underWay[p] = struct{}{}
	return true
}

// accepted notes that the owner's door has the connection. False: it was cut before.
func (f *Front) accepted(p *passage) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case <-p.wasCut:
		return false
	default:
	}
	p.acceptedBy = true
	return true
}

// leave ends a passage's place.
func (f *Front) leave(p *passage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.underWay, p)
}

// halves is what both ends of a passage can: say that they send no more.
type halves interface {
	net.Conn
	CloseWrite() error
}

// splice carries bytes both ways until both ends have said all, or one breaks.
func (p *passage) splice() {
	defer p.client.Close()
	defer p.owner.Close()
	var both sync.WaitGroup
	both.Go(func() { p.carry(p.owner, p.client) })
	both.Go(func() {
		p.carry(p.client.(halves), p.owner)
		_ = p.client.SetReadDeadline(time.Now().Add(farewell)) // a closed one is not read any more
	})
	both.Wait()
}

// carried is how much goes at a time: a record of TLS has no more. It is kept while nothing comes, too.
const carried = 16 << 10

func (p *passage) carry(to halves, from net.Conn) {
	_, err := io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, make([]byte, carried))
	if err == nil {
		err = to.CloseWrite()
	}
	if err != nil { // the other direction has nobody to talk to any more
		_ = p.client.Close()
		_ = p.owner.NetConn().Close()
	}
}

// arrivalOf is what the owner has to know of a connection. Whose it is only this node can find out.
func arrivalOf(door string, c net.Conn) arrival {
	a := arrival{Door: door, Remote: c.RemoteAddr().String(), Local: c.LocalAddr().String()}
	if a.Socket = c.LocalAddr().Network() == "unix"; a.Socket {
		a.Remote = "" // those that connect to it have no names
	}
	end := caller.Of(c)
	if a.Near = end.Near(); !a.Near {
		return a
	}
	switch uid, err := end.Account(); {
	case err != nil:
		a.Why = err.Error()
	case int64(uid) == int64(os.Geteuid()):
		a.Account = ownAccount
	case uid == 0:
		a.Account = rootAccount
	default:
		a.Account, a.UID = otherAccount, uid
	}
	return a
}

// liveRequests are what a node answers itself.
var liveRequests = []string{"GET /livez", "GET /healthz", "HEAD /livez", "HEAD /healthz"}

// isLive tells whether first is the beginning of one of them; it may become one: more has to be read to know.
func isLive(first []byte) (is, maybe bool) {
	for _, request := range liveRequests {
		if len(first) <= len(request) {
			maybe = maybe || strings.HasPrefix(request, string(first))
			continue
		}
		rest, same := strings.CutPrefix(string(first), request)
		is = is || same && (rest[0] == ' ' || rest[0] == '?')
	}
	return is, maybe
}

// alive answers a request for /livez, and returns nil; or the connection, of which nothing is lost.
func (f *Front) alive(c net.Conn) net.Conn {
	if err := c.SetReadDeadline(time.Now().Add(f.o.Wait)); err != nil {
		_ = c.Close() // it is gone
		return nil
	}
	stop := context.AfterFunc(f.ctx, func() { _ = c.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	first := make([]byte, 0, 4<<10)
	is, maybe := isLive(first)
	for maybe {
		n, err := c.Read(first[len(first):cap(first)])
		first = first[:len(first)+n]
		is, maybe = isLive(first)
		if err != nil && len(first) == 0 && !errors.Is(err, os.ErrDeadlineExceeded) {
			_ = c.Close() // it has said nothing
			return nil
		}
		if err != nil { // it has said less than a request, and its door shall tell it so
			break
		}
	}
	if !is {
		_ = c.SetReadDeadline(time.Time{}) // a closed one tells with the next read
		return &begun{TCPConn: c.(*net.TCPConn), read: first}
	}
	defer c.Close()
	for !bytes.Contains(first, []byte("\r\n\r\n")) && len(first) < cap(first) {
		n, err := c.Read(first[len(first):cap(first)])
		first = first[:len(first)+n]
		if err != nil {
			return nil
		}
	}
	_ = c.SetWriteDeadline(time.Now().Add(f.o.Wait))
	const body = `{"status":"ok"}` + "\n" // as the door says it
	answer := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"+
		"Connection: close\r\n\r\n", len(body))
	if first[0] != 'H' { // HEAD
		answer += body
	}
	_, _ = io.WriteString(c, answer) // who asks is gone, or it has the answer
	return nil
}

// begun is a connection of which something was read.
type begun struct {
	*net.TCPConn
	read []byte
}

// Read implements net.Conn.
func (b *begun) Read(p []byte) (int, error) {
	if len(b.read) > 0 {
		n := copy(p, b.read)
		b.read = b.read[n:]
		return n, nil
	}
	return b.TCPConn.Read(p)
}

// WriteTo hides that of the connection, which knows nothing of what was read.
func (b *begun) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, struct{ io.Reader }{b}) }
