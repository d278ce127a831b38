package push_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/push"
)

// elsewhere sends a request that is to avoid a connection.
func (r *results) elsewhere(c *push.Client, path string, avoid int) *push.Call {
	return c.StartElsewhere(&push.Request{Method: "POST", Path: path, Body: []byte("{}")}, time.Now().Add(soon), avoid,
		r.done(path))
}

// failed503 lets a first connection answer 503, and returns both ends of it.
func failed503(t *testing.T, far *farEnd, c *push.Client, got *results, limit uint32) (*farConn, int) {
	t.Helper()
	got.send(c, "/failed", soon)
	k := far.accept(maxStreams(limit))
	k.answer(k.request().stream, 503, "")
	got.ok("/failed", 503)
	n := got.wait("/failed").Connection
	if n != 1 {
		t.Errorf("connection %d answered", n)
	}
	return k, n
}

func TestABurstAtTheStartMakesOneConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		config.MaxConnections, config.InitialStreams = 4, 1
		c, got := newClient(t, config), newResults(t)
		for i := range 100 {
			got.send(c, fmt.Sprint("/", i), soon)
		}
		k := far.accept(maxStreams(60))
		first := k.request()
		quiet(t, k)
		time.Sleep(900 * time.Millisecond) // a slow answer
		got.send(c, "/late", soon)
		synctest.Wait()
		if n := far.dialed(); n != 1 {
			t.Fatalf("%d connections before the first answer", n)
		}
		k.answer(first.stream, 200, "")
		var held []request
		for range 60 {
			held = append(held, k.request())
		}
		two := far.accept(maxStreams(60)) // all streams of the first are in use
		if n := far.dialed(); n != 2 {
			t.Errorf("%d connections", n)
		}
		two.answer(two.request().stream, 200, "")
		for range 39 {
			two.answer(two.request().stream, 200, "")
		}
		for _, r := range held {
			k.answer(r.stream, 200, "")
		}
		got.ok("/late", 200)
		for i := range 100 {
			got.ok(fmt.Sprint("/", i), 200)
		}
		if n := far.dialed(); n != 2 {
			t.Errorf("%d connections in the end", n)
		}
	})
}

func TestASilentFirstConnectionDoesNotHoldUpTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		config.MaxConnections, config.InitialStreams = 4, 1
		c, got := newClient(t, config), newResults(t)
		for i := range 20 {
			got.send(c, fmt.Sprint("/", i), soon)
		}
		start := time.Now()
		one := far.accept(maxStreams(100))
		one.request()
		two := far.accept(maxStreams(100))
		if waited := time.Since(start); waited < 500*time.Millisecond || waited > 1100*time.Millisecond {
			t.Errorf("the second connection came after %v", waited)
		}
		for range 19 {
			two.answer(two.request().stream, 200, "")
		}
		for i := 1; i < 20; i++ {
			got.ok(fmt.Sprint("/", i), 200)
		}
		if n := far.dialed(); n != 2 {
			t.Errorf("%d connections", n)
		}
	})
}

func TestAFirstConnectionWithoutStreamsIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		config.MaxConnections, config.InitialStreams = 2, 1
		c, got := newClient(t, config), newResults(t)
		got.send(c, "/", soon)
		start := time.Now()
		far.accept(maxStreams(0))
		two := far.accept(maxStreams(1))
		two.answer(two.request().stream, 200, "")
		got.ok("/", 200)
		if waited := time.Since(start); waited > 100*time.Millisecond {
			t.Errorf("waited for %v", waited)
		}
	})
}

func TestAResendGoesToAnotherConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		config.MaxConnections = 2
		c, got := newClient(t, config), newResults(t)
		one, avoid := failed503(t, far, c, got, 10)
		got.elsewhere(c, "/again", avoid)
		got.send(c, "/other", soon) // others do not mind
		if s := c.Stats(); s.Waiting == 0 {
			t.Errorf("%+v", s)
		}
		one.answer(one.request().stream, 200, "")
		got.ok("/other", 200)
		two := far.accept(maxStreams(1))
		again := two.request()
		if again.path() != "/again" {
			t.Error(again.path())
		}
		quiet(t, one)
		two.answer(again.stream, 200, "")
		got.ok("/again", 200)
		if n := got.wait("/again").Connection; n != 2 {
			t.Errorf("connection %d answered", n)
		}
		got.elsewhere(c, "/back", 2)
		one.answer(one.request().stream, 200, "")
		got.ok("/back", 200)
		got.elsewhere(c, "/long gone", 77)
		synctest.Wait()
		if n := far.dialed(); n != 2 {
			t.Errorf("%d connections", n)
		}
	})
}

