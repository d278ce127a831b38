package caller_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hikyaku/hikyaku/internal/caller"
	"github.com/hikyaku/hikyaku/internal/caller/callertest"
)

func TestMain(m *testing.M) {
	callertest.Become()
	os.Exit(m.Run())
}

type dial func(ctx context.Context, network, addr string) (net.Conn, error)

// met are both ends of a connection to a listener.
func met(t *testing.T, l net.Listener, d dial) (client, server net.Conn) {
	t.Helper()
	client, err := d(t.Context(), l.Addr().Network(), l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	server, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return client, server
}

func listen(t *testing.T, network, addr string) net.Listener {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), network, addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// mapped dials IPv4 through a socket of IPv6.
func mapped(ctx context.Context, _, addr string) (net.Conn, error) {
	to, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "mapped")
	defer f.Close()
	if err := unix.Connect(fd, &unix.SockaddrInet6{Port: to.Port, Addr: [16]byte(to.IP.To16())}); err != nil {
		return nil, err
	}
	return net.FileConn(f)
}

// dials are the ways to a listener on loopback, and the account that is found there.
func TestTheKernelTellsWhoseAConnectionIs(t *testing.T) {
	own := uint32(os.Geteuid())
	type way struct {
		name, network, addr string
		dial                dial
		want                uint32
	}
	plain := new(net.Dialer).DialContext
	socket := filepath.Join(callertest.Folder(t), "socket")
	ways := []way{
		{"IPv4", "tcp4", "127.0.0.1:0", plain, own},
		{"IPv6", "tcp6", "[::1]:0", plain, own},
		{"another address of the loopback network", "tcp4", "127.1.2.3:0", plain, own},
		{"IPv4 in IPv6", "tcp4", "127.0.0.1:0", mapped, own},
		{"socket", "unix", socket, plain, own},
	}
	if own == 0 {
		nobody := callertest.As(t, 65534)
		for _, w := range ways {
			if w.name != "IPv4 in IPv6" {
				w.name, w.dial, w.want = w.name+" of another account", nobody.Dial, 65534
				if w.network == "unix" {
					w.addr += "2"
				}
				ways = append(ways, w)
			}
		}
	}
	for _, w := range ways {
		l := listen(t, w.network, w.addr)
		if w.network == "unix" {
			if err := os.Chmod(w.addr, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		_, server := met(t, l, w.dial)
		if uid, err := caller.Of(server).Account(); err != nil || uid != w.want {
			t.Errorf("%s: %d, %v, want %d", w.name, uid, err, w.want)
		}
	}
}

// A program may give any address of the machine as its own: what counts is the address that it reached.
func TestAnAddressThatIsNotLoopbackHidesNobody(t *testing.T) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		n, ok := a.(*net.IPNet)
		if !ok || n.IP.IsLoopback() || n.IP.To4() == nil {
			continue
		}
		from := n.IP.String()
		d := func(ctx context.Context, network, addr string) (net.Conn, error) {
			return (&net.Dialer{LocalAddr: &net.TCPAddr{IP: n.IP}}).DialContext(ctx, network, addr)
		}
		want := uint32(os.Geteuid())
		if want == 0 {
			want = 65534
			nobody := callertest.As(t, want)
			d = func(ctx context.Context, network, addr string) (net.Conn, error) {
				return nobody.DialFrom(ctx, from, network, addr)
			}
		}
		_, server := met(t, listen(t, "tcp4", "127.0.0.1:0"), d)
		if got := server.RemoteAddr().(*net.TCPAddr).IP.String(); got != from {
			t.Fatalf("it comes from %s", got)
		}
		end := caller.Of(server)
		if uid, err := end.Account(); !end.Near() || err != nil || uid != want {
			t.Errorf("from %s: near %v, %d, %v, want %d", from, end.Near(), uid, err, want)
		}
		return
	}
	t.Log("this machine has no other address than loopback")
}

// Of a socket that is closed the kernel says 0, which is root's number, and without it there is the listener.
func TestAConnectionThatIsNotWholeIsNobodys(t *testing.T) {
	l := listen(t, "tcp4", "127.0.0.1:0")
	for name, end := range map[string]func(client *net.TCPConn) error{
		"half closed": (*net.TCPConn).CloseWrite,
		"closed":      (*net.TCPConn).Close,
		"reset": func(c *net.TCPConn) error {
			return errors.Join(c.SetLinger(0), c.Close())
		},
	} {
		client, server := met(t, l, new(net.Dialer).DialContext)
		if err := end(client.(*net.TCPConn)); err != nil {
			t.Fatal(err)
		}
		if uid, err := caller.Of(server).Account(); !errors.Is(err, caller.ErrUnknown) {
			t.Errorf("%s: %d, %v", name, uid, err)
		}
	}
}

func TestItIsAskedOnce(t *testing.T) {
	client, server := met(t, listen(t, "tcp4", "127.0.0.1:0"), new(net.Dialer).DialContext)
	end := caller.Of(server)
	if _, err := end.Account(); err != nil {
		t.Fatal(err)
	}
	client.Close()
	if uid, err := end.Account(); err != nil || uid != uint32(os.Geteuid()) {
		t.Errorf("the second time: %d, %v", uid, err)
	}
}

func TestWhatIsNotKnownIsAnError(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	for name, end := range map[string]*caller.End{"none": nil, "a pipe": caller.Of(a),
		"a context without one": caller.From(t.Context())} {
		if _, err := end.Account(); !errors.Is(err, caller.ErrUnknown) || !end.Near() {
			t.Errorf("%s: %v, near %v", name, err, end.Near())
		}
	}
	if err := caller.Probe(t.Context()); err != nil {
		t.Error(err)
	}
}

func BenchmarkAccount(b *testing.B) {
	l, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	client, err := new(net.Dialer).DialContext(b.Context(), "tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	server, err := l.Accept()
	if err != nil {
		b.Fatal(err)
	}
	defer server.Close()
	for b.Loop() {
		if _, err := caller.Of(server).Account(); err != nil {
			b.Fatal(err)
		}
	}
}
