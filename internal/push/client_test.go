package push_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/push"
)

func TestCloseWaitsForAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		c, got := newClient(t, config), newResults(t)
		got.send(c, "/0", soon)
		got.send(c, "/1", soon)
		k := far.accept(maxStreams(1))
		r := k.request()
		closed := make(chan error, 2)
		for range 2 {
			go func() { closed <- c.Close(context.Background()) }()
		}
		synctest.Wait()
		if len(closed) > 0 {
			t.Fatal("closed under way")
		}
		c.Send(&push.Request{Method: "POST", Path: "/"}, time.Time{}, func(r push.Result) {
			if !errors.Is(r.Err, push.ErrClosed) || !r.Unprocessed {
				t.Errorf("%+v", r)
			}
		})
		k.answer(r.stream, 200, "")
		k.answer(k.request().stream, 200, "")
		k.gone()
		for range 2 {
			if err := <-closed; err != nil {
				t.Error(err)
			}
		}
		got.ok("/0", 200)
		got.ok("/1", 200)
	})
}

func TestCloseCutsOffWhatTakesTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		c, got := newClient(t, config), newResults(t)
		got.send(c, "/0", time.Minute)
		got.send(c, "/1", time.Minute)
		k := far.accept(maxStreams(1))
		k.request()
		go k.gone()
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		start := time.Now()
		if err := c.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if took := time.Since(start); took > 4*time.Second {
			t.Errorf("took %v", took)
		}
		got.failed("/0", push.ErrClosed, false)
		got.failed("/1", push.ErrClosed, true)
	})
}

func TestCloseEndsAConnectionThatIsBeingMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		c, got := newClient(t, config), newResults(t)
		got.send(c, "/0", time.Minute)
		far.take() // and says nothing
		synctest.Wait()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		start := time.Now()
		_ = c.Close(ctx)
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("took %v", took)
		}
		got.failed("/0", push.ErrClosed, true)
	})
}

func TestAFarEndThatDoesNotGreetIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		config.DialTimeout = 2 * time.Second
		c, got := newClient(t, config), newResults(t)
		got.send(c, "/0", time.Minute)
		far.take()
		k := far.accept()
		k.answer(k.request().stream, 200, "")
		got.ok("/0", 200)
		if s := c.Stats(); s.DialFailures != 1 || s.Dials != 2 {
			t.Errorf("%+v", s)
		}
	})
}

func TestAFullLineRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		config.MaxWaiting = 3
		c, got := newClient(t, config), newResults(t)
		for i := range 5 {
			got.send(c, fmt.Sprint("/", i), soon)
		}
		got.failed("/3", push.ErrFull, true)
		got.failed("/4", push.ErrFull, true)
		k := far.accept()
		for range 3 {
			k.answer(k.request().stream, 200, "")
		}
		got.ok("/2", 200)
	})
}

func TestRequestsThatAreNotHTTPAreNotSent(t *testing.T) {
	_, config := newFarEnd(t)
	c := newClient(t, config)
	field := func(name, value string) *push.Request {
		return &push.Request{Method: "POST", Path: "/",
			Header: []push.Field{{Name: name, Value: value, Sensitive: true}}}
	}
	for _, r := range []*push.Request{
		nil, {}, {Method: "GE T", Path: "/"}, {Method: "GET", Path: "nowhere"}, {Method: "GET", Path: "/a b"},
		{Method: "GET", Path: "/a\r\nx"},
		{Method: "GET", Path: "/é"}, {Method: "GET", Path: "/#x"},
		{Method: "POST", Path: "/", Body: make([]byte, push.MaxBody+1)},
		field("", "x"), field("Upper", "x"), field(":path", "x"), field("a b", "x"), field("connection", "close"),
		field("host", "h"),
		field("a", "secret\n"), field("a", "secret\x00"), field("a", " secret"), field("a", "secret\t"),
		field("a", "secret\x7f."),
	} {
		var wg sync.WaitGroup
		wg.Add(1)
		c.Send(r, time.Time{}, func(got push.Result) {
			defer wg.Done()
			if !errors.Is(got.Err, push.ErrRequest) || !got.Unprocessed || strings.Contains(got.Err.Error(), "secret") {
				t.Errorf("%+v: %+v", r, got)
			}
		})
		wg.Wait()
	}
}

func TestARequestThatIsLateBeforeItIsSentStaysHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		c, got := newClient(t, config), newResults(t)
		got.send(c, "/late", 0)
		got.failed("/late", push.ErrDeadline, true)
		if n := far.dialed(); n != 0 {
			t.Errorf("%d connections were made for it", n)
		}
	})
}

func TestDoEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, config := newFarEnd(t)
		c := newClient(t, config)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, err := c.Do(ctx, &push.Request{Method: "GET", Path: "/"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		_ = far
	})
}

func TestConfigurationsAreChecked(t *testing.T) {
	for name, config := range map[string]push.Config{
		"address":     {Address: "nowhere"},
		"port":        {Address: "a:"},
		"both":        {Address: "a:1", Plain: true, TLS: &tls.Config{MinVersion: tls.VersionTLS13}},
		"connections": {Address: "a:1", MaxConnections: -1},
		"backoff":     {Address: "a:1", BackoffMin: time.Hour},
		"timeout":     {Address: "a:1", PingAfter: -1},
		"body":        {Address: "a:1", MaxResponseBody: 1 << 30},
		"initial":     {Address: "a:1", InitialStreams: -1},
	} {
		if c, err := push.New(config); err == nil {
			t.Errorf("%s is accepted", name)
			_ = c.Close(context.Background())
		}
	}
}
