package http

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/door"
)

// mux serves the table of routes: one pattern a path, so that a wrong method is answered as a problem too. The pages
// that console makes of it are beside them.
func (s *Server) mux(console func(http.Handler, bool) http.Handler) http.Handler {
	mux := http.NewServeMux()
	methods := map[string]map[string]route{}
	for _, r := range s.routes() {
		if methods[r.path] == nil {
			methods[r.path] = map[string]route{}
		}
		methods[r.path][r.method] = r
	}
	for path, routes := range methods {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			method := r.Method
			if method == http.MethodHead {
				method = http.MethodGet
			}
			found, ok := routes[method]
			if !ok {
				found = s.wrongMethod(routes)
			}
			s.serve(found, w, r)
		})
	}
	if console != nil && s.config.Console != "off" {
		s.pages(mux, console(mux, s.config.Console == "read"))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.serve(route{operation: "none", open: true, handle: func(c *call) error {
			return noPath.problemf("there is nothing at %.200s", c.r.URL.Path)
		}}, w, r)
	})
	return mux
}

// pagesAt is where the pages of the console are: no namespace has this name. /console leads there.
const pagesAt = "/-/console/"

// pages serves the pages of the console, until the door stops.
func (s *Server) pages(mux *http.ServeMux, console http.Handler) {
	page := route{operation: "console", handle: func(c *call) error {
		ctx, cancel := s.untilStop(c.ctx())
		defer cancel()
		console.ServeHTTP(c.w, c.r.WithContext(ctx))
		return nil
	}}
	mux.HandleFunc(pagesAt, func(w http.ResponseWriter, r *http.Request) { s.serve(page, w, r) })
	for _, path := range []string{"/console", "/console/{$}"} {
		mux.Handle("GET "+path, http.RedirectHandler(pagesAt, http.StatusTemporaryRedirect))
	}
}

func (s *Server) wrongMethod(routes map[string]route) route {
	var allowed []string
	for m := range routes {
		allowed = append(allowed, m)
	}
	slices.Sort(allowed)
	return route{operation: "none", open: true, handle: func(c *call) error {
		c.w.Header().Set("Allow", strings.Join(allowed, ", "))
		return badMethod.problemf("%.20s is not for %.200s", c.r.Method,
			c.r.URL.Path).withHint("use " + strings.Join(allowed, " or "))
	}}
}

// serve runs a handler with everything around it: who comes, what an error and a panic become, room and metrics.
func (s *Server) serve(rt route, w http.ResponseWriter, r *http.Request) {
	c := &call{d: s, w: newResponse(w, s.config.StallTimeout), r: r, hold: door.Hold{Of: s.busy, Traffic: s.traffic},
		started: time.Now()}
	done := s.metrics.request(rt.operation)
	defer func() {
		status := or(c.w.status, http.StatusOK)
		done(status, time.Since(c.started))
		s.traffic.Ended(rt.operation, strconv.Itoa(status))
	}()
	defer func() {
		c.hold.End()
		if v := recover(); v != nil {
			s.panicked(c, v)
		}
	}()
	if r.ContentLength != 0 {
		// Also a body that the handler leaves unread: net/http reads on to find the next request.
		_ = c.w.control.SetReadDeadline(c.started.Add(s.config.BodyTimeout)) // a recorder has none
	}
	err := s.admit(c, rt)
	if err == nil {
		err = rt.handle(c)
	}
	if err != nil {
		s.fail(c, c.otherKind(err))
	}
}

// panicked answers 500 when nothing was written, and cuts the connection otherwise. Others go on.
func (s *Server) panicked(c *call, v any) {
	if v == http.ErrAbortHandler {
		panic(v) // net/http cuts the connection without a word
	}
	s.report(fmt.Errorf("http door: panic at %s %s: %v\n%s", c.r.Method, c.r.URL.Path, v, debug.Stack()))
	if c.w.status != 0 {
		panic(http.ErrAbortHandler)
	}
	_ = internal.problem("the request ran into a defect; the server's log has it").write(c.w) // nobody to tell
}

// fail answers with a problem. When the answer has begun already, cutting the connection is the only way to say so.
func (s *Server) fail(c *call, err error) {
	s.note(err)
	if c.w.status != 0 {
		panic(http.ErrAbortHandler)
	}
	if c.ctx().Err() != nil && errors.Is(err, context.Canceled) {
		c.w.status = statusGone // for the metrics: there is nobody left to answer
		panic(http.ErrAbortHandler)
	}
	p, known := problemOf(err)
	if !known {
		s.report(fmt.Errorf("http door: %s %s: %w", c.r.Method, c.r.URL.Path, err))
	}
	if p.Status == http.StatusUnauthorized {
		c.w.Header().Add("WWW-Authenticate", `Bearer realm="hikyaku"`)
		c.w.Header().Add("WWW-Authenticate", `Basic realm="hikyaku", charset="UTF-8"`)
	}
	_ = p.write(c.w) // a client that is gone misses it
}

// statusGone counts, in metrics, the requests whose client went away first.
const statusGone = 499

// admit refuses strangers, and web pages that try to use the browser of somebody who can reach the door.
func (s *Server) admit(c *call, rt route) error {
	if err := s.origins.Check(c.r); err != nil {
		return crossOrigin.problem(err.Error()).withHint("web pages of other origins cannot use this door")
	}
	if rt.open {
		return nil
	}
	if !s.users.Any() {
		if !localHost(c.r.Host) {
			return crossOrigin.problemf("Host: %.100q is not this machine", c.r.Host).
				withHint("without users the door answers only to localhost and addresses; add users: to reach it by " +
					"a name")
		}
		return nil
	}
	user, err := s.authenticate(c.r)
	var slow *access.SlowError
	switch {
	case errors.As(err, &slow):
		c.w.Header().Set("Retry-After", strconv.Itoa(slow.Seconds()))
		return slowed.problem(slow.Error())
	case errors.Is(err, access.ErrDenied):
		return unauthenticated.problem("")
	case err != nil:
		return err
	}
	c.user = user
	return nil
}

// localHost tells whether a Host header can come from a program that meant this machine. A name cannot be trusted: any
// web site may let its own name point here.
func localHost(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	return host == "" || access.LoopbackHost(host) || net.ParseIP(host) != nil
}

func (s *Server) authenticate(r *http.Request) (*access.User, error) {
	from := access.Attempt{Door: "http", Address: r.RemoteAddr}
	if name, secret, ok := r.BasicAuth(); ok {
		return s.users.Login(r.Context(), from, name, secret)
	}
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		token = ""
	}
	return s.users.Token(r.Context(), from, strings.TrimSpace(token))
}
