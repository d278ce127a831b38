package push_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"

	"github.com/hikyaku/hikyaku/internal/push"
)

const soon = 10 * time.Second

func maxStreams(n uint32) http2.Setting {
	return http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: n}
}

// quiet expects that nothing more comes on a connection.
func quiet(t *testing.T, k *farConn) {
	t.Helper()
	came := make(chan http2.Frame, 1)
	go func() {
		f, err := k.tryRead()
		if err == nil {
			came <- f
		}
	}()
	synctest.Wait()
	select {
	case f := <-came:
		t.Fatalf("%v came", f)
	default:
	}
	_ = k.SetReadDeadline(time.Now()) // ends the reading
	synctest.Wait()
	_ = k.SetReadDeadline(time.Time{})
}

func TestOneStreamUntilTheFarEndAccepts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		config.InitialStreams = 1
		c, got := newClient(t, config), newResults(t)
		for i := range 5 {
			got.send(c, fmt.Sprint("/", i), soon)
		}
		k := far.accept(maxStreams(3))
		first := k.request()
		quiet(t, k)
		k.answer(first.stream, 403, `{"reason":"InvalidProviderToken"}`)
		got.ok("/0", 403)
		second := k.request()
		quiet(t, k) // a refusal of the token lifts nothing
		k.answer(second.stream, 200, "")
		a, b, c3 := k.request(), k.request(), k.request()
		if a.path() != "/2" || b.path() != "/3" || c3.path() != "/4" {
			t.Errorf("%s %s %s", a.path(), b.path(), c3.path())
		}
		for _, r := range []request{c3, a, b} {
			k.answer(r.stream, 200, "")
		}
		for i := 1; i < 5; i++ {
			got.ok(fmt.Sprint("/", i), 200)
		}
		if s := c.Stats(); s.StreamsLimit != 3 {
			t.Errorf("%+v", s)
		}
	})
}

func TestTheLimitOfStreamsIsFollowedWhileItShrinksAndGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		c, got := newClient(t, config), newResults(t)
		for i := range 8 {
			got.send(c, fmt.Sprint("/", i), soon)
		}
		k := far.accept(maxStreams(3))
		a, b, d := k.request(), k.request(), k.request()
		quiet(t, k)
		k.check(k.framer.WriteSettings(maxStreams(1)))
		quiet(t, k)
		k.answer(a.stream, 200, "")
		k.answer(b.stream, 200, "")
		quiet(t, k) // one is still out
		k.answer(d.stream, 200, "")
		e := k.request()
		quiet(t, k)
		k.check(k.framer.WriteSettings(maxStreams(4)))
		rest := []request{e, k.request(), k.request(), k.request()}
		quiet(t, k)
		for _, r := range rest {
			k.answer(r.stream, 200, "")
		}
		k.answer(k.request().stream, 200, "")
		for i := range 8 {
			got.ok(fmt.Sprint("/", i), 200)
		}
	})
}

func TestALimitOfNoStreamsLetsTheLineWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		config.MaxConnections = 2
		c, got := newClient(t, config), newResults(t)
		got.send(c, "/late", time.Second)
		got.send(c, "/patient", time.Minute)
		one := far.accept(maxStreams(0))
		two := far.accept(maxStreams(0)) // another is tried
		quiet(t, one)
		quiet(t, two)
		start := time.Now()
		got.failed("/late", push.ErrDeadline, true)
		if took := time.Since(start); took > 1100*time.Millisecond {
			t.Errorf("noticed after %v", took)
		}
		two.check(two.framer.WriteSettings(maxStreams(1)))
		two.answer(two.request().stream, 200, "")
		got.ok("/patient", 200)
		if n := far.dialed(); n != 2 {
			t.Errorf("%d connections", n)
		}
	})
}

func TestAnotherConnectionIsMadeOnlyWhenAllStreamsAreInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		config.MaxConnections = 2
		c, got := newClient(t, config), newResults(t)
		for i := range 2 {
			got.send(c, fmt.Sprint("/", i), soon)
		}
		k := far.accept(maxStreams(2))
		a, b := k.request(), k.request()
		synctest.Wait()
		if n := far.dialed(); n != 1 {
			t.Fatalf("%d connections for two requests", n)
		}
		got.send(c, "/2", soon)
		two := far.accept(maxStreams(2))
		two.answer(two.request().stream, 200, "")
		got.ok("/2", 200)
		got.send(c, "/3", soon)
		two.answer(two.request().stream, 200, "")
		for i := range 10 { // both full: the rest waits for whoever is first
			got.send(c, fmt.Sprint("/x", i), soon)
		}
		x0, x1 := two.request(), two.request()
		quiet(t, two)
		k.answer(a.stream, 200, "")
		x2 := k.request()
		if x2.path() != "/x2" {
			t.Error(x2.path())
		}
		k.answer(b.stream, 200, "")
		two.answer(x0.stream, 200, "")
		two.answer(x1.stream, 200, "")
		if n := far.dialed(); n != 2 {
			t.Errorf("%d connections", n)
		}
	})
}

func TestAResetIsAnErrorThatMayHaveBeenProcessed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		c, got := newClient(t, config), newResults(t)
		got.send(c, "/a", soon)
		k := far.accept()
		k.check(k.framer.WriteRSTStream(k.request().stream, http2.ErrCodeInternal))
		r := got.wait("/a")
		var reset *push.StreamError
		if !errors.As(r.Err, &reset) || reset.Code != http2.ErrCodeInternal || !reset.Remote || r.Unprocessed ||
			r.Sent.IsZero() {
			t.Errorf("%+v", r)
		}
	})
}

func TestARefusedStreamIsSentAgainAndNotForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		config.MaxTries = 4
		c, got := newClient(t, config), newResults(t)
		got.send(c, "/once", soon)
		k := far.accept()
		start := time.Now()
		k.check(k.framer.WriteRSTStream(k.request().stream, http2.ErrCodeRefusedStream))
		again := k.request()
		if rest := time.Since(start); rest < 5*time.Millisecond {
			t.Errorf("sent again after %v: nothing has changed so soon", rest)
		}
		k.answer(again.stream, 200, "")
		got.ok("/once", 200)
		got.send(c, "/always", soon)
		for range 4 {
			k.check(k.framer.WriteRSTStream(k.request().stream, http2.ErrCodeRefusedStream))
		}
		got.failed("/always", push.ErrTooOften, true)
		if s := c.Stats(); s.Refused != 5 || s.Dials != 1 {
			t.Errorf("%+v", s)
		}
	})
}

func TestALateAnswerIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		c, got := newClient(t, config), newResults(t)
		got.send(c, "/late", time.Second)
		call := got.send(c, "/unwanted", time.Minute)
		k := far.accept(maxStreams(2))
		late, unwanted := k.request(), k.request()
		f, ok := k.read().(*http2.RSTStreamFrame)
		if !ok || f.StreamID != late.stream || f.ErrCode != http2.ErrCodeCancel {
			t.Fatal(f)
		}
		got.failed("/late", push.ErrDeadline, false)
		k.answer(late.stream, 200, "too late")
		call.Cancel()
		call.Cancel()
		f, ok = k.read().(*http2.RSTStreamFrame)
		if !ok || f.StreamID != unwanted.stream {
			t.Fatal(f)
		}
		got.failed("/unwanted", push.ErrCanceled, false)
		got.send(c, "/next", soon)
		k.answer(k.request().stream, 200, "")
		got.ok("/next", 200)
	})
}
