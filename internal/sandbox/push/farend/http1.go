package farend

import (
	"bufio"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http2/hpack"
)

// http1 serves the connections that speak HTTP/1.1: token requests, curl, and senders that know no better.
type http1 struct {
	s      *Server
	server *http.Server
	conns  chan net.Conn
	over   chan struct{}
	once   sync.Once
	ended  sync.WaitGroup
}

func newHTTP1(s *Server) *http1 {
	h := &http1{s: s, conns: make(chan net.Conn), over: make(chan struct{})}
	h.server = &http.Server{Handler: h, ReadHeaderTimeout: handshakeTime, MaxHeaderBytes: maxHeaderList,
		ErrorLog: log.New(io.Discard, "", 0)}
	h.ended.Go(func() { h.server.Serve(h) }) // returns when close was called
	return h
}

// handed is a connection whose first bytes were read already; done tells when the http.Server is through with it.
type handed struct {
	net.Conn
	br   *bufio.Reader
	done chan struct{}
	once sync.Once
}

func (c *handed) Read(b []byte) (int, error) { return c.br.Read(b) }

func (c *handed) Close() error {
	c.once.Do(func() { close(c.done) })
	return c.Conn.Close()
}

// serve hands a connection over, and waits for its end.
func (h *http1) serve(c *conn) {
	hc := &handed{Conn: c.nc, br: c.br, done: make(chan struct{})}
	select {
	case h.conns <- hc:
	case <-h.over:
		return
	}
	select {
	case <-hc.done:
	case <-c.over:
	}
}

// Accept, Close and Addr make it the http.Server's listener.
func (h *http1) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.over:
		return nil, net.ErrClosed
	}
}

// Close ends the listener.
func (h *http1) Close() error {
	h.once.Do(func() { close(h.over) })
	return nil
}

// Addr is the far end's.
func (h *http1) Addr() net.Addr { return h.s.Addr() }

func (h *http1) close() {
	h.Close()
	h.server.Close()
	h.ended.Wait()
}

// ServeHTTP answers one request.
func (h *http1) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	s := h.s
	body, err := io.ReadAll(io.LimitReader(req.Body, int64(s.config.MaxBody)+1))
	if err != nil {
		return // the client is gone
	}
	s.ledger.requests.Add(1)
	r := &Request{Method: req.Method, Path: req.URL.RequestURI(), Authority: req.Host, From: req.RemoteAddr, Body: body,
		TLS: req.TLS, Memory: new(Memory)}
	for name, values := range req.Header {
		for _, v := range values {
			r.Fields = append(r.Fields, hpack.HeaderField{Name: strings.ToLower(name), Value: v})
		}
	}
	var a Answer
	s.service.Serve(r, &a)
	s.tellRefusal(&a)
	p := s.plan.Load()
	wait, fault := p.Latency, (*Fault)(nil)
	rng := rand.New(rand.NewPCG(s.seed, rand.Uint64()))
	device := s.ledger.hash(a.Device)
	if a.Device != "" && a.accepted() {
		wait, fault = p.choose(a.Device, device, rng)
		if fault != nil && fault.Do == Refuse {
			refuse(s.service, r, &a, fault)
		}
	}
	if s.config.Keep > 0 {
		s.ledger.note(r, &a)
	}
	silent := fault != nil && fault.Do == Silence
	var due <-chan time.Time
	if !silent {
		due = time.After(wait.draw(rng))
	}
	select {
	case <-due:
	case <-req.Context().Done():
		return
	case <-h.over:
		return
	}
	switch {
	case a.Device != "" && a.accepted():
		s.ledger.processed(s.ledger.hash(a.ID), device)
	case a.Reason != "":
		s.ledger.refuse(a.Reason)
	}
	for _, f := range a.Fields {
		w.Header().Set(f.Name, f.Value)
	}
	w.WriteHeader(a.Status)
	w.Write(a.Body) // a client that is gone misses nothing
}
