package mysql

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	vmysql "github.com/dolthub/vitess/go/mysql"
)

// rawClient speaks the protocol by the byte, so that it can do what no driver does.
type rawClient struct {
	t    *testing.T
	conn net.Conn
}

// dialRaw connects and logs in, to the database test and without a password.
func (r *rig) dialRaw() *rawClient {
	r.t.Helper()
	return r.dial(identity{user: "root"})
}

func (r *rig) dial(who identity) *rawClient {
	r.t.Helper()
	return logIn(r.t, "tcp", r.addr, who)
}

// identity is what a client says of itself when it logs in.
type identity struct {
	user, secret string
	flags        uint32 // besides those that all set
	more         string // behind the packet's usual fields
	old          bool   // it knows no methods of authentication by their names
}

// logIn connects to the database test, by mysql_native_password.
func logIn(t *testing.T, network, addr string, who identity) *rawClient {
	t.Helper()
	c, ok := knock(t, network, addr, who)
	if ok[0] != 0 {
		t.Fatalf("login: %q", ok)
	}
	return c
}

// knock sends what logIn does, and returns what the server says to it.
func knock(t *testing.T, network, addr string, who identity) (c *rawClient, answer []byte) {
	t.Helper()
	conn, err := net.Dial(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	c = &rawClient{t: t, conn: conn}
	greeting := c.must()
	if greeting[0] != 10 {
		t.Fatalf("greeting %q", greeting)
	}
	at := bytes.IndexByte(greeting, 0) + 1 + 4
	salt := append(bytes.Clone(greeting[at:at+8]), greeting[at+8+1+2+1+2+2+1+10:][:12]...)
	var proof []byte
	if who.secret != "" {
		proof = vmysql.ScrambleMysqlNativePassword(salt, []byte(who.secret))
	}
	const protocol41, connectWithDB, secureConnection, pluginAuth = 0x200, 0x8, 0x8000, 0x80000
	flags, method := who.flags|protocol41|connectWithDB|secureConnection, ""
	if !who.old {
		flags, method = flags|pluginAuth, "mysql_native_password\x00"
	}
	login := binary.LittleEndian.AppendUint32(nil, flags)
	login = binary.LittleEndian.AppendUint32(login, 1<<24)
	login = append(login, 45) // utf8mb4
	login = append(append(append(login, make([]byte, 23)...), who.user...), 0, byte(len(proof)))
	login = append(append(login, proof...), "test\x00"+method+who.more...)
	c.write(1, login)
	return c, c.must()
}

// write sends a packet, or two.
func (c *rawClient) write(sequence byte, payload []byte) {
	c.t.Helper()
	if most := 1<<24 - 1; len(payload) >= most {
		if _, err := c.conn.Write(append([]byte{0xff, 0xff, 0xff, sequence}, payload[:most]...)); err != nil {
			c.t.Error(err)
		}
		sequence, payload = sequence+1, payload[most:]
	}
	header := []byte{byte(len(payload)), byte(len(payload) >> 8), byte(len(payload) >> 16), sequence}
	if _, err := c.conn.Write(append(header, payload...)); err != nil {
		c.t.Error(err)
	}
}

// read returns the next packet.
func (c *rawClient) read() ([]byte, error) {
	_ = c.conn.SetReadDeadline(time.Now().Add(time.Minute)) // an answer that does not come fails the test
	var header [4]byte
	if _, err := io.ReadFull(c.conn, header[:]); err != nil {
		return nil, err
	}
	payload := make([]byte, int(header[0])|int(header[1])<<8|int(header[2])<<16)
	_, err := io.ReadFull(c.conn, payload)
	return payload, err
}

// query sends a statement and returns the values of the only row of its answer, which has text columns without anything
// beyond 250 bytes.
func (c *rawClient) query(statement string) ([]string, error) {
	c.t.Helper()
	c.write(0, append([]byte{3}, statement...))
	return c.row()
}

func (c *rawClient) row() (values []string, err error) {
	first, err := c.read()
	switch {
	case err != nil:
		return nil, err
	case first[0] == 0:
		return nil, nil
	case first[0] == 0xff:
		return nil, fmt.Errorf("error %d: %s", binary.LittleEndian.Uint16(first[1:]), first[9:])
	}
	for range int(first[0]) + 1 { // the columns, and the end of them
		if _, err := c.read(); err != nil {
			return nil, err
		}
	}
	for {
		row, err := c.read()
		if err != nil || row[0] == 0xfe && len(row) < 9 {
			return values, err
		}
		for len(row) > 0 {
			if row[0] == 0xfb {
				values, row = append(values, "NULL"), row[1:]
				continue
			}
			n := int(row[0])
			values, row = append(values, string(row[1:1+n])), row[1+n:]
		}
	}
}

// want fails the test when a statement's only row is another.
func (c *rawClient) want(statement string, values ...string) {
	c.t.Helper()
	got, err := c.query(statement)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(values) {
		c.t.Errorf("%s: got %q, %v, want %q", statement, got, err, values)
	}
}
