package push_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/push"
)

func TestHangingUpWaitsForNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		c, got := newClient(t, config), newResults(t)
		got.send(c, "/0", time.Minute)
		got.send(c, "/1", time.Minute)
		k := far.accept(maxStreams(1))
		k.request()
		go k.gone()
		began := time.Now()
		c.HangUp()
		got.failed("/0", push.ErrClosed, false)
		got.failed("/1", push.ErrClosed, true)
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// late is a connection whose first reading ends late: what came is known to nobody until on is closed.
type late struct {
	net.Conn
	once sync.Once
	on   chan struct{}
}

func (l *late) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	l.once.Do(func() { <-l.on })
	return n, err
}

func TestAGreetingThatIsReadWhileHangingUpHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		on := make(chan struct{})
		config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			k, err := far.dial(ctx, network, address)
			return &late{Conn: k, on: on}, err
		}
		c, got := newClient(t, config), newResults(t)
		got.send(c, "/0", time.Minute)
		k := far.take()
		go k.greet()
		synctest.Wait()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			c.HangUp()
		}()
		synctest.Wait()
		close(on)
		<-ended
		got.failed("/0", push.ErrClosed, true)
	})
}
