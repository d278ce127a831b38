package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/lines"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/outbound"
)

// Headers that the sink sets.
const (
	HeaderID    = "Hikyaku-Message-Id"
	HeaderTime  = "Hikyaku-Message-Time"
	HeaderKey   = "Hikyaku-Message-Key" // percent-encoded
	HeaderCount = "Hikyaku-Message-Count"
)

const (
	userAgent     = "hikyaku"
	listenBytes   = 4 << 10   // of an answer that are looked at
	drainBytes    = 256 << 10 // of an answer that are read so that its connection can be used again
	drainPatience = time.Second
)

// describe makes the headers of one message's request.
func (s *Sink) describe(m *message.Message, body []byte) http.Header {
	h := s.header.Clone()
	if !m.ID.IsZero() {
		h.Set(HeaderID, m.ID.String())
	}
	if !m.Time.IsZero() {
		h.Set(HeaderTime, m.Time.UTC().Format(time.RFC3339Nano))
	}
	if m.Key != "" {
		h.Set(HeaderKey, url.PathEscape(m.Key))
	}
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", s.contentType(body))
	}
	return h
}

// traceTo lets a request go on with the trace of the message at that index, if it is in one.
func traceTo(ctx context.Context, h http.Header, index int) {
	of := journey.SendingsOf(ctx)
	if of == nil {
		return
	}
	if parent, state := of[index].Headers(); parent != "" {
		h.Set("Traceparent", parent)
		if h.Del("Tracestate"); state != "" {
			h.Set("Tracestate", state)
		}
	}
}

func (s *Sink) contentType(body []byte) string {
	switch {
	case s.encoder.Codec() != lines.Text || json.Valid(body):
		return "application/json"
	case utf8.Valid(body):
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}

// sendTogether delivers a batch as one request.
func (s *Sink) sendTogether(ctx context.Context, batch []*message.Message) ([]component.Outcome, error) {
	out := make([]component.Outcome, len(batch))
	body, n := s.together(batch, out)
	if n == 0 {
		return out, nil
	}
	h := s.header.Clone()
	h.Set(HeaderCount, strconv.Itoa(n))
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", map[string]string{array: "application/json", ndjson: "application/x-ndjson"}[s.payload])
	}
	traced := func(g journey.Sending) bool { return g.Traced() }
	if first := slices.IndexFunc(journey.SendingsOf(ctx), traced); first >= 0 {
		traceTo(ctx, h, first) // a request has one parent
	}
	answer := s.deliver(ctx, body, h)
	if answer.Verdict == component.Rejected && n > 1 {
		return nil, component.RejectError(answer.Reason) // perhaps one of them is to blame
	}
	for i := range out {
		if out[i].Verdict != component.Rejected {
			out[i] = answer
		}
	}
	return out, nil
}

// together renders a batch. Messages that cannot be rendered are rejected; n is the number of the others.
func (s *Sink) together(batch []*message.Message, out []component.Outcome) (body []byte, n int) {
	if s.payload == array {
		body = append(body, '[')
	}
	for i, m := range batch {
		at := len(body)
		if s.payload == array && n > 0 {
			body = append(body, ',')
		}
		b, err := s.encoder.Append(body, m)
		if err != nil {
			out[i], body = component.Reject(err), body[:at]
			continue
		}
		body = b
		n++
		if s.payload == ndjson {
			body = append(body, '\n')
		}
	}
	if s.payload == array {
		body = append(body, ']')
	}
	return body, n
}

// deliver makes one request and reads its answer. Without a connection nothing is tried: the message is held.
func (s *Sink) deliver(ctx context.Context, body []byte, h http.Header) component.Outcome {
	if left, why := s.far.Left(); left > 0 {
		return component.Hold(left, why)
	}
	given := ctx
	patience := timeLeft(given)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var connected, answering atomic.Bool
	var sent atomic.Int64 // the request may still be written when its answer is there
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:              func(httptrace.GotConnInfo) { connected.Store(true) },
		GotFirstResponseByte: func() { answering.Store(true) },
		WroteRequest: func(i httptrace.WroteRequestInfo) {
			if i.Err == nil {
				sent.Store(time.Now().UnixNano())
			}
		},
	})
	req, err := http.NewRequestWithContext(traced, s.method, s.url.String(), bytes.NewReader(body))
	if err != nil {
		return component.Reject(s.failed(err))
	}
	req.Header = h
	if host := h.Get("Host"); host != "" {
		req.Host = host
	}
	answers := s.answers.Load()
	resp, err := s.client.Do(req)
	if err != nil {
		reason := s.failed(err)
		if errors.Is(given.Err(), context.DeadlineExceeded) {
			reason = &noAnswerError{s.target(), patience}
		}
		if refused := (*outbound.RefusedError)(nil); errors.As(err, &refused) {
			return component.Reject(s.failed(err))
		}
		return s.unanswered(reason, connected.Load(), answering.Load() || s.answers.Load() != answers)
	}
	s.answers.Add(1)
	s.far.There()
	said := listen(resp.Body, cancel)
	o := s.judge(resp, said)
	if at := sent.Load(); at != 0 {
		o.Sent = time.Unix(0, at)
	}
	return o
}

// unanswered is the outcome of a request without an answer. Where no connection came about nothing was tried, and
// everybody waits. Where the request broke off it is a try of the message only if the far end began to answer, or
// answered somebody else meanwhile: that it answers nobody is no message's fault.
func (s *Sink) unanswered(reason error, connected, answers bool) component.Outcome {
	if !connected {
		return component.Hold(s.far.Away(reason), reason)
	}
	s.far.There()
	if answers {
		return component.Again(0, reason)
	}
	return component.Hold(0, reason)
}

// listen reads the beginning of an answer and drains the rest, neither for long: the status has come, and what follows
// is only worth a connection that can be used again.
func listen(body io.ReadCloser, cancel func()) []byte {
	enough := time.AfterFunc(drainPatience, cancel)
	defer enough.Stop()
	said := make([]byte, listenBytes)
	n, err := io.ReadFull(body, said)
	if err == nil {
		_, err = io.CopyN(io.Discard, body, drainBytes)
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		cancel() // the connection is of no more use
	}
	body.Close() // only read from
	return said[:n]
}

// failed names the far end and what went wrong with it, without what may be secret.
func (s *Sink) failed(err error) error {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err // u itself would show the URL
	}
	clean := s.secrets.Mask(err.Error())
	if clean == err.Error() {
		return fmt.Errorf("%s: %w", s.target(), err)
	}
	return fmt.Errorf("%s: %s", s.target(), clean)
}

// target is how errors name the far end.
func (s *Sink) target() string { return s.url.Scheme + "://" + s.url.Host }
