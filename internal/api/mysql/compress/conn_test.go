package compress

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/hikyaku/hikyaku/internal/door"
)

// TestBothSidesReadWhatTheOtherWrote sends texts of many sizes through both methods, in packets that do not end where a
// write does.
func TestBothSidesReadWhatTheOtherWrote(t *testing.T) {
	for _, m := range []Method{Zlib, Zstd} {
		budget := door.NewBusy(64 << 20)
		a, b := net.Pipe()
		here, there := Client(a, m, budget), Client(b, m, budget)
		random := rand.NewChaCha8([32]byte{1})
		for _, n := range []int{1, 49, 50, 51, 4096, 70_000, 1<<24 - 1, 1 << 24} {
			noise := make([]byte, min(n/2, 100_000))
			_, _ = random.Read(noise) // it never fails
			text := append(bytes.Repeat([]byte("x"), n-len(noise)), noise...)
			go func() {
				if _, err := here.Write(text); err != nil {
					t.Error(err)
				}
			}()
			got := make([]byte, n)
			if _, err := io.ReadFull(there, got); err != nil || !bytes.Equal(got, text) {
				t.Fatalf("method %d: %d bytes came otherwise: %v", m, n, err)
			}
			if budget.Used() != 0 {
				t.Errorf("method %d: %d bytes of the budget are lost", m, budget.Used())
			}
		}
		here.Close()
		there.Close()
	}
}

// TestAWindowIsCountedHoweverLittleIsInIt sends the beginning of a small packet with a large window, which the client
// does not end.
func TestAWindowIsCountedHoweverLittleIsInIt(t *testing.T) {
	for _, window := range []int{8 << 20, 64 << 20} {
		var packed bytes.Buffer
		w, err := zstd.NewWriter(&packed, zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"a packet", " of zstd"} { // in two, so that the frame does not say how long it is
			if _, err := w.Write([]byte(part)); err != nil {
				t.Fatal(err)
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		n := packed.Len() + 100 // more is to come
		out := &script{}
		out.in.Reset(append([]byte{byte(n), byte(n >> 8), 0, 0, 200, 0, 0}, packed.Bytes()...))
		budget := door.NewBusy(64 << 20)
		c := New(out, Zstd, budget)
		_, err = io.ReadFull(c, make([]byte, 16))
		switch used := budget.Used(); {
		case window > maxWindow && !errors.Is(err, ErrMalformed):
			t.Errorf("a window of %d bytes is read: %v", window, err)
		case window <= maxWindow && (err != nil || used < int64(window)):
			t.Errorf("a window of %d bytes counts as %d: %v", window, used, err)
		}
		if c.Release(); budget.Used() != 0 {
			t.Errorf("%d bytes of the budget are lost", budget.Used())
		}
	}
}

// TestOnlyThePacketThatLetsInIsPlain, however it is written.
func TestOnlyThePacketThatLetsInIsPlain(t *testing.T) {
	out := &script{}
	c := New(out, Zlib, door.NewBusy(1<<20))
	for _, part := range []string{"\x03", "\x00\x00", "\x02O", "K!", "\x01\x00\x00\x00x"} {
		if _, err := c.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := out.out.String(), "\x03\x00\x00\x02OK!\x05\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00x"; got != want {
		t.Errorf("%q was written, want %q", got, want)
	}
}

// script is a connection whose client sends some bytes and is gone.
type script struct {
	net.Conn
	in  bytes.Reader
	out bytes.Buffer
}

func (s *script) Read(p []byte) (int, error)  { return s.in.Read(p) }
func (s *script) Write(p []byte) (int, error) { return s.out.Write(p) }
func (s *script) Close() error                { return nil }

// FuzzPackets lets a client send anything: it is read or refused, and all of the budget comes back.
func FuzzPackets(f *testing.F) {
	for _, m := range []Method{Zlib, Zstd} {
		out := &script{}
		c := Client(out, m, door.NewBusy(1<<20))
		_, _ = c.Write([]byte("hello"))
		_, _ = c.Write(bytes.Repeat([]byte("hello "), 20_000))
		f.Add(out.out.Bytes(), m == Zstd)
	}
	f.Fuzz(func(t *testing.T, sent []byte, zstd bool) {
		m := Zlib
		if zstd {
			m = Zstd
		}
		in := &script{}
		in.in.Reset(sent)
		budget := door.NewBusy(40 << 20)
		c := New(in, m, budget)
		n, err := io.Copy(io.Discard, c)
		if err == nil && len(sent) > 0 && n == 0 && len(sent) >= packetHead && size(sent) != 0 {
			t.Error("something was lost")
		}
		if c.Release(); budget.Used() != 0 {
			t.Errorf("%d bytes of the budget are lost", budget.Used())
		}
		if errors.Is(err, door.ErrBusy) {
			t.Errorf("nobody else takes of the budget: %v", err)
		}
	})
}
