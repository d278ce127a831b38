package gate

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/door"
)

// script is a connection whose client sends some bytes and is gone.
type script struct {
	net.Conn
	in io.Reader
}

func (s *script) Read(p []byte) (int, error)      { return s.in.Read(p) }
func (s *script) Write(p []byte) (int, error)     { return len(p), nil }
func (s *script) Close() error                    { return nil }
func (s *script) SetReadDeadline(time.Time) error { return nil }

// FuzzCommands lets a client send anything: what is let through was sent, in the same order, and all of the budget
// comes back.
func FuzzCommands(f *testing.F) {
	f.Add([]byte("\x09\x00\x00\x00\x03SELECT 1\x01\x00\x00\x00\x0e"))
	f.Add([]byte("\x02\x00\x00\x00\x16x\x0a\x00\x00\x00\x18\x01\x00\x00\x00\x00\x00abc\x05\x00\x00\x00\x17\x01\x00\x00\x00"))
	f.Add([]byte("\xff\xff\xff\x00\x03SELECT"))
	f.Add([]byte("\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		const whole = 1 << 20
		budget := door.NewBusy(whole)
		refuse := func(q string) (string, error) {
			if len(q) > 0 && q[0] == 'x' {
				return "", errors.New("refused")
			}
			return q, nil
		}
		g := New(&script{in: bytes.NewReader(sent)}, Config{MaxPacket: 128 << 10, Budget: budget, Prepare: refuse,
			Stall: time.Minute})
		got, _ := io.ReadAll(g) // how it ends is the client's matter
		if len(got) > len(sent) {
			t.Errorf("%d bytes of %d were let through", len(got), len(sent))
		}
		for at := range got { // what is left out are whole packets
			i := bytes.IndexByte(sent, got[at])
			if i < 0 {
				t.Fatalf("byte %d was not sent", at)
			}
			sent = sent[i+1:]
		}
		if g.Done(); budget.Used() != 0 {
			t.Errorf("%d bytes of the budget are lost", budget.Used())
		}
	})
}
