package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/caller"
	"github.com/hikyaku/hikyaku/internal/caller/callertest"
	"github.com/hikyaku/hikyaku/internal/link"
	"github.com/hikyaku/hikyaku/internal/metricstest"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

func TestMain(m *testing.M) {
	callertest.Become()
	goleak.VerifyTestMain(m)
}

// member is a node with one door, "echo", which says who it is and whose the connection is, and then what it hears.
type member struct {
	*Front
	name, addr string
	node       link.Peer
	house      net.Listener
}

// members are three nodes in one process.
func members(t *testing.T, wait time.Duration) map[string]*member {
	t.Helper()
	names := []string{"a", "b", "c"}
	links := map[string]*link.Listener{}
	for _, n := range names {
		l, err := link.Listen(t.Context(), link.Options{Listen: "127.0.0.1:0", Cluster: "test", Node: n,
			Secret: strings.Repeat("secret", 6)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		links[n] = l
	}
	all := map[string]*member{}
	for _, n := range names {
		f := NewFront(FrontOptions{Node: n, Link: links[n], Wait: wait})
		t.Cleanup(f.Close)
		addr, err := f.Open(t.Context(), "echo", "127.0.0.1:0", Door{})
		if err != nil {
			t.Fatal(err)
		}
		all[n] = &member{Front: f, name: n, addr: addr.String(),
			node: link.Peer{Node: n, Address: links[n].Addr().String()}}
	}
	return all
}

// open opens the node's house.
func (m *member) open(t *testing.T) {
	t.Helper()
	l, err := m.Land("echo")
	if err != nil {
		t.Fatal(err)
	}
	m.house = l
	served := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(served)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer context.AfterFunc(ctx, func() { c.Close() })()
				defer c.Close()
				end := caller.Of(c)
				uid, err := end.Account()
				fmt.Fprintf(c, "%s %s %s %v %d %v\n", m.name, c.RemoteAddr(), c.LocalAddr().Network(),
					end.Near(), uid, err)
				_, _ = io.Copy(c, c)
				fmt.Fprintln(c, "bye")
			}()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		cancel()
		<-served
	})
}

// nobody is a replica of which nothing is known.
type nobody struct{ Replica }

func (nobody) Status() Status { return Status{} }

// passing tells whether the node passes something on.
func (m *member) passing() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.underWay) > 0
}

// own makes a node the owner in everybody's eyes.
func own(all map[string]*member, owner string) {
	p := link.Peer{}
	if m := all[owner]; m != nil {
		p = m.node
	}
	for _, m := range all {
		m.Turn(p)
	}
}

// dial connects to a node, and reads what the house says first.
func (m *member) dial(t *testing.T) (c *net.TCPConn, r *bufio.Reader, said string) {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", m.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	r = bufio.NewReader(conn)
	said, err = r.ReadString('\n')
	if err != nil {
		t.Fatalf("node %s says %q, %v", m.name, said, err)
	}
	return conn.(*net.TCPConn), r, strings.TrimSpace(said)
}

func TestEveryNodeBringsConnectionsToTheOwner(t *testing.T) {
	all := members(t, time.Minute)
	all["b"].open(t)
	own(all, "b")
	for _, n := range []string{"a", "b", "c"} {
		c, r, said := all[n].dial(t)
		want := fmt.Sprintf("b %s tcp true ", c.LocalAddr())
		if caller.Supported {
			want += fmt.Sprintf("%d <nil>", os.Geteuid())
		}
		if !strings.HasPrefix(said, want) {
			t.Errorf("by node %s: %q, want %q", n, said, want)
		}
		if _, err := io.WriteString(c, "hello\n"); err != nil {
			t.Fatal(err)
		}
		if err := c.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != "hello\nbye\n" {
			t.Errorf("by node %s: %q, %v", n, got, err)
		}
	}
	shown := NewCollector(nobody{}, all["b"].Front)
	waittest.Until(t, "the owner has counted one of each, and nothing is passed on any more", func() bool {
		got := metricstest.Of(t, shown)
		const open, total = "hikyaku_cluster_forwarded_connections ", "hikyaku_cluster_forwarded_connections_total "
		return got[open+"a"] == 0 && got[open+"c"] == 0 && got[total+"a"] == 1 && got[total+"c"] == 1 &&
			!all["a"].passing()
	})
}

