package link_test

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/api/mysql/link"
)

func TestOneListenerTakesTheNetworkAndTheSocket(t *testing.T) {
	path := socketPath(t)
	l := listen(t, link.Config{TCP: "127.0.0.1:0", Socket: path})
	if got := l.Addrs()[1].String(); got != path {
		t.Errorf("the socket is %s, not %s", got, path)
	}
	if l.Addr().Network() != "tcp" {
		t.Errorf("the address is the %s one", l.Addr().Network())
	}
	for n, local := range []bool{false, true} {
		client, server := pair(t, l, n)
		if server.Local() != local {
			t.Errorf("way %d: Local is %v", n, server.Local())
		}
		for _, way := range [][2]io.ReadWriter{{client, server}, {server, client}} {
			if _, err := way[0].Write([]byte("hello")); err != nil {
				t.Fatal(err)
			}
			b := make([]byte, 5)
			if _, err := io.ReadFull(way[1], b); err != nil || string(b) != "hello" {
				t.Errorf("way %d: %q, %v", n, b, err)
			}
		}
	}
}

func TestAConnectionKnowsItsEnds(t *testing.T) {
	path := socketPath(t)
	l := listen(t, link.Config{TCP: "127.0.0.1:0", Socket: path})
	client, server := pair(t, l, 0)
	if server.RemoteAddr().String() != client.LocalAddr().String() ||
		server.LocalAddr().String() != client.RemoteAddr().String() {
		t.Errorf("the network's ends: %s, %s", server.LocalAddr(), server.RemoteAddr())
	}
	_, server = pair(t, l, 1)
	if server.RemoteAddr().Network() != "unix" || server.RemoteAddr().String() != "localhost" ||
		server.LocalAddr().String() != path {
		t.Errorf("the socket's ends: %s, %s", server.LocalAddr(), server.RemoteAddr())
	}
}

func TestEachWayCanBeOpenedAlone(t *testing.T) {
	for _, c := range []link.Config{{TCP: "127.0.0.1:0"}, {Socket: socketPath(t)}} {
		l := listen(t, c)
		if len(l.Addrs()) != 1 {
			t.Errorf("%v", l.Addrs())
		}
		pair(t, l, 0)
	}
}

func TestCloseEndsAcceptAndKeepsWhatWasAccepted(t *testing.T) {
	path := socketPath(t)
	l := listen(t, link.Config{TCP: "127.0.0.1:0", Socket: path})
	client, server := pair(t, l, 0)
	accepted := make(chan error)
	go func() {
		_, err := l.Accept()
		accepted <- err
	}()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := soon(t, "Accept", accepted); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Errorf("the second Close: %v", err)
	}
	for _, addr := range l.Addrs() {
		if conn, err := net.Dial(addr.Network(), addr.String()); err == nil {
			conn.Close()
			t.Errorf("%s still answers", addr)
		}
	}
	if _, err := client.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if n, err := server.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("an accepted connection ended: %v", err)
	}
}

func TestAConnectionThatNobodyAcceptsIsClosed(t *testing.T) {
	l := listen(t, link.Config{TCP: "127.0.0.1:0"})
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	l.Close()
	_ = client.SetReadDeadline(time.Now().Add(patience))
	if _, err := client.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the client is left waiting: %v", err)
	}
}

func TestATakenPortIsSaid(t *testing.T) {
	l := listen(t, link.Config{TCP: "127.0.0.1:0"})
	addr, path := l.Addr().String(), socketPath(t)
	_, err := link.Listen(t.Context(), link.Config{TCP: addr, Socket: path})
	if err == nil || !strings.Contains(err.Error(), addr) || !strings.Contains(err.Error(), "choose another port") {
		t.Errorf("%v", err)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("the socket was made without the port")
	}
}

func TestAnAddressOfAnotherMachineIsSaid(t *testing.T) {
	_, err := link.Listen(t.Context(), link.Config{TCP: "192.0.2.1:0"})
	if err == nil || !strings.Contains(err.Error(), "this machine does not have that address") {
		t.Errorf("%v", err)
	}
}

func TestARefusedSocketGivesThePortBack(t *testing.T) {
	path := socketPath(t)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	free := listen(t, link.Config{TCP: "127.0.0.1:0"})
	addr := free.Addr().String()
	free.Close()
	if _, err := link.Listen(t.Context(), link.Config{TCP: addr, Socket: path}); !errors.Is(err, link.ErrSocket) {
		t.Fatal(err)
	}
	listen(t, link.Config{TCP: addr})
}

func TestWhatCannotBeListenedOnIsSaid(t *testing.T) {
	for _, c := range []struct {
		config link.Config
		want   string
	}{
		{link.Config{}, "neither an address nor a socket"},
		{link.Config{Socket: "@hikyaku"}, "no path of the file system"},
		{link.Config{Socket: "/tmp/" + strings.Repeat("x", 200)}, "205 bytes"},
		{link.Config{Socket: "/tmp/s", SocketMode: os.ModeSticky | 0o777}, "rwx"},
	} {
		if _, err := link.Listen(t.Context(), c.config); !errors.Is(err, link.ErrConfig) ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.config.Socket, err)
		}
	}
}
