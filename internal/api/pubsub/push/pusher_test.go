package push_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/push"
)

// endpoint is a far end without a network: each request is answered by a function, in the virtual time of the test.
type endpoint struct {
	answer func(ctx context.Context, id string) (int, error)

	mu   sync.Mutex
	sent []time.Time
	ids  []string
	now  int // requests under way
	most int
}

func (e *endpoint) RoundTrip(r *http.Request) (*http.Response, error) {
	var body struct{ Message struct{ MessageID string } }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return nil, err
	}
	e.mu.Lock()
	e.sent, e.ids = append(e.sent, time.Now()), append(e.ids, body.Message.MessageID)
	e.now++
	e.most = max(e.most, e.now)
	e.mu.Unlock()
	status, err := e.answer(r.Context(), body.Message.MessageID)
	e.mu.Lock()
	e.now--
	e.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Status: http.StatusText(status),
		Body: io.NopCloser(strings.NewReader(""))}, nil
}

// after answers with a status when a time has passed.
func after(d time.Duration, status int) func(context.Context, string) (int, error) {
	return func(ctx context.Context, _ string) (int, error) {
		select {
		case <-time.After(d):
			return status, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// reports are what a Pusher told a person.
type reports struct {
	mu   sync.Mutex
	told []string
}

func (r *reports) tell(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = append(r.told, err.Error())
}

func (r *reports) has(t *testing.T, wanted ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.told) != len(wanted) {
		t.Fatalf("told: %q, wanted %q", r.told, wanted)
	}
	for i, w := range wanted {
		if !strings.Contains(r.told[i], w) {
			t.Errorf("told: %q, wanted %q", r.told[i], w)
		}
	}
}

// run runs a Pusher until the function that it returns is called.
func run(t *testing.T, c push.Config, s push.Source) (stop func()) {
	t.Helper()
	if c.Endpoint == "" {
		c.Endpoint = "http://127.0.0.1/push"
	}
	p, err := push.New(c, s)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.Run(ctx)
	}()
	return func() {
		cancel()
		<-ended
	}
}

func TestRequestsAtOnceGrowAsTheyWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := newStore(t, 0), &endpoint{answer: after(100*time.Millisecond, 200)}
		s.put(1000)
		began := time.Now()
		stop := run(t, push.Config{Transport: e, MaxWindow: 64}, s)
		<-s.all
		stop()
		rounds := map[time.Duration]int{}
		for _, at := range e.sent {
			rounds[at.Sub(began)]++
		}
		want := 4
		for i := time.Duration(0); i < 4; i++ {
			if got := rounds[i*100*time.Millisecond]; got != want {
				t.Errorf("round %d has %d requests, not %d", i, got, want)
			}
			want *= 2
		}
		if e.most != 64 || len(s.acked) != 1000 || len(e.ids) != 1000 {
			t.Errorf("%d at once, %d acknowledged, %d sent", e.most, len(s.acked), len(e.ids))
		}
	})
}

func TestFailuresMakeTheWindowSmallerAndDeliveriesPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told reports
		s, e := newStore(t, 0), &endpoint{answer: after(0, 503)}
		s.put(100)
		began := time.Now()
		stop := run(t, push.Config{Transport: e, Report: told.tell}, s)
		time.Sleep(10 * time.Minute)
		stop()
		// Four at once, then one after each pause: 100 ms, 200 ms … 51.2 s, 60 s, 60 s …
		var gaps []time.Duration
		last := began
		for _, at := range e.sent {
			if at != last {
				gaps = append(gaps, at.Sub(last))
				last = at
			}
		}
		want := []time.Duration{100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 51200, 60000, 60000, 60000, 60000,
			60000, 60000, 60000, 60000}
		for i := range want {
			want[i] *= time.Millisecond
		}
		if n := min(len(gaps), len(want)); n < len(want)-1 || !slices.Equal(gaps[:n], want[:n]) {
			t.Errorf("the pauses are %v", gaps)
		}
		if s.holding() != 0 || len(s.nacked) != len(e.ids) {
			t.Errorf("%d are held, %d were sent, %d given back", s.holding(), len(e.ids), len(s.nacked))
		}
		told.has(t, slices.Repeat([]string{"fails: the answer is Service Unavailable"}, 6)...)
	})
}

