package auth

import (
	"bytes"
	"fmt"
	"net"

	vmysql "github.com/dolthub/vitess/go/mysql"
)

const (
	headerBytes  = 4 // three of the length, and the packet's number
	maxKeyPacket = 1<<16 - 1
)

// sendMoreData sends a packet in the middle of the handshake.
//
// The library exports no way to write a packet, and keeps the packets' numbers, which every packet needs, to itself.
// But its own method for caching_sha2_password writes one when its cache accepts. So that is let write a packet into a
// buffer, which counts, and the packet that is wanted goes out under its number.
func sendMoreData(c *vmysql.Conn, data []byte) error {
	number, err := takeNumber(c)
	if err != nil {
		return err
	}
	n := 1 + len(data)
	if n > maxKeyPacket {
		return fmt.Errorf("a packet of %d bytes in the handshake is too long", n)
	}
	packet := append(make([]byte, 0, headerBytes+n), byte(n), byte(n>>8), 0, number, vmysql.AuthMoreDataPacket)
	_, err = c.Conn.Write(append(packet, data...))
	return err
}

// takeNumber takes the number of the packet that is written next.
func takeNumber(c *vmysql.Conn) (byte, error) {
	written := &catcher{Conn: c.Conn}
	c.Conn = written
	defer func() { c.Conn = written.Conn }()
	_, err := vmysql.NewSha2CachingAuthMethod(accepting{}, nil, nil).HandleAuthPluginData(c, "", []byte{0}, []byte{1},
		nil)
	if err != nil {
		return 0, err
	}
	if written.bytes.Len() <= headerBytes {
		return 0, fmt.Errorf("the protocol's library wrote %d bytes where a packet was due", written.bytes.Len())
	}
	return written.bytes.Bytes()[headerBytes-1], nil
}

// catcher is a connection whose writes are caught.
type catcher struct {
	net.Conn
	bytes bytes.Buffer
}

func (c *catcher) Write(b []byte) (int, error) { return c.bytes.Write(b) }

// accepting is a cache that accepts everybody.
type accepting struct{}

func (accepting) UserEntryWithCacheHash(*vmysql.Conn, []byte, string, []byte, net.Addr) (vmysql.Getter,
	vmysql.CacheState, error) {
	return nil, vmysql.AuthAccepted, nil
}
