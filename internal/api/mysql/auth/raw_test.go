package auth_test

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"testing"
	"time"
)

// Flags of the protocol that the hand-made client uses.
const (
	flagLongPassword     = 1 << 0
	flagProtocol41       = 1 << 9
	flagSSL              = 1 << 11
	flagSecureConnection = 1 << 15
	flagPluginAuth       = 1 << 19
	flagLenencAuth       = 1 << 21
)

const (
	flagsOld = flagLongPassword | flagProtocol41 | flagSecureConnection // before there were methods
	flagsNew = flagsOld | flagPluginAuth | flagLenencAuth
)

// raw is a client made by hand, which sends what drivers would not.
type raw struct {
	t      *testing.T
	conn   net.Conn
	number byte   // of the next packet, either way
	salt   []byte // of the last challenge
	method string // that the greeting names
}

// knock connects and reads the greeting. By tls, encryption is on.
func knock(t *testing.T, d door, way string) *raw {
	t.Helper()
	network, addr := "tcp", d.tcp
	if way == "unix" {
		network, addr = "unix", d.socket
	}
	conn, err := net.Dial(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	r := &raw{t: t, conn: conn}
	t.Cleanup(func() { r.conn.Close() })
	r.greeting(r.read())
	if way == "tls" {
		r.send(append(flags(flagsNew|flagSSL), make([]byte, 28)...))
		r.conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true}) // the name does not matter here
	}
	return r
}

func flags(f uint32) []byte { return binary.LittleEndian.AppendUint32(nil, f) }

// greeting takes the salt and the method out of the server's first packet.
func (r *raw) greeting(p []byte) {
	r.t.Helper()
	_, rest, ok := bytes.Cut(p[1:], []byte{0}) // protocol and version
	if !ok || len(rest) < 4+8+19+13 {
		r.t.Fatalf("the greeting is %q", p)
	}
	r.salt = append(bytes.Clone(rest[4:12]), rest[31:43]...)
	r.method = string(bytes.TrimRight(rest[44:], "\x00"))
}

// send writes one packet.
func (r *raw) send(p []byte) {
	r.t.Helper()
	if _, err := r.conn.Write(append([]byte{byte(len(p)), byte(len(p) >> 8), byte(len(p) >> 16), r.number},
		p...)); err != nil {
		r.t.Fatal(err)
	}
	r.number++
}

// read reads one packet, and sees that the server counts rightly.
func (r *raw) read() []byte {
	r.t.Helper()
	p, err := r.tryRead()
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

func (r *raw) tryRead() ([]byte, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(r.conn, head); err != nil {
		return nil, err
	}
	if head[3] != r.number {
		return nil, fmt.Errorf("packet %d where %d was due", head[3], r.number)
	}
	r.number++
	p := make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
	_, err := io.ReadFull(r.conn, p)
	return p, err
}

// hello sends the answer to the greeting.
func (r *raw) hello(f uint32, name, method string, answer []byte) {
	r.t.Helper()
	p := append(flags(f), 0, 0, 0, 1, 33)
	p = append(p, make([]byte, 23)...)
	p = append(append(p, name...), 0)
	switch {
	case f&flagLenencAuth != 0 && len(answer) > 250:
		p = append(p, 0xfc, byte(len(answer)), byte(len(answer)>>8))
	default:
		p = append(p, byte(len(answer)))
	}
	p = append(p, answer...)
	if f&flagPluginAuth != 0 {
		p = append(append(p, method...), 0)
	}
	r.send(p)
}

// switched reads the server's wish for another method.
func (r *raw) switched(to string) {
	r.t.Helper()
	p := r.read()
	method, salt, ok := bytes.Cut(p[1:], []byte{0})
	if p[0] != 0xfe || !ok || string(method) != to {
		r.t.Fatalf("no switch to %s: %q", to, p)
	}
	if len(salt) != 21 || bytes.Equal(salt[:20], r.salt) {
		r.t.Errorf("the challenge %q is not a new one", salt)
	}
	r.salt = salt[:20]
}

// more reads a packet in the middle of the handshake.
func (r *raw) more() []byte {
	r.t.Helper()
	p := r.read()
	if p[0] != 1 {
		r.t.Fatalf("no more data: %q", p)
	}
	return p[1:]
}

// in sees that the client is let in and can work.
func (r *raw) in(name string) {
	r.t.Helper()
	if p := r.read(); p[0] != 0 {
		r.t.Fatalf("not let in: %q", p)
	}
	r.number = 0
	r.send([]byte("\x03who"))
	if p := r.read(); !bytes.Equal(p, []byte{1}) {
		r.t.Fatalf("the result begins with %q", p)
	}
	for p := r.read(); ; p = r.read() {
		if bytes.Equal(p, append([]byte{byte(len(name))}, name...)) {
			return
		}
		if p[0] == 0xff || p[0] == 0xfe && len(p) > 5 {
			r.t.Fatalf("%q does not come: %q", name, p)
		}
	}
}

// out sees that the client is refused with the error of a wrong password, and the connection closed.
func (r *raw) out() {
	r.t.Helper()
	p := r.read()
	if len(p) < 9 || p[0] != 0xff || binary.LittleEndian.Uint16(p[1:]) != 1045 || string(p[3:9]) != "#28000" {
		r.t.Fatalf("not refused: %q", p)
	}
	r.over()
}

// over sees that the server closes the connection, whatever it says before.
func (r *raw) over() {
	r.t.Helper()
	for {
		p, err := r.tryRead()
		if err != nil {
			if e, ok := err.(net.Error); ok && e.Timeout() {
				r.t.Fatal("the server does not close the connection")
			}
			return
		}
		if p[0] == 0 {
			r.t.Fatalf("let in: %q", p)
		}
	}
}
