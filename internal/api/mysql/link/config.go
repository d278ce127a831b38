package link

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"time"
)

// Config says where to listen, and how long a connection may leave the server waiting.
type Config struct {
	// TCP is a host:port; "" does not listen on the network. Port 0 takes a free one: see Listener.Addrs.
	TCP string
	// Socket is the path of a socket in the file system; "" makes none. As long as it is listened on there is a file of
	// the same name and .lock beside it.
	Socket string
	// SocketMode are the permissions of the socket; to connect, a program needs to be allowed to write. 0: 0777,
	// everybody on this machine, as MySQL does it.
	SocketMode fs.FileMode
	// Handshake is how long a client may take from the first byte on to Conn.Ready. 0: 10 seconds; below 0: no end.
	Handshake time.Duration
	// Stall is how long a client may take nothing of what is written to it. 0: 60 seconds; below 0: no end.
	Stall time.Duration
	// Open opens TCP. nil: as the system does it.
	Open func(ctx context.Context, lc *net.ListenConfig, addr string) (net.Listener, error)
	// Count wraps a listener whose connections and bytes are counted. nil: nobody counts.
	Count func(net.Listener) net.Listener
	// Report is told when connections can not be accepted for now, for instance because the process is out of file
	// descriptors. It may be called from several goroutines. nil: nobody is told.
	Report func(error)
}

const (
	defaultHandshake = 10 * time.Second
	defaultStall     = 60 * time.Second
	defaultMode      = fs.FileMode(0o777)
)

// ErrConfig is what an error about a Config that no machine could serve is.
var ErrConfig = errors.New("nothing can be listened on so")

func (c Config) withDefaults() Config {
	if c.SocketMode == 0 {
		c.SocketMode = defaultMode
	}
	if c.Handshake == 0 {
		c.Handshake = defaultHandshake
	}
	if c.Stall == 0 {
		c.Stall = defaultStall
	}
	if c.Open == nil {
		c.Open = func(ctx context.Context, lc *net.ListenConfig, addr string) (net.Listener, error) {
			return lc.Listen(ctx, "tcp", addr)
		}
	}
	if c.Report == nil {
		c.Report = func(error) {}
	}
	return c
}

func (c Config) check() error {
	switch {
	case c.TCP == "" && c.Socket == "":
		return fmt.Errorf("%w: neither an address nor a socket is given", ErrConfig)
	case strings.HasPrefix(c.Socket, "@"), strings.ContainsRune(c.Socket, 0):
		return fmt.Errorf("%w: socket %q is no path of the file system (permissions could not protect it)", ErrConfig,
			c.Socket)
	case len(c.Socket) > maxSocketPath:
		return fmt.Errorf("%w: the path of socket %s has %d bytes, and the system takes %d (choose a shorter one)",
			ErrConfig, c.Socket, len(c.Socket), maxSocketPath)
	case c.SocketMode&^fs.ModePerm != 0:
		return fmt.Errorf("%w: the permissions of the socket, %v, are more than rwx for user, group and others",
			ErrConfig, c.SocketMode)
	}
	return nil
}