func TestAnEndpointThatTakesNothingIsToldAtIntervalsAlsoWithARetryPolicy(t *testing.T) {
	for _, policy := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var told reports
			works := time.Now().Add(time.Minute)
			s, e := newStore(t, 0), &endpoint{}
			e.answer = func(context.Context, string) (int, error) {
				time.Sleep(time.Second)
				if time.Now().Before(works) {
					return 0, errors.New("connection refused")
				}
				return 204, nil
			}
			s.put(1)
			stop := run(t, push.Config{Transport: e, Report: told.tell, RetryPolicy: policy}, s)
			time.Sleep(time.Second + time.Millisecond)
			told.has(t, "fails: connection refused")
			<-s.all
			stop()
			// the pauses without a policy become longer than the first silences
			told.has(t, "fails: connection refused", "fails: connection refused", "fails: connection refused",
				"works again")
		})
	}
}

// Whoever is told that the endpoint fails takes a second, in which the endpoint works again.
func TestWhatIsToldComesInTheOrderInWhichItHappened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told reports
		tell := func(err error) {
			if strings.Contains(err.Error(), "fails") {
				time.Sleep(time.Second)
			}
			told.tell(err)
		}
		s, e := newStore(t, 0), &endpoint{}
		var refused atomic.Bool
		e.answer = func(context.Context, string) (int, error) {
			if refused.CompareAndSwap(false, true) {
				return 503, nil
			}
			time.Sleep(time.Millisecond)
			return 204, nil
		}
		s.put(2)
		stop := run(t, push.Config{Transport: e, Report: tell, RetryPolicy: true}, s)
		time.Sleep(3 * time.Second)
		stop()
		told.mu.Lock()
		defer told.mu.Unlock()
		if len(told.told) < 2 || !strings.Contains(told.told[0], "fails") ||
			!strings.Contains(told.told[1], "works again") {
			t.Errorf("told: %q", told.told)
		}
	})
}

func TestDeliveriesThatWorkAgainAreSpedUpAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told reports
		works := time.Now().Add(3 * time.Second)
		s, e := newStore(t, 0), &endpoint{}
		e.answer = func(context.Context, string) (int, error) {
			if time.Now().Before(works) {
				return 0, errors.New("connection refused")
			}
			time.Sleep(10 * time.Millisecond)
			return 204, nil
		}
		s.put(500)
		stop := run(t, push.Config{Transport: e, Report: told.tell}, s)
		<-s.all
		stop()
		if late := time.Since(works); late > 3500*time.Millisecond {
			t.Errorf("all were delivered %v after the endpoint worked again", late)
		}
		told.has(t, "fails: connection refused", "works again")
	})
}

func TestWithARetryPolicyOneFailureDoesNotStopTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := newStore(t, 0), &endpoint{}
		tries := 0
		e.answer = func(_ context.Context, id string) (int, error) {
			time.Sleep(time.Millisecond)
			if id == "1" {
				if tries++; tries < 50 {
					return 500, nil
				}
			}
			return 200, nil
		}
		s.put(1)
		began := time.Now()
		stop := run(t, push.Config{Transport: e, RetryPolicy: true}, s)
		<-s.all
		stop()
		if d := time.Since(began); d != 50*time.Millisecond {
			t.Errorf("50 tries took %v", d)
		}
	})
}

func TestAMessageThatKeepsFailingDoesNotStopOthersThatWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := newStore(t, 0), &endpoint{}
		e.answer = func(_ context.Context, id string) (int, error) {
			time.Sleep(10 * time.Millisecond)
			if id == "3" {
				return 400, nil
			}
			return 200, nil
		}
		s.put(200)
		stop := run(t, push.Config{Transport: e, MaxWindow: 8}, s)
		time.Sleep(3 * time.Second) // two at a time, one of which is the one that fails
		stop()
		if len(s.acked) != 199 {
			t.Errorf("%d of 199 were delivered", len(s.acked))
		}
	})
}

func TestMessagesOfAKeyGoOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := newStore(t, 0), &endpoint{}
		failed := map[string]bool{}
		var mu sync.Mutex
		under := map[string]int{}
		keys := map[string]string{}
		for i := range 300 {
			key := string(rune('a' + i%3))
			keys[s.add(key)] = key
		}
		e.answer = func(_ context.Context, id string) (int, error) {
			mu.Lock()
			under[keys[id]]++
			if under[keys[id]] > 1 {
				t.Errorf("two messages of the key %s are under way", keys[id])
			}
			fails := len(id) == 2 && !failed[id] // each of 10 to 99 fails once
			failed[id] = true
			mu.Unlock()
			time.Sleep(time.Millisecond)
			mu.Lock()
			under[keys[id]]--
			mu.Unlock()
			if fails {
				return 500, nil
			}
			return 200, nil
		}
		stop := run(t, push.Config{Transport: e, RetryPolicy: true}, s)
		<-s.all
		stop()
		order := map[string][]string{}
		for _, id := range s.acked {
			order[keys[id]] = append(order[keys[id]], id)
		}
		for key, ids := range order {
			if !slices.IsSortedFunc(ids,
				func(a, b string) int { return len(a)*1000 - len(b)*1000 + strings.Compare(a, b) }) || len(ids) != 100 {
				t.Errorf("the key %s came as %v", key, ids)
			}
		}
		if len(s.nacked) != 90 {
			t.Errorf("%d were given back", len(s.nacked))
		}
	})
}

func TestAnAnswerIsWaitedForUntilTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := newStore(t, 20*time.Second), &endpoint{answer: after(time.Hour, 200)}
		s.put(1)
		began := time.Now()
		stop := run(t, push.Config{Transport: e, AckDeadline: 20 * time.Second}, s)
		time.Sleep(20*time.Second - time.Nanosecond)
		synctest.Wait()
		if s.gaveBack() != 0 {
			t.Fatal("it was given back before the deadline")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if s.gaveBack() != 1 || time.Since(began) != 20*time.Second {
			t.Errorf("%d were given back after %v", s.gaveBack(), time.Since(began))
		}
		stop()
	})
}

func TestAMessageThatWaitedForItsKeyGetsItsWholeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := newStore(t, 10*time.Second), &endpoint{answer: after(9*time.Second, 200)}
		for range 3 {
			s.add("k")
		}
		stop := run(t, push.Config{Transport: e}, s)
		<-s.all
		stop()
		if !slices.Equal(s.extended, []string{"2", "3"}) || !slices.Equal(s.acked, []string{"1", "2", "3"}) {
			t.Errorf("extended: %v, acknowledged: %v", s.extended, s.acked)
		}
	})
}

func TestAMessageThatSomebodyElseHasIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told reports
		s, e := newStore(t, 10*time.Second), &endpoint{answer: after(9*time.Second, 200)}
		s.gone = true
		s.add("k")
		s.add("k")
		stop := run(t, push.Config{Transport: e, Report: told.tell}, s)
		time.Sleep(time.Minute)
		stop()
		if !slices.Equal(e.ids, []string{"1"}) || len(s.nacked) != 0 {
			t.Errorf("sent: %v, given back: %v", e.ids, s.nacked)
		}
		told.has(t, "message 2: it waited too long to be sent: somebody else has it")
	})
}

func TestStoppingWaitsForWhatIsUnderWayAndReturnsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := newStore(t, 0), &endpoint{answer: after(3*time.Second, 200)}
		for range 4 {
			s.add("k")
		}
		stop := run(t, push.Config{Transport: e}, s)
		time.Sleep(time.Second)
		began := time.Now()
		stop()
		if d := time.Since(began); d != 2*time.Second {
			t.Errorf("stopping took %v", d)
		}
		if !slices.Equal(s.acked, []string{"1"}) || !slices.Equal(s.returned, []string{"4", "3", "2"}) ||
			s.holding() != 0 {
			t.Errorf("acknowledged: %v, returned: %v, held: %d", s.acked, s.returned, s.holding())
		}
	})
}

func TestStoppingCutsWhatTakesTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told reports
		s, e := newStore(t, 0), &endpoint{answer: after(time.Hour, 200)}
		s.put(1)
		stop := run(t, push.Config{Transport: e, AckDeadline: 10 * time.Minute, Grace: 7 * time.Second,
			Report: told.tell}, s)
		time.Sleep(time.Second)
		began := time.Now()
		stop()
		if d := time.Since(began); d != 7*time.Second || !slices.Equal(s.nacked, []string{"1"}) {
			t.Errorf("stopping took %v; given back: %v", d, s.nacked)
		}
		told.has(t)
	})
}

func TestErrorsOfTheSourceAreToldAndTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told reports
		s, e := newStore(t, 0), &endpoint{answer: after(0, 200)}
		s.failing = errors.New("the disk is full")
		s.put(1)
		stop := run(t, push.Config{Transport: e, Report: told.tell}, s)
		time.Sleep(2500 * time.Millisecond)
		s.mu.Lock()
		s.failing = nil
		s.mu.Unlock()
		<-s.all
		stop()
		told.has(t, "cannot claim: the disk is full", "the disk is full", "the disk is full")
	})
}
