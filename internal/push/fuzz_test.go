package push_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"

	"github.com/hikyaku/hikyaku/internal/push"
)

// frames writes frames into bytes.
func frames(write func(f *http2.Framer)) []byte {
	var b bytes.Buffer
	f := http2.NewFramer(&b, nil)
	f.AllowIllegalWrites = true
	write(f)
	return b.Bytes()
}

// FuzzFarEnd lets the far end say anything. Each request is answered once, and the client ends.
func FuzzFarEnd(f *testing.F) {
	for _, seed := range [][]byte{
		nil,
		frames(func(f *http2.Framer) {
			_ = f.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 2})
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0x88}, EndHeaders: true})
			_ = f.WriteData(1, true, []byte("ok"))
			_ = f.WriteRSTStream(3, http2.ErrCodeRefusedStream)
			_ = f.WriteGoAway(3, http2.ErrCodeNo, []byte("bye"))
		}),
		frames(func(f *http2.Framer) {
			_ = f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0},
				http2.Setting{ID: http2.SettingHeaderTableSize, Val: 0})
			_ = f.WriteWindowUpdate(1, 10)
			_ = f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 100},
				http2.Setting{ID: http2.SettingMaxFrameSize, Val: 20000})
			_ = f.WritePing(false, [8]byte{1})
			_ = f.WritePing(true, [8]byte{1})
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 5,
				BlockFragment: []byte{0x88, 0x40, 1, 'a', 1, 'b', 0xbe}, PadLength: 3})
			_ = f.WriteContinuation(5, true, []byte{0xbe})
			_ = f.WriteDataPadded(5, false, []byte("x"), []byte{0, 0})
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 5, BlockFragment: []byte{0xbe}, EndHeaders: true,
				EndStream: true})
		}),
		frames(func(f *http2.Framer) {
			_ = f.WriteSettings()
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, BlockFragment: []byte{0x08, 3, '1', '0', '3'},
				EndHeaders: true})
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, BlockFragment: []byte{0x48, 0x82, 0x64, 0x02},
				EndHeaders: true, EndStream: true})
			_ = f.WriteGoAway(1<<31-1, http2.ErrCodeEnhanceYourCalm, nil)
			_ = f.WriteGoAway(0, http2.ErrCodeNo, nil)
		}),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		synctest.Test(t, func(t *testing.T) {
			far, config := newFarEnd(t)
			config.MaxConnections, config.MaxTries, config.PingAfter = 2, 2, time.Second
			c := newClient(t, config)
			stop := make(chan struct{})
			played := make(chan struct{})
			go func() {
				defer close(played)
				for {
					select {
					case k := <-far.conns:
						go func() { _, _ = io.Copy(io.Discard, k) }()
						_, _ = k.Write(said)
						_ = k.SetDeadline(time.Now().Add(5 * time.Second))
					case <-stop:
						return
					}
				}
			}()
			ends := make(chan push.Result, 10)
			for i := range 5 {
				c.Send(&push.Request{Method: "POST", Path: fmt.Sprint("/", i), Body: make([]byte, i*300)},
					time.Now().Add(3*time.Second), func(r push.Result) { ends <- r })
			}
			for range 5 {
				r := <-ends
				if (r.Err == nil) == (r.Response == nil) || r.Response != nil &&
					(r.Response.Status < 200 || r.Response.Status > 599) {
					t.Errorf("%+v %+v", r, r.Response)
				}
			}
			if err := c.Close(context.Background()); err != nil {
				t.Error(err)
			}
			if len(ends) > 0 {
				t.Error("answered twice")
			}
			close(stop)
			<-played
		})
	})
}
