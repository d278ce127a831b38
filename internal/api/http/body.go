package http

import (
	"errors"
	"net/http"
	"os"
	"time"

	"github.com/hikyaku/hikyaku/internal/door"
)

const (
	// What a large body takes while it is worked on, in its own length: as it is, with what the journal writes of it;
	// and as JSON, with what is decoded of it. Where the length is not known before, as it grows.
	rawCost, rawGrowing   = 2.25, 4
	jsonCost, jsonGrowing = 5, 6
)

// valueWeight is what becomes of values: a message twice, as it came and as the queue takes it, while the list of them
// grows; and an attribute, which is two values.
var valueWeight = door.Weight{Value: 96, Object: 640}

// body reads the whole body, within the bounds of size, time and room. json says that it will be decoded.
func (c *call) body(json bool) ([]byte, error) {
	b := door.Body{Hold: &c.hold, Most: c.d.config.MaxBodyBytes, Cost: rawCost, Growing: rawGrowing, Hurry: c.hurry}
	if json {
		b.Cost, b.Growing = jsonCost, jsonGrowing
	}
	data, err := b.Read(c.ctx(), c.r)
	if err == nil && json {
		err = c.hold.Values(data, valueWeight)
	}
	if err != nil {
		return nil, c.noBody(err)
	}
	c.unhurried()
	return data, nil
}

// hurry gives the client its time for the body, from now on.
// a recorder has none
func (c *call) hurry() { _ = c.w.control.SetReadDeadline(time.Now().Add(c.d.config.BodyTimeout)) }

// noBody tells why there is no body.
func (c *call) noBody(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return bodyTimeout.problemf("the body did not arrive within %v", c.d.config.BodyTimeout)
	}
	if errors.Is(err, door.ErrNeverFits) {
		return bodyTooLarge.problem(err.Error()).
			withHint("send it as it is instead of within JSON, with its Content-Length, or in smaller messages; " +
				"limits: busy_bytes and the memory of hikyaku's control group bound it")
	}
	var tooLarge *http.MaxBytesError
	if _, known := problemOf(err); known || errors.As(err, &tooLarge) {
		return err
	}
	return badRequest.problemf("the body ended too early: %v", err)
}

func (s *Server) tooBusy() *Problem {
	return busy.problemf("requests and answers hold %d of %d bytes of memory: a body whose length is not known "+
		"before does not wait for more", s.busy.Used(), s.busy.Limit())
}

// unhurried ends the time that a client has for its body.
func (c *call) unhurried() { _ = c.w.control.SetReadDeadline(time.Time{}) } // a recorder has none
