package http

import "github.com/hikyaku/hikyaku/internal/access"

// acts has the request's context tell who asks.
func (c *call) acts() {
	c.r = c.r.WithContext(access.Asked(c.ctx(), c.user, c.r.RemoteAddr, c.r.Header.Get("X-Request-Id")))
}

// did tells Options.Audit of an act that was done past the store. counts may be nil.
func (c *call) did(operation, object string, counts map[string]int) {
	if c.d.audit != nil {
		c.acts()
		c.d.audit(c.ctx(), operation, object, counts)
	}
}
