package http

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

const (
	// firstBytes of a body come before the rest has its room: who promises much and sends nothing takes nothing from others.
	firstBytes = 64 << 10
	// What a large body takes while it is worked on, in its own length: as it is, with what the journal writes of it; and as JSON, with what is decoded of it.
	// Where the length is not known before, as it grows.
	rawCost, rawGrowing   = 2.25, 4
	jsonCost, jsonGrowing = 5, 6
)

// body reads the whole body, within the bounds of size, time and room. json says that it will be decoded.
func (c *call) body(json bool) ([]byte, error) {
	limit, n := c.d.config.MaxBodyBytes, c.r.ContentLength
	cost, growing := rawCost, int64(rawGrowing)
	if json {
		cost, growing = jsonCost, jsonGrowing
	}
	var data []byte
	var err error
	switch {
	case n > limit:
		return nil, &http.MaxBytesError{Limit: limit}
	case n < 0:
		data, err = io.ReadAll(&countedReader{c: c, cost: growing, r: http.MaxBytesReader(c.w, c.r.Body, limit)})
	case n <= firstBytes:
		data, err = c.small(n)
	default:
		data, err = c.large(int(n), int64(cost*float64(n)))
	}
	if err != nil {
		return nil, c.noBody(err)
	}
	c.unhurried()
	return data, nil
}

// small reads a body of n bytes.
func (c *call) small(n int64) ([]byte, error) {
	if !c.hold.Try(n) {
		if err := c.hold.Take(c.ctx(), n); err != nil {
			return nil, err
		}
		c.hurry()
	}
	data := make([]byte, n)
	_, err := io.ReadFull(c.r.Body, data)
	return data, err
}

// hurry gives the client its time for the body, from now on.
func (c *call) hurry() { _ = c.w.control.SetReadDeadline(time.Now().Add(c.d.config.BodyTimeout)) } // a recorder has none

// large reads a body of n bytes that takes so much room. Its time begins anew when it has the room.
func (c *call) large(n int, cost int64) ([]byte, error) {
	if all := c.d.busy.Limit(); cost > all {
		return nil, bodyTooLarge.problemf("a body of %d bytes takes %d bytes of memory to work on, and all requests together may take %d", n, cost, all).
			withHint("send it as it is instead of within JSON, or in smaller messages; limits: busy_bytes and the memory of hikyaku's control group bound it")
	}
	if err := c.hold.Take(c.ctx(), firstBytes); err != nil {
		return nil, err
	}
	first := make([]byte, firstBytes)
	if _, err := io.ReadFull(c.r.Body, first); err != nil {
		return nil, err
	}
	c.hold.End()
	if err := c.hold.Take(c.ctx(), cost); err != nil {
		return nil, err
	}
	c.hurry()
	data := make([]byte, n)
	_, err := io.ReadFull(c.r.Body, data[copy(data, first):])
	return data, err
}

// noBody tells why there is no body.
func (c *call) noBody(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return bodyTimeout.problemf("the body did not arrive within %v", c.d.config.BodyTimeout)
	}
	var tooLarge *http.MaxBytesError
	if _, known := problemOf(err); known || errors.As(err, &tooLarge) {
		return err
	}
	return badRequest.problemf("the body ended too early: %v", err)
}

// countedReader takes room for what it reads; the call holds it until its end.
type countedReader struct {
	c    *call
	cost int64 // of a byte
	r    io.Reader
}

func (r *countedReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if !r.c.hold.Try(r.cost * int64(n)) {
		return 0, r.c.d.tooBusy()
	}
	return n, err
}

func (s *Server) tooBusy() *Problem {
	return busy.problemf("requests and answers hold %d of %d bytes of memory: a body whose length is not known before does not wait for more", s.busy.Used(), s.busy.Limit())
}

// unhurried ends the time that a client has for its body.
func (c *call) unhurried() { _ = c.w.control.SetReadDeadline(time.Time{}) } // a recorder has none
