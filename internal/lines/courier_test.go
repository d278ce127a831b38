package lines

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestServeEndsWhenNothingWaitsToBeSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCourier()
		tries := 0
		err := c.Send(t.Context(), func(_ context.Context, settle func(bool)) error {
			if tries++; tries < 3 {
				settle(false)
			}
			return nil // the third one stays under way
		})
		if err != nil {
			t.Fatal(err)
		}
		c.Finish()
		if err := c.Serve(t.Context()); err != nil || tries != 3 {
			t.Fatalf("%v after %d tries", err, tries)
		}
	})
}

func TestServeWaitsForFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCourier()
		served := make(chan error, 1)
		go func() { served <- c.Serve(t.Context()) }()
		synctest.Wait()
		select {
		case <-served:
			t.Fatal("ended before Finish")
		default:
		}
		c.Finish()
		if err := <-served; err != nil {
			t.Fatal(err)
		}
	})
}

func TestWhatComesBackIsSentAgainAfterABackOffThatGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCourier()
		var times []time.Time
		var mu sync.Mutex
		send := func(_ context.Context, settle func(bool)) error {
			mu.Lock()
			defer mu.Unlock()
			times = append(times, time.Now())
			settle(len(times) == 12)
			return nil
		}
		if err := c.Send(t.Context(), send); err != nil {
			t.Fatal(err)
		}
		c.Finish()
		if err := c.Serve(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(times) != 12 {
			t.Fatalf("sent %d times", len(times))
		}
		want := firstBackOff
		for i := 1; i < len(times); i++ {
			if got := times[i].Sub(times[i-1]); got != want {
				t.Errorf("try %d came after %v, want %v", i+1, got, want)
			}
			want = min(2*want, longBackOff)
		}
	})
}

func TestAMessageThatWasNotTakenIsNotUnderWay(t *testing.T) {
	full := errors.New("full")
	c := NewCourier()
	if err := c.Send(t.Context(), func(context.Context, func(bool)) error { return full }); !errors.Is(err, full) {
		t.Fatalf("error is %v", err)
	}
	c.Finish()
	if err := c.Serve(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestServeReportsAFailedSecondSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		c := NewCourier()
		tries := 0
		err := c.Send(t.Context(), func(_ context.Context, settle func(bool)) error {
			if tries++; tries == 2 {
				return broken
			}
			settle(false)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Serve(t.Context()); !errors.Is(err, broken) {
			t.Fatalf("error is %v", err)
		}
	})
}

func TestServeEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c := NewCourier()
		served := make(chan error, 1)
		go func() { served <- c.Serve(ctx) }()
		synctest.Wait()
		cancel()
		if err := <-served; !errors.Is(err, context.Canceled) {
			t.Fatalf("error is %v", err)
		}
	})
}
