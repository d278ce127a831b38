package mysql

import (
	"bytes"
	"encoding/binary"
	"net"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/api/mysql/compress"
	"github.com/hikyaku/hikyaku/internal/door"
)

// TestTheGreetingAnnouncesWhatIsSpoken: zlib and zstd, UTF-8, and that autocommit is on.
func TestTheGreetingAnnouncesWhatIsSpoken(t *testing.T) {
	r := newRig(t, Config{}, nil)
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	p := (&rawClient{t: t, conn: conn}).must()
	at := bytes.IndexByte(p, 0) + 1 + 4 + 8 + 1
	flags := uint32(binary.LittleEndian.Uint16(p[at:])) | uint32(binary.LittleEndian.Uint16(p[at+5:]))<<16
	if flags&(1<<5) == 0 || flags&(1<<26) == 0 || p[at+2] != 255 || binary.LittleEndian.Uint16(p[at+3:]) != 2 {
		t.Errorf("capabilities %#x, character set %d, status %#x", flags, p[at+2], p[at+3:at+5])
	}
}

// TestCompressedConnectionsDoAllThatOthersDo, with statements and answers of several packets. A client that hangs up while it waits is noticed.
func TestCompressedConnectionsDoAllThatOthersDo(t *testing.T) {
	for name, m := range map[string]compress.Method{"zlib": compress.Zlib, "zstd": compress.Zstd} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Config{}, nil)
			r.makeJobs(0)
			c := r.dialCompressed(m)
			c.want("SELECT 'text'", "text")
			long := strings.Repeat("long text, ", 2_000_000)
			c.want("SELECT length('"+long+"') AS n", "22000000")
			c.write(0, []byte("\x03SELECT repeat('long text, ', 2000000)"))
			for range 3 { // the count, the column, its end
				c.must()
			}
			first, rest := c.must(), c.must()
			if len(first) != 1<<24-1 || len(first)+len(rest) != len(long)+9 {
				t.Errorf("%d and %d bytes came", len(first), len(rest))
			}
			c.must()
			c.write(0, []byte("\x03SELECT queue_wait('jobs', 3600)"))
			r.until("it waits", func() bool { return r.stats().Waiters == 1 })
			c.conn.Close()
			r.until("nobody waits", func() bool { return r.stats().Waiters == 0 })
			r.until("all bytes are given back", func() bool { return r.door.budget.Used() == 0 })
		})
	}
}

// dialCompressed logs in and is compressed from then on.
func (r *rig) dialCompressed(m compress.Method) *rawClient {
	r.t.Helper()
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { conn.Close() })
	c := &rawClient{t: r.t, conn: conn}
	c.must()
	flags := uint32(0x200 | 0x8 | 0x8000 | 0x80000)
	if m == compress.Zlib {
		flags |= 1 << 5
	} else {
		flags |= 1 << 26
	}
	login := binary.LittleEndian.AppendUint32(nil, flags)
	login = append(binary.LittleEndian.AppendUint32(login, 1<<24), 45)
	login = append(append(login, make([]byte, 23)...), "root\x00\x00test\x00mysql_native_password\x00\x03"...)
	c.write(1, login)
	if p := c.must(); p[0] != 0 {
		r.t.Fatalf("login: %q", p)
	}
	c.conn = &commands{Conn: compress.Client(conn, m, door.NewBusy(1<<30))}
	return c
}

// commands is a compressed connection whose packets' numbers begin anew with each command.
type commands struct{ *compress.Conn }

func (c *commands) Write(p []byte) (int, error) {
	c.Anew()
	return c.Conn.Write(p)
}
