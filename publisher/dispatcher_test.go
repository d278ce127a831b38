package publisher

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloud.google.com/go/pubsub/v2"
)

// line is a stand-in for the service, to which a request takes a while. It notes which messages went together.
type line struct {
	takes time.Duration
	err   func(g *group) error // nil: none

	mu    sync.Mutex
	went  []string // a request each: its messages, joined by blanks
	now   map[string]int
	most  int             // requests of one key at once
	began time.Time       // of the test
	at    []time.Duration // when each request left
}

func newLine(takes time.Duration) *line {
	return &line{takes: takes, now: map[string]int{}, began: time.Now()}
}

func (l *line) send(g *group) (time.Duration, []string, error) {
	var bodies, ids []string
	for r := g.first; r != nil; r = r.next {
		bodies = append(bodies, string(r.msg.Data))
		ids = append(ids, "id of "+string(r.msg.Data))
	}
	key := g.lane.key
	l.mu.Lock()
	l.went = append(l.went, strings.Join(bodies, " "))
	l.at = append(l.at, time.Since(l.began))
	if l.now[key]++; key != "" {
		l.most = max(l.most, l.now[key])
	}
	l.mu.Unlock()
	time.Sleep(l.takes)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now[key]--
	if l.err != nil {
		if err := l.err(g); err != nil {
			return 0, nil, err
		}
	}
	return l.takes, ids, nil
}

func (l *line) requests() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.went)
}

// prepared is a dispatcher that can take messages.
func prepared(s PublishSettings, room int, send func(*group) (time.Duration, []string, error)) *dispatcher {
	d := newDispatcher()
	d.prepare(s.complete(), room, send, nil)
	d.open()
	return d
}

func (l *line) dispatcher(s PublishSettings) *dispatcher {
	return prepared(s, pubsub.MaxPublishRequestBytes, l.send)
}

// publish offers a message of a key for each word.
func publish(d *dispatcher, key string, words ...string) (rs []*PublishResult) {
	for _, w := range words {
		m := &pubsub.Message{Data: []byte(w), OrderingKey: key}
		size, _ := sizeOf(m)
		r := &PublishResult{msg: m, size: int32(size)}
		rs = append(rs, r)
		d.offer(context.Background(), r)
	}
	return rs
}

// fates waits for results and returns what became of them: ids, or errors.
func fates(rs ...*PublishResult) (all []string) {
	for _, r := range rs {
		id, err := r.Get(context.Background())
		if err != nil {
			id = err.Error()
		}
		all = append(all, id)
	}
	return all
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// near makes a dispatcher know that the service is near: one request at a time is best.
func (d *dispatcher) near() *dispatcher {
	d.window.note(time.Microsecond, 0)
	return d
}

// busy has the only sender of a dispatcher send a message, so that what is published next waits together.
func busy(d *dispatcher) {
	publish(d, "", "first")
	synctest.Wait()
}

func TestALoneMessageLeavesAtOnceAndWhatFollowsGathers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(time.Second)
		d := l.dispatcher(Defaults()).near()
		publish(d, "", "a")
		synctest.Wait()
		same(t, l.requests(), "a")
		publish(d, "", "b")
		synctest.Wait()
		same(t, l.requests(), "a") // the line is busy, and b is not twice as much
		publish(d, "", "c")
		synctest.Wait()
		same(t, l.requests(), "a", "b c")
		publish(d, "", "d", "e")
		synctest.Wait()
		same(t, l.requests(), "a", "b c") // three are in flight
		time.Sleep(time.Second)
		synctest.Wait()
		same(t, l.requests(), "a", "b c", "d e")
		if l.at[2] != time.Second {
			t.Errorf("the third request left after %v", l.at[2])
		}
		d.stop()
	})
}

func TestWhatIsMuchComparedWithWhatIsInFlightNeedNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(time.Second)
		d := l.dispatcher(Defaults()).near()
		publish(d, "", "a")
		synctest.Wait()
		for _, w := range []string{"b", "c"} { // twice as much: there is little else in flight
			same(t, l.requests(), "a")
			publish(d, "", w)
			synctest.Wait()
		}
		same(t, l.requests(), "a", "b c")
		d.stop()
		if n := d.snapshot().MostFlying; n != 2 {
			t.Errorf("%d requests in flight at most", n)
		}
	})
}

func TestARequestIsFullByCountAndByBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(time.Second)
		s := Defaults()
		s.CountThreshold, s.ByteThreshold, s.NumGoroutines = 3, 10, 1 // so that they leave in order
		d := l.dispatcher(s).near()
		busy(d)
		publish(d, "", "a", "b", "c", "d", "much too long", "e", "f", "g")
		d.stop()
		same(t, l.requests()[1:], "a b c", "d much too long", "e f g")
	})
}

func TestARequestStaysWithinWhatTheServiceTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(time.Second)
		s := Defaults()
		s.NumGoroutines = 1
		d := prepared(s, 14, l.send).near()
		busy(d)
		publish(d, "", "a", "b", "c", "d", "longer than it may be") // five bytes each, framed
		d.stop()
		same(t, l.requests()[1:], "a b", "c d", "longer than it may be")
	})
}

