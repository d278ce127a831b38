package session_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
	"github.com/hikyaku/hikyaku/tsurugi/internal/session"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

// A peer is a server that does just what the test writes down.
type peer struct {
	t      *testing.T
	conn   net.Conn
	reader *wire.Reader
}

// open opens a session with a peer that has shaken hands.
func open(t *testing.T, cfg session.Config) (*session.Session, *peer) {
	t.Helper()
	near, far := net.Pipe()
	p := &peer{t, far, wire.NewReader(far, 1<<20)}
	cfg.Dial = func(context.Context, string, string) (net.Conn, error) { return near, nil }
	var wg sync.WaitGroup
	wg.Go(func() {
		r := p.read()
		p.answer(r.Slot, message.EndpointAnswer{Session: 7}.Append(nil))
	})
	s, err := session.Open(context.Background(), "peer:1", cfg)
	wg.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return s, p
}

func (p *peer) read() wire.Request {
	r, err := p.reader.Request()
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
		p.t.Error(err)
	}
	return r
}

func (p *peer) write(f wire.Response) {
	_, _ = p.conn.Write(wire.AppendResponse(nil, f)) // a session that has ended reads no more
}

func (p *peer) answer(slot uint16, body []byte) {
	p.write(wire.Response{Info: wire.ResponsePayload, Slot: slot,
		Payload: wire.AppendAnswer(nil, wire.Answer{Message: body})})
}

func end(t *testing.T, s *session.Session, p *peer) {
	t.Helper()
	_ = p.conn.Close()
	<-s.Done()
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

func send(t *testing.T, s *session.Session, query bool) *session.Call {
	t.Helper()
	c, err := s.Send(context.Background(), wire.SQL, query, nil,
		func(b []byte) []byte { return append(b, "request"...) })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAnswersFindTheirRequestsInAnyOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := open(t, session.Config{KeepAlive: -1})
		var calls []*session.Call
		slots := make([]uint16, 10)
		for i := range slots {
			calls = append(calls, send(t, s, false))
			slots[i] = p.read().Slot
		}
		for i := len(slots) - 1; i >= 0; i-- {
			p.answer(slots[i], []byte{byte(i)})
		}
		for i, c := range calls {
			a, err := c.Wait(context.Background())
			if err != nil || len(a.Message) != 1 || a.Message[0] != byte(i) {
				t.Errorf("request %d was answered with %v (%v)", i, a.Message, err)
			}
		}
		end(t, s, p)
	})
}

func TestRequestsThatGatherLeaveTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := open(t, session.Config{KeepAlive: -1})
		send(t, s, false)
		synctest.Wait() // the writer is busy: nobody reads
		for range 20 {
			send(t, s, false)
		}
		p.read()
		b := make([]byte, 1<<16)
		n, err := p.conn.Read(b)
		if err != nil || n < 20*20 {
			t.Errorf("%d bytes in one write (%v)", n, err)
		}
		end(t, s, p)
	})
}

func TestQueriesHaveTheLowestSlotsAndWaitForThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := open(t, session.Config{KeepAlive: -1, ResultSets: 2, InFlight: 3})
		for range 2 {
			send(t, s, true)
			if r := p.read(); r.Slot >= 2 {
				t.Errorf("a query has slot %d", r.Slot)
			}
		}
		send(t, s, false)
		if r := p.read(); r.Slot < 2 {
			t.Errorf("a request that is no query has slot %d", r.Slot)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, err := s.Send(ctx, wire.SQL, true, nil, func(b []byte) []byte { return b })
		var lost *session.LostError
		if !errors.As(err, &lost) || lost.Sent || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a third query: %v", err)
		}
		p.answer(0, nil)
		send(t, s, true)
		if r := p.read(); r.Slot != 0 {
			t.Errorf("the slot that is free is 0, not %d", r.Slot)
		}
		end(t, s, p)
	})
}

func TestAnAnswerForNobodyEndsTheSession(t *testing.T) {
	for what, f := range map[string]wire.Response{
		"no request":      {Info: wire.ResponsePayload, Slot: 5, Payload: wire.AppendAnswer(nil, wire.Answer{})},
		"no such slot":    {Info: wire.ResponsePayload, Slot: 50_000, Payload: wire.AppendAnswer(nil, wire.Answer{})},
		"no result set":   {Info: wire.ResultSetPayload, Slot: 16, Payload: []byte("x")},
		"no body head":    {Info: wire.ResponseBodyHead, Slot: 16, Payload: wire.AppendAnswer(nil, wire.Answer{})},
		"a broken answer": {Info: wire.ResponsePayload, Slot: 16, Payload: []byte{0xff}},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p := open(t, session.Config{KeepAlive: -1})
				c := send(t, s, false) // it has the first slot behind those of queries
				p.read()
				p.write(f)
				_, err := c.Wait(context.Background())
				var lost *session.LostError
				if !errors.Is(err, wire.ErrMalformed) || !errors.As(err, &lost) || !lost.Sent {
					t.Error(err)
				}
				end(t, s, p)
			})
		})
	}
}

