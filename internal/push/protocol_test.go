package push_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"

	"github.com/hikyaku/hikyaku/internal/push"
)

func TestBodiesFollowTheWindowsOfTheFarEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		c, got := newClient(t, config), newResults(t)
		body := strings.Repeat("0123456789", 10_000)
		got.sendBody(c, "/large", body, time.Minute)
		got.sendBody(c, "/small", "abc", time.Minute)
		got.send(c, "/none", time.Minute)
		k := far.accept(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 10})
		var data []byte
		ended := map[uint32]bool{}
		next := func() {
			switch f := k.read().(type) {
			case *http2.MetaHeadersFrame:
				ended[f.StreamID] = f.StreamEnded()
				if want := map[uint32]string{1: "100000", 3: "3", 5: ""}[f.StreamID]; headerOf(f,
					"content-length") != want {
					t.Errorf("stream %d: content-length %q", f.StreamID, headerOf(f, "content-length"))
				}
			case *http2.DataFrame:
				if f.StreamID == 1 {
					data = append(data, f.Data()...)
				}
				ended[f.StreamID] = f.StreamEnded()
			}
		}
		for range 5 { // a body that may not go on holds up nobody
			next()
		}
		quiet(t, k)
		if string(data) != "0123456789" || ended[1] || !ended[3] || !ended[5] {
			t.Fatalf("%q %v", data, ended)
		}
		k.check(k.framer.WriteWindowUpdate(1, 20_000))
		for len(data) < 20_010 {
			next()
		}
		quiet(t, k)
		k.check(k.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 30_010}))
		for len(data) < 50_010 {
			next()
		}
		quiet(t, k)
		k.check(k.framer.WriteWindowUpdate(1, 1<<20))
		for len(data) < 65535-3 { // now the connection's window is the narrow one
			next()
		}
		quiet(t, k)
		k.check(k.framer.WriteWindowUpdate(0, 1<<20))
		for !ended[1] {
			next()
		}
		if string(data) != body {
			t.Error("the body came out of order")
		}
		for _, id := range []uint32{1, 3, 5} {
			k.answer(id, 200, "")
		}
		got.ok("/large", 200)
		got.ok("/small", 200)
		got.ok("/none", 200)
	})
}

func headerOf(f *http2.MetaHeadersFrame, name string) string {
	for _, h := range f.Fields {
		if h.Name == name {
			return h.Value
		}
	}
	return ""
}

func TestARefusedBodyIsSentAgainWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		c, got := newClient(t, config), newResults(t)
		body := strings.Repeat("0123456789", 7000)
		got.sendBody(c, "/large", body, time.Minute)
		k := far.accept()
		for n := 0; n < 65535; { // as much as the connection's window lets
			if f, ok := k.read().(*http2.DataFrame); ok {
				n += len(f.Data())
			}
		}
		k.check(k.framer.WriteRSTStream(1, http2.ErrCodeRefusedStream))
		k.check(k.framer.WriteWindowUpdate(0, 1<<20))
		k.check(k.framer.WriteWindowUpdate(1, 1<<20)) // too late, but allowed
		k.check(k.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 20}))
		r := k.request()
		if r.stream != 3 || string(r.body) != body {
			t.Errorf("stream %d, %d bytes", r.stream, len(r.body))
		}
		quiet(t, k)
		k.answer(r.stream, 200, "")
		got.ok("/large", 200)
	})
}

func TestTheTableOfFieldsFollowsTheFarEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		c, got := newClient(t, config), newResults(t)
		k := (*farConn)(nil)
		next := func(i int) uint32 {
			path := fmt.Sprintf("/%03d", i)
			got.send(c, path, soon)
			if k == nil {
				k = far.accept()
			}
			h, ok := k.read().(*http2.MetaHeadersFrame)
			if !ok {
				t.Fatal(h)
			}
			k.answer(h.StreamID, 200, "")
			got.ok(path, 200)
			return h.Length
		}
		next(0)
		next(1)
		small := next(2)
		k.check(k.framer.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: 0}))
		synctest.Wait()
		if large := next(3); large <= small {
			t.Errorf("%d bytes without a table, %d with it", large, small)
		}
		k.check(k.framer.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: 100}))
		k.check(k.framer.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: 50}))
		k.check(k.framer.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: 8192}))
		synctest.Wait()
		next(4)
		next(5)
		next(6)
		if again := next(7); again != small {
			t.Errorf("%d bytes, before it was %d", again, small)
		}
	})
}

