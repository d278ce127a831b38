package link

import (
	"crypto/tls"
	"net"
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
