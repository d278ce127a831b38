package httpserver

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/message"
)

// What is counted of requests that are not answered with 200.
const (
	refused = "refused" // the request is at fault
	late    = "late"    // its messages were not settled in time
	busy    = "busy"    // there was no room for it
)

// What a body takes while it is worked on, in its own length: where that is known before, and as it grows.
const bodyCost, bodyGrowing = 2.25, 4

// retryAfter is what a client that is told to come again should wait, in seconds.
const retryAfter = "5"

// ServeHTTP takes the messages of a request.
func (s *Source) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	refuse := func(status int, why string) {
		s.Add(refused, fmt.Sprintf("a request was refused with %d: %s", status, why))
		http.Error(w, why, status)
	}
	switch {
	case !s.known(r):
		scheme := "Bearer"
		if s.Auth.User != "" {
			scheme = `Basic realm="hikyaku"`
		}
		w.Header().Set("WWW-Authenticate", scheme)
		refuse(http.StatusUnauthorized, "it does not show what auth: wants")
		return
	case s.Path != "" && r.URL.Path != s.Path:
		refuse(http.StatusNotFound, "nothing is served at this path")
		return
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		refuse(http.StatusMethodNotAllowed, "only POST brings in messages")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.Timeout)
	defer cancel()
	hold := door.Hold{Of: s.busy}
	defer hold.End()
	control := http.NewResponseController(w)
	room := door.Body{Hold: &hold, Most: s.MaxBodyBytes, Cost: bodyCost, Growing: bodyGrowing,
		Hurry: func() { _ = control.SetReadDeadline(time.Now().Add(s.Timeout)) }}
	a := &answer{left: 1, done: make(chan struct{})}
	switch status, err := s.bring(ctx, r, &room, a); status {
	case 0:
	case http.StatusServiceUnavailable:
		s.Add(busy, "a request was answered with 503: "+err.Error())
		w.Header().Set("Retry-After", retryAfter)
		http.Error(w, err.Error(), status)
		return
	default:
		refuse(status, err.Error())
		return
	}
	a.end(true)
	select {
	case <-a.done:
	case <-ctx.Done():
		a.fail()
	}
	if a.failed() {
		s.Add(late, "a request was answered with 503: its messages are not all settled")
		w.Header().Set("Retry-After", retryAfter)
		http.Error(w, "not all of it is taken: post it again", http.StatusServiceUnavailable)
	}
}

// bring brings in the messages of a request. A status says why none was taken.
func (s *Source) bring(ctx context.Context, r *http.Request, room *door.Body, a *answer) (status int, err error) {
	s.reading.RLock()
	defer s.reading.RUnlock()
	if s.over {
		a.fail()
		return 0, nil
	}
	body, err := s.read(ctx, r, room)
	if err != nil {
		return s.noBody(err)
	}
	attributes := s.attributes(r)
	send := func(text []byte) {
		now := time.Now()
		m := &message.Message{ID: message.NewID(), Time: now, Body: text,
			Attributes: append(message.Attributes(nil), attributes...)}
		m.Hops.Mark(message.Accepted, now)
		a.begin()
		if s.out.Send(ctx, component.Delivery{Message: m,
			Settle: func(o component.Outcome) { a.end(o.Verdict == component.Delivered) }}) != nil {
			a.end(false)
		}
	}
	switch s.Framing {
	case "lines":
		for line := range bytes.Lines(body) {
			if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 && !a.failed() {
				send(line)
			}
		}
	case "json":
		return sendItems(body, a, send)
	default:
		send(body)
	}
	return 0, nil
}

// sendItems sends the items of an array, or the one value that there is. Nothing of what is no JSON is sent.
func sendItems(body []byte, a *answer, send func([]byte)) (status int, err error) {
	if !json.Valid(body) {
		return http.StatusBadRequest, errors.New("the body is no JSON")
	}
	body = bytes.TrimSpace(body)
	if body[0] != '[' {
		send(body)
		return 0, nil
	}
	d := json.NewDecoder(bytes.NewReader(body))
	_, _ = d.Token() // it is valid
	for d.More() && !a.failed() {
		var item json.RawMessage
		if err := d.Decode(&item); err != nil {
			return http.StatusBadRequest, err
		}
		send(item)
	}
	return 0, nil
}

// encodingError is a content encoding that is not known here.
type encodingError string

func (e encodingError) Error() string {
	return fmt.Sprintf("the content encoding %.40q is none of gzip, zstd and identity", string(e))
}

// read reads a body, and unpacks it.
func (s *Source) read(ctx context.Context, r *http.Request, room *door.Body) ([]byte, error) {
	if r.ContentLength > s.MaxBodyBytes {
		return nil, &http.MaxBytesError{Limit: s.MaxBodyBytes}
	}
	in := io.LimitReader(r.Body, s.MaxBodyBytes+1)
	switch encoding := strings.ToLower(r.Header.Get("Content-Encoding")); encoding {
	case "", "identity":
		return room.Read(ctx, r)
	case "gzip":
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, err
		}
		return room.Whole(z)
	case "zstd":
		if err := room.Hold.Take(ctx, windowBytes); err != nil {
			return nil, err
		}
		room.Hurry()
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(windowBytes))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		return room.Whole(z)
	default:
		return nil, encodingError(encoding)
	}
}

// noBody tells why there is no body.
func (s *Source) noBody(err error) (status int, why error) {
	var unknown encodingError
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge, errors.New("the body is larger than max_body_bytes")
	case errors.Is(err, door.ErrNeverFits):
		return http.StatusRequestEntityTooLarge, err
	case errors.Is(err, door.ErrBusy):
		return http.StatusServiceUnavailable, err
	case errors.As(err, &unknown):
		return http.StatusUnsupportedMediaType, err
	}
	return http.StatusBadRequest, err
}

// windowBytes bounds what unpacking zstd takes, whatever the body asks for.
const windowBytes = 8 << 20

// attributes are those of all messages of a request.
func (s *Source) attributes(r *http.Request) (as message.Attributes) {
	set := func(name, value string) { as.Set(name, message.String(strings.ToValidUTF8(value, "\ufffd"))) }
	if len(s.Query) > 0 {
		query := r.URL.Query()
		for _, name := range s.Query {
			if query.Has(name) {
				set(name, query.Get(name))
			}
		}
	}
	for _, name := range s.Headers {
		if values := r.Header[name]; len(values) > 0 {
			set(name, strings.Join(values, ", "))
		}
	}
	set("method", r.Method)
	set("path", r.URL.Path)
	return as
}

// answer waits for what becomes of the messages of a request.
type answer struct {
	mu   sync.Mutex
	left int // messages that are not settled, and one until all are sent
	bad  bool
	done chan struct{} // closed when none is left
}

func (a *answer) begin() {
	a.mu.Lock()
	a.left++
	a.mu.Unlock()
}

func (a *answer) end(delivered bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.bad = a.bad || !delivered
	if a.left--; a.left == 0 {
		close(a.done)
	}
}

func (a *answer) fail() {
	a.mu.Lock()
	a.bad = true
	a.mu.Unlock()
}

func (a *answer) failed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.bad
}

// nothing is a log that nobody reads: what net/http has to say of its clients is theirs.
func nothing() *log.Logger { return log.New(io.Discard, "", 0) }