func TestAnAnswerBeforeTheBodyIsOutEndsTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		c, got := newClient(t, config), newResults(t)
		got.sendBody(c, "/large", strings.Repeat("x", 70_000), time.Minute)
		k := far.accept()
		for n := 0; n < 65535; {
			if f, ok := k.read().(*http2.DataFrame); ok {
				n += len(f.Data())
			}
		}
		k.answer(1, 413, "")
		got.ok("/large", 413)
		if f, ok := k.read().(*http2.RSTStreamFrame); !ok || f.StreamID != 1 {
			t.Error(f)
		}
		got.sendBody(c, "/late", strings.Repeat("x", 70_000), time.Second) // a deadline in the middle of a body
		got.failed("/late", push.ErrDeadline, true)
	})
}

func TestLongResponsesAreCutAndManySmallOnesFlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		config.MaxResponseBody = 1000
		c, got := newClient(t, config), newResults(t)
		got.send(c, "/long", soon)
		got.send(c, "/just", soon)
		k := far.accept()
		a, b := k.request(), k.request()
		k.answer(b.stream, 200, strings.Repeat("y", 1000))
		if r := got.wait("/just"); r.Err != nil || len(r.Response.Body) != 1000 || r.Response.Truncated {
			t.Errorf("%+v", r)
		}
		k.check(k.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: a.stream,
			BlockFragment: k.block(":status", "500"), EndHeaders: true}))
		k.check(k.framer.WriteData(a.stream, false, bytes.Repeat([]byte("z"), 1001)))
		r := got.wait("/long")
		if r.Err != nil || r.Response.Status != 500 || len(r.Response.Body) != 1000 || !r.Response.Truncated {
			t.Errorf("%+v", r)
		}
		if f, ok := k.read().(*http2.RSTStreamFrame); !ok || f.StreamID != a.stream ||
			f.ErrCode != http2.ErrCodeCancel {
			t.Error(f)
		}
		updates := 0
		for i := range 2000 { // twice the connection's window
			path := fmt.Sprint("/", i)
			got.send(c, path, soon)
			for {
				f, err := k.framer.ReadFrame()
				if err != nil {
					t.Fatal(err)
				}
				if f.Header().Type == http2.FrameWindowUpdate {
					updates++
					continue
				}
				if f.Header().Type == http2.FrameHeaders {
					k.answer(f.Header().StreamID, 200, strings.Repeat("y", 1000))
					break
				}
			}
			got.ok(path, 200)
		}
		if updates < 2 || updates > 8 {
			t.Errorf("%d window updates", updates)
		}
	})
}

func TestWhatIsRareButAllowedIsTolerated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		c, got := newClient(t, config), newResults(t)
		for i := range 4 {
			got.send(c, fmt.Sprint("/", i), soon)
		}
		k := far.accept()
		var rs []request
		for range 4 {
			rs = append(rs, k.request())
		}
		f := k.framer
		k.check(f.WriteRawFrame(0x77, 0xff, 12345, []byte("unknown type")))
		k.check(f.WriteSettings(http2.Setting{ID: 0x99, Val: 7}))
		k.check(f.WriteRawFrame(http2.FramePriority, 0, 1, []byte{0, 0, 0, 0, 16}))
		// interim answers, padding, priority and CONTINUATION
		k.check(f.WriteHeaders(http2.HeadersFrameParam{StreamID: rs[0].stream,
			BlockFragment: k.block(":status", "103", "link", "x"), EndHeaders: true}))
		block := k.block(":status", "200", "apns-id", "one", "apns-unique-id", strings.Repeat("u", 100))
		k.check(f.WriteHeaders(http2.HeadersFrameParam{StreamID: rs[0].stream, BlockFragment: block[:5], PadLength: 9,
			Priority: http2.PriorityParam{Weight: 3}}))
		k.check(f.WriteContinuation(rs[0].stream, false, block[5:50]))
		k.check(f.WriteContinuation(rs[0].stream, true, block[50:]))
		k.check(f.WriteDataPadded(rs[0].stream, false, []byte("ab"), make([]byte, 200)))
		k.check(f.WriteDataPadded(rs[0].stream, true, nil, make([]byte, 1)))
		if r := got.wait("/0"); r.Err != nil || r.Response.Status != 200 || string(r.Response.Body) != "ab" ||
			r.Response.Get("apns-id") != "one" || len(r.Response.Header) != 2 {
			t.Errorf("%+v %+v", r, r.Response)
		}
		// trailers
		k.check(f.WriteHeaders(http2.HeadersFrameParam{StreamID: rs[1].stream, BlockFragment: k.block(":status", "200"),
			EndHeaders: true}))
		k.check(f.WriteData(rs[1].stream, false, []byte("cd")))
		k.check(f.WriteHeaders(http2.HeadersFrameParam{StreamID: rs[1].stream,
			BlockFragment: k.block("grpc-status", "0"), EndHeaders: true, EndStream: true}))
		if r := got.wait("/1"); r.Err != nil || string(r.Response.Body) != "cd" || r.Response.Get("grpc-status") != "" {
			t.Errorf("%+v", r)
		}
		// a reset after the answer
		k.answer(rs[2].stream, 200, "")
		k.check(f.WriteRSTStream(rs[2].stream, http2.ErrCodeNo))
		got.ok("/2", 200)
		k.check(f.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: 0}))
		k.answer(rs[3].stream, 200, "")
		got.ok("/3", 200)
	})
}