func TestAResultSetIsReadInTheOrderOfItsCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := open(t, session.Config{KeepAlive: -1})
		c := send(t, s, true)
		slot := p.read().Slot
		part := func(writer uint8, text string) {
			p.write(wire.Response{Info: wire.ResultSetPayload, Slot: slot, Writer: writer, Payload: []byte(text)})
		}
		p.write(wire.Response{Info: wire.ResultSetHello, Slot: slot, Payload: []byte("name")})
		p.write(wire.Response{Info: wire.ResponseBodyHead, Slot: slot,
			Payload: wire.AppendAnswer(nil, wire.Answer{Message: []byte("head")})})
		part(1, "a1 ")
		part(2, "b1 ")
		part(1, "a2 ")
		part(2, "")
		part(1, "")
		part(1, "")
		part(3, "left ")
		p.write(wire.Response{Info: wire.ResultSetBye, Slot: slot})
		if r := p.read(); r.Info != wire.RequestByeOK || r.Slot != slot {
			t.Errorf("the end is confirmed with %+v", r)
		}
		p.answer(slot, []byte("end"))
		head, ok, err := c.Head(context.Background())
		if err != nil || !ok || string(head.Message) != "head" {
			t.Errorf("%q, %v, %v", head.Message, ok, err)
		}
		got := ""
		for {
			b, err := c.Rows().Next(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if b == nil {
				break
			}
			got += string(b)
		}
		if got != "b1 a1 a2 left " {
			t.Errorf("read %q", got)
		}
		end(t, s, p)
	})
}

func TestASessionStopsReadingWhatNobodyTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := open(t, session.Config{KeepAlive: -1, Buffer: 100})
		c := send(t, s, true)
		slot := p.read().Slot
		var sent int
		var wg sync.WaitGroup
		wg.Go(func() {
			for range 50 {
				p.write(wire.Response{Info: wire.ResultSetPayload, Slot: slot, Payload: make([]byte, 60)})
				p.write(wire.Response{Info: wire.ResultSetPayload, Slot: slot})
				sent++
			}
			p.write(wire.Response{Info: wire.ResultSetBye, Slot: slot})
			p.read()
			p.answer(slot, nil)
		})
		synctest.Wait()
		before := sent
		read := 0
		for {
			b, err := c.Rows().Next(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if b == nil {
				break
			}
			read += len(b)
		}
		wg.Wait()
		if before > 5 || read != 50*60 {
			t.Errorf("%d parts were taken before anybody read, %d bytes in the end", before, read)
		}
		end(t, s, p)
	})
}

func TestARenewalThatNobodyAnswersEndsTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := open(t, session.Config{KeepAlive: time.Minute, Timeout: 5 * time.Second})
		began := time.Now()
		if r := p.read(); r.Info != wire.RequestPayload || time.Since(began) != time.Minute {
			t.Errorf("%+v after %v", r, time.Since(began))
		}
		go p.read() // the wish to cancel
		<-s.Done()
		if !errors.Is(s.Err(), session.ErrSilent) || time.Since(began) != time.Minute+5*time.Second {
			t.Errorf("%v after %v", s.Err(), time.Since(began))
		}
		end(t, s, p)
	})
}

func TestAPeerThatDoesNotReadEndsTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := open(t, session.Config{KeepAlive: -1, Timeout: 5 * time.Second})
		c := send(t, s, false)
		if _, err := c.Wait(context.Background()); err == nil {
			t.Error("it was answered")
		}
		end(t, s, p)
	})
}

func TestConfigsThatMakeNoSenseAreRefused(t *testing.T) {
	for what, cfg := range map[string]session.Config{
		"too many slots": {InFlight: 70_000}, "negative slots": {ResultSets: -1}, "a negative time": {Timeout: -1},
		"a negative buffer": {Buffer: -1},
		"a long name":       {User: string(make([]byte, 61))},
	} {
		if _, err := session.Open(context.Background(), "nowhere:1", cfg); err == nil {
			t.Errorf("%s: taken", what)
		}
	}
}

func TestASessionThatNeverWasIsNotSaidToHaveEnded(t *testing.T) {
	refused := errors.New("nobody is there")
	dial := func(context.Context, string, string) (net.Conn, error) { return nil, refused }
	_, err := session.Open(t.Context(), "nowhere:1", session.Config{Dial: dial})
	if want := "tsurugi: there is no session: connecting to nowhere:1: nobody is there"; !errors.Is(err, refused) ||
		err.Error() != want {
		t.Errorf("the error is %v", err)
	}
}
