package runtimeapi

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
)

// chunkedAnswer reads an answer in chunks, which may end with an error in its trailer, as the provider's client for Go
// sends all of its answers.
func (c *conn) chunkedAnswer(h *head) bool {
	inv := c.s.answering(c, h.id)
	chunks := httputil.NewChunkedReader(c.in)
	if inv == nil {
		if _, err := io.CopyN(io.Discard, chunks, 10*MaxPayload); !errors.Is(err, io.EOF) {
			return false
		}
		_, err := readTrailer(c)
		return err == nil
	}
	a := Answer{ContentType: h.contentType}
	err := read(inv, &a, chunks, MaxPayload)
	var end trailer
	if err == nil {
		end, err = readTrailer(c)
	}
	return c.conclude(inv, &a, end, chunks, err)
}

// conclude takes an answer that has come in pieces; err says what was wrong with reading it, rest is what was not read.
func (c *conn) conclude(inv *Invocation, a *Answer, end trailer, rest io.Reader, err error) bool {
	switch {
	case errors.Is(err, errTooLarge):
		_, _ = io.CopyN(io.Discard, rest, 10*MaxPayload) // so that the runtime reads our answer
		c.tooLarge(inv)
		return false
	case err != nil:
		broken := truncated(c.s.config.Now())
		broken.Streamed = inv.Stream != nil
		c.s.answered(inv, broken)
		c.refuse(http.StatusBadRequest, "TruncatedHTTPRequest", "HTTP request detected as truncated")
		return false
	}
	a.At = c.s.config.Now()
	if end.errorType != "" {
		a.ErrorType, a.Failed = end.errorType, true
		if a.Body, err = base64.StdEncoding.DecodeString(end.errorBody); err != nil {
			a.Body = []byte(end.errorBody)
		}
	} else if inv.Stream != nil && !a.Streamed {
		forward(inv, a)
	}
	c.s.answered(inv, *a)
	c.accepted()
	return true
}

// trailer is what stands behind the chunks of an answer that became an error.
type trailer struct{ errorType, errorBody string }

// The names of its lines.
const (
	trailerType = "Lambda-Runtime-Function-Error-Type"
	trailerBody = "Lambda-Runtime-Function-Error-Body"
)

// errTrailer: it is too large, or cannot be read.
var errTrailer = errors.New("the trailer cannot be read")

// readTrailer reads the lines behind the last chunk. Others than ours do not matter.
func readTrailer(c *conn) (end trailer, err error) {
	left := maxOther
	for {
		var line []byte
		for more := true; more; {
			part, prefix, err := c.in.ReadLine()
			if err != nil {
				return end, err
			}
			if left -= len(part) + 1; left < 0 {
				return end, errTrailer
			}
			if line == nil && !prefix { // the usual case: it is looked at where it lies
				line = part
			} else {
				line = append(line, part...)
			}
			more = prefix
		}
		if len(line) == 0 {
			return end, nil
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return end, errTrailer
		}
		switch value = bytes.Trim(value, " \t"); {
		case is(name, trailerType):
			end.errorType = string(value)
		case is(name, trailerBody):
			end.errorBody = string(value)
		}
	}
}