func TestAnAnswerThatIsNotHTTPEndsOneRequestOnly(t *testing.T) {
	for name, answer := range map[string]func(k *farConn, id uint32) error{
		"no status": func(k *farConn, id uint32) error {
			return k.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: k.block("a", "b"),
				EndHeaders: true, EndStream: true})
		},
		"status word": func(k *farConn, id uint32) error {
			return k.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id,
				BlockFragment: k.block(":status", "okay"), EndHeaders: true, EndStream: true})
		},
		"upper case": func(k *farConn, id uint32) error {
			return k.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id,
				BlockFragment: k.block(":status", "200", "Apns-Id", "x"), EndHeaders: true, EndStream: true})
		},
		"body first": func(k *farConn, id uint32) error { return k.framer.WriteData(id, true, []byte("x")) },
		"interim end": func(k *farConn, id uint32) error {
			return k.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: k.block(":status", "100"),
				EndHeaders: true, EndStream: true})
		},
		"too many fields": func(k *farConn, id uint32) error {
			return k.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id,
				BlockFragment: k.block(":status", "200", "x", strings.Repeat("y", 15_000), "z",
					strings.Repeat("y", 1400)), EndHeaders: true, EndStream: true})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				far, config := newFarEnd(t)
				c, got := newClient(t, config), newResults(t)
				got.send(c, "/bad", soon)
				got.send(c, "/good", soon)
				k := far.accept()
				bad, good := k.request(), k.request()
				k.check(answer(k, bad.stream))
				end := got.wait("/bad")
				var stream *push.StreamError
				if !errors.As(end.Err, &stream) || stream.Remote || end.Unprocessed {
					t.Errorf("%+v", end)
				}
				if f, ok := k.read().(*http2.RSTStreamFrame); !ok || f.StreamID != bad.stream ||
					f.ErrCode != http2.ErrCodeProtocol {
					t.Error(f)
				}
				k.answer(good.stream, 200, "")
				got.ok("/good", 200)
			})
		})
	}
}