// A connection waits for an owner, and for the owner's doors.
func TestAConnectionWaitsForAnOwner(t *testing.T) {
	all := members(t, time.Minute)
	type said struct {
		text string
		err  error
	}
	answers := make(chan said)
	for _, n := range []string{"a", "c"} {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", all[n].addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		go func() {
			text, err := bufio.NewReader(c).ReadString('\n')
			answers <- said{text, err}
		}()
	}
	c := all["c"].node
	all["a"].Turn(c) // c does not know yet
	all["c"].Turn(c) // it has no house yet
	all["c"].open(t)
	for range 2 {
		if a := <-answers; a.err != nil || !strings.HasPrefix(a.text, "c ") {
			t.Errorf("%q, %v", a.text, a.err)
		}
	}
}

// Streams that were made ahead may be dead when they are needed.
func TestAnOwnerThatWasAwayForAMomentIsReachedAgain(t *testing.T) {
	all := members(t, time.Minute)
	all["b"].open(t)
	own(all, "b")
	a := all["a"]
	for range 3 {
		a.dial(t)
	}
	ready := func() (n int) {
		a.spares.mu.Lock()
		defer a.spares.mu.Unlock()
		return len(a.spares.ready)
	}
	waittest.Until(t, "some streams are made ahead", func() bool { return ready() > 0 })
	a.spares.mu.Lock()
	for _, one := range a.spares.ready {
		_ = one.c.NetConn().(*net.TCPConn).CloseWrite() // as of one that is gone
	}
	a.spares.mu.Unlock()
	if _, _, said := a.dial(t); !strings.HasPrefix(said, "b ") {
		t.Errorf("%q", said)
	}
	all["c"].open(t)
	own(all, "c")
	if n := ready(); n != 0 {
		t.Errorf("%d lead to an owner that was", n)
	}
}

func TestAConnectionWithoutAnOwnerIsClosed(t *testing.T) {
	all := members(t, 50*time.Millisecond)
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", all["a"].addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if n, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("%d, %v", n, err)
	}
}

// Whoever looks at the log sees why clients are sent away, once.
func TestAnOwnerThatIsNotReachedIsReported(t *testing.T) {
	all := members(t, 50*time.Millisecond)
	reports := make(chan error, 10)
	all["a"].o.Report = func(err error) { reports <- err }
	all["a"].Turn(link.Peer{Node: "d"})
	for range 3 {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", all["a"].addr)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Read(make([]byte, 1)) // until it is closed
		c.Close()
	}
	if err := <-reports; !strings.Contains(err.Error(), "node d owns the shard and has not taken them: this node does") {
		t.Error(err)
	}
	if len(reports) > 0 {
		t.Errorf("and %v", <-reports)
	}
}

func TestConnectionsAreCutWhenTheOwnerChanges(t *testing.T) {
	all := members(t, time.Minute)
	all["b"].open(t)
	own(all, "b")
	_, r, _ := all["a"].dial(t)
	all["c"].open(t)
	own(all, "c")
	if rest, err := r.ReadString('\n'); err == nil {
		t.Errorf("%q came from the old owner", rest)
	}
	if _, _, said := all["a"].dial(t); !strings.HasPrefix(said, "c ") {
		t.Errorf("%q", said)
	}
}

// An account's number means something at its own machine alone.
func TestAnotherNodesOtherAccountsAreNobodyHere(t *testing.T) {
	for _, c := range []struct {
		a       arrival
		near    bool
		account uint32
		known   bool
	}{
		{arrival{Near: true, Account: ownAccount}, true, uint32(os.Geteuid()), true},
		{arrival{Near: true, Account: rootAccount}, true, 0, true},
		{arrival{Near: true, Account: otherAccount, UID: uint32(os.Geteuid())}, true, 0, false},
		{arrival{Near: true, Why: "it is not known"}, true, 0, false},
		{arrival{}, false, 0, false},
		{arrival{Near: true, Account: "admin"}, true, 0, false},
	} {
		end := c.a.end("b")
		uid, err := end.Account()
		if end.Near() != c.near || c.known != (err == nil) || c.known && uid != c.account ||
			!c.known && !errors.Is(err, caller.ErrUnknown) {
			t.Errorf("%+v: %v %d %v", c.a, end.Near(), uid, err)
		}
	}
}

