package gate

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	vmysql "github.com/dolthub/vitess/go/mysql"

	"github.com/hikyaku/hikyaku/internal/door"
)

// recorded is a connection that keeps what is written to it, and whose client has one command more to send.
type recorded struct {
	net.Conn
	bytes.Buffer
	in io.Reader
}

func (r *recorded) Read(p []byte) (int, error)      { return r.in.Read(p) }
func (r *recorded) Write(p []byte) (int, error)     { return r.Buffer.Write(p) }
func (r *recorded) Close() error                    { return nil }
func (r *recorded) SetReadDeadline(time.Time) error { return nil }

// TestAnAnswerEndsWithItsError: rows that were written stay, the error stands where the end would, whichever form that
// has and however it comes, and the next command is served.
func TestAnAnswerEndsWithItsError(t *testing.T) {
	rows := []byte("\x02\x00\x00\x03\x01x\x05\x00\x00\x04\x04\xfe\x00\x00\x00")
	for _, end := range []string{"\x05\x00\x00\x05\xfe\x00\x00\x02\x00",
		"\x07\x00\x00\x05\xfe\x00\x00\x02\x00\x00\x00"} {
		for _, size := range []int{1, 2, 7, 10, 11, 12, 100} {
			for before := range len(rows) + 1 {
				conn := &recorded{in: bytes.NewReader([]byte("\x01\x00\x00\x00\x0e"))}
				g := New(conn, Config{MaxPacket: 1 << 20, Budget: door.NewBusy(1 << 20), Stall: time.Minute})
				_, _ = g.Write(rows[:before])
				g.EndWith(vmysql.NewSQLError(3024, "HY000", "too slow"))
				for rest := append(rows[before:len(rows):len(rows)], end...); len(rest) > 0; {
					n, err := g.Write(rest[:min(size, len(rest))])
					if err != nil {
						t.Fatal(err)
					}
					rest = rest[n:]
				}
				var next [5]byte
				if _, err := io.ReadFull(g, next[:]); err != nil || next[4] != 0x0e {
					t.Fatalf("the next command: % x, %v", next, err)
				}
				want := string(rows) + "\x11\x00\x00\x05\xff\xd0\x0b#HY000too slow"
				if got := conn.String(); got != want {
					t.Fatalf("pieces of %d behind %d bytes: %q, not %q", size, before, got, want)
				}
				_, _ = g.Write(rows)
				if got := conn.String(); got != want+string(rows) {
					t.Fatalf("the next answer is %q", got[len(want):])
				}
				g.Done()
			}
		}
	}
}

// TestAnAnswerWithoutAnEndEndsTheConnection: nothing is told that is not so.
func TestAnAnswerWithoutAnEndEndsTheConnection(t *testing.T) {
	conn := &recorded{in: bytes.NewReader([]byte("\x01\x00\x00\x00\x0e"))}
	g := New(conn, Config{MaxPacket: 1 << 20, Budget: door.NewBusy(1 << 20), Stall: time.Minute})
	g.EndWith(errors.New("too slow"))
	_, _ = g.Write([]byte("\x02\x00\x00\x03\x01x"))
	if n, err := g.Read(make([]byte, 5)); err == nil {
		t.Errorf("%d bytes of the next command were let through", n)
	}
}