func TestBreachesOfTheProtocolCloseTheConnectionWithTheRightCode(t *testing.T) {
	raw := func(kind http2.FrameType, flags http2.Flags, stream uint32, payload ...byte) func(k *farConn) error {
		return func(k *farConn) error { return k.framer.WriteRawFrame(kind, flags, stream, payload) }
	}
	for name, c := range map[string]struct {
		send func(k *farConn) error
		code http2.ErrCode
	}{
		"data on stream 0":            {raw(http2.FrameData, 1, 0, 'x'), http2.ErrCodeProtocol},
		"data on an idle stream":      {raw(http2.FrameData, 1, 99, 'x'), http2.ErrCodeProtocol},
		"header on a server's stream": {raw(http2.FrameHeaders, 5, 2, 0x88), http2.ErrCodeProtocol},
		"reset of an idle stream":     {raw(http2.FrameRSTStream, 0, 99, 0, 0, 0, 0), http2.ErrCodeProtocol},
		"short reset":                 {raw(http2.FrameRSTStream, 0, 1, 0), http2.ErrCodeFrameSize},
		"short ping":                  {raw(http2.FramePing, 0, 0, 1), http2.ErrCodeFrameSize},
		"ping on a stream":            {raw(http2.FramePing, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8), http2.ErrCodeProtocol},
		"push promise":                {raw(http2.FramePushPromise, 4, 1, 0, 0, 0, 2, 0x88), http2.ErrCodeProtocol},
		"settings of 5 bytes":         {raw(http2.FrameSettings, 0, 0, 0, 1, 0, 0, 0), http2.ErrCodeFrameSize},
		"acknowledgement with bytes":  {raw(http2.FrameSettings, 1, 0, 0, 1, 0, 0, 0, 0), http2.ErrCodeFrameSize},
		"small frames wanted":         {raw(http2.FrameSettings, 0, 0, 0, 5, 0, 0, 0, 1), http2.ErrCodeProtocol},
		"huge window wanted":          {raw(http2.FrameSettings, 0, 0, 0, 4, 0xff, 0, 0, 1), http2.ErrCodeFlowControl},
		"window update by nothing":    {raw(http2.FrameWindowUpdate, 0, 0, 0, 0, 0, 0), http2.ErrCodeProtocol},
		"window over its bound": {raw(http2.FrameWindowUpdate, 0, 0, 0x7f, 0xff, 0xff, 0xff),
			http2.ErrCodeFlowControl},
		"stream window over its bound": {raw(http2.FrameWindowUpdate, 0, 1, 0x7f, 0xff, 0xff, 0xff),
			http2.ErrCodeFlowControl},
		"continuation of nothing": {raw(http2.FrameContinuation, 4, 1, 0x88), http2.ErrCodeProtocol},
		"header cut by a ping": {func(k *farConn) error {
			_ = k.framer.WriteRawFrame(http2.FrameHeaders, 0, 1, []byte{0x88})
			return k.framer.WritePing(false, [8]byte{})
		}, http2.ErrCodeProtocol},
		"padding over the end": {raw(http2.FrameData, 8, 1, 200, 1), http2.ErrCodeProtocol},
		"garbage in a header":  {raw(http2.FrameHeaders, 5, 1, 0xff, 0xff, 0xff, 0xff, 0xff), http2.ErrCodeCompression},
		"large frame": {func(k *farConn) error {
			_,
				err := k.Write([]byte{0, 0x40, 1, 0, 0, 0, 0, 0, 1})
			return err
		}, http2.ErrCodeFrameSize},
		"header without end": {func(k *farConn) error {
			_ = k.framer.WriteRawFrame(http2.FrameHeaders, 0, 1, []byte{0x88})
			for range 9 {
				_ = k.framer.WriteRawFrame(http2.FrameContinuation, 0, 1, make([]byte, 8000))
			}
			return nil
		}, http2.ErrCodeEnhanceYourCalm},
		"goodbye of 7 bytes": {raw(http2.FrameGoAway, 0, 0, 1, 2, 3, 4, 5, 6, 7), http2.ErrCodeFrameSize},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				far, config := newFarEnd(t)
				client, got := newClient(t, config), newResults(t)
				got.send(client, "/0", soon)
				k := far.accept(maxStreams(1))
				k.request()
				go func() { _ = c.send(k) }()
				last := k.gone()
				if last == nil || last.ErrCode != c.code {
					t.Errorf("%v, want %v", last, c.code)
				}
				end := got.wait("/0")
				var breach *push.ProtocolError
				if !errors.As(end.Err, &breach) || breach.Code != c.code || end.Unprocessed {
					t.Errorf("%+v", end)
				}
				got.send(client, "/1", soon)
				next := far.accept()
				next.answer(next.request().stream, 200, "")
				got.ok("/1", 200)
			})
		})
	}
}

func TestAFarEndThatAsksMoreThanItReadsIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		config.WriteTimeout = time.Hour
		c, got := newClient(t, config), newResults(t)
		got.send(c, "/0", soon)
		k := far.accept()
		k.request()
		var err error
		for n := 0; err == nil && n < 100_000; n++ {
			err = k.framer.WritePing(false, [8]byte{})
		}
		if err == nil {
			t.Error("it takes PINGs without end")
		}
		if end := got.wait("/0"); end.Err == nil || end.Unprocessed {
			t.Errorf("%+v", end)
		}
	})
}

func TestLargeHeadersGoInPiecesAndOverTheLimitNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		c, got := newClient(t, config), newResults(t)
		large := strings.Repeat("v", 20_000)
		send := func(path string, n int) {
			r := &push.Request{Method: "PUT", Path: path}
			for i := range n {
				r.Header = append(r.Header, push.Field{Name: fmt.Sprint("x-", i), Value: large})
			}
			c.Send(r, time.Now().Add(soon), func(end push.Result) {
				got.mu.Lock()
				got.m[path] = end
				got.mu.Unlock()
				got.ch <- path
			})
		}
		send("/two", 2)
		k := far.accept(http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: 50_000})
		r := k.request()
		if r.get(":method") != "PUT" || r.get("x-0") != large || r.get("x-1") != large {
			t.Error("not as it was sent")
		}
		k.answer(r.stream, 200, "")
		got.ok("/two", 200)
		send("/three", 3)
		got.failed("/three", push.ErrTooManyFields, true)
		send("/four", 4)
		got.failed("/four", push.ErrRequest, true)
	})
}