// askAt asks for a path at an HTTP door, on a connection of its own.
func askAt(t *testing.T, addr net.Addr, method, path string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+addr.String()+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	var once http.Transport
	defer once.CloseIdleConnections()
	resp, err := once.RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.Status + " " + string(text), err
}

// Whoever watches a node would end it otherwise while it reads a large log, again and again.
func TestANodeSaysThatItLivesWhileItOpensTheShard(t *testing.T) {
	f := members(t, 50*time.Millisecond)["a"].Front
	addr, err := f.Open(t.Context(), "http", "127.0.0.1:0", Door{Live: true})
	if err != nil {
		t.Fatal(err)
	}
	f.Turn(link.Peer{Node: "a"})
	if got, err := askAt(t, addr, http.MethodGet, "/livez"); err != nil || !strings.HasPrefix(got, "200 OK") {
		t.Errorf("before its house is open: %q, %v", got, err)
	}
	house, err := f.Land("http")
	if err == nil {
		err = house.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if got, err := askAt(t, addr, http.MethodGet, "/livez"); err != nil || !strings.HasPrefix(got, "200 OK") {
		t.Errorf("after its house was closed: %q, %v", got, err)
	}
}

// Whoever watches a node asks it, and not the owner, whether it lives.
func TestANodeSaysItselfThatItLives(t *testing.T) {
	all := members(t, time.Minute)
	f := all["a"].Front
	addr, err := f.Open(t.Context(), "http", "127.0.0.1:0", Door{Live: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/livez", "/healthz", "/livez?from=balancer"} {
		if got, err := askAt(t, addr, http.MethodGet, path); err != nil || got != `200 OK {"status":"ok"}`+"\n" {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	if got, err := askAt(t, addr, http.MethodHead, "/livez"); err != nil || got != "200 OK " {
		t.Errorf("HEAD: %q, %v", got, err)
	}
	// Everything else goes to the owner, whole.
	if _, err := all["b"].Open(t.Context(), "http", "127.0.0.1:0", Door{Live: true}); err != nil {
		t.Fatal(err)
	}
	house, err := all["b"].Land("http")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "b at %s", r.URL)
	})}
	done := make(chan error, 1)
	go func() { done <- server.Serve(house) }()
	defer func() {
		_ = server.Close()
		<-done
	}()
	own(all, "b")
	for _, path := range []string{"/readyz", "/livezz", "/l", "/"} {
		if got, err := askAt(t, addr, http.MethodGet, path); err != nil || got != "200 OK b at "+path {
			t.Errorf("%q, %v", got, err)
		}
	}
}

func FuzzArrival(f *testing.F) {
	f.Add([]byte("\x00\x02{}"))
	f.Add([]byte("\x00\x10{\"door\":\"http\"} "))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := readArrival(strings.NewReader(string(b)))
		if err != nil {
			return
		}
		a.end("b")
		_, _, _ = a.addresses()
		var w strings.Builder
		if err := a.write(&w); err != nil {
			return // text that JSON writes longer
		}
		if _, err := readArrival(strings.NewReader(w.String())); err != nil {
			t.Errorf("%q became %q: %v", b, w.String(), err)
		}
	})
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
func TestANodeThatCannotAcceptConnectionsSaysSoOnce(t *testing.T) {
	f := members(t, time.Minute)["a"].Front
	var reports atomic.Int64
	f.o.Report = func(error) { reports.Add(1) }
	var socket outOfFiles
	f.active.Go(func() { f.accept(&entrance{name: "echo", places: make(chan struct{}, 1)}, &socket) })
	waittest.Until(t, "it has tried several times", func() bool { return socket.asked.Load() > 3 })
	if n := reports.Load(); n != 1 {
		t.Errorf("it was told %d times", n)
	}
}
