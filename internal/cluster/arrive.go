package cluster

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/caller"
)

// arrival is what a node says of a connection that it passes on.
type arrival struct {
	Door    string `json:"door"`
	Remote  string `json:"remote"`           // where the client is
	Local   string `json:"local"`            // where it came in
	Socket  bool   `json:"socket,omitempty"` // that is a socket in the file system; Remote is empty
	Near    bool   `json:"near"`             // as caller.End has it
	Account string `json:"account,omitempty"`
	UID     uint32 `json:"uid,omitempty"` // of another account
	Why     string `json:"why,omitempty"` // the account is not known
}

// Whose a connection is. Numbers of accounts mean something at their own machine alone.
const (
	ownAccount   = "own" // that which hikyaku runs as there
	rootAccount  = "root"
	otherAccount = "other"
)

const mostArrival = 4 << 10

var errArrival = errors.New("not what a node says of a connection")

func (a *arrival) write(w io.Writer) error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	if len(text) > mostArrival {
		return errArrival
	}
	_, err = w.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(text))), text...))
	return err
}

func readArrival(r io.Reader) (a arrival, err error) {
	var head [2]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return a, err
	}
	n := binary.BigEndian.Uint16(head[:])
	if n > mostArrival {
		return a, errArrival
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return a, err
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return a, fmt.Errorf("%w: %w", errArrival, err)
	}
	return a, nil
}

// taken is what comes back when the owner's door has the connection. Before that nothing of the client's is sent.
const taken = 'y'

func readTaken(r io.Reader) error {
	var answer [1]byte
	if _, err := io.ReadFull(r, answer[:]); err != nil {
		return err
	}
	if answer[0] != taken {
		return errArrival
	}
	return nil
}

// end is the other end of the connection, as the node where it came in has found it.
func (a *arrival) end(node string) *caller.End {
	switch a.Account {
	case ownAccount:
		return caller.Told(a.Near, uint32(os.Geteuid()), nil)
	case rootAccount:
		return caller.Told(a.Near, 0, nil)
	case otherAccount:
		return caller.Told(a.Near, 0, fmt.Errorf("%w: node %s says that it is of its account with uid %d",
			caller.ErrUnknown, node, a.UID))
	}
	return caller.Told(a.Near, 0, fmt.Errorf("%w: node %s says: %s", caller.ErrUnknown, node, a.Why))
}

// addresses are those of the connection where it came in.
func (a *arrival) addresses() (local, remote net.Addr, err error) {
	if a.Socket {
		return &net.UnixAddr{Name: a.Local, Net: "unix"}, &net.UnixAddr{Net: "unix"}, nil
	}
	to, err := netip.ParseAddrPort(a.Local)
	from, err2 := netip.ParseAddrPort(a.Remote)
	if err != nil || err2 != nil {
		return nil, nil, errArrival
	}
	return net.TCPAddrFromAddrPort(to), net.TCPAddrFromAddrPort(from), nil
}

// arrive has a connection that another node passes on.
func (f *Front) arrive(ctx context.Context, peer string, c net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(f.ctx, cancel)()
	_ = c.SetDeadline(time.Now().Add(spareLife)) // a closed one tells with the next read
	defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })()
	a, err := readArrival(c)
	if err != nil {
		return
	}
	local, remote, err := a.addresses()
	if err != nil {
		f.o.Report(fmt.Errorf("node %s: %w", peer, err))
		return
	}
	_ = c.SetDeadline(time.Time{})
	if ctx.Err() != nil { // it may have ended before that
		return
	}
	conn := &arrived{halves: c.(halves), remote: remote, closed: make(chan struct{}),
		local: &caller.Addr{Addr: local, End: a.end(peer)}}
	late, stop := context.WithTimeout(ctx, f.o.Wait)
	defer stop()
	if !f.hand(ctx, late.Done(), a.Door, &landed{conn, func() error {
		_, err := c.Write([]byte{taken})
		return err
	}}) {
		return
	}
	f.count(peer, 1)
	defer f.count(peer, -1)
	select {
	case <-conn.closed:
	case <-ctx.Done():
		_ = conn.Close()
	}
}

// mostCounted bounds the nodes that metrics name: who has the secret may give itself any name.
const mostCounted = 64

// count notes that a connection of a node has come, or has ended.
func (f *Front) count(node string, change int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if a, known := f.arrivals[node]; known || len(f.arrivals) < mostCounted {
		f.arrivals[node] = arrivals{a.open + change, a.all + uint64(max(change, 0))}
	}
}

// arrived is a connection that came in at another node. It says of its addresses what they are there.
type arrived struct {
	halves
	local, remote net.Addr
	once          sync.Once
	closed        chan struct{}
}

// LocalAddr implements net.Conn.
func (a *arrived) LocalAddr() net.Addr { return a.local }

// RemoteAddr implements net.Conn.
func (a *arrived) RemoteAddr() net.Addr { return a.remote }

// Close implements net.Conn.
func (a *arrived) Close() error {
	defer a.once.Do(func() { close(a.closed) })
	return a.halves.Close()
}
