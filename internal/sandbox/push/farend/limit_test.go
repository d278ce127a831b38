package farend

import (
	"testing"

	"golang.org/x/net/http2"
)

func TestTheStreamLimitIsToldAndChangesLive(t *testing.T) {
	s := start(t, Config{Behaviour: Behaviour{Streams: Limit(100)}})
	c := dial(t, s)
	if n := c.limit(); n != 100 {
		t.Fatalf("told %d streams", n)
	}
	for _, n := range []uint32{1, 0, 50} {
		if err := s.Behave(Behaviour{Streams: Limit(n)}); err != nil {
			t.Fatal(err)
		}
		if got := c.limit(); got != n {
			t.Errorf("told %d streams, not %d", got, n)
		}
	}
}

func TestStreamsBeyondTheLimitAreRefusedOnceItWasAcknowledged(t *testing.T) {
	s := start(t, Config{Behaviour: Behaviour{Streams: Limit(2), Faults: []Fault{{Do: Silence}}}})
	c := dial(t, s)
	c.limit()
	c.synced()
	c.send("/a/1")
	c.send("/a/2")
	third := c.send("/a/3")
	f, ok := c.read().(*http2.RSTStreamFrame)
	if !ok || f.StreamID != third || f.ErrCode != http2.ErrCodeRefusedStream {
		t.Fatalf("%v", f)
	}
	if n := s.Counts().OverLimit; n != 1 {
		t.Errorf("%d streams over the limit", n)
	}
}

func TestStreamsAreNotRefusedBeforeTheLimitWasAcknowledged(t *testing.T) {
	s := start(t, Config{Behaviour: Behaviour{Streams: Limit(100)}})
	c := dial(t, s)
	c.limit()
	c.synced()
	c.acks = false
	if err := s.Behave(Behaviour{Streams: Limit(0)}); err != nil {
		t.Fatal(err)
	}
	c.limit()
	c.send("/a/1")
	if _, status := c.status(); status != "200" {
		t.Errorf("answered %s", status)
	}
}

func TestOneStreamUntilAValidToken(t *testing.T) {
	s := start(t, Config{Behaviour: Behaviour{Streams: Limit(100), OneUntilTrusted: true}})
	c := dial(t, s)
	if n := c.limit(); n != 1 {
		t.Fatalf("told %d streams at first", n)
	}
	c.send("/a/1")
	if _, status := c.status(); status != "200" {
		t.Fatal(status)
	}
	c.send("/a/2", "trust", "yes")
	if n := c.limit(); n != 100 {
		t.Errorf("told %d streams after a valid token", n)
	}
	c.status()
	c.send("/a/3", "trust", "no")
	if n := c.limit(); n != 1 {
		t.Errorf("told %d streams after an invalid token", n)
	}
	if _, status := c.status(); status != "403" {
		t.Error(status)
	}
}

func TestAnswersKeepToTheClientsWindows(t *testing.T) {
	s := start(t, Config{})
	c := dial(t, s, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 5})
	c.limit()
	stream := c.send("/a/1", "body", "12")
	if _, status := c.status(); status != "200" {
		t.Fatal(status)
	}
	var got int
	for _, want := range []int{5, 5, 2} {
		f, ok := c.read().(*http2.DataFrame)
		if !ok {
			t.Fatal("no data came")
		}
		got += len(f.Data())
		if len(f.Data()) != want || f.StreamEnded() != (got == 12) {
			t.Errorf("%d bytes of %d", len(f.Data()), want)
		}
		if err := c.fr.WriteWindowUpdate(stream, 5); err != nil {
			t.Fatal(err)
		}
	}
	c.synced()
	// Of the connection's 65,535 bytes 12 are used up: a larger window for streams alone does not let more through.
	if err := c.fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	c.send("/a/2", "body", "70000")
	c.status()
	got = 0
	for got < firstWindow-12 {
		f, ok := c.read().(*http2.DataFrame)
		if !ok {
			t.Fatal("no data came")
		}
		got += len(f.Data())
	}
	if got != firstWindow-12 {
		t.Errorf("%d bytes came through a window of %d", got, firstWindow-12)
	}
	if err := c.fr.WriteWindowUpdate(0, 70000); err != nil {
		t.Fatal(err)
	}
	for got < 70000 {
		f, ok := c.read().(*http2.DataFrame)
		if !ok {
			t.Fatal("the rest did not come")
		}
		got += len(f.Data())
	}
}

func TestAClientThatBreaksTheRulesIsToldSo(t *testing.T) {
	for name, breach := range map[string]func(c *client) error{
		"an even stream": func(c *client) error {
			return c.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 2, EndHeaders: true})
		},
		"a stream used again": func(c *client) error {
			c.next = 1
			c.send("/a/1")
			c.next = 1
			c.send(
				"/a/1")
			return nil
		},
		"data without headers": func(c *client) error { return c.fr.WriteData(9, true, nil) },
		"rubbish in HPACK": func(c *client) error {
			return c.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, EndHeaders: true,
				BlockFragment: []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}})
		},
		"a frame too long": func(c *client) error { return c.fr.WriteData(1, true, make([]byte, 20_000)) },
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, Config{})
			c := dial(t, s)
			c.limit()
			if err := breach(c); err != nil {
				t.Fatal(err)
			}
			for {
				f := c.read()
				if f == nil {
					t.Fatal("the connection ended without a word")
				}
				if g, ok := f.(*http2.GoAwayFrame); ok && g.ErrCode != http2.ErrCodeNo {
					break
				}
			}
			c.nc.Close()
			eventually(t, "it is counted", func() bool { return s.Counts().Broken == 1 })
		})
	}
}

func TestALongBodyIsCutAndAnswered(t *testing.T) {
	s := start(t, Config{MaxBody: 100, Keep: 1})
	c := dial(t, s)
	c.limit()
	c.buf.Reset()
	for _, f := range [][2]string{{":method", "POST"}, {":path", "/a/1"}} {
		c.enc.WriteField(hpackField(f))
	}
	if err := c.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: c.buf.Bytes(),
		EndHeaders: true}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := c.fr.WriteData(1, false, make([]byte, 90)); err != nil {
			t.Fatal(err)
		}
	}
	if _, status := c.status(); status != "200" {
		t.Error(status)
	}
	if f, ok := c.read().(*http2.RSTStreamFrame); !ok || f.ErrCode != http2.ErrCodeNo {
		t.Errorf("%v", f)
	}
	if got := len(s.Seen()[0].Body); got != 101 {
		t.Errorf("the service saw %d bytes", got)
	}
}
