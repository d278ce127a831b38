package push_test

import (
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/push"
)

// TestAnAnswerThatCameInAFreezeCounts: the deadline passes in it, too, and who looks after that is the first to go
// on, since the answer came later. Time is real: nobody else may go on meanwhile.
func TestAnAnswerThatCameInAFreezeCounts(t *testing.T) {
	const deadline = 100 * time.Millisecond
	far, config := newFarEnd(t)
	c, got := newClient(t, config), newResults(t)
	got.send(c, "/first", soon)
	k := far.accept(maxStreams(1))
	k.answer(k.request().stream, 200, "")
	got.ok("/first", 200)

	got.send(c, "/0", deadline)
	stream := k.request().stream
	answered := make(chan struct{})
	time.AfterFunc(2*deadline, func() {
		defer close(answered)
		k.answer(stream, 200, "")
	})
	push.Freeze(c, 4*deadline)
	<-answered
	got.ok("/0", 200)
}

func TestWhatWaitsIsNotSentWhenItsDeadlinePassedInAFreeze(t *testing.T) {
	const deadline = 100 * time.Millisecond
	far, config := newFarEnd(t)
	c, got := newClient(t, config), newResults(t)
	got.send(c, "/first", soon)
	k := far.accept(maxStreams(1))
	first := k.request().stream
	got.send(c, "/0", deadline)
	push.Freeze(c, 4*deadline)
	got.failed("/0", push.ErrDeadline, true)
	k.answer(first, 200, "")
	got.ok("/first", 200)
}

func TestADeadlineHoldsAfterAFreeze(t *testing.T) {
	const deadline = 100 * time.Millisecond
	far, config := newFarEnd(t)
	c, got := newClient(t, config), newResults(t)
	got.send(c, "/0", deadline)
	k := far.accept(maxStreams(1))
	k.request()
	push.Freeze(c, 4*deadline)
	got.failed("/0", push.ErrDeadline, false)
}
