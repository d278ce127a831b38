package farend

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must come at once.
const patience = time.Minute

// plainService takes everything: /DEVICE/ID, with the header "trust" for the token, and "body" for the length of the
// answer.
type plainService struct{}

func (plainService) Serve(r *Request, a *Answer) {
	a.Device, a.ID, _ = strings.Cut(strings.TrimPrefix(r.Path, "/"), "/")
	a.Status = 200
	switch r.Get("trust") {
	case "yes":
		a.Trust = Trusted
	case "no":
		a.Trust, a.Status, a.Reason = Untrusted, 403, "Untrusted"
	}
	if n, err := strconv.Atoi(r.Get("body")); err == nil {
		a.Body = append(a.Body, bytes.Repeat([]byte{'.'}, n)...)
	}
}

func (plainService) Refuse(_ *Request, a *Answer, reason string) {
	a.Status, a.Reason, a.Body = 410, reason, append(a.Body[:0], reason...)
}

func (plainService) Knows(reason string) error {
	if reason == "Gone" {
		return nil
	}
	return fmt.Errorf("reason: %q is none: there is Gone", reason)
}

func start(t *testing.T, c Config) *Server {
	t.Helper()
	s, err := Start(c, plainService{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// client speaks HTTP/2 frame by frame.
type client struct {
	t    *testing.T
	nc   net.Conn
	fr   *http2.Framer
	enc  *hpack.Encoder
	buf  bytes.Buffer
	next uint32
	acks bool // acknowledges settings by itself
}

func dial(t *testing.T, s *Server, settings ...http2.Setting) *client {
	t.Helper()
	nc, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if s.config.Authority != nil {
		secure := tls.Client(nc, &tls.Config{RootCAs: s.config.Authority.Pool(), ServerName: "localhost",
			NextProtos: []string{"h2"}})
		if err := secure.Handshake(); err != nil {
			t.Fatal(err)
		}
		nc = secure
	}
	t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(patience))
	c := &client{t: t, nc: nc, fr: http2.NewFramer(nc, nc), next: 1, acks: true}
	c.fr.AllowIllegalWrites = true
	c.fr.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	c.enc = hpack.NewEncoder(&c.buf)
	if _, err := nc.Write([]byte(http2.ClientPreface)); err != nil {
		t.Fatal(err)
	}
	if err := c.fr.WriteSettings(settings...); err != nil {
		t.Fatal(err)
	}
	return c
}

// send sends a request for a device, and returns its stream.
func (c *client) send(path string, headers ...string) uint32 {
	c.t.Helper()
	c.buf.Reset()
	fields := []hpack.HeaderField{{Name: ":method", Value: "POST"}, {Name: ":scheme", Value: "https"},
		{Name: ":authority", Value: "localhost"}, {Name: ":path", Value: path}}
	for i := 0; i < len(headers); i += 2 {
		fields = append(fields, hpack.HeaderField{Name: headers[i], Value: headers[i+1]})
	}
	for _, f := range fields {
		if err := c.enc.WriteField(f); err != nil {
			c.t.Fatal(err)
		}
	}
	id := c.next
	c.next += 2
	if err := c.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: c.buf.Bytes(),
		EndHeaders: true}); err != nil {
		c.t.Fatal(err)
	}
	if err := c.fr.WriteData(id, true, []byte("body")); err != nil {
		c.t.Fatal(err)
	}
	return id
}

// read returns the next frame that is not about windows or an acknowledgement; nil at the end of the connection.
func (c *client) read() http2.Frame {
	c.t.Helper()
	for {
		f, err := c.fr.ReadFrame()
		if err != nil {
			if ne, ok := err.(net.Error); ok && ne.Timeout() {
				c.t.Fatal("the far end says nothing")
			}
			return nil
		}
		switch f := f.(type) {
		case *http2.WindowUpdateFrame:
			continue
		case *http2.SettingsFrame:
			if f.IsAck() {
				continue
			}
			if c.acks {
				if err := c.fr.WriteSettingsAck(); err != nil {
					c.t.Fatal(err)
				}
			}
		}
		return f
	}
}

// limit reads the next settings, which tell a limit.
func (c *client) limit() uint32 {
	c.t.Helper()
	f, ok := c.read().(*http2.SettingsFrame)
	if !ok {
		c.t.Fatal("no settings came")
	}
	v, ok := f.Value(http2.SettingMaxConcurrentStreams)
	if !ok {
		c.t.Fatal("the settings say nothing of streams")
	}
	return v
}

// synced waits until the far end has read what was sent so far.
func (c *client) synced() {
	c.t.Helper()
	if err := c.fr.WritePing(false, [8]byte{1}); err != nil {
		c.t.Fatal(err)
	}
	if f, ok := c.read().(*http2.PingFrame); !ok || !f.IsAck() {
		c.t.Fatalf("%v instead of an answer to the ping", f)
	}
}

// status reads the next answer.
func (c *client) status() (stream uint32, status string) {
	c.t.Helper()
	f, ok := c.read().(*http2.MetaHeadersFrame)
	if !ok {
		c.t.Fatal("no answer came")
	}
	return f.StreamID, f.PseudoValue("status")
}

// library is net/http's client for a far end.
func library(t *testing.T, s *Server) *http.Client {
	t.Helper()
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.config.Authority.Pool()}, ForceAttemptHTTP2: true}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: patience}
}

func authority(t *testing.T) *Authority {
	t.Helper()
	a, err := NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// eventually waits for what another goroutine is about to do.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never came true: %s", what)
		}
	}
}
