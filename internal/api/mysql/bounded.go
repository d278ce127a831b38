package mysql

import (
	"errors"
	"net"
	"sync/atomic"
)

// maxPacket is max_allowed_packet, in bytes: a row of the largest size with every byte escaped, and some room.
const maxPacket = 129 << 20

// errTooBig: a client sent more than maxPacket at once.
var errTooBig = errors.New("the command is larger than max_allowed_packet")

// bounded is a connection that ends when its client sends more than maxPacket without waiting for an answer. The protocol's library reads into
// memory whatever a client announces: packets that belong together, and the parts of a prepared statement's values.
type bounded struct {
	net.Conn
	heard atomic.Int64 // bytes since something was written
}

// maxHeard leaves room for what TLS adds.
const maxHeard = maxPacket + maxPacket/64

// NetConn is the connection below, for whoever looks for what carries it.
func (b *bounded) NetConn() net.Conn { return b.Conn }

func (b *bounded) Read(p []byte) (int, error) {
	if b.heard.Load() > maxHeard {
		return 0, errTooBig
	}
	n, err := b.Conn.Read(p)
	b.heard.Add(int64(n))
	return n, err
}

func (b *bounded) Write(p []byte) (int, error) {
	b.heard.Store(0)
	return b.Conn.Write(p)
}
