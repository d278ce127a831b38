package runtimeapi

import (
	"errors"
	"io"
	"net/http"
	"strings"
)

// The limits of what is read besides answers.
const maxOther = 1 << 20

// route serves a request that net/http has read, and tells whether another can follow on its connection.
func (s *Server) route(c *conn, r *http.Request) bool {
	path := r.URL.Path
	if rest, ok := strings.CutPrefix(path, prefix); ok {
		id, what, two := strings.Cut(rest, "/")
		switch {
		case !two && rest == "next" && r.Method == http.MethodGet:
			s.next(c)
			return true
		case two && what == "response" && r.Method == http.MethodPost:
			return s.response(c, r, id)
		case two && what == "error" && r.Method == http.MethodPost:
			return s.failed(c, r, id)
		}
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxOther+1))
	if err != nil || len(body) > maxOther {
		c.refuse(http.StatusRequestEntityTooLarge, "RequestEntityTooLarge",
			"The request to "+path+" is larger than 1 MiB.")
		return false
	}
	switch r.Method + " " + path {
	case "POST /2018-06-01/runtime/init/error":
		s.initError(c, r.Header.Get("Lambda-Runtime-Function-Error-Type"), body)
	case "GET /2018-06-01/ping":
		c.write(http.StatusOK, "text/plain", "", []byte("pong"))
	case "POST /2020-01-01/extension/register":
		s.register(c, r.Header, body)
	case "GET /2020-01-01/extension/event/next":
		s.event(c, r.Header)
	case "POST /2020-01-01/extension/init/error", "POST /2020-01-01/extension/exit/error":
		s.agentError(c, r.Header, strings.Contains(path, "/init/"), body)
	case "PUT /2020-08-15/logs":
		c.json(http.StatusAccepted, "",
			map[string]string{"errorType": "Logs.NotSupported", "errorMessage": "The Logs API is not supported here."})
	case "PUT /2022-07-01/telemetry":
		c.json(http.StatusAccepted, "",
			map[string]string{"errorType": "Telemetry.NotSupported",
				"errorMessage": "The Telemetry API is not supported here."})
	default:
		c.refuse(http.StatusNotFound, "NotFound", "There is no "+r.Method+" "+path+" in the Runtime API.")
	}
	return true
}

// response serves an answer whose length is not known, or that is streamed.
func (s *Server) response(c *conn, r *http.Request, id string) bool {
	inv := s.answering(c, id)
	if inv == nil {
		_, err := io.CopyN(io.Discard, r.Body, 10*MaxPayload)
		return errors.Is(err, io.EOF)
	}
	a := Answer{ContentType: r.Header.Get("Content-Type")}
	switch mode := r.Header.Get("Lambda-Runtime-Function-Response-Mode"); mode {
	case "":
	case "streaming":
		a.Streamed = true
	default:
		s.answered(inv, failure(s.config.Now(), "Runtime.InvalidResponseModeHeader",
			"The runtime answered in mode "+mode+"; the only one is streaming."))
		c.refuse(http.StatusBadRequest, "InvalidFunctionResponseMode", "Invalid function response mode")
		return false
	}
	limit := int64(MaxPayload)
	if inv.Stream != nil && a.Streamed {
		limit = MaxStream
	}
	err := read(inv, &a, r.Body, limit)
	end := trailer{r.Trailer.Get(trailerType), r.Trailer.Get(trailerBody)} // there once the body is read
	return c.conclude(inv, &a, end, r.Body, err)
}

var errTooLarge = errors.New("too large")

// read reads a body of at most limit bytes into the answer or, when both sides stream, through to the Stream.
func read(inv *Invocation, a *Answer, body io.Reader, limit int64) error {
	if inv.Stream == nil || !a.Streamed {
		all, err := io.ReadAll(io.LimitReader(body, limit+1))
		a.Body = all
		if err == nil && int64(len(all)) > limit {
			err = errTooLarge
		}
		return err
	}
	inv.Stream.Begin(a.ContentType)
	gone := false
	buf := make([]byte, 32<<10)
	for {
		n, err := body.Read(buf)
		if a.Bytes += int64(n); a.Bytes > limit {
			return errTooLarge
		}
		if n > 0 && !gone {
			_, werr := inv.Stream.Write(buf[:n])
			gone = werr != nil
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// failed serves an error that net/http has read.
func (s *Server) failed(c *conn, r *http.Request, id string) bool {
	inv := s.answering(c, id)
	if inv == nil {
		_, err := io.CopyN(io.Discard, r.Body, 10*MaxPayload)
		return errors.Is(err, io.EOF)
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxPayload+1))
	switch {
	case len(body) > MaxPayload:
		c.tooLarge(inv)
		return false
	case err != nil:
		s.answered(inv, truncated(s.config.Now()))
		return false
	}
	s.answered(inv, Answer{At: s.config.Now(), Body: body, ContentType: r.Header.Get("Content-Type"),
		ErrorType: r.Header.Get("Lambda-Runtime-Function-Error-Type"), Failed: true})
	c.accepted()
	return true
}
