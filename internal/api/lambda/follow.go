package lambda

import "context"

// follow is the request's context that ends when the door closes, too.
func (c *call) follow() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(c.ctx())
	stop := context.AfterFunc(c.d.stopping, cancel)
	return ctx, func() { stop(); cancel() }
}
