package farend

import (
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

func TestGoAwayLeavesTheNewestUnprocessedAndAnswersTheOthers(t *testing.T) {
	s := start(t, Config{Behaviour: Behaviour{Latency: Latency{Fixed: Duration(200 * time.Millisecond)}}})
	c := dial(t, s)
	c.limit()
	for i := range 10 {
		c.send(fmt.Sprintf("/a/%d", i))
	}
	c.synced()
	s.GoAway(0.3)
	g, ok := c.read().(*http2.GoAwayFrame)
	if !ok || g.LastStreamID != 13 || g.ErrCode != http2.ErrCodeNo || string(g.DebugData()) != `{"reason":"Shutdown"}` {
		t.Fatalf("%v", g)
	}
	c.send("/a/late") // after the GOAWAY: ignored
	for range 7 {
		if stream, status := c.status(); stream > g.LastStreamID || status != "200" {
			t.Errorf("stream %d was answered %s", stream, status)
		}
	}
	if f := c.read(); f != nil {
		t.Errorf("%v after the last answer", f)
	}
	for i := range 10 {
		want := 1
		if i >= 7 {
			want = 0
		}
		if got := s.Count(fmt.Sprint(i)); got != want {
			t.Errorf("message %d was processed %d times", i, got)
		}
	}
	if n := s.Counts(); n.Unprocessed != 3 || n.Lost != 0 || n.GoAways != 1 || n.Accepted != 7 {
		t.Errorf("%+v", n)
	}
}

func TestGoAwayNeverNamesAStreamBelowOneThatWasAnswered(t *testing.T) {
	s := start(t, Config{Behaviour: Behaviour{Devices: []Device{{Tokens: []string{"slow"},
		Latency: &Latency{Fixed: Duration(300 * time.Millisecond)}}}}})
	c := dial(t, s)
	c.limit()
	c.send("/slow/1")
	quick := c.send("/quick/2")
	c.send("/slow/3")
	if stream, _ := c.status(); stream != quick {
		t.Fatalf("stream %d was answered first", stream)
	}
	c.synced()
	s.GoAway(1)
	if g, ok := c.read().(*http2.GoAwayFrame); !ok || g.LastStreamID != quick {
		t.Fatalf("%v", g)
	}
	if stream, _ := c.status(); stream != 1 {
		t.Errorf("stream %d was answered", stream)
	}
	if s.Count("1") != 1 || s.Count("3") != 0 {
		t.Error("not what the GOAWAY said was processed")
	}
}

func TestAResetStreamIsCountedForWhatItWas(t *testing.T) {
	for name, c := range map[string]struct {
		fault             Fault
		code              http2.ErrCode
		lost, unprocessed int64
	}{
		"unprocessed": {Fault{Do: ResetStream}, http2.ErrCodeInternal, 0, 1},
		"processed": {Fault{Do: ResetStream, Processed: true, Code: uint32(http2.ErrCodeCancel)},
			http2.ErrCodeCancel, 1, 0},
		"refused never was": {Fault{Do: ResetStream, Processed: true, Code: uint32(http2.ErrCodeRefusedStream)},
			http2.ErrCodeRefusedStream, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			c.fault.Times = 1
			s := start(t, Config{Behaviour: Behaviour{Faults: []Fault{c.fault}}})
			cl := dial(t, s)
			cl.limit()
			stream := cl.send("/a/1")
			if f, ok := cl.read().(*http2.RSTStreamFrame); !ok || f.StreamID != stream || f.ErrCode != c.code {
				t.Fatalf("%v", f)
			}
			if n := s.Counts(); n.Lost != c.lost || n.Unprocessed != c.unprocessed || n.Accepted != c.lost {
				t.Errorf("%+v", n)
			}
			cl.send("/a/2")
			if _, status := cl.status(); status != "200" {
				t.Error("the fault came twice")
			}
		})
	}
}

func TestAConnectionThatIsResetLosesOnlyWhatIsInFlight(t *testing.T) {
	for _, processed := range []bool{false, true} {
		s := start(t, Config{Behaviour: Behaviour{Devices: []Device{{Tokens: []string{"slow"},
			Latency: &Latency{Fixed: Duration(time.Minute)}}}}})
		c := dial(t, s)
		c.limit()
		c.send("/slow/1")
		for i := range 100 {
			c.send(fmt.Sprintf("/quick/q%d", i))
		}
		c.send("/slow/2")
		c.fr.WritePing(false, [8]byte{1})
		eventually(t, "all have come", func() bool { return s.Counts().Pings == 1 })
		s.Reset(processed)
		got := 0
		for {
			f := c.read()
			if f == nil {
				break
			}
			if _, ok := f.(*http2.MetaHeadersFrame); ok {
				got++
			}
		}
		n := s.Counts()
		if got != 100 || n.Resets != 1 {
			t.Errorf("%d answers came before the reset: %+v", got, n)
		}
		if processed && (n.Lost != 2 || n.Accepted != 102) || !processed && (n.Unprocessed != 2 || n.Accepted != 100) {
			t.Errorf("processed %v: %+v", processed, n)
		}
	}
}

