package push_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/hikyaku/hikyaku/internal/push"
)

// farEnd is a far end that a test plays by hand, frame by frame, over pipes.
type farEnd struct {
	t     testing.TB
	conns chan *farConn

	mu     sync.Mutex
	refuse error       // what connecting ends in
	dials  []time.Time // when a connection was begun
}

func newFarEnd(t testing.TB) (*farEnd, push.Config) {
	f := &farEnd{t: t, conns: make(chan *farConn, 100)}
	return f, push.Config{Address: "far.example:443", Plain: true, Dial: f.dial}
}

func (f *farEnd) dial(context.Context, string, string) (net.Conn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dials = append(f.dials, time.Now())
	if f.refuse != nil {
		return nil, f.refuse
	}
	near, far := net.Pipe()
	k := &farConn{t: f.t, Conn: far, encoder: hpack.NewEncoder(nil), bodies: map[uint32][]byte{},
		heads: map[uint32][]hpack.HeaderField{}}
	k.framer = http2.NewFramer(far, far)
	k.decoder = hpack.NewDecoder(4096, nil)
	k.framer.ReadMetaHeaders = k.decoder
	k.framer.MaxHeaderListSize = 1 << 20
	f.conns <- k
	return near, nil
}

func (f *farEnd) dialed() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.dials)
}

// accept takes the next connection and exchanges greetings.
func (f *farEnd) accept(settings ...http2.Setting) *farConn {
	f.t.Helper()
	k := f.take()
	k.greet(settings...)
	return k
}

// take takes the next connection without a word.
func (f *farEnd) take() *farConn {
	f.t.Helper()
	k := <-f.conns
	f.t.Cleanup(func() { _ = k.Close() })
	return k
}

// farConn is the far end of one connection.
type farConn struct {
	net.Conn
	t       testing.TB
	framer  *http2.Framer
	decoder *hpack.Decoder
	encoder *hpack.Encoder
	bodies  map[uint32][]byte
	heads   map[uint32][]hpack.HeaderField
}

// request is what came on a stream.
type request struct {
	stream uint32
	fields []hpack.HeaderField
	body   []byte
}

func (r request) get(name string) string {
	for _, f := range r.fields {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

func (r request) path() string { return r.get(":path") }

func (k *farConn) greet(settings ...http2.Setting) {
	k.t.Helper()
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(k, preface); err != nil || string(preface) != http2.ClientPreface {
		k.t.Fatalf("preface %q, %v", preface, err)
	}
	if f, ok := k.read().(*http2.SettingsFrame); !ok || f.IsAck() {
		k.t.Fatalf("first frame %v", f)
	}
	k.check(k.framer.WriteSettings(settings...))
}

func (k *farConn) check(err error) {
	k.t.Helper()
	if err != nil {
		k.t.Fatal(err)
	}
}

// read reads a frame that is not a matter of course.
func (k *farConn) read() http2.Frame {
	k.t.Helper()
	f, err := k.tryRead()
	if err != nil {
		k.t.Fatalf("reading: %v", err)
	}
	return f
}

func (k *farConn) tryRead() (http2.Frame, error) {
	for {
		f, err := k.framer.ReadFrame()
		if err != nil {
			return nil, err
		}
		switch f := f.(type) {
		case *http2.WindowUpdateFrame:
			continue
		case *http2.SettingsFrame:
			if f.IsAck() {
				continue
			}
		}
		return f, nil
	}
}

// request reads until a request is there whole.
func (k *farConn) request() request {
	k.t.Helper()
	r, err := k.tryRequest()
	if err != nil {
		k.t.Fatalf("reading a request: %v", err)
	}
	return r
}

func (k *farConn) tryRequest() (request, error) {
	for {
		f, err := k.tryRead()
		if err != nil {
			return request{}, err
		}
		id := f.Header().StreamID
		switch f := f.(type) {
		case *http2.MetaHeadersFrame:
			k.heads[id] = f.Fields
			if !f.StreamEnded() {
				continue
			}
		case *http2.DataFrame:
			k.bodies[id] = append(k.bodies[id], f.Data()...)
			if !f.StreamEnded() {
				continue
			}
		default:
			return request{}, fmt.Errorf("a frame %v instead of a request", f)
		}
		return request{id, k.heads[id], k.bodies[id]}, nil
	}
}

func (k *farConn) block(fields ...string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	e.SetMaxDynamicTableSize(0) // each block stands alone
	for i := 0; i < len(fields); i += 2 {
		_ = e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1], Sensitive: true})
	}
	return b.Bytes()
}

// answer answers a request, with a body if it is not empty.
func (k *farConn) answer(stream uint32, status int, body string) {
	k.t.Helper()
	k.check(k.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream,
		BlockFragment: k.block(":status", fmt.Sprint(status)), EndHeaders: true, EndStream: body == ""}))
	if body != "" {
		k.check(k.framer.WriteData(stream, true, []byte(body)))
	}
}

// gone waits for the other side to close and answers the last words, which may be nil.
func (k *farConn) gone() *http2.GoAwayFrame {
	k.t.Helper()
	var last *http2.GoAwayFrame
	for {
		f, err := k.tryRead()
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) && !errors.Is(err, io.ErrUnexpectedEOF) {
				k.t.Fatalf("closing: %v", err)
			}
			return last
		}
		if g, ok := f.(*http2.GoAwayFrame); ok {
			copied := *g
			last = &copied
		}
	}
}

// results gathers the ends of sends.
type results struct {
	t  testing.TB
	mu sync.Mutex
	m  map[string]push.Result
	ch chan string
}

func newResults(t testing.TB) *results {
	return &results{t: t, m: map[string]push.Result{}, ch: make(chan string, 10000)}
}

func (r *results) send(c *push.Client, path string, timeout time.Duration) *push.Call {
	return r.sendBody(c, path, "", timeout)
}

func (r *results) sendBody(c *push.Client, path, body string, timeout time.Duration) *push.Call {
	return c.Start(&push.Request{Method: "POST", Path: path, Body: []byte(body)}, time.Now().Add(timeout), r.done(path))
}

// done notes how a send ended.
func (r *results) done(path string) func(push.Result) {
	return func(got push.Result) {
		r.mu.Lock()
		if _, ok := r.m[path]; ok {
			r.t.Errorf("%s was answered twice", path)
		}
		r.m[path] = got
		r.mu.Unlock()
		r.ch <- path
	}
}

// wait waits for the end of that send.
func (r *results) wait(path string) push.Result {
	r.t.Helper()
	for {
		r.mu.Lock()
		got, ok := r.m[path]
		r.mu.Unlock()
		if ok {
			return got
		}
		<-r.ch
	}
}

func (r *results) ended(path string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.m[path]
	return ok
}

// ok expects a status.
func (r *results) ok(path string, status int) {
	r.t.Helper()
	got := r.wait(path)
	if got.Err != nil || got.Response.Status != status {
		r.t.Errorf("%s: %+v, want status %d", path, got, status)
	}
}

// failed expects an error, and whether it may be sent again.
func (r *results) failed(path string, want error, unprocessed bool) {
	r.t.Helper()
	got := r.wait(path)
	if !errors.Is(got.Err, want) || got.Unprocessed != unprocessed || got.Response != nil {
		r.t.Errorf("%s: %+v, want %v, unprocessed %v", path, got, want, unprocessed)
	}
}
