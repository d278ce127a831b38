package pubsub

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/hikyaku/hikyaku/internal/door"
)

// TestADrippingFrameEnds: a frame that comes byte by byte, a header without an end, and silence between two frames,
// which may last.
func TestADrippingFrameEnds(t *testing.T) {
	var whole, open bytes.Buffer
	for _, b := range []*bytes.Buffer{&whole, &open} {
		b.WriteString(preface)
		if err := http2.NewFramer(b, nil).WriteSettings(); err != nil {
			t.Fatal(err)
		}
	}
	if err := http2.NewFramer(&open,
		nil).WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		sent []byte
		drip []byte
		ends time.Duration // 0: not within an hour
	}{
		"silence":          {whole.Bytes(), nil, 0},
		"a frame's header": {whole.Bytes(), bytes.Repeat([]byte{255}, 100), door.HeaderTime},
		"a frame's payload": {append(bytes.Clone(whole.Bytes()), 0, 0x40, 0, 0, 0, 0, 0, 0, 1), make([]byte, 100),
			door.HeaderTime + time.Second/2},
		"a header without end":  {open.Bytes(), make([]byte, 100), door.HeaderTime},
		"a header, and silence": {open.Bytes(), nil, door.HeaderTime},
	} {
		synctest.Test(t, func(t *testing.T) {
			client, raw := net.Pipe()
			defer client.Close()
			defer raw.Close()
			sent := make(chan struct{})
			defer func() { <-sent }()
			go func() {
				defer close(sent)
				if _, err := client.Write(c.sent); err != nil {
					return
				}
				for _, b := range c.drip {
					time.Sleep(time.Second)
					if _, err := client.Write([]byte{b}); err != nil {
						return
					}
				}
				if len(c.drip) == 0 {
					time.Sleep(time.Hour)
					client.Close()
				}
			}()
			conn := newFramedConn(raw, nil)
			begun := time.Now()
			go func() { // gRPC does so when it has read what a connection begins with, in whatever piece that came
				time.Sleep(time.Second / 2)
				if err := conn.SetDeadline(time.Time{}); err != nil {
					t.Error(err)
				}
			}()
			_, err := io.Copy(io.Discard, struct{ io.Reader }{conn})
			took := time.Since(begun)
			if c.ends == 0 && (err != nil || took < time.Hour) {
				t.Errorf("%s: ended after %v: %v", name, took, err)
			}
			if c.ends != 0 && (!errors.Is(err, os.ErrDeadlineExceeded) || took < c.ends ||
				took > c.ends+2*time.Second) {
				t.Errorf("%s: ended after %v: %v", name, took, err)
			}
			raw.Close()
		})
	}
}

// FuzzFrames holds the follower to a framer that reads the same, whatever it is cut into.
func FuzzFrames(f *testing.F) {
	f.Add([]byte{0, 0, 2, 0, 0, 0, 0, 0, 1, 7, 7, 0, 0, 0, 4, 0, 0, 0, 0, 0}, 3)
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		a, b := frames{}, frames{}
		cut = min(max(cut, 0), len(data))
		one, _ := a.read(data)
		b.read(data[:cut])
		two, _ := b.read(data[cut:])
		if one != two && cut < len(data) || a.head != b.head || a.got != b.got || a.left != b.left || a.open != b.open {
			t.Errorf("cut at %d of %d: %v %v", cut, len(data), a, b)
		}
	})
}

// pieces is a connection on which something comes in pieces.
type pieces struct {
	net.Conn
	left []byte
	most int
}

func (c *pieces) Read(b []byte) (int, error) {
	if len(c.left) == 0 {
		return 0, net.ErrClosed
	}
	n := copy(b[:min(len(b), c.most)], c.left)
	c.left = c.left[n:]
	return n, nil
}

func (c *pieces) SetReadDeadline(time.Time) error { return nil }

