package runtimeapi

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/google/uuid"
)

// maxAgents is how many extensions an instance has at most, as the provider has it.
const maxAgents = 10

// agent is an extension that has registered.
type agent struct {
	id       string
	name     string
	invokes  bool // wants INVOKE
	shutdown bool // wants SHUTDOWN
	asked    bool // waits for an event, or has nothing to wait for
	waiting  *conn
	event    []byte // that it will get when it asks
	writing  bool   // an event is written to it
}

func (s *Server) find(name string) *agent {
	for _, a := range s.agents {
		if a.name == name {
			return a
		}
	}
	return nil
}

// byID finds the extension that makes a request; when there is none, the reason was sent.
func (s *Server) byID(c *conn, h http.Header) *agent {
	id := h.Get("Lambda-Extension-Identifier")
	s.mu.Lock()
	for _, a := range s.agents {
		if a.id == id {
			s.mu.Unlock()
			return a
		}
	}
	s.mu.Unlock()
	if id == "" {
		c.refuse(http.StatusForbidden, "Extension.MissingExtensionIdentifier",
			"Missing Lambda-Extension-Identifier header")
	} else {
		c.refuse(http.StatusForbidden, "Extension.InvalidExtensionIdentifier",
			"No extension has registered with this Lambda-Extension-Identifier.")
	}
	return nil
}

func (s *Server) register(c *conn, h http.Header, body []byte) {
	var want struct {
		Events []string `json:"events"`
	}
	name := h.Get("Lambda-Extension-Name")
	if err := json.Unmarshal(body, &want); len(body) > 0 && err != nil || name == "" {
		c.refuse(http.StatusBadRequest, "InvalidRequestFormat",
			`An extension registers with the header Lambda-Extension-Name and {"events": ["INVOKE", "SHUTDOWN"]}.`)
		return
	}
	a := &agent{id: uuid.NewString(), name: name}
	for _, e := range want.Events {
		switch e {
		case "INVOKE":
			a.invokes = true
		case "SHUTDOWN":
			a.shutdown = true
		default:
			c.refuse(http.StatusBadRequest, "Extension.InvalidEventType",
				"There is no event "+e+": the events are INVOKE and SHUTDOWN.")
			return
		}
	}
	s.mu.Lock()
	refused := ""
	switch {
	case s.inited:
		refused = "Extension.RegistrationClosed"
	case s.find(name) != nil:
		refused = "Extension.AlreadyRegistered"
	case len(s.agents) >= maxAgents:
		refused = "Extension.TooManyExtensions"
	default:
		s.agents = append(s.agents, a)
	}
	s.mu.Unlock()
	if refused != "" {
		c.refuse(http.StatusForbidden, refused, "The extension "+name+" cannot register: extensions register once, "+
			"during the initialisation, at most 10 of them.")
		return
	}
	answer := map[string]string{"functionName": s.config.Function, "functionVersion": s.config.Version,
		"handler": s.config.HandlerName}
	if h.Get("Lambda-Extension-Accept-Feature") == "accountId" {
		answer["accountId"] = s.config.Account
	}
	c.json(http.StatusOK, "Lambda-Extension-Identifier: "+a.id+"\r\n", answer)
}

// event serves an extension's request for an event.
func (s *Server) event(c *conn, h http.Header) {
	a := s.byID(c, h)
	if a == nil {
		return
	}
	s.mu.Lock()
	a.asked = true
	if old := a.waiting; old != nil && old != c {
		_ = old.net.Close() // it has connected anew
	}
	a.waiting = c
	if a.event != nil {
		a.deliver(s)
	}
	all := s.allAsked()
	s.mu.Unlock()
	if all {
		s.config.Handler.Asked()
	}
}

// invoke tells an extension of an invocation. The server's mu is held.
func (a *agent) invoke(s *Server, inv *Invocation) {
	if !a.invokes {
		return
	}
	event := map[string]any{
		"eventType": "INVOKE", "deadlineMs": inv.Deadline.UnixMilli(), "requestId": inv.ID,
		"invokedFunctionArn": inv.ARN,
		"tracing":            map[string]string{"type": "X-Amzn-Trace-Id", "value": inv.TraceID},
	}
	a.event, _ = json.Marshal(event) // strings and a number always can be
	a.deliver(s)
}

// deliver writes the event to an extension that waits, in a goroutine of its own, as nobody knows when it reads: one
// event after the other. The server's mu is held.
func (a *agent) deliver(s *Server) {
	if a.waiting == nil || a.event == nil || a.writing || s.closed {
		return
	}
	c, text := a.waiting, a.event
	a.waiting, a.event, a.asked, a.writing = nil, nil, false, true
	s.wait.Go(func() {
		c.write(http.StatusOK, "application/json", "Lambda-Extension-Event-Identifier: "+uuid.NewString()+"\r\n", text)
		s.mu.Lock()
		defer s.mu.Unlock()
		a.writing = false
		a.deliver(s)
	})
}

// Shutdown tells the extensions that want to know it that the instance will end, why (spindown, timeout, failure) and
// until when they may go on. It returns how many were told.
func (s *Server) Shutdown(reason string, deadline time.Time) (told int) {
	// always can be
	text, _ := json.Marshal(map[string]any{"eventType": "SHUTDOWN", "shutdownReason": reason,
		"deadlineMs": deadline.UnixMilli()})
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.agents {
		if a.shutdown {
			a.event = text
			a.deliver(s)
			told++
		}
	}
	return told
}

// agentError serves an extension that says that it cannot start, or go on.
func (s *Server) agentError(c *conn, h http.Header, initial bool, body []byte) {
	a := s.byID(c, h)
	if a == nil {
		return
	}
	kind := h.Get("Lambda-Extension-Function-Error-Type")
	defer c.accepted() // when it is known, for then the extension ends
	if !initial {
		s.config.Handler.ExtensionFailed(a.name, kind)
		return
	}
	if kind == "" {
		kind = "Extension.InitError"
	}
	s.config.Handler.InitFailed(kind, body)
}
