package pubsub

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"

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
