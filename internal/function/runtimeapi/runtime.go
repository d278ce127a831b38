package runtimeapi

import (
	"net/http"
	"strconv"
	"time"
)

// Give hands an invocation to the runtime: at once when it waits for one, else when it asks. The one before must have
// been answered.
func (s *Server) Give(inv *Invocation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.given, s.told = inv, false
	if s.waiting != nil {
		s.send(s.waiting)
	}
	for _, a := range s.agents {
		a.invoke(s, inv)
	}
}

// GivenAt is when the runtime got an invocation; zero: it has not.
func (s *Server) GivenAt(inv *Invocation) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return inv.given
}

// large is from how many bytes on an invocation is written by a goroutine of its own: a runtime that does not read must
// not hold up who gives.
const large = 32 << 10

// send writes the invocation that was given to a connection on which the runtime waits. s.mu is held.
func (s *Server) send(c *conn) {
	inv := s.given
	s.waiting = nil
	s.phase = working
	inv.given = s.config.Now()
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
	if len(inv.Body) <= large {
		s.out = append(b, inv.Body...)
		if _, err := c.net.Write(s.out); err != nil {
			s.phase = ready // it will ask again, or end
		}
		return
	}
	s.out = b
	head := string(b)
	s.wait.Add(1)
	go func() {
		defer s.wait.Done()
		if _, err := c.net.Write([]byte(head)); err == nil {
			_, _ = c.net.Write(inv.Body) // one that cannot be written is not answered: its time-out sees to that
		}
	}()
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
	if s.given != nil {
		s.send(c)
		s.mu.Unlock()
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
