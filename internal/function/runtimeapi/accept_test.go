package runtimeapi

import (
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// crowded is a listener that has no room for its first connections.
type crowded struct {
	net.Listener
	left atomic.Int64
}

func (c *crowded) Accept() (net.Conn, error) {
	if c.left.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: syscall.EMFILE}
	}
	return c.Listener.Accept()
}

// When too many files are open for a moment, the program that connects is served a moment later: it has but one
// endpoint.
func TestAProgramIsServedWhenThereIsRoomAgain(t *testing.T) {
	inner, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &crowded{Listener: inner}
	l.left.Store(3)
	s := serve(Config{Now: time.Now}, l)
	defer s.Close()
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 100)); n == 0 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}
