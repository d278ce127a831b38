package link

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/waittest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var secret = strings.Repeat("0123456789abcdef", 2)

// node listens as one of the cluster "test".
func node(t *testing.T, name string, change ...func(*Options)) *Listener {
	t.Helper()
	o := Options{Listen: "127.0.0.1:0", Cluster: "test", Node: name, Secret: secret}
	for _, c := range change {
		c(&o)
	}
	l, err := Listen(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func peer(l *Listener) Peer { return Peer{l.o.Node, l.Addr().String()} }

// echo sends back what comes, and after its end a farewell.
func echo(_ context.Context, peer string, c net.Conn) {
	_, _ = io.Copy(c, c)
	fmt.Fprintf(c, " and bye, %s", peer)
}

func TestAStreamGoesBothWaysAndEndsByHalves(t *testing.T) {
	a, b := node(t, "a"), node(t, "b")
	b.Handle("echo", echo)
	c, err := a.Dialer().Dial(t.Context(), peer(b), "echo")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if err := c.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(c); err != nil || string(got) != "hello and bye, a" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestWhoDoesNotKnowTheSecretGetsNothing(t *testing.T) {
	b := node(t, "b")
	b.Handle("echo", func(context.Context, string, net.Conn) { t.Error("a stranger came in") })
	other := func(change func(*Options)) *Dialer {
		o := Options{Cluster: "test", Node: "a", Secret: secret}
		change(&o)
		d, err := NewDialer(o)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for name, d := range map[string]*Dialer{
		"another secret":  other(func(o *Options) { o.Secret += "!" }),
		"another cluster": other(func(o *Options) { o.Cluster = "prod" }),
		"no certificate": {cluster: "test", node: "a", config: &tls.Config{InsecureSkipVerify: true,
			MinVersion: tls.VersionTLS13}},
	} {
		if c, err := d.Dial(t.Context(), peer(b), "echo"); !errors.Is(err, ErrStranger) {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
	// And a node that connects to a stranger tells it nothing.
	stranger := node(t, "b", func(o *Options) { o.Secret += "!" })
	if c, err := node(t, "a").Dialer().Dial(t.Context(), peer(stranger), "echo"); !errors.Is(err, ErrStranger) {
		t.Errorf("%v, %v", c, err)
	}
}

func TestWhatANodeDoesNotTakeIsRefusedWithAReason(t *testing.T) {
	a, b := node(t, "a"), node(t, "b")
	b.Handle("echo", echo)
	for _, c := range []struct {
		from   *Listener
		to     Peer
		kind   string
		reason string
	}{
		{a, peer(b), "other", "nobody here takes other"},
		{a, Peer{"c", b.Addr().String()}, "echo", "at this address is node b"},
		{b, Peer{"c", b.Addr().String()}, "echo", "it says that it is the node that it has reached"},
	} {
		if _, err := c.from.Dialer().Dial(t.Context(), c.to, c.kind); !errors.Is(err, ErrRefused) ||
			!strings.Contains(err.Error(), c.reason) {
			t.Errorf("%v, want %q", err, c.reason)
		}
	}
	command, err := NewDialer(Options{Cluster: "test", Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	c, err := command.Dial(t.Context(), Peer{Address: b.Addr().String()}, "echo")
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

// A process that is stopped accepts connections and says nothing.
func TestANodeThatDoesNotAnswerIsReportedInOneLine(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d := node(t, "a").Dialer()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = d.Dial(ctx, Peer{"b", l.Addr().String()}, "echo")
	if !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "\n") ||
		!strings.Contains(err.Error(), "no answer in time") {
		t.Errorf("%q", err)
	}
}

func TestShortSecretsAreRefused(t *testing.T) {
	for _, s := range []string{"", secret[1:]} {
		if _, err := NewDialer(Options{Cluster: "test", Node: "a", Secret: s}); !errors.Is(err, ErrSecret) {
			t.Errorf("%q: %v", s, err)
		}
	}
}

// However many connect and say nothing, a peer comes in.
func TestStrangersWhoSayNothingAreCutAndHoldUpNobody(t *testing.T) {
	b := node(t, "b")
	b.Handle("echo", echo)
	var silent []net.Conn
	for range mostStrangers + 10 {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", b.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		silent = append(silent, c)
	}
	if n, err := silent[0].Read(make([]byte, 1)); err == nil {
		t.Errorf("the first one got %d bytes", n)
	}
	c, err := node(t, "a").Dialer().Dial(t.Context(), peer(b), "echo")
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := b.strangers.Len(); n > mostStrangers {
		t.Errorf("%d strangers", n)
	}
}

func TestAStrangerWhoSaysMuchIsCut(t *testing.T) {
	b := node(t, "b")
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", b.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	// The beginning of a handshake that would be as long as they may be.
	_, _ = c.Write(append([]byte{22, 3, 1, 0x40, 0, 1, 0, 0xff, 0xff}, make([]byte, 2*strangerBytes)...))
	if _, err := io.Copy(io.Discard, c); err != nil && !errors.Is(err, io.EOF) {
		t.Log(err) // it is cut one way or another
	}
}

func TestCloseCutsStreamsAndWaitsForTheirHandlers(t *testing.T) {
	a, b := node(t, "a"), node(t, "b")
	ended := make(chan error, 1)
	begun := make(chan struct{})
	b.Handle("hold", func(ctx context.Context, _ string, c net.Conn) {
		close(begun)
		_, err := c.Read(make([]byte, 1))
		ended <- errors.Join(err, ctx.Err())
	})
	c, err := a.Dialer().Dial(t.Context(), peer(b), "hold")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	<-begun
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	default:
		t.Error("the handler goes on")
	}
}

// got collects what comes through lanes.
type got struct {
	mu     sync.Mutex
	frames map[string][]string // by peer and kind
}

func (g *got) take(peer, kind string, frame []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.frames == nil {
		g.frames = map[string][]string{}
	}
	g.frames[peer+" "+kind] = append(g.frames[peer+" "+kind], string(frame))
}

func (g *got) has(from string, n int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.frames[from]) >= n
}

func lanes(t *testing.T, l *Listener, change func(*LaneOptions), peers ...Peer) *Lanes {
	t.Helper()
	o := LaneOptions{Listener: l, Peers: peers, Receive: func(string, string, []byte) {}}
	if change != nil {
		change(&o)
	}
	all := NewLanes(o)
	t.Cleanup(all.Close)
	return all
}

func TestLanesCarryFramesInOrder(t *testing.T) {
	a, b := node(t, "a"), node(t, "b")
	var at got
	from := lanes(t, a, nil, peer(b))
	lanes(t, b, func(o *LaneOptions) { o.Receive = at.take }, peer(a))
	waittest.Until(t, "the lanes are open", func() bool { return len(from.Connected()) == 1 })
	large := bytes.Repeat([]byte("x"), 3*frameStep+7)
	for i := range 100 {
		if !from.Send("b", Urgent, fmt.Append(nil, i)) {
			t.Fatal("not taken")
		}
	}
	if !from.Send("b", Bulky, large) {
		t.Fatal("not taken")
	}
	waittest.Until(t, "all came", func() bool { return at.has("a "+Urgent, 100) && at.has("a "+Bulky, 1) })
	for i, f := range at.frames["a "+Urgent] {
		if f != fmt.Sprint(i) {
			t.Fatalf("frame %d is %s", i, f)
		}
	}
	if at.frames["a "+Bulky][0] != string(large) {
		t.Error("the large one is another")
	}
	if from.Send("c", Urgent, []byte("x")) || from.Send("b", "other", []byte("x")) || from.Send("b", Urgent, nil) {
		t.Error("what goes nowhere was taken")
	}
}

// A peer that takes nothing fills its own lane, and no other one.
func TestAStalledPeerHoldsUpNobody(t *testing.T) {
	a, b, c := node(t, "a"), node(t, "b"), node(t, "c")
	var at got
	held := make(chan struct{})
	from := lanes(t, a, func(o *LaneOptions) { o.QueueBytes = 1 << 20 }, peer(b), peer(c))
	lanes(t, b, func(o *LaneOptions) {
		o.Receive = func(peer, kind string, frame []byte) {
			if kind == Bulky {
				<-held
			}
			at.take(peer, kind, frame)
		}
	}, peer(a))
	defer close(held)
	lanes(t, c, func(o *LaneOptions) {
		o.Receive = func(_, kind string, frame []byte) { at.take("to c", kind, frame) }
	}, peer(a))
	waittest.Until(t, "the lanes are open", func() bool { return len(from.Connected()) == 2 })
	frame := bytes.Repeat([]byte("x"), 1<<18)
	waittest.Until(t, "the lane to b is full", func() bool { return !from.Send("b", Bulky, frame) })
	if !from.Send("b", Urgent, []byte("x")) || !from.Send("c", Bulky, frame) {
		t.Fatal("another lane is full, too")
	}
	waittest.Until(t, "the others came", func() bool { return at.has("a "+Urgent, 1) && at.has("to c "+Bulky, 1) })
}

func TestLanesConnectAgainAndTellWhatWasLost(t *testing.T) {
	a, b := node(t, "a"), node(t, "b")
	var lost, at got
	held := make(chan struct{})
	from := lanes(t, a, func(o *LaneOptions) { o.Lost = lost.take }, peer(b))
	there := NewLanes(LaneOptions{Listener: b, Receive: func(string, string, []byte) { <-held }})
	waittest.Until(t, "the lanes are open", func() bool { return len(from.Connected()) == 1 })
	frame := bytes.Repeat([]byte("x"), 1<<18)
	waittest.Until(t, "the lane is full", func() bool { return !from.Send("b", Bulky, frame) })
	close(held)
	there.Close()
	b.Close()
	waittest.Until(t, "it is away", func() bool {
		return len(from.Connected()) == 0 && !from.Send("b", Urgent, []byte("x"))
	})
	waittest.Until(t, "what was lost is told", func() bool { return lost.has("b "+Bulky, 1) })
	again := node(t, "b", func(o *Options) { o.Listen = b.Addr().String() })
	lanes(t, again, func(o *LaneOptions) { o.Receive = at.take })
	waittest.Until(t, "it is there again", func() bool { return len(from.Connected()) == 1 })
	if !from.Send("b", Bulky, []byte("hello")) {
		t.Fatal("not taken")
	}
	waittest.Until(t, "it came", func() bool { return at.has("a "+Bulky, 1) })
}

// way is a network to a node. What it carries when it breaks gets nowhere any more, and nobody is told.
type way struct {
	net.Listener
	mu    sync.Mutex
	lost  chan struct{} // closed when it breaks
	conns []net.Conn
}

func newWay(t *testing.T, to string) *way {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &way{Listener: l, lost: make(chan struct{})}
	var carrying sync.WaitGroup
	carrying.Go(func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := new(net.Dialer).DialContext(context.Background(), "tcp", to)
			if err != nil {
				_ = from.Close()
				continue
			}
			w.mu.Lock()
			w.conns = append(w.conns, from, to)
			lost := w.lost
			w.mu.Unlock()
			carrying.Go(func() { carry(to, from, lost) })
			carrying.Go(func() { carry(from, to, lost) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		w.mu.Lock()
		for _, c := range w.conns {
			_ = c.Close()
		}
		w.mu.Unlock()
		carrying.Wait()
	})
	return w
}

func carry(to, from net.Conn, lost <-chan struct{}) {
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		select {
		case <-lost:
			if err != nil {
				return
			}
			continue
		default:
		}
		if err != nil {
			_ = to.Close()
			return
		}
		if _, err := to.Write(b[:n]); err != nil {
			_ = from.Close()
			return
		}
	}
}

func (w *way) breaks() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.lost)
	w.lost = make(chan struct{})
}

// A connection may be dead at one end without the other one being told.
func TestALaneIsMadeAnewWhenItsPeerFallsSilent(t *testing.T) {
	a, b := node(t, "a"), node(t, "b")
	w := newWay(t, b.Addr().String())
	var at got
	quick := func(o *LaneOptions) { o.Silence = 400 * time.Millisecond }
	from := lanes(t, a, quick, Peer{"b", w.Addr().String()})
	lanes(t, b, func(o *LaneOptions) {
		quick(o)
		o.Receive = at.take
	})
	waittest.Until(t, "the lanes are open", func() bool { return len(from.Connected()) == 1 })
	w.breaks()
	waittest.Until(t, "something comes again", func() bool {
		from.Send("b", Urgent, []byte("hello"))
		return at.has("a "+Urgent, 1)
	})
}

// A peer that is alive and takes nothing for a while, as one whose disk is slow, loses nothing of what it was sent.
func TestAPeerThatIsBusyKeepsItsLane(t *testing.T) {
	a, b := node(t, "a"), node(t, "b")
	var lost, at got
	const silence = time.Second // a machine with other work may let a process wait for a fifth of that
	held := make(chan struct{})
	from := lanes(t, a, func(o *LaneOptions) { o.Silence, o.Lost, o.QueueBytes = silence, lost.take, 1<<20 }, peer(b))
	lanes(t, b, func(o *LaneOptions) {
		o.Silence = silence
		o.Receive = func(peer, kind string, frame []byte) {
			<-held
			at.take(peer, kind, frame)
		}
	})
	waittest.Until(t, "the lanes are open", func() bool { return len(from.Connected()) == 1 })
	frame, taken := bytes.Repeat([]byte("x"), 1<<18), 0
	waittest.Until(t, "the lane is full", func() bool {
		if from.Send("b", Bulky, frame) {
			taken++
			return false
		}
		return true
	})
	begun := time.Now()
	waittest.Until(t, "more than a silence has passed", func() bool { return time.Since(begun) > 2*silence })
	close(held)
	waittest.Until(t, "all came", func() bool { return at.has("a "+Bulky, taken) || lost.has("b "+Bulky, 1) })
	if lost.has("b "+Bulky, 1) {
		t.Error("some were lost")
	}
}

func TestPeersComeAndGo(t *testing.T) {
	a, b, c := node(t, "a"), node(t, "b"), node(t, "c")
	lanes(t, b, nil)
	lanes(t, c, nil)
	from := lanes(t, a, nil, peer(b))
	waittest.Until(t, "b is connected", func() bool { return fmt.Sprint(from.Connected()) == "[b]" })
	from.SetPeers([]Peer{peer(a), peer(b), peer(c)})
	waittest.Until(t, "c is, too", func() bool { return fmt.Sprint(from.Connected()) == "[b c]" })
	from.SetPeers([]Peer{peer(c)})
	if got := fmt.Sprint(from.Connected()); got != "[c]" || from.Send("b", Urgent, []byte("x")) {
		t.Errorf("%s", got)
	}
}

func FuzzHello(f *testing.F) {
	f.Add((&hello{"test", "a", "raft"}).bytes())
	f.Add((&answer{"a", ""}).bytes())
	f.Add([]byte{0, 1, version})
	f.Add([]byte{0, 4, version, 9, 1, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, err := readHello(bytes.NewReader(b)); err == nil {
			if again, err := readHello(bytes.NewReader(h.bytes())); err != nil || again != h {
				t.Errorf("%v became %v, %v", h, again, err)
			}
		}
		if a, err := readAnswer(bytes.NewReader(b)); err == nil {
			if again, err := readAnswer(bytes.NewReader(a.bytes())); err != nil || again != a {
				t.Errorf("%v became %v, %v", a, again, err)
			}
		}
	})
}

func FuzzFrame(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0})
	f.Add([]byte{0, 0, 0, 2, 1, 2, 3})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{0x0f, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		frame, err := readFrame(bytes.NewReader(b))
		if err != nil {
			return
		}
		var w bytes.Buffer
		if err := writeFrame(&w, frame); err != nil || !bytes.HasPrefix(b, w.Bytes()) {
			t.Errorf("%x was read as %x, %v", b, frame, err)
		}
	})
}
