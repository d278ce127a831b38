package compress

import (
	"bytes"
	"encoding/binary"
	"net"
)

// Method is how a connection is compressed.
type Method int

// The methods.
const (
	None Method = iota
	Zlib
	Zstd
)

// The bits of a client's and a server's capabilities.
const (
	capZlib = 1 << 5
	capZstd = 1 << 26
)

const (
	headBytes   = 4 // of a packet
	statusAuto  = 2 // SERVER_STATUS_AUTOCOMMIT
	utf8mb4     = 255
	beforeFlags = 4 + 8 + 1 // in the greeting, behind the version: the connection's number, salt, a zero
)

// Greeting is a connection whose server's greeting announces compression, and whose client's first packet is looked at.
// Both are sent before any encryption.
type Greeting struct {
	net.Conn
	written []byte // of the greeting, until it is whole
	greeted bool
	read    []byte // the first bytes of the client
}

// Greet makes a Greeting of a connection on which nothing was said yet.
func Greet(conn net.Conn) *Greeting { return &Greeting{Conn: conn} }

// NetConn is the connection below.
func (g *Greeting) NetConn() net.Conn { return g.Conn }

// Write writes what the library sends. Its greeting gets what the library does not know: compression, the server's
// character set, and that autocommit is on.
func (g *Greeting) Write(p []byte) (int, error) {
	if g.greeted {
		return g.Conn.Write(p)
	}
	g.written = append(g.written, p...)
	if len(g.written) < headBytes || len(g.written) < headBytes+size(g.written) {
		return len(p), nil
	}
	g.greeted = true
	announce(g.written[headBytes : headBytes+size(g.written)])
	whole := g.written
	g.written = nil
	if _, err := g.Conn.Write(whole); err != nil {
		return 0, err
	}
	return len(p), nil
}

func size(packet []byte) int {
	return int(packet[0]) | int(packet[1])<<8 | int(packet[2])<<16
}

// announce changes a greeting. Anything else, as an error in its place, stays as it is.
func announce(greeting []byte) {
	end := bytes.IndexByte(greeting, 0)
	at := end + 1 + beforeFlags
	if len(greeting) == 0 || greeting[0] != 10 || end < 0 || len(greeting) < at+2+1+2+2 {
		return
	}
	low, high := greeting[at:], greeting[at+5:]
	binary.LittleEndian.PutUint16(low, binary.LittleEndian.Uint16(low)|capZlib)
	greeting[at+2] = utf8mb4
	binary.LittleEndian.PutUint16(greeting[at+3:], binary.LittleEndian.Uint16(greeting[at+3:])|statusAuto)
	binary.LittleEndian.PutUint16(high, binary.LittleEndian.Uint16(high)|capZstd>>16)
}

// Read reads, and keeps the first bytes.
func (g *Greeting) Read(p []byte) (int, error) {
	n, err := g.Conn.Read(p)
	if missing := headBytes + 4 - len(g.read); missing > 0 {
		g.read = append(g.read, p[:min(n, missing)]...)
	}
	return n, err
}

// ClientFlags are the capabilities that the client said it has, in its first packet. known is false before that came.
func (g *Greeting) ClientFlags() (flags uint32, known bool) {
	if len(g.read) < headBytes+4 {
		return 0, false
	}
	return binary.LittleEndian.Uint32(g.read[headBytes:]), true
}

// Chosen is how a connection's client wants to be spoken to: zlib where it knows both, as with MySQL.
func Chosen(conn net.Conn) Method {
	for {
		switch c := conn.(type) {
		case *Greeting:
			switch flags, _ := c.ClientFlags(); {
			case flags&capZlib != 0:
				return Zlib
			case flags&capZstd != 0:
				return Zstd
			}
			return None
		case interface{ NetConn() net.Conn }:
			conn = c.NetConn()
		default:
			return None
		}
	}
}
