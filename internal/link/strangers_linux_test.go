package link

import (
	"crypto/tls"
	"net"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/hikyaku/hikyaku/internal/waittest"
)

// Who opens connections faster than a peer says who it is cuts his own ones, and not the peer's.
func TestAFloodOfStrangersFromOneAddressCutsNobodyElse(t *testing.T) {
	b := node(t, "b")
	b.Handle("echo", echo)
	strangers := func() int {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.strangers.Len()
	}
	slow, err := new(net.Dialer).DialContext(t.Context(), "tcp", b.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	waittest.Until(t, "the peer has come", func() bool { return strangers() == 1 })
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	var first net.Conn
	for range mostStrangers + 10 {
		c, err := from.DialContext(t.Context(), "tcp", b.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if first == nil {
			first = c
		}
	}
	if n, err := first.Read(make([]byte, 1)); err == nil {
		t.Errorf("the first stranger got %d bytes", n)
	}
	d := node(t, "a").Dialer()
	if err := d.greet(t.Context(), tls.Client(slow, d.config), peer(b), "echo"); err != nil {
		t.Error(err)
	}
}

// outOfFiles is a socket that accepts nothing.
type outOfFiles struct {
	net.Listener
	asked atomic.Int64
}

func (o *outOfFiles) Accept() (net.Conn, error) {
	o.asked.Add(1)
	return nil, syscall.EMFILE
}

// Who takes all files of a node does not fill its log as well.
func TestANodeThatCannotAcceptItsPeersSaysSoOnce(t *testing.T) {
	var reports atomic.Int64
	b := node(t, "b", func(o *Options) { o.Report = func(error) { reports.Add(1) } })
	var socket outOfFiles
	b.active.Go(func() { b.accept(&socket) })
	waittest.Until(t, "it has tried several times", func() bool { return socket.asked.Load() > 3 })
	if n := reports.Load(); n != 1 {
		t.Errorf("it was told %d times", n)
	}
}
