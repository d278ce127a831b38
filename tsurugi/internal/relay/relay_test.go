package relay_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
	"github.com/hikyaku/hikyaku/tsurugi/internal/relay"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

// raw leaves messages as they are.
type raw struct{}

func (raw) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }
func (raw) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), data...)
	return nil
}
func (raw) Name() string { return "raw" }

func FuzzMessages(f *testing.F) {
	head := message.RelayPart{Head: true, API: 1, Session: 2, Size: 3}
	get := message.RelayGet{API: 1, Tx: 2, Object: wire.RelayReference{Storage: 1, Object: 2, Tag: 3}}
	for _, fill := range []func([]byte) []byte{head.AppendUpload, head.AppendDownload, get.Append,
		message.RelayPart{Chunk: []byte("x")}.AppendUpload} {
		f.Add(relay.AppendFrame(nil, fill))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		const most = 1 << 10
		b, err := relay.ReadFrame(bytes.NewReader(frame), most)
		if err != nil {
			return
		}
		if len(b) > most {
			t.Errorf("%d bytes", len(b))
		}
		up, _ := message.ParseUpload(b)
		down, _ := message.ParseDownload(b)
		if len(up.Chunk)+len(down.Chunk) > 2*len(b) {
			t.Errorf("%+v, %+v of %q", up, down, b)
		}
		_, _ = message.ParseRelayGet(b)
		_, _ = message.ParseRelayed(b)
	})
}

// TestARelayThatHangsIsGivenUp, though no context ends: it takes connections and says nothing.
func TestARelayThatHangsIsGivenUp(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := relay.New(&message.Relay{Medium: "streaming", Endpoint: l.Addr().String()}, relay.Config{Most: 1 << 20,
		Timeout: 100 * time.Millisecond, Dial: new(net.Dialer).DialContext})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Put(context.Background(), strings.NewReader("x")); err == nil {
		t.Error("it has put an object")
	}
	if _, err := c.Get(context.Background(), 1, wire.RelayReference{}); err == nil {
		t.Error("it has an object")
	}
}

// A peer is a relay that is made with gRPC's own library for Go.
type peer struct {
	mu    sync.Mutex
	kept  string
	err   error // of the next call, behind its messages
	early bool  // it answers to an upload at once
}

func (p *peer) serve(_ any, stream grpc.ServerStream) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	method, _ := grpc.MethodFromServerStream(stream)
	var b []byte
	if err := stream.RecvMsg(&b); err != nil {
		return err
	}
	if method == relay.GetPath {
		g, err := message.ParseRelayGet(b)
		if err != nil || g.API != 1 || g.Tx != 7 || g.Object != (wire.RelayReference{Storage: 1, Object: 5, Tag: 6}) {
			return fmt.Errorf("%+v, %w", g, err)
		}
		parts := []message.RelayPart{{Head: true, Size: uint64(len(p.kept))}}
		for half := range strings.SplitSeq(p.kept, "|") {
			parts = append(parts, message.RelayPart{Chunk: []byte(half)}, message.RelayPart{Chunk: []byte("|")})
		}
		for _, part := range parts[:len(parts)-1] {
			b = part.AppendDownload(nil)
			if err := stream.SendMsg(&b); err != nil {
				return err
			}
		}
		return p.err
	}
	head, err := message.ParseUpload(b)
	if err != nil || head.Session != 3 {
		return fmt.Errorf("%+v, %w", head, err)
	}
	if p.err != nil {
		return p.err
	}
	for p.kept = ""; !p.early; {
		err := stream.RecvMsg(&b)
		if err == io.EOF {
			break
		}
		part, bad := message.ParseUpload(b)
		if err = errors.Join(err, bad); err != nil || len(part.Chunk) > 4 {
			return fmt.Errorf("%d bytes, %w", len(part.Chunk), err)
		}
		p.kept += string(part.Chunk)
	}
	b = message.AppendRelayed(nil, wire.RelayReference{Object: 5, Tag: 6})
	return stream.SendMsg(&b)
}

