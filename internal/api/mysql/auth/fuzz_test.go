package auth

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	vmysql "github.com/dolthub/vitess/go/mysql"

	"github.com/hikyaku/hikyaku/internal/access"
)

// script is a connection whose client says what is written down, and nothing after it.
type script struct {
	says    bytes.Reader
	heard   bytes.Buffer
	network string
}

func (s *script) Read(b []byte) (int, error)       { return s.says.Read(b) }
func (s *script) Write(b []byte) (int, error)      { return s.heard.Write(b) }
func (s *script) Close() error                     { return nil }
func (s *script) LocalAddr() net.Addr              { return s }
func (s *script) RemoteAddr() net.Addr             { return s }
func (s *script) SetDeadline(time.Time) error      { return nil }
func (s *script) SetReadDeadline(time.Time) error  { return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }
func (s *script) Network() string                  { return s.network }
func (s *script) String() string                   { return "192.0.2.7:1234" }

const fuzzSecret = "a fuzzer will not guess this"

func fuzzUsers(f testing.TB) *access.Users {
	users, err := access.New([]access.User{{Name: "ann", Secret: fuzzSecret}})
	if err != nil {
		f.Fatal(err)
	}
	return users
}

func fuzzServer(f testing.TB) *Server {
	s := New(fuzzUsers(f))
	if _, err := s.key(); err != nil { // once, and not while inputs are timed
		f.Fatal(err)
	}
	return s
}

// packet is a client's packet in an exchange: the server's packets have the even numbers.
func packet(number byte, text string) string {
	return string([]byte{byte(len(text)), byte(len(text) >> 8), byte(len(text) >> 16), number}) + text
}

// FuzzAnswers gives the methods any challenge and any answer, and any packets after it. Nobody comes in without having
// said the secret or a proof, nothing that is said comes back, and every refusal is an error of the protocol.
func FuzzAnswers(f *testing.F) {
	salt := []byte("01234567890123456789")
	challenge := string(salt) + "\x00"
	native := string(vmysql.ScrambleMysqlNativePassword(salt, []byte(fuzzSecret)))
	short := string(vmysql.ScrambleCachingSha2Password(salt, []byte(fuzzSecret)))
	f.Add("ann", challenge, native, "", true)
	f.Add("ann", challenge, short, "", false)
	f.Add("eve", challenge, short, "", false)
	f.Add("ann", challenge, fuzzSecret+"\x00", "", true)
	f.Add("ann", challenge, "", "", true)
	f.Add("ann", challenge, "\x00", "", true)
	f.Add("ann", "", "", "", true)
	f.Add("ann", "\x00", "x", packet(1, "\x02"), false)
	f.Add("ann", challenge, "x", packet(1, fuzzSecret+"\x00"), true)
	f.Add("ann", challenge, "x", packet(1, fuzzSecret+"\x00"), false)
	f.Add("ann", challenge, "x", packet(1, "\x02")+packet(3, strings.Repeat("x", 256)), false)
	f.Add("ann", challenge, "\x02", packet(1, strings.Repeat("\x00", 256)), false)
	f.Add("ann\x00", challenge, "x", "\xff\xff\xff\x01", false)
	server := fuzzServer(f)
	f.Fuzz(func(t *testing.T, name, challenge, answer, rest string, unix bool) {
		server.users = fuzzUsers(t) // who has failed often would have to wait
		if len(rest) > 2 && rest[2] > 0 {
			return // the library makes room for what a packet announces, and that would be all that is measured
		}
		for _, m := range server.AuthMethods() {
			conn := &script{network: "tcp"}
			if unix {
				conn.network = "unix"
			}
			conn.says.Reset([]byte(rest))
			c := &vmysql.Conn{Conn: conn}
			getter, err := m.HandleAuthPluginData(c, name, []byte(challenge), []byte(answer), conn)
			if c.Conn != net.Conn(conn) {
				t.Fatalf("%s leaves another connection behind", m.Name())
			}
			if err == nil {
				proved(t, m.Name(), getter, name, challenge, answer, rest, unix)
				continue
			}
			var said *vmysql.SQLError
			if getter != nil || !errors.As(err, &said) {
				t.Fatalf("%s: %v with %v", m.Name(), getter, err)
			}
			if strings.Contains(err.Error(), fuzzSecret) && !strings.Contains(name, fuzzSecret) {
				t.Fatalf("%s tells the secret: %v", m.Name(), err)
			}
		}
	})
}

// proved fails unless the client showed that it knows the secret.
func proved(t *testing.T, method vmysql.AuthMethodDescription, getter vmysql.Getter, name, challenge, answer,
	rest string, unix bool) {
	t.Helper()
	salt := []byte(strings.TrimSuffix(challenge, "\x00"))
	clear := strings.Contains(answer, fuzzSecret)
	ok := false
	switch method {
	case vmysql.MysqlNativePassword:
		ok = answer == string(vmysql.ScrambleMysqlNativePassword(salt, []byte(fuzzSecret)))
	case vmysql.CachingSha2Password:
		ok = len(answer) == sha256.Size &&
			answer == string(vmysql.ScrambleCachingSha2Password(salt, []byte(fuzzSecret))) ||
			unix && strings.Contains(rest, fuzzSecret)
	case vmysql.MysqlClearPassword:
		ok = clear
	}
	v, isVisitor := getter.(*Visitor)
	if !ok || name != "ann" || !isVisitor || v.User() == nil || v.User().Name != "ann" {
		t.Fatalf("%s let in %q with %q and %q", method, name, answer, rest)
	}
}

func TestMoreDataGoesOutUnderTheNextNumber(t *testing.T) {
	conn := &script{}
	c := &vmysql.Conn{Conn: conn}
	for number, size := range []int{1, 2, 451, 300, maxKeyPacket - 1} {
		conn.heard.Reset()
		data := bytes.Repeat([]byte{'k'}, size)
		if err := sendMoreData(c, data); err != nil {
			t.Fatal(err)
		}
		n := size + 1
		want := append([]byte{byte(n), byte(n >> 8), 0, byte(number), 1}, data...)
		if !bytes.Equal(conn.heard.Bytes(), want) {
			t.Errorf("%d bytes went out as %.20q…", size, conn.heard.Bytes())
		}
	}
	if err := sendMoreData(c, make([]byte, maxKeyPacket)); err == nil {
		t.Error("a packet that has no room for its length went out")
	}
}

// cut is a connection that nothing can be written to.
type cut struct{ script }

func (*cut) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestACutConnectionEndsTheExchange(t *testing.T) {
	s := fuzzServer(t)
	salt := []byte("01234567890123456789")
	for what, answer := range map[string][]byte{
		"a proof":               vmysql.ScrambleCachingSha2Password(salt, []byte(fuzzSecret)),
		"no proof":              []byte("x"),
		"a request for the key": {keyRequest},
	} {
		conn := &cut{}
		getter, err := sha2{s}.HandleAuthPluginData(&vmysql.Conn{Conn: conn}, "ann", append(bytes.Clone(salt), 0),
			answer, conn)
		if getter != nil || !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: %v, %v", what, getter, err)
		}
	}
}
