package access

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/caller"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// at is a connection with addresses that it does not have.
type at struct {
	net.Conn
	local, remote net.Addr
}

func (a at) LocalAddr() net.Addr  { return a.local }
func (a at) RemoteAddr() net.Addr { return a.remote }

func end(local, remote string) *caller.End {
	return caller.Of(at{local: net.TCPAddrFromAddrPort(netip.MustParseAddrPort(local)),
		remote: net.TCPAddrFromAddrPort(netip.MustParseAddrPort(remote))})
}

// pair is the other end of a connection of this process to itself.
func pair(t *testing.T) *caller.End {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return caller.Of(server)
}

func TestWithoutUsersAGuardKeepsAdminForThisAccount(t *testing.T) {
	us, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	n := queue.Name{Namespace: "default", Name: "news"}
	if !us.Allowed(nil, Admin, n) || us.Local(nil) != nil {
		t.Error("it is kept without a guard")
	}
	us.Guard()
	for _, a := range Actions() {
		if got := us.Allowed(nil, a, n); got != (a == Put || a == Take) {
			t.Errorf("%s: %v", a, got)
		}
		if got := us.AllowedAll(nil, a); got != (a == Put || a == Take) {
			t.Errorf("%s on everything: %v", a, got)
		}
	}
	if !us.Visible(nil, n) {
		t.Error("queues are hidden")
	}
	if err := us.Local(pair(t)); err != nil {
		t.Error(err)
	}
	if us.own++; us.own != 1 { // root may, whatever hikyaku runs as: test/accounts has other accounts
		if err := us.Local(pair(t)); err == nil || !strings.Contains(err.Error(), "uid") {
			t.Errorf("another account may: %v", err)
		}
	}
	// Nobody is let in whom the kernel does not know, and nobody is asked of who comes from elsewhere.
	var refused *LocalError
	for name, e := range map[string]*caller.End{"no connection": nil,
		"none that there is": end("127.0.0.1:1", "127.0.0.1:2"), "from elsewhere": end("127.0.0.1:1", "192.0.2.7:2")} {
		if err := us.Local(e); !errors.As(err, &refused) || !errors.Is(err, caller.ErrUnknown) ||
			!strings.Contains(refused.Whole(), localSetting) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := us.Local(end("192.0.2.1:1", "192.0.2.7:2")); err != nil {
		t.Error(err)
	}
	if us.SameEnds(pair(t), nil) || !us.SameEnds(pair(t), pair(t)) {
		t.Error("accounts are confused")
	}
}

func TestWithUsersTheirGrantsCountAndNotTheirAccounts(t *testing.T) {
	us, err := New([]User{{Name: "ann", Secret: "secret of ann",
		Grants: []Grant{{Can: []string{"admin"}, On: []string{"news"}}}}, {Name: "bob", Secret: "secret of bob"}})
	if err != nil {
		t.Fatal(err)
	}
	us.Guard()
	ann, _ := us.Named("ann")
	bob, _ := us.Named("bob")
	n := queue.Name{Namespace: "default", Name: "news"}
	if !us.Allowed(ann, Admin, n) || us.Allowed(bob, Admin, n) || us.Allowed(nil, Admin, n) || us.Local(nil) != nil ||
		!us.SameEnds(nil, nil) {
		t.Error("a guard changes what users may")
	}
}