func TestThresholdsLetARequestLeaveByCountByBytesOrAfterADelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(time.Millisecond)
		d := l.dispatcher(Thresholds(3, 20, time.Second))
		publish(d, "", "a", "b")
		time.Sleep(999 * time.Millisecond)
		same(t, l.requests())
		time.Sleep(time.Millisecond)
		synctest.Wait()
		same(t, l.requests(), "a b")
		publish(d, "", "c", "d", "e", "f")
		synctest.Wait()
		same(t, l.requests()[1:], "c d e")
		publish(d, "", "more than twenty bytes")
		synctest.Wait()
		same(t, l.requests()[2:], "f more than twenty bytes")
		publish(d, "k", "x")
		time.Sleep(time.Second)
		synctest.Wait()
		same(t, l.requests()[3:], "x")
		publish(d, "", "y")
		publish(d, "k", "z")
		d.stop()
		left := l.requests()[4:]
		slices.Sort(left)
		same(t, left, "y", "z")
	})
}

func TestOneRequestOfAKeyIsOnItsWayAndKeysDoNotWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(time.Second)
		d := l.dispatcher(Defaults())
		for _, w := range []string{"1", "2", "3"} {
			publish(d, "a", "a"+w)
			publish(d, "b", "b"+w)
			synctest.Wait()
		}
		publish(d, "", "without")
		synctest.Wait()
		same(t, l.requests(), "a1", "b1", "without")
		d.stop()
		if got := l.requests()[3:]; l.most != 1 || !slices.Contains(got, "a2 a3") || !slices.Contains(got, "b2 b3") {
			t.Errorf("%d requests of a key at once; %q", l.most, got)
		}
	})
}

func TestRequestsAreBoundedAndKeysTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(time.Second)
		s := Defaults()
		s.NumGoroutines = 1
		d := l.dispatcher(s)
		publish(d, "", "0")
		synctest.Wait()
		publish(d, "", "1")
		publish(d, "b", "b1", "b2")
		publish(d, "c", "c1")
		synctest.Wait()
		time.Sleep(time.Second + 1)
		publish(d, "b", "b3")
		publish(d, "", "2")
		d.stop()
		same(t, l.requests(), "0", "b1 b2", "1 2", "c1", "b3")
	})
}

var errLost = errors.New("lost")

func TestAKeyThatFailedIsPausedUntilItIsResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(time.Second)
		l.err = func(g *group) error {
			if string(g.first.msg.Data) == "bad" {
				return errLost
			}
			return nil
		}
		d := l.dispatcher(Defaults())
		rs := publish(d, "k", "bad")
		synctest.Wait()
		rs = append(rs, publish(d, "k", "next")...)
		others := publish(d, "other", "fine")
		others = append(others, publish(d, "", "bad")...)
		paused := pubsub.ErrPublishingPaused{OrderingKey: "k"}.Error()
		same(t, fates(rs...), "lost", paused)
		same(t, fates(publish(d, "k", "later")...), paused)
		same(t, fates(others...), "id of fine", "lost")
		same(t, fates(publish(d, "", "without a key nothing is paused")...), "id of without a key nothing is paused")
		if n := d.snapshot().Keys; n != 1 {
			t.Errorf("%d keys are remembered", n)
		}
		d.resume("k")
		same(t, fates(publish(d, "k", "again")...), "id of again")
		d.stop()
		if s := d.snapshot(); s.Keys != 0 || s.Outstanding != 0 || s.Waiting != 0 {
			t.Errorf("%+v", s)
		}
	})
}

func TestFlushWaitsForWhatCameBeforeItAndForNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(time.Second)
		d := l.dispatcher(Thresholds(100, 1000, time.Hour))
		d.flush() // nothing to wait for
		before := publish(d, "", "a")
		before = append(before, publish(d, "k", "b")...)
		var took time.Duration
		go func() {
			began := time.Now()
			d.flush()
			took = time.Since(began)
		}()
		time.Sleep(500 * time.Millisecond)
		after := publish(d, "k", "c")
		time.Sleep(501 * time.Millisecond)
		synctest.Wait()
		if took != time.Second {
			t.Errorf("flush took %v", took)
		}
		for _, r := range before {
			if !isReady(r) {
				t.Error("a message was not answered when Flush returned")
			}
		}
		if isReady(after[0]) {
			t.Error("flush waited for a message that came later")
		}
		d.stop()
	})
}

func isReady(r *PublishResult) bool {
	select {
	case <-r.Ready():
		return true
	default:
		return false
	}
}

func TestStopSendsWhatWaitsAndRefusesTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(time.Second)
		s := Thresholds(100, 1000, time.Hour)
		s.FlowControlSettings.MaxOutstandingMessages = 1
		d := l.dispatcher(s)
		rs := publish(d, "", "a")
		synctest.Wait()
		same(t, l.requests())
		var late []*PublishResult
		go func() { late = publish(d, "", "b") }()
		synctest.Wait()
		same(t, l.requests(), "a") // it stood in the way
		go d.stop()
		synctest.Wait()
		d.stop()
		same(t, fates(append(rs, late...)...), "id of a", pubsub.ErrPublisherStopped.Error())
		same(t, fates(publish(d, "", "c")...), pubsub.ErrPublisherStopped.Error())
	})
}