// FuzzFramesOfAWatchedStream holds what gRPC reads to what the client sent, whatever it is cut into: the same, but that
// resets of a stream that is watched are other frames of their length. Of what is not whole the end may be kept.
func FuzzFramesOfAWatchedStream(f *testing.F) {
	f.Add([]byte{0, 0, 2, 0, 0, 0, 0, 0, 1, 7, 7, 0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 8}, 14, 40)
	f.Add([]byte{0, 0, 1, 0, 1, 0, 0, 0, 1, 7, 0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 4, 3, 0, 0, 0, 0, 3, 9}, 3,
		1000)
	f.Fuzz(func(t *testing.T, data []byte, piece, ask int) {
		sent := append([]byte(preface), data...)
		conn := newFramedConn(&pieces{left: bytes.Clone(sent), most: min(max(piece, 1), 1<<16)}, nil)
		conn.watch(1)
		var got []byte
		for b := make([]byte, min(max(ask, 1), 1<<16)); ; {
			n, err := conn.Read(b)
			got = append(got, b[:n]...)
			if errors.Is(err, door.ErrBusy) {
				return
			}
			if err != nil {
				break
			}
		}
		ended := false
		for i := len(preface); len(sent)-i >= frameHeader; {
			frame := sent[i:]
			i += frameHeader + int(binary.BigEndian.Uint32(frame)>>8)
			reset := frame[3] == typeReset && bytes.HasPrefix(frame, []byte{0, 0, resetLength}) &&
				len(frame) >= frameHeader+resetLength
			switch {
			case binary.BigEndian.Uint32(frame[5:])&(1<<31-1) != 1:
			case reset && ended:
				copy(frame[3:], []byte{typeWindow, 0})
				copy(frame[frameHeader:], []byte{0, 0, 0, 1})
			case reset:
				copy(frame[3:], []byte{typeData, endStream | padded})
				copy(frame[frameHeader:], []byte{3, 0, 0, 0})
				ended = true
			case frame[3] == typeData && frame[4]&endStream != 0:
				ended = true
			}
		}
		kept := len(sent) - len(got)
		if kept < 0 || kept >= frameHeader+resetLength || !bytes.Equal(got, sent[:len(got)]) {
			t.Errorf("gRPC reads\n%x, not\n%x", got, sent)
		}
	})
}

// calling is what a client sends that makes a call, up to its message, which it does not send.
func calling(t *testing.T, path string) *bytes.Buffer {
	t.Helper()
	var sent, fields bytes.Buffer
	sent.WriteString(preface)
	f, h := http2.NewFramer(&sent, nil), hpack.NewEncoder(&fields)
	for _, field := range [][2]string{{":method", "POST"}, {":scheme", "http"}, {":authority", "test"}, {":path", path},
		{"content-type", "application/grpc"}, {"te", "trailers"}} {
		if err := h.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(f.WriteSettings(), f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1,
		BlockFragment: fields.Bytes(), EndHeaders: true})); err != nil {
		t.Fatal(err)
	}
	return &sent
}

func TestAStopWaitsForNoClientThatIsSilent(t *testing.T) {
	call := calling(t, "/google.pubsub.v1.Publisher/ListTopics")
	part := append(bytes.Clone(call.Bytes()), 0, 0, 100, 0, endStream, 0, 0, 0, 1) // the head of a frame of data
	for name, sent := range map[string][]byte{
		"no byte": nil, "the preface": call.Bytes()[:len(preface)], "no frame of a call": call.Bytes()[:len(preface)+9],
		"a header": call.Bytes(), "a part of a message": part,
	} {
		s, stop := openStore(t, t.TempDir(), time.Now)
		d, err := New(Config{Listen: "127.0.0.1:0"}, Options{Store: s})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		silent, err := net.Dial("tcp", d.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := silent.Write(sent); err != nil {
			t.Fatal(err)
		}
		if len(sent) > len(preface) {
			if _, err := io.ReadFull(silent, make([]byte, 9)); err != nil { // the settings: it has been taken
				t.Fatal(err)
			}
		}
		// gRPC waits five seconds for an answer to a ping
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		if err := d.Close(ctx); err != nil {
			t.Errorf("a client has sent %s: %v", name, err)
		}
		cancel()
		_ = silent.Close()
		stop()
	}
}
