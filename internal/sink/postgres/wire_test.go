//go:build linux

package postgres

import (
	"bytes"
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// slowConn is a connection whose first write takes until the server has answered all of it, and somebody else is
// reading on: what a machine with too much to do makes of a greeting.
type slowConn struct {
	net.Conn
	greet sync.Once
	heard bool // the server is ready; used by the one reader there is
	again chan struct{}
	once  sync.Once
}

func (c *slowConn) Write(p []byte) (n int, err error) {
	n, err = c.Conn.Write(p)
	c.greet.Do(func() { <-c.again })
	return n, err
}

func (c *slowConn) Read(p []byte) (int, error) {
	if c.heard {
		c.once.Do(func() { close(c.again) })
	}
	n, err := c.Conn.Read(p)
	c.heard = c.heard || err != nil || bytes.HasSuffix(p[:n], []byte("Z\x00\x00\x00\x05I"))
	return n, err
}

func TestAGreetingThatTookLongLosesNoAnswer(t *testing.T) {
	config, err := pgconn.ParseConfig(server.PostgresURL("postgres"))
	must(t, err)
	config.TLSConfig, config.Fallbacks = nil, nil
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &slowConn{Conn: c, again: make(chan struct{})}, nil
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	w, err := dial(ctx, config)
	must(t, err)
	answer, err := w.ask(ctx, "SELECT 7")
	must(t, err)
	if len(answer) != 1 || answer[0][0] != "7" {
		t.Errorf("%q", answer)
	}
	must(t, w.close())
}
