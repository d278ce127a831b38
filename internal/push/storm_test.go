package push_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/push"
)

// flood keeps 50 requests waiting for a while and gives back how many were answered with a response.
func flood(c *push.Client, during time.Duration) func() int {
	end := time.Now().Add(during)
	answered := make(chan bool, 1_000_000)
	under := 0
	send := func() {
		c.Send(&push.Request{Method: "POST", Path: "/"}, time.Now().Add(time.Second), func(r push.Result) {
			answered <- r.Err == nil
		})
	}
	for range 50 {
		send()
		under++
	}
	return func() int {
		n := 0
		for ; under > 0; under-- {
			if <-answered {
				n++
			}
			if time.Now().Before(end) {
				send()
				under++
			}
		}
		return n
	}
}

// The bound that Config.DialBurst and DialRate promise for a minute, with the defaults and four connections.
const bound = 4 + 8 + 60/2 + 1

func TestARefusingFarEndSeesNoStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		config.MaxConnections = 4
		far.refuse = errors.New("connection refused")
		c := newClient(t, config)
		flood(c, time.Minute)()
		if n := far.dialed(); n > bound || n < 4 {
			t.Errorf("%d connections were tried in a minute", n)
		}
		for i := 1; i < len(far.dials); i++ {
			if rest := far.dials[i].Sub(far.dials[i-1]); rest < 100*time.Millisecond || rest > 31*time.Second {
				t.Errorf("rest %d is %v", i, rest)
			}
		}
		t.Logf("%d connections were tried in a minute", len(far.dials))
	})
}

func TestAFarEndThatResetsNewcomersSeesNoStorm(t *testing.T) {
	for name, play := range map[string]func(k *farConn){
		"at once":             func(k *farConn) {},
		"after the greeting":  func(k *farConn) { k.greet() },
		"after a request":     func(k *farConn) { k.greet(); _, _ = k.tryRequest() },
		"after each answer":   func(k *farConn) { k.greet(maxStreams(1)); k.answer(k.request().stream, 403, "") },
		"with a goodbye":      func(k *farConn) { k.greet(); _ = k.framer.WriteGoAway(0, 11, nil) },
		"with a nice goodbye": func(k *farConn) { k.greet(); _ = k.framer.WriteGoAway(0, 0, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				far, config := newFarEnd(t)
				config.MaxConnections, config.InitialStreams = 4, 1
				c := newClient(t, config)
				stop := make(chan struct{})
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					for {
						select {
						case k := <-far.conns:
							play(k)
							_ = k.Close()
						case <-stop:
							return
						}
					}
				}()
				flood(c, time.Minute)()
				_ = c.Close(context.Background())
				close(stop)
				<-ended
				most := 25 // the rests grow
				if name == "after each answer" {
					most = bound // they do not, but it cannot go on like this
				}
				if n := far.dialed(); n > most || n < 4 {
					t.Errorf("%d connections were made in a minute", n)
				}
				t.Logf("%d connections in a minute", far.dialed())
			})
		})
	}
}

func TestAFarEndThatSaysGoodbyeAfterManyAnswersIsFollowedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		c := newClient(t, config)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for range 200 {
				k := <-far.conns
				k.greet(maxStreams(20))
				for range 100 {
					r, err := k.tryRequest()
					if err != nil {
						break
					}
					k.answer(r.stream, 200, "")
				}
				_ = k.framer.WriteGoAway(199, 0, nil)
				go func() {
					for {
						if _, err := k.tryRead(); err != nil {
							return
						}
					}
				}()
			}
		}()
		start := time.Now()
		n := 0
		for n < 20_000 {
			done := make(chan push.Result, 100)
			for range 100 {
				c.Send(&push.Request{Method: "POST", Path: "/"}, time.Time{}, func(r push.Result) { done <- r })
			}
			for range 100 {
				if r := <-done; r.Err != nil {
					t.Fatal(r.Err)
				}
				n++
			}
		}
		<-ended
		if took := time.Since(start); took > time.Second {
			t.Errorf("20,000 pushes over 200 connections rested for %v", took)
		}
	})
}

func TestTheFirstGoodAnswerEndsTheRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		far.refuse = &net.OpError{Op: "dial", Err: errors.New("connection refused")}
		var kinds []string
		config.OnEvent = func(e push.Event) { kinds = append(kinds, e.Kind.String()) }
		c, got := newClient(t, config), newResults(t)
		got.send(c, "/hopeless", 2*time.Second)
		got.send(c, "/patient", 10*time.Minute)
		end := got.wait("/hopeless")
		if !errors.Is(end.Err, push.ErrDeadline) || !strings.Contains(end.Err.Error(), "connection refused") ||
			!end.Unprocessed || !end.Sent.IsZero() {
			t.Errorf("%+v", end)
		}
		time.Sleep(time.Minute)
		far.mu.Lock()
		far.refuse = nil
		far.mu.Unlock()
		k := far.accept()
		k.answer(k.request().stream, 200, "")
		got.ok("/patient", 200)
		_ = k.Close()
		start := time.Now()
		got.send(c, "/next", soon)
		next := far.accept()
		next.answer(next.request().stream, 200, "")
		got.ok("/next", 200)
		if rest := time.Since(start); rest > 10*time.Millisecond {
			t.Errorf("a rest of %v after a connection that had served", rest)
		}
		_ = c.Close(context.Background())
		if len(kinds) < 6 || kinds[0] != "dialing" || kinds[1] != "dial failed" || !slices.Contains(kinds, "closed") ||
			kinds[len(kinds)-1] != "closed" {
			t.Error(kinds)
		}
	})
}
