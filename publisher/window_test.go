package publisher

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"cloud.google.com/go/pubsub/v2"
	"pgregory.net/rapid"
)

func TestTheWidthFollowsTheShortestRoundTripOfLate(t *testing.T) {
	var w window
	if w.width() != 8 || w.lone() != widest {
		t.Errorf("%d requests, %d messages before anything is known", w.width(), w.lone())
	}
	for _, c := range []struct {
		took        time.Duration
		width, lone int
	}{
		{time.Second, widest, widest}, {25 * time.Millisecond, 18, widest}, {2 * time.Millisecond, 2, 14},
		{time.Second, 2, 14},
		{100 * time.Microsecond, 1, 1}, {25 * time.Millisecond, 1, 1},
	} {
		if w.note(c.took, 0); w.width() != c.width || w.lone() != c.lone {
			t.Errorf("after %v: %d requests, %d messages, want %d, %d", c.took, w.width(), w.lone(), c.width, c.lone)
		}
	}
	for range 2 * windowCalls { // the line has become longer
		w.note(25*time.Millisecond, 0)
	}
	if w.width() != 18 || w.roundTrip() != 25*time.Millisecond {
		t.Errorf("the past is not forgotten: %d requests, %v", w.width(), w.roundTrip())
	}
}

func TestWhatTheMessagesCostIsNoDistance(t *testing.T) {
	var w window
	w.note(50*time.Millisecond, 10_000)
	if w.roundTrip() != 0 {
		t.Errorf("messages that wait for each other are taken for a round trip of %v", w.roundTrip())
	}
	if w.note(6100*time.Microsecond, 2000); w.roundTrip() != 100*time.Microsecond {
		t.Errorf("a thousand messages too many and a tenth of a millisecond are taken for a round trip of %v",
			w.roundTrip())
	}
}

func TestWhatIsNeededGrowsWithWhatIsInFlight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w window
		w.note(time.Duration(rapid.Int64Range(1, int64(time.Second)).Draw(t, "took")), 0)
		requests := rapid.IntRange(0, 200).Draw(t, "requests")
		messages := rapid.IntRange(requests, 1000*requests).Draw(t, "messages")
		need := w.need(requests, messages)
		switch {
		case (requests < w.width() || messages < w.lone()) && need != 1:
			t.Fatalf("%d of %d requests: a message needs %d", requests, w.width(), need)
		case need < 1 && requests > 0:
			t.Fatalf("a request of %d messages", need)
		case w.need(requests+1, messages+1) < need, w.need(requests, messages+1) < need:
			t.Fatal("more in flight, but less is needed")
		}
	})
}

// far is a service so far away, at the end of a line that takes everything.
func far(roundTrip time.Duration) func(*group) (time.Duration, []string, error) {
	return func(g *group) (time.Duration, []string, error) {
		time.Sleep(roundTrip)
		return roundTrip, make([]string, g.count), nil
	}
}

// A steady stream is published without a clock and yet evenly: hardly later than if each message had a request, by a
// fraction of the requests.
func TestAStreamIsSpreadOverTheRoundTrip(t *testing.T) {
	for _, c := range []struct {
		roundTrip, gap time.Duration
		mean           time.Duration // at most
		requests       int64         // a second at most
	}{
		{25 * time.Millisecond, 20 * time.Microsecond, 26250 * time.Microsecond, 800},
		{25 * time.Millisecond, 100 * time.Microsecond, 26250 * time.Microsecond, 1000},
		{5 * time.Millisecond, 20 * time.Microsecond, 6 * time.Millisecond, 900},
		{5 * time.Millisecond, 100 * time.Microsecond, 6 * time.Millisecond, 1200},
		{25 * time.Millisecond, time.Millisecond, 25 * time.Millisecond, 1000},
		{5 * time.Millisecond, time.Millisecond, 5 * time.Millisecond, 1000},
		{100 * time.Microsecond, 20 * time.Microsecond, 200 * time.Microsecond, 20000},
		{100 * time.Microsecond, time.Millisecond, 100 * time.Microsecond, 1000},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := prepared(Defaults(), pubsub.MaxPublishRequestBytes, far(c.roundTrip))
			stream(d, c.gap, int(200*time.Millisecond/c.gap)) // until it is steady
			before := d.snapshot()
			n := int(time.Second / c.gap)
			mean := stream(d, c.gap, n)
			d.stop()
			requests := d.snapshot().Requests - before.Requests
			t.Logf("%v away, every %v: mean %v, %d requests", c.roundTrip, c.gap, mean, requests)
			if mean > c.mean || requests > c.requests {
				t.Errorf("want at most %v, %d requests", c.mean, c.requests)
			}
		})
	}
}

// stream publishes n messages and returns how long they took.
func stream(d *dispatcher, gap time.Duration, n int) (mean time.Duration) {
	took := make(chan time.Duration, n)
	for range n {
		r := &PublishResult{msg: &pubsub.Message{Data: []byte("x")}, size: 3}
		began := time.Now()
		d.offer(context.Background(), r)
		go func() {
			<-r.Ready()
			took <- time.Since(began)
		}()
		time.Sleep(gap)
	}
	for range n {
		mean += <-took
	}
	return mean / time.Duration(n)
}
