package syslog

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// collector is a pipeline that takes what it has room for.
type collector struct {
	full   chan struct{} // what is sent waits until it is closed; nil: for nothing
	answer func(*message.Message) component.Outcome
	mu     sync.Mutex
	got    []*message.Message
}

func (c *collector) Send(ctx context.Context, d component.Delivery) error {
	if c.full != nil {
		select {
		case <-c.full:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	c.mu.Lock()
	c.got = append(c.got, d.Message)
	c.mu.Unlock()
	var o component.Outcome
	if c.answer != nil {
		o = c.answer(d.Message)
	}
	d.Settle(o)
	return nil
}

func (c *collector) bodies() (bodies []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.got {
		bodies = append(bodies, string(m.Body))
	}
	return bodies
}

// run starts a source, and returns what stops it.
func run(t *testing.T, c Config, out component.Out) (s *Source, stop func()) {
	t.Helper()
	if c.Listen == "" {
		c.Listen = "127.0.0.1:0"
	}
	made, err := New(c, component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	s = made.(*Source)
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, out) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != context.Canceled {
			t.Errorf("it ended with %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return s, stop
}

func dial(t *testing.T, s *Source) net.Conn {
	t.Helper()
	c, err := net.Dial(s.Address().Network(), s.Address().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func write(t *testing.T, c io.Writer, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

func (c *collector) await(t *testing.T, n int) {
	t.Helper()
	waittest.Until(t, fmt.Sprintf("%d messages have come", n), func() bool { return len(c.bodies()) >= n })
}

func TestWhatCannotWorkIsRefusedWithItsSetting(t *testing.T) {
	for setting, c := range map[string]Config{
		"listen":  {Listen: "here"},
		"from":    {Listen: "0.0.0.0:514"},
		"from[1]": {From: []string{"10.0.0.0/8", "somewhere"}},
		"tls":     {Mode: "udp", TLS: access.TLS{Cert: "a", Key: "b"}},
	} {
		_, err := New(c, component.Env{})
		if e, ok := err.(*component.SettingError); !ok || e.Setting != setting {
			t.Errorf("%s: %v", setting, err)
		}
	}
	if _, err := New(Config{Listen: "0.0.0.0:514", From: []string{"10.0.0.0/8"}}, component.Env{}); err != nil {
		t.Error(err)
	}
}

func TestMessagesThatAConnectionHoldsAreReadAfterTheStop(t *testing.T) {
	for _, files := range []access.TLS{{}, certificate(t)} {
		out := &collector{full: make(chan struct{})}
		s, stop := run(t, Config{TLS: files}, out)
		c := dial(t, s)
		if files.On() {
			c = tls.Client(c, &tls.Config{InsecureSkipVerify: true}) // the test's own
		}
		var want []string
		for i := range 500 {
			want = append(want, fmt.Sprintf("m%03d", i))
			write(t, c, "<13>1 - - - - - - "+want[i]+"\n")
		}
		go func() { // as a sender does that looks whether its connection has ended
			_, _ = io.Copy(io.Discard, c)
			c.Close()
			close(out.full)
		}()
		stop()
		if got := out.bodies(); !slices.Equal(got, want) {
			t.Errorf("TLS %v: %d came", files.On(), len(got))
		}
	}
}

// TestWhatTheKernelHasTakenIsReadAfterTheStop: the source is stopped before it looks for the first time.
func TestWhatTheKernelHasTakenIsReadAfterTheStop(t *testing.T) {
	for _, mode := range []string{"tcp", "udp"} {
		made, err := New(Config{Mode: mode, Listen: "127.0.0.1:0"}, component.Env{})
		if err != nil {
			t.Fatal(err)
		}
		s := made.(*Source)
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		var want []string
		for i := range 500 {
			want = append(want, fmt.Sprintf("m%03d", i))
			c := dial(t, s)
			write(t, c, "<13>1 - - - - - - "+want[i]+"\n")
			c.Close()
		}
		out := &collector{}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.Run(ctx, out); err != context.Canceled {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		got := out.bodies()
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: %d of %d came", mode, len(got), len(want))
		}
	}
}

// held is a connection whose second write waits, and says so: that is a client's last word in a handshake.
type held struct {
	net.Conn
	writes         int
	reached, going chan struct{}
}

func (h *held) Write(b []byte) (int, error) {
	if h.writes++; h.writes == 2 {
		close(h.reached)
		<-h.going
	}
	return h.Conn.Write(b)
}

func TestAStopDoesNotBreakOffAHandshake(t *testing.T) {
	out := &collector{}
	s, stop := run(t, Config{TLS: certificate(t)}, out)
	h := &held{Conn: dial(t, s), reached: make(chan struct{}), going: make(chan struct{})}
	c := tls.Client(h, &tls.Config{InsecureSkipVerify: true}) // the test's own
	sent := make(chan error, 1)
	go func() {
		_, err := io.WriteString(c, "<13>1 - - - - - - one\n")
		sent <- err
		_, _ = io.Copy(io.Discard, c)
		c.Close()
	}()
	<-h.reached
	stopped := make(chan struct{})
	go func() {
		stop()
		close(stopped)
	}()
	waittest.Until(t, "the source listens no more", func() bool { // a connection would make it look once more
		raw, err := s.listener.SyscallConn()
		return err != nil || raw.Control(func(uintptr) {}) != nil
	})
	close(h.going)
	<-stopped
	if err := <-sent; err != nil || !slices.Equal(out.bodies(), []string{"one"}) {
		t.Errorf("%v; %q came", err, out.bodies())
	}
}

func TestAStopDoesNotWaitForASenderThatStays(t *testing.T) {
	out := &collector{}
	s, stop := run(t, Config{}, out)
	c := dial(t, s)
	write(t, c, "<13>1 - - - - - - one\n<13>1 - - - - - - half")
	out.await(t, 1)
	stop()
	if got := out.bodies(); len(got) != 1 {
		t.Errorf("%q came", got)
	}
	if n := s.Counts()[torn]; n != 1 {
		t.Errorf("%d messages were torn", n)
	}
}

func TestAFullPipelineMakesSendersWait(t *testing.T) {
	out := &collector{full: make(chan struct{})}
	s, _ := run(t, Config{}, out)
	c := dial(t, s)
	line, sent := "<13>1 - - - - - - "+strings.Repeat("x", 32<<10)+"\n", 0
	for { // until nothing is taken: what the kernels hold is little
		if err := c.SetWriteDeadline(time.Now().Add(300 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		n, err := io.WriteString(c, line)
		if err != nil {
			line = line[n:]
			break
		}
		if sent++; sent > 10_000 {
			t.Fatal("nothing makes the sender wait")
		}
	}
	close(out.full)
	if err := c.SetWriteDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	write(t, c, line)
	out.await(t, sent+1)
}

func TestDatagramsThatFindNoRoomAreCounted(t *testing.T) {
	out := &collector{full: make(chan struct{})}
	s, _ := run(t, Config{Mode: "udp", MaxMessageBytes: 1000}, out)
	c := dial(t, s)
	sent := 0
	waittest.Until(t, "a datagram was dropped", func() bool {
		write(t, c, "<13>1 - - - - - - x\n")
		sent++
		return s.Counts()[dropped] > 0
	})
	if sent < waitingDatagrams {
		t.Errorf("only %d waited", sent)
	}
	close(out.full)
	out.await(t, waitingDatagrams)
	if got := out.bodies(); got[0] != "x" {
		t.Errorf("%q", got[0])
	}
	if ns := s.Notices(); len(ns) == 0 || !strings.Contains(ns[0], "pipeline is full") {
		t.Errorf("notices %q", ns)
	}
}

func TestWhatIsTooLongIsCutAndWhatDoesNotParseIsKeptOrRefused(t *testing.T) {
	for _, unparsedBecomes := range []string{"keep", "refuse"} {
		for _, mode := range []string{"tcp", "udp"} {
			out := &collector{}
			s, _ := run(t, Config{Mode: mode, MaxMessageBytes: 30, Unparsed: unparsedBecomes}, out)
			c := dial(t, s)
			write(t, c, "no syslog\n")
			write(t, c, "<13>1 - - - - - - 0123456789abcdef\n")
			write(t, c, "<13>1 - - - - - - last\n")
			want := []string{"no syslog", "0123456789ab", "last"}
			if unparsedBecomes == "refuse" {
				want = want[1:]
			}
			out.await(t, len(want))
			if got := out.bodies(); !slices.Equal(got, want) {
				t.Errorf("%s, %s: %q", unparsedBecomes, mode, got)
			}
			if n := s.Counts(); n[unparsed] != 1 || n[cut] != 1 {
				t.Errorf("%s, %s: counted %v", unparsedBecomes, mode, n)
			}
			if ip, _ := out.got[0].Attributes.Get("source_ip"); ip.AsString() != "127.0.0.1" {
				t.Errorf("it came from %s", ip.Text())
			}
		}
	}
}

func TestConnectionsAreBoundedAndIdleOnesEnd(t *testing.T) {
	out := &collector{}
	s, _ := run(t, Config{MaxConnections: 1, IdleTimeout: 300 * time.Millisecond}, out)
	first := dial(t, s)
	write(t, first, "<13>1 - - - - - - one\n")
	out.await(t, 1)
	if n, err := dial(t, s).Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("the second connection was served: %d, %v", n, err)
	}
	if n := s.Counts()[refused]; n != 1 {
		t.Errorf("%d were refused", n)
	}
	if _, err := first.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the idle connection ended with %v", err)
	}
	other, _ := run(t, Config{From: []string{"10.0.0.0/8"}}, out)
	if _, err := dial(t, other).Read(make([]byte, 1)); err == nil || other.Counts()[refused] != 1 {
		t.Errorf("a stranger was served: %v", err)
	}
}

func TestWhatThePipelineGivesBackIsSentAgain(t *testing.T) {
	var once sync.Once
	out := &collector{answer: func(*message.Message) (o component.Outcome) {
		once.Do(func() { o = component.Again(0, io.ErrUnexpectedEOF) })
		return o
	}}
	s, _ := run(t, Config{}, out)
	write(t, dial(t, s), "<13>1 - - - - - - one\n")
	out.await(t, 2)
	if out.got[0].ID != out.got[1].ID {
		t.Error("another message was sent")
	}
}

// certificate is one that was just made, with its key.
func certificate(t *testing.T) access.TLS {
	t.Helper()
	dir := t.TempDir()
	files := access.TLS{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	if text, err := exec.Command("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
		"-nodes", "-subj", "/CN=localhost", "-keyout", files.Key, "-out", files.Cert).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return files
}

func TestSendersSpeakTLSWhereThereIsACertificate(t *testing.T) {
	files := certificate(t)
	out := &collector{}
	s, stop := run(t, Config{TLS: files}, out)
	c := tls.Client(dial(t, s), &tls.Config{InsecureSkipVerify: true}) // the test's own
	write(t, c, "<13>1 - - - - - - one\n")
	out.await(t, 1)
	go func() {
		_, _ = io.Copy(io.Discard, c)
		c.Close()
	}()
	stop()
	plain, _ := run(t, Config{TLS: files}, out)
	write(t, dial(t, plain), "<13>1 - - - - - - two\n")
	waittest.Until(t, "what is no TLS is told", func() bool { return plain.Counts()[handshakes] == 1 })
	if got := out.bodies(); len(got) != 1 {
		t.Errorf("%q came", got)
	}
}
