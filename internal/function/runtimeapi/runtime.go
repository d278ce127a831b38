package runtimeapi

import (
	"net/http"
	"strconv"
	"time"
)

// Give hands an invocation to the runtime: at once when it waits for one, else when it asks. The one before must have
// been answered. A runtime that does not read what it asked for holds up who gives, until its connection ends, and
// nobody else.
func (s *Server) Give(inv *Invocation) {
	s.mu.Lock()
	s.given, s.told = inv, false
	c := s.waiting
	if c != nil {
		s.hand(inv)
	}
	for _, a := range s.agents {
		a.invoke(s, inv)
	}
	s.mu.Unlock()
	if c != nil {
		s.send(c, inv)
	}
}

// hand makes the invocation the runtime's. s.mu is held; send has to follow without it.
func (s *Server) hand(inv *Invocation) {
	s.waiting = nil
	s.phase = working
	inv.given = s.config.Now()
}

// GivenAt is when the runtime got an invocation; zero: it has not.
func (s *Server) GivenAt(inv *Invocation) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return inv.given
}

// large is from how many bytes on an invocation is written by a goroutine of its own, and without a copy of it.
const large = 32 << 10

// send writes an invocation to the connection on which the runtime has waited for it. s.mu is not held: nobody knows
// when the runtime reads.
func (s *Server) send(c *conn, inv *Invocation) {
	if len(inv.Body) <= large {
		s.write(c, inv)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.wait.Go(func() { s.write(c, inv) })
	}
}

// write is send in the goroutine that writes. Of an instance one invocation is written at a time, so that a runtime
// that answers them without reading them to their end does not gather them here: its next one waits, and times out.
func (s *Server) write(c *conn, inv *Invocation) {
	s.pen.Lock()
	defer s.pen.Unlock()
	b := append(s.out[:0], "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nLambda-Runtime-Aws-Request-Id: "...)
	b = append(b, inv.ID...)
	b = append(b, "\r\nLambda-Runtime-Deadline-Ms: "...)
	b = strconv.AppendInt(b, inv.Deadline.UnixMilli(), 10)
	b = append(b, "\r\nLambda-Runtime-Invoked-Function-Arn: "...)
	b = append(b, inv.ARN...)
	b = field(b, "Lambda-Runtime-Trace-Id", inv.TraceID)
	b = field(b, "Lambda-Runtime-Client-Context", inv.ClientContext)
	b = field(b, "Lambda-Runtime-Cognito-Identity", inv.Cognito)
	b = append(b, "\r\nContent-Length: "...)
	b = strconv.AppendInt(b, int64(len(inv.Body)), 10)
	b = append(b, "\r\n\r\n"...)
	var rest []byte
	if len(inv.Body) <= large {
		b = append(b, inv.Body...)
	} else {
		rest = inv.Body
	}
	s.out = b
	_, err := c.net.Write(b)
	if err == nil && len(rest) > 0 {
		_, err = c.net.Write(rest)
	}
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.given == inv && s.phase == working {
			s.phase = ready // it will ask again, or end
		}
	}
}

func field(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	b = append(b, "\r\n"...)
	b = append(b, name...)
	b = append(b, ": "...)
	for i := range len(value) { // a line end would begin another field
		if c := value[i]; c >= ' ' || c == '\t' {
			b = append(b, c)
		}
	}
	return b
}

// next serves a runtime's request for an invocation.
func (s *Server) next(c *conn) {
	s.mu.Lock()
	if s.phase == working || s.phase == responding || s.phase == broken {
		was := s.phase
		s.mu.Unlock()
		c.refuse(http.StatusForbidden, "InvalidStateTransition", "The runtime asked for an invocation in state "+
			was.String()+
			": it has to answer the one before first.")
		return
	}
	if old := s.waiting; old != nil && old != c {
		_ = old.net.Close() // the runtime has connected anew
	}
	s.waiting = c
	s.phase = ready
	if inv := s.given; inv != nil {
		s.hand(inv)
		s.mu.Unlock()
		s.send(c, inv)
		return
	}
	all := s.allAsked()
	s.mu.Unlock()
	if all {
		s.config.Handler.Asked()
	}
}

// allAsked tells whether everybody waits for an invocation, and remembers the first time. s.mu is held.
func (s *Server) allAsked() bool {
	if s.phase != ready || s.given != nil || s.told {
		return false
	}
	for _, name := range s.config.Extensions {
		if !s.inited && s.find(name) == nil {
			return false
		}
	}
	for _, a := range s.agents {
		if !a.asked {
			return false
		}
	}
	s.inited, s.told = true, true
	return true
}

// answering begins an answer for an invocation. When it may not be given now, the reason was sent.
func (s *Server) answering(c *conn, id string) *Invocation {
	s.mu.Lock()
	inv, was := s.given, s.phase
	if inv != nil && inv.ID == id && was == working {
		s.phase = responding
		s.mu.Unlock()
		return inv
	}
	s.mu.Unlock()
	if was == responding || was == responded {
		c.refuse(http.StatusForbidden, "InvalidStateTransition",
			"The runtime answered in state "+was.String()+": an invocation is answered once.")
	} else {
		c.refuse(http.StatusBadRequest, "InvalidRequestID", "Invalid request ID")
	}
	return nil
}

// answered ends an answer and tells the Handler.
func (s *Server) answered(inv *Invocation, a Answer) {
	s.mu.Lock()
	s.phase = responded
	s.given = nil
	s.mu.Unlock()
	s.config.Handler.Answered(inv, a)
}

// initError serves a runtime that says that it cannot start.
func (s *Server) initError(c *conn, errorType string, body []byte) {
	s.mu.Lock()
	if s.phase != beginning {
		was := s.phase
		s.mu.Unlock()
		c.refuse(http.StatusForbidden, "InvalidStateTransition",
			"The runtime reported an initialisation error in state "+was.String()+
				": it has asked for invocations already.")
		return
	}
	s.phase = broken
	s.mu.Unlock()
	s.config.Handler.InitFailed(errorType, body) // before it is answered, for then the runtime ends
	c.accepted()
}
