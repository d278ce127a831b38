package mysql

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/hikyaku/hikyaku/internal/door"
)

// The library sets aside what a packet says that it has, 16 MiB at most, before any of it is there, and before anybody
// has shown who he is. So a packet of a login that is not small takes room first. What is under TLS is not seen, so
// that a login there takes room for the largest.
const (
	smallLogin   = 4 << 10
	largestLogin = 128 << 10 // attributes of a connection have 64 KiB at most
	secureLogin  = 17 << 20
	loginShare   = 8               // which part of the account of bytes logins may take
	loginTime    = 5 * time.Second // how long one waits for room
)

// capSecure is the client's capability that asks for TLS.
const capSecure = 1 << 11

var errLogin = errors.New("too much for a login")

// login is a connection whose client has not shown yet who it is. It is for one goroutine at a time.
type login struct {
	net.Conn
	of    *door.Hold
	tls   bool // TLS is to be had
	over  bool // it has shown that, or TLS is spoken
	head  []byte
	left  int // bytes of the packet, behind its head, that are still to come
	begun bool
}

func newLogin(conn net.Conn, of *door.Hold, tls bool) *login {
	return &login{Conn: conn, of: of, tls: tls}
}

// NetConn is the connection below.
func (l *login) NetConn() net.Conn { return l.Conn }

// Read implements net.Conn. It fails where there is no room for what comes.
func (l *login) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	for rest := p[:n]; len(rest) > 0 && !l.over; {
		used, err := l.look(rest)
		if err != nil {
			return 0, err
		}
		rest = rest[used:]
	}
	return n, err
}

// headBytes are those of a packet, and of the first one the capabilities behind them.
const headBytes = 4

// look looks at some bytes of what comes, and returns how many.
func (l *login) look(b []byte) (used int, err error) {
	if l.left > 0 {
		used = min(l.left, len(b))
		l.left -= used
		if !l.begun {
			l.head = append(l.head, b[:min(used, 2*headBytes-len(l.head))]...)
			if len(l.head) == 2*headBytes {
				l.begun = true
				if l.tls && binary.LittleEndian.Uint32(l.head[headBytes:])&capSecure != 0 {
					l.over = true
					return used, l.take(min(secureLogin, l.of.Of.Limit()))
				}
			}
		}
		if l.left == 0 {
			l.begun, l.head = true, l.head[:0]
		}
		return used, nil
	}
	used = min(headBytes-len(l.head), len(b))
	if l.head = append(l.head, b[:used]...); len(l.head) < headBytes {
		return used, nil
	}
	l.left = int(l.head[0]) | int(l.head[1])<<8 | int(l.head[2])<<16
	switch {
	case l.left > largestLogin:
		return 0, fmt.Errorf("%w: a packet of %d bytes", errLogin, l.left)
	case l.left > smallLogin:
		err = l.take(4 * int64(l.left))
	}
	if l.begun || l.left == 0 {
		l.head = l.head[:0]
	}
	return used, err
}

func (l *login) take(n int64) error {
	ctx, cancel := context.WithTimeout(context.Background(), loginTime)
	defer cancel()
	if err := l.of.Take(ctx, n); err != nil {
		return fmt.Errorf("%w: %w", errLogin, err)
	}
	return nil
}

// shown is called when the client has shown who it is. From then on there are other bounds.
func (l *login) shown() {
	l.over = true
	l.of.End()
}

// loginOf is the login below a connection; nil: there is none.
func loginOf(conn net.Conn) *login {
	for {
		switch c := conn.(type) {
		case *login:
			return c
		case interface{ NetConn() net.Conn }:
			conn = c.NetConn()
		default:
			return nil
		}
	}
}