func start(t *testing.T, secure bool) (*peer, *relay.Client) {
	t.Helper()
	p := new(peer)
	options := []grpc.ServerOption{grpc.ForceServerCodec(raw{}), grpc.UnknownServiceHandler(p.serve)}
	var trust *tls.Config
	if secure {
		https := httptest.NewTLSServer(nil) // it has a certificate
		https.Close()
		trust = https.Client().Transport.(*http.Transport).TLSClientConfig
		options = append(options, grpc.Creds(credentials.NewServerTLSFromCert(&https.TLS.Certificates[0])))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(options...)
	var wg sync.WaitGroup
	wg.Go(func() { _ = server.Serve(l) }) // until it is stopped
	c, err := relay.New(&message.Relay{Session: 3, Endpoint: "dns:///" + l.Addr().String(), Secure: secure,
		Medium: "streaming", Params: map[string]string{"stream_chunk_size": "4"}}, relay.Config{Most: 1 << 10,
		TLS: trust, Timeout: time.Minute, Dial: new(net.Dialer).DialContext})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		server.Stop()
		wg.Wait()
	})
	return p, c
}

// The client speaks gRPC as its library for Go does.
func TestObjectsGoThroughGRPC(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		p, c := start(t, secure)
		there(t, p, c)
	}
}

// there puts an object there and gets it back.
func there(t *testing.T, p *peer, c *relay.Client) {
	t.Helper()
	ref, err := c.Put(t.Context(), strings.NewReader("hello|world"))
	if err != nil || ref != (wire.RelayReference{Object: 5, Tag: 6}) {
		t.Fatal(ref, err)
	}
	ref.Storage = 1
	r, err := c.Get(t.Context(), 7, ref)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil || string(b) != "hello|world" || p.kept != string(b) {
		t.Errorf("%q, %q, %v", b, p.kept, err)
	}
}

// What a relay keeps of an upload that it did not read to its end is not the object.
func TestAnAnswerBeforeTheEndIsAnError(t *testing.T) {
	t.Parallel()
	p, c := start(t, false)
	p.early = true
	if _, err := c.Put(t.Context(), endless{}); !errors.Is(err, wire.ErrMalformed) {
		t.Error(err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestStatusesOfGRPCAreErrors(t *testing.T) {
	t.Parallel()
	p, c := start(t, false)
	p.err = status.Error(codes.ResourceExhausted, "voll: 100 % é")
	var e *relay.Error
	if _, err := c.Put(t.Context(), strings.NewReader("hello")); !errors.As(err, &e) || e.Code != 8 ||
		e.Message != "voll: 100 % é" {
		t.Error(err)
	}
	p.mu.Lock()
	p.kept = "half"
	p.mu.Unlock()
	r, err := c.Get(t.Context(), 7, wire.RelayReference{Storage: 1, Object: 5, Tag: 6})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(r); !errors.As(err, &e) || e.Code != 8 {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Get(t.Context(), 8, wire.RelayReference{}); !errors.As(err, &e) {
		t.Errorf("what is refused at once: %v", err)
	}
	c.Close()
	if _, err := c.Put(context.Background(), strings.NewReader("hello")); err == nil {
		t.Error("a client that was closed puts an object")
	}
}

func TestFramesAreBounded(t *testing.T) {
	t.Parallel()
	frame := relay.AppendFrame(nil, func(b []byte) []byte { return append(b, "12345"...) })
	if b, err := relay.ReadFrame(strings.NewReader(string(frame)), 5); err != nil || string(b) != "12345" {
		t.Error(b, err)
	}
	if _, err := relay.ReadFrame(strings.NewReader(string(frame)), 4); !errors.Is(err, wire.ErrMalformed) {
		t.Error(err)
	}
	for n := 1; n < len(frame); n++ {
		if _, err := relay.ReadFrame(strings.NewReader(string(frame[:n])), 5); err != io.ErrUnexpectedEOF {
			t.Error(n, err)
		}
	}
	frame[0] = 1
	if _, err := relay.ReadFrame(strings.NewReader(string(frame)), 5); !errors.Is(err, wire.ErrMalformed) {
		t.Error(err)
	}
}
