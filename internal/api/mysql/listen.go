package mysql

import (
	"context"
	"net"
	"sync/atomic"

	"github.com/hikyaku/hikyaku/internal/api/mysql/compress"
	"github.com/hikyaku/hikyaku/internal/api/mysql/link"
	"github.com/hikyaku/hikyaku/internal/api/mysql/settings"
	"github.com/hikyaku/hikyaku/internal/door"
)

// listen opens the address and the socket. The socket that nobody asked for is left out where it cannot be made or is
// another's.
func (d *Server) listen(ctx context.Context) (*limited, error) {
	c := link.Config{TCP: d.config.Listen, Report: d.report, Count: d.traffic.of.Listen,
		Open: d.traffic.of.Open}
	l := &limited{max: int64(d.config.MaxConnections), standing: d.standing, logins: d.logins, traffic: d.traffic.of,
		tls: d.config.TLS.On()}
	switch d.config.Socket {
	case settings.NoSocket:
	case "":
		c.Socket = d.defaultSocket
		if both, err := link.Listen(ctx, c); err == nil {
			l.Listener = both
			return l, nil
		}
		c.Socket = ""
	default:
		c.Socket = d.config.Socket
	}
	var err error
	l.Listener, err = link.Listen(ctx, c)
	return l, err
}

// limited refuses connections beyond a number, and those that there is no room for, and tells the client so.
type limited struct {
	*link.Listener
	max      int64
	standing *door.Busy // has room for door.ConnStands of each
	logins   *door.Busy // has room for what logins take
	traffic  *door.Traffic
	tls      bool
	open     atomic.Int64
}

// Accept returns the next connection that is not one too many. It counts until ended is called.
func (l *limited) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.open.Add(1) <= l.max && l.standing.Try(door.ConnStands) {
			return compress.Greet(newLogin(conn, &door.Hold{Of: l.logins, Traffic: l.traffic}, l.tls)), nil
		}
		l.open.Add(-1)
		// the first bytes of a connection wait for nobody; a client that is gone misses nothing
		_, _ = conn.Write(tooMany)
		_ = conn.Close()
	}
}

// ended is called once for each connection that Accept returned.
func (l *limited) ended() {
	l.open.Add(-1)
	l.standing.Give(door.ConnStands)
}

// tooMany is the error packet that stands in the place of the greeting. Clients look for no SQLSTATE in it yet.
var tooMany = func() []byte {
	const text = "Too many connections"
	packet := append([]byte{byte(3 + len(text)), 0, 0, 0, 0xff}, erTooManyConnections&0xff, erTooManyConnections>>8)
	return append(packet, text...)
}()

// addrHost is where a client is, without its port; "localhost" when it came by the socket.
func addrHost(addr net.Addr) string {
	if addr.Network() == "unix" {
		return "localhost"
	}
	if host, _, err := net.SplitHostPort(addr.String()); err == nil {
		return host
	}
	return addr.String()
}
