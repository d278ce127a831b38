package http

import (
	"context"

	"github.com/hikyaku/hikyaku/internal/access"
)

// Who is who asks for an act, for those who keep a record of it.
type Who struct {
	User    string // "": there are no users
	Address string
	Request string // the request's X-Request-Id, as much of it as is kept
}

type whoKey struct{}

// maxRequestID bounds what is kept of an id that a client chose.
const maxRequestID = 100

// WhoOf is who asked the door for what the context is of; ok is false where no act was asked for.
func WhoOf(ctx context.Context) (w Who, ok bool) {
	w, ok = ctx.Value(whoKey{}).(Who)
	return w, ok
}

// acts has the request's context tell who asks.
func (c *call) acts() {
	w := Who{User: nameOf(c.user), Address: c.r.RemoteAddr, Request: c.r.Header.Get("X-Request-Id")}
	w.Request = w.Request[:min(len(w.Request), maxRequestID)]
	c.r = c.r.WithContext(context.WithValue(c.ctx(), whoKey{}, w))
}

func nameOf(u *access.User) string {
	if u == nil {
		return ""
	}
	return u.Name
}

// did tells Options.Audit of an act that was done past the store. counts may be nil.
func (c *call) did(operation, object string, counts map[string]int) {
	if c.d.audit != nil {
		c.acts()
		c.d.audit(c.ctx(), operation, object, counts)
	}
}
