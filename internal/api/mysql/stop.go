package mysql

import (
	"context"

	vmysql "github.com/dolthub/vitess/go/mysql"

	"github.com/hikyaku/hikyaku/internal/api/mysql/link"
)

// Close stops listening, lets statements under way finish until ctx is done, and ends all connections: what they own
// goes back.
func (d *Server) Close(ctx context.Context) error {
	return d.life.Close(func() error {
		d.listener.Shutdown()
		d.listener.Close()
		<-d.served
		d.endConnections(ctx)
		return d.engine.Close()
	})
}

// endConnections closes every connection and waits until none is served any more, or ctx is done.
func (d *Server) endConnections(ctx context.Context) {
	for _, p := range d.processes.Processes() {
		d.processes.Kill(p.Connection)
		d.sessions.KillConnection(p.Connection) //nolint:errcheck // it returns none
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		d.sessions.WaitForClosedConnections()
		// It returns before the last session has ended, which gives back what it owns under the lock that this takes.
		d.eachSession(func(*session) {})
	}()
	select {
	case <-over:
	case <-ctx.Done():
	}
}

// watch ends a context when the connection's client goes away.
func (d *Server) watch(ctx context.Context, conn *vmysql.Conn) (context.Context, func()) {
	c, ok := link.Of(conn.Conn)
	if !ok {
		return ctx, func() {}
	}
	return c.WatchContext(ctx)
}
