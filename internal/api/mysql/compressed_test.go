package mysql

import (
	"bytes"
	"encoding/binary"
	"net"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/api/mysql/compress"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/sampletest"
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

// TestCompressedConnectionsDoAllThatOthersDo, with statements and answers of several packets. A client that hangs up
// while it waits is noticed.
func TestCompressedConnectionsDoAllThatOthersDo(t *testing.T) {
	methods := map[string]compress.Method{"zlib": compress.Zlib, "zstd": compress.Zstd}
	for _, name := range sampletest.Of(t, amount(2, 1), "zlib", "zstd") {
		m := methods[name]
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Config{}, nil)
			r.makeJobs(0)
			c := r.dialCompressed(m)
			c.want("SELECT 'text'", "text")
			long := strings.Repeat("long text, ", 1_600_000)
			c.want("SELECT length('"+long+"') AS n", "17600000")
			c.write(0, []byte("\x03SELECT repeat('long text, ', 1600000)"))
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
	flag := uint32(1 << 5)
	if m != compress.Zlib {
		flag = 1 << 26
	}
	c := r.dial(identity{user: "root", flags: flag, more: "\x03"})
	c.conn = &commands{Conn: compress.Client(c.conn, m, door.NewBusy(1<<30))}
	return c
}

// commands is a compressed connection whose packets' numbers begin anew with each command.
type commands struct{ *compress.Conn }

func (c *commands) Write(p []byte) (int, error) {
	c.Anew()
	return c.Conn.Write(p)
}