func TestHalfAnAnswerIsALostOne(t *testing.T) {
	s := start(t, Config{Behaviour: Behaviour{Faults: []Fault{{Do: Half}}}})
	c := dial(t, s)
	c.limit()
	c.synced()
	c.send("/a/1")
	rest, _ := io.ReadAll(c.nc) // it ends with a reset
	if len(rest) == 0 || len(rest) > 9 {
		t.Errorf("%d bytes came", len(rest))
	}
	if n := s.Counts(); n.Lost != 1 || s.Count("1") != 1 {
		t.Errorf("%+v", n)
	}
}

func TestSilenceLastsUntilTheClientGivesUp(t *testing.T) {
	s := start(t, Config{Behaviour: Behaviour{Faults: []Fault{{Do: Silence, Times: 1}}}})
	c := dial(t, s)
	c.limit()
	silent := c.send("/a/1")
	loud := c.send("/a/2")
	if stream, _ := c.status(); stream != loud {
		t.Errorf("stream %d was answered", stream)
	}
	if err := c.fr.WriteRSTStream(silent, http2.ErrCodeCancel); err != nil {
		t.Fatal(err)
	}
	c.synced()
	if n := s.Counts(); n.Cancelled != 1 || n.Unprocessed != 1 || n.Accepted != 1 {
		t.Errorf("%+v", n)
	}
	s.GoAway(0) // nothing is in flight: the connection ends
	c.read()
	if f := c.read(); f != nil {
		t.Errorf("%v", f)
	}
}

func TestASlowReaderReadsLater(t *testing.T) {
	const pause = 300 * time.Millisecond
	s := start(t, Config{Behaviour: Behaviour{Faults: []Fault{{Do: SlowRead, For: Duration(pause), Times: 1}}}})
	c := dial(t, s)
	c.limit()
	begin := time.Now()
	c.send("/a/1")
	c.send("/a/2")
	c.status()
	c.status()
	if took := time.Since(begin); took < pause {
		t.Errorf("read on after %v", took)
	}
}

func TestNewcomersThatComeTooFastAreTurnedAway(t *testing.T) {
	for _, how := range []Treatment{ResetThem, HangThem} {
		t.Run(string(how), func(t *testing.T) {
			s := start(t, Config{Behaviour: Behaviour{Newcomers: Newcomers{PerSecond: 0.001, Burst: 3, Do: how}}})
			for range 3 {
				dial(t, s).limit()
			}
			for range 5 {
				nc, err := net.Dial("tcp", s.Addr().String())
				if err != nil {
					continue // reset already
				}
				defer nc.Close()
				fmt.Fprint(nc, http2.ClientPreface)
				wait := patience
				if how == HangThem {
					wait = 100 * time.Millisecond
				}
				nc.SetReadDeadline(time.Now().Add(wait))
				_, err = nc.Read(make([]byte, 1))
				if ne, ok := err.(net.Error); err == nil || ok && ne.Timeout() != (how == HangThem) {
					t.Errorf("%s: %v", how, err)
				}
			}
			eventually(t, "all five are turned away", func() bool { return s.Counts().TurnedAway == 5 })
			if n := s.Counts(); n.Connections != 3 || n.MostOpen != 3 {
				t.Errorf("%+v", n)
			}
		})
	}
}

func TestRefusalsComeAsOftenAsTold(t *testing.T) {
	s := start(t, Config{Seed: 1,
		Behaviour: Behaviour{Faults: []Fault{{Do: Refuse, Reason: "Gone", Probability: 0.1},
			{Do: Refuse, Reason: "Gone", Every: 10}}}})
	c := dial(t, s)
	c.limit()
	const n = 2000
	for i := range n {
		c.send(fmt.Sprintf("/a/%d", i))
		for { // a refusal has a body after its headers
			if f, ok := c.read().(*http2.MetaHeadersFrame); ok && f.StreamID == uint32(2*i+1) {
				break
			}
		}
	}
	gone := s.Counts().Refused["Gone"]
	if gone < n*15/100 || gone > n*23/100 {
		t.Errorf("%d of %d were refused: a fifth was asked for", gone, n)
	}
}
