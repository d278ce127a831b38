package publisher

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"cloud.google.com/go/pubsub/v2"
)

func flowControl(messages, bytes int, do pubsub.LimitExceededBehavior) PublishSettings {
	s := Defaults()
	s.FlowControlSettings = pubsub.FlowControlSettings{MaxOutstandingMessages: messages, MaxOutstandingBytes: bytes,
		LimitExceededBehavior: do}
	return s
}

func TestPublishBlocksWhileTooMuchIsOutstanding(t *testing.T) {
	for name, s := range map[string]PublishSettings{
		"messages": flowControl(2, 1000, pubsub.FlowControlBlock),
		"bytes":    flowControl(1000, 6, pubsub.FlowControlBlock), // three each
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLine(time.Second)
				d := l.dispatcher(s)
				began := time.Now()
				var rs []*PublishResult
				for i, want := range []time.Duration{0, 0, time.Second, time.Second, 2 * time.Second} {
					rs = append(rs, publish(d, "", "x")...)
					if took := time.Since(began); took != want {
						t.Errorf("message %d was taken after %v, want %v", i, took, want)
					}
					synctest.Wait() // both requests of one second end before the next call: it may find room
				}
				same(t, fates(rs...), "id of x", "id of x", "id of x", "id of x", "id of x")
				if s := d.snapshot(); s.Blocked != 2 || s.Outstanding != 0 {
					t.Errorf("%+v", s)
				}
				d.stop()
			})
		})
	}
}

func TestAMessageLargerThanAllRoomGoesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(time.Second)
		d := l.dispatcher(flowControl(10, 10, pubsub.FlowControlBlock))
		rs := publish(d, "", "a", "much larger than ten bytes", "b")
		same(t, l.requests()[:2], "a", "much larger than ten bytes")
		same(t, fates(rs...), "id of a", "id of much larger than ten bytes", "id of b")
		d.stop()
	})
}

// A call that gives up makes way: what waits behind it is not forgotten, and its key has a hole that must not be
// published over.
func TestACallThatGivesUpIsPassedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(time.Second)
		d := l.dispatcher(flowControl(100, 10, pubsub.FlowControlBlock))
		publish(d, "", "a")
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		large := &PublishResult{msg: &pubsub.Message{Data: []byte("large"), OrderingKey: "k"}, size: 10}
		gaveUp, small := make(chan bool), make(chan []*PublishResult, 1)
		go func() { d.offer(ctx, large); gaveUp <- true }()
		synctest.Wait()
		go func() { small <- publish(d, "", "s") }()
		synctest.Wait()
		if len(small) > 0 {
			t.Error("a call overtook one that waited before it")
		}
		<-gaveUp
		if _, err := large.Get(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the call that gave up: %v", err)
		}
		same(t, fates(<-small...), "id of s")
		same(t, fates(publish(d, "k", "x")...), pubsub.ErrPublishingPaused{OrderingKey: "k"}.Error())
		ended, end := context.WithCancel(t.Context())
		end()
		d.offer(context.Background(), &PublishResult{msg: &pubsub.Message{}, size: 10})
		r := &PublishResult{msg: &pubsub.Message{}, size: 10}
		d.offer(ended, r)
		if _, err := r.Get(t.Context()); !errors.Is(err, context.Canceled) {
			t.Errorf("a call whose context had ended: %v", err)
		}
		d.stop()
	})
}

func TestFlowControlCanRefuseInsteadOfBlocking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(time.Second)
		d := l.dispatcher(flowControl(2, 9, pubsub.FlowControlSignalError))
		rs := publish(d, "", "a", "too long for it", "b", "c")
		same(t, fates(rs...), "id of a", pubsub.ErrFlowControllerMaxOutstandingBytes.Error(), "id of b",
			pubsub.ErrFlowControllerMaxOutstandingMessages.Error())
		rs = publish(d, "k", "too long for it", "d")
		same(t, fates(rs...), pubsub.ErrFlowControllerMaxOutstandingBytes.Error(),
			pubsub.ErrPublishingPaused{OrderingKey: "k"}.Error())
		d.stop()
	})
}

func TestFlowControlCanBeTurnedOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(time.Second)
		d := l.dispatcher(flowControl(1, 1, pubsub.FlowControlIgnore))
		publish(d, "", "a", "b", "c")
		if n := d.snapshot().Outstanding; n != 3 {
			t.Errorf("%d outstanding", n)
		}
		d.stop()
	})
}

func TestWhoWaitsForRoomOfAKeyThatFailsIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(time.Second)
		l.err = func(*group) error { return errLost }
		d := l.dispatcher(flowControl(1, 100, pubsub.FlowControlBlock))
		rs := publish(d, "k", "a")
		rs = append(rs, publish(d, "k", "b")...) // waits until a has failed
		same(t, fates(rs...), "lost", pubsub.ErrPublishingPaused{OrderingKey: "k"}.Error())
		d.stop()
	})
}
