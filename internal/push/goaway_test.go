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

func TestAGoodbyeLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		c, got := newClient(t, config), newResults(t)
		for i := range 7 {
			got.send(c, fmt.Sprint("/", i), soon)
		}
		old := far.accept(maxStreams(5))
		var rs []request
		for range 5 {
			rs = append(rs, old.request())
		}
		// The usual way: first a warning that names no stream, then the last one.
		old.check(old.framer.WriteGoAway(1<<31-1, http2.ErrCodeNo, nil))
		next := far.accept(maxStreams(10))
		five, six := next.request(), next.request()
		old.check(old.framer.WriteGoAway(rs[2].stream, http2.ErrCodeNo, []byte(`{"reason":"Shutdown"}`)))
		three, four := next.request(), next.request()
		if p := []string{five.path(), six.path(), three.path(), four.path()}; fmt.Sprint(p) != "[/5 /6 /3 /4]" {
			t.Error(p)
		}
		quiet(t, old)
		for i := range 3 {
			old.answer(rs[i].stream, 200+i, "")
			got.ok(fmt.Sprint("/", i), 200+i)
		}
		old.gone()
		for i, r := range []request{three, four, five, six} {
			next.answer(r.stream, 203+i, "")
			got.ok(fmt.Sprint("/", 3+i), 203+i)
		}
		if s := c.Stats(); s.GoAways != 2 || s.Resent != 2 || s.Unknown != 0 || s.Dials != 2 || s.Connections != 1 ||
			s.Leaving != 0 {
			t.Errorf("%+v", s)
		}
	})
}

func TestWhatWasAnsweredOnNoConnectionIsNotSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		c, got := newClient(t, config), newResults(t)
		for i := range 3 {
			got.send(c, fmt.Sprint("/", i), soon)
		}
		k := far.accept(maxStreams(2))
		k.answer(k.request().stream, 200, "")
		got.ok("/0", 200)
		k.request()
		_ = k.Close()
		next := far.accept()
		r := next.request() // /2 left in no piece that arrived, or it was read: then it may not come again
		next.answer(r.stream, 200, "")
		for i := 1; i < 3; i++ {
			path := fmt.Sprint("/", i)
			end := got.wait(path)
			var lost *push.ConnectionError
			if r.path() == path {
				got.ok(path, 200)
			} else if !errors.As(end.Err, &lost) || end.Unprocessed || end.Sent.IsZero() {
				t.Errorf("%s: %+v", path, end)
			}
		}
	})
}

func TestAGoodbyeWithoutALastWordLosesOnlyWhatWasProcessed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		c, got := newClient(t, config), newResults(t)
		got.send(c, "/0", soon)
		got.send(c, "/1", soon)
		k := far.accept(maxStreams(2))
		a := k.request()
		k.request()
		k.check(k.framer.WriteGoAway(a.stream, http2.ErrCodeNo, nil))
		_ = k.Close()
		next := far.accept()
		r := next.request()
		if r.path() != "/1" {
			t.Error(r.path())
		}
		next.answer(r.stream, 200, "")
		got.ok("/1", 200)
		end := got.wait("/0")
		var bye *push.GoAwayError
		if !errors.As(end.Err, &bye) || end.Unprocessed {
			t.Errorf("%+v", end)
		}
	})
}

func TestADeadConnectionIsFoundOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		config.PingAfter, config.PingTimeout = 5*time.Second, 2*time.Second
		c, got := newClient(t, config), newResults(t)
		got.send(c, "/0", time.Minute)
		k := far.accept()
		r := k.request()
		start := time.Now()
		ping, ok := k.read().(*http2.PingFrame)
		if !ok || ping.IsAck() || time.Since(start) > 5100*time.Millisecond {
			t.Fatal(ping, time.Since(start))
		}
		time.Sleep(time.Millisecond) // the line's length
		k.check(k.framer.WritePing(true, ping.Data))
		synctest.Wait()
		if s := c.Stats(); s.Ping != time.Millisecond {
			t.Errorf("a round trip of %v", s.Ping)
		}
		k.answer(r.stream, 200, "")
		got.ok("/0", 200)
		got.send(c, "/1", time.Minute)
		k.request()
		start = time.Now()
		if _, ok := k.read().(*http2.PingFrame); !ok {
			t.Fatal("no PING")
		}
		end := got.wait("/1") // the far end says nothing more
		var lost *push.ConnectionError
		if took := time.Since(start); !errors.As(end.Err, &lost) || end.Unprocessed || took < 7*time.Second ||
			took > 7100*time.Millisecond {
			t.Errorf("%+v after %v", end, took)
		}
		got.send(c, "/2", time.Minute)
		next := far.accept()
		next.answer(next.request().stream, 200, "")
		got.ok("/2", 200)
	})
}

func TestItAnswersThePingsOfTheFarEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		c, got := newClient(t, config), newResults(t)
		got.send(c, "/0", soon)
		k := far.accept()
		r := k.request()
		k.check(k.framer.WritePing(false, [8]byte{1, 2, 3}))
		ping, ok := k.read().(*http2.PingFrame)
		if !ok || !ping.IsAck() || ping.Data != [8]byte{1, 2, 3} {
			t.Fatal(ping)
		}
		k.answer(r.stream, 200, "")
		got.ok("/0", 200)
	})
}

func TestAFarEndThatDoesNotReadHoldsUpOnlyWhatItWasGiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		config.MaxConnections, config.WriteTimeout = 2, 3*time.Second
		c, got := newClient(t, config), newResults(t)
		got.send(c, "/0", time.Minute)
		stuck := far.accept()
		r := stuck.request()
		start := time.Now()
		for i := 1; i < 4; i++ {
			got.send(c, fmt.Sprint("/", i), time.Minute)
		}
		synctest.Wait() // the first of them is being written: nobody reads it
		got.send(c, "/4", time.Minute)
		other := far.accept()
		four := other.request()
		if waited := time.Since(start); waited > 200*time.Millisecond {
			t.Errorf("the others waited for %v", waited)
		}
		for four.path() != "/4" { // what was not yet in the stuck piece comes, too
			other.answer(four.stream, 200, "")
			four = other.request()
		}
		other.answer(four.stream, 200, "")
		got.ok("/4", 200)
		stuck.answer(r.stream, 200, "") // it still speaks
		got.ok("/0", 200)
		for range 3 {
			if got.ended("/1") && got.ended("/2") && got.ended("/3") {
				break
			}
			again := other.request() // the piece never left whole: nothing of it was processed
			other.answer(again.stream, 201, "")
			got.wait(again.path())
		}
		if took := time.Since(start); took > 4*time.Second {
			t.Errorf("after %v", took)
		}
		for i := 1; i < 4; i++ {
			if end := got.wait(fmt.Sprint("/", i)); end.Err != nil {
				t.Errorf("/%d: %+v", i, end)
			}
		}
	})
}

func TestAConnectionIsReplacedWhenItIsOldIdleOrOutOfStreams(t *testing.T) {
	t.Run("idle", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			far, config := newFarEnd(t)
			config.IdleTimeout = 3 * time.Second
			c, got := newClient(t, config), newResults(t)
			got.send(c, "/0", soon)
			k := far.accept()
			k.answer(k.request().stream, 200, "")
			start := time.Now()
			if last := k.gone(); last == nil || last.ErrCode != http2.ErrCodeNo ||
				time.Since(start) > 3100*time.Millisecond {
				t.Error(last, time.Since(start))
			}
		})
	})
	t.Run("old", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			far, config := newFarEnd(t)
			config.MaxAge, config.PingAfter = time.Minute, time.Hour
			c, got := newClient(t, config), newResults(t)
			got.send(c, "/0", 2*time.Minute)
			k := far.accept()
			r := k.request()
			start := time.Now()
			next := far.accept()
			if age := time.Since(start); age < 53*time.Second || age > 61*time.Second {
				t.Errorf("replaced after %v", age)
			}
			synctest.Wait() // until then the old one takes requests
			got.send(c, "/1", soon)
			next.answer(next.request().stream, 200, "")
			got.ok("/1", 200)
			k.answer(r.stream, 200, "")
			got.ok("/0", 200)
			if last := k.gone(); last == nil || last.ErrCode != http2.ErrCodeNo {
				t.Error(last)
			}
		})
	})
	t.Run("out of streams", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			far, config := newFarEnd(t)
			c, got := newClient(t, config), newResults(t)
			got.send(c, "/0", soon)
			k := far.accept()
			k.answer(k.request().stream, 200, "")
			got.ok("/0", 200)
			push.SetNextStream(c, 1<<31-5)
			for i := 1; i < 4; i++ {
				got.send(c, fmt.Sprint("/", i), soon)
			}
			last := k.request()
			if last.stream != 1<<31-5 {
				t.Error(last.stream)
			}
			next := far.accept()
			k.answer(last.stream, 200, "")
			got.ok("/1", 200)
			next.answer(next.request().stream, 200, "")
			next.answer(next.request().stream, 200, "")
			got.ok("/3", 200)
		})
	})
}