func TestAResendThatCanGoNowhereElseGoesAnywhere(t *testing.T) {
	for name, play := range map[string]func(t *testing.T, far *farEnd, c *push.Client, got *results){
		"no other is allowed": func(*testing.T, *farEnd, *push.Client, *results) {},
		"the other is full": func(t *testing.T, far *farEnd, c *push.Client, got *results) {
			got.elsewhere(c, "/filling", 1)
			far.accept(maxStreams(1)).request()
		},
		"the other has no streams": func(t *testing.T, far *farEnd, c *push.Client, got *results) {
			got.elsewhere(c, "/filling", 1)
			far.accept(maxStreams(0))
		},
		"the other refuses to be made": func(t *testing.T, far *farEnd, c *push.Client, got *results) {
			far.mu.Lock()
			far.refuse = fmt.Errorf("refused")
			far.mu.Unlock()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				far, config := newFarEnd(t)
				config.MaxConnections = 2
				if name == "no other is allowed" {
					config.MaxConnections = 1
				}
				c, got := newClient(t, config), newResults(t)
				one, avoid := failed503(t, far, c, got, 10)
				play(t, far, c, got)
				start := time.Now()
				paths := map[string]bool{}
				for i := range 3 {
					got.elsewhere(c, fmt.Sprint("/", i), avoid)
				}
				for len(paths) < 3 {
					r := one.request()
					paths[r.path()] = r.path() != "/filling"
					one.answer(r.stream, 200, "")
				}
				for i := range 3 {
					if name != "the other has no streams" {
						got.ok(fmt.Sprint("/", i), 200)
					}
				}
				if waited := time.Since(start); waited > 100*time.Millisecond {
					t.Errorf("waited for %v", waited)
				}
			})
		})
	}
}

func TestAResendWaitsNoMoreThanASecondForAnotherConnection(t *testing.T) {
	for name, hang := range map[string]func(far *farEnd){
		"in the greeting":     func(far *farEnd) { far.take() },
		"in the first answer": func(far *farEnd) { far.accept(maxStreams(10)).request() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				far, config := newFarEnd(t)
				config.MaxConnections, config.InitialStreams = 2, 1
				c, got := newClient(t, config), newResults(t)
				one, avoid := failed503(t, far, c, got, 10)
				start := time.Now()
				for i := range 3 {
					got.elsewhere(c, fmt.Sprint("/", i), avoid)
				}
				hang(far)
				one.answer(one.request().stream, 200, "")
				one.answer(one.request().stream, 200, "")
				if waited := time.Since(start); waited < 500*time.Millisecond || waited > 1100*time.Millisecond {
					t.Errorf("waited for %v", waited)
				}
			})
		})
	}
}

func TestManyResendsWaitForTheNewConnectionsFirstAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		config.MaxConnections, config.InitialStreams = 2, 1
		c, got := newClient(t, config), newResults(t)
		one, avoid := failed503(t, far, c, got, 10)
		for i := range 50 {
			got.elsewhere(c, fmt.Sprint("/", i), avoid)
		}
		two := far.accept(maxStreams(100))
		for i := range 50 {
			r := two.request()
			if r.path() != fmt.Sprint("/", i) {
				t.Errorf("%s came as number %d", r.path(), i)
			}
			two.answer(r.stream, 200, "")
		}
		quiet(t, one)
		for i := range 50 {
			got.ok(fmt.Sprint("/", i), 200)
		}
	})
}

func TestWhatAvoidsAConnectionThatEndsGoesAnywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		config.MaxConnections = 2
		c, got := newClient(t, config), newResults(t)
		one, avoid := failed503(t, far, c, got, 10)
		got.elsewhere(c, "/again", avoid)
		got.elsewhere(c, "/canceled", avoid).Cancel()
		got.failed("/canceled", push.ErrCanceled, true)
		_ = one.Close()
		two := far.accept(maxStreams(1))
		two.answer(two.request().stream, 200, "")
		got.ok("/again", 200)
		if s := c.Stats(); s.Waiting != 0 || s.Dials != 2 {
			t.Errorf("%+v", s)
		}
	})
}
