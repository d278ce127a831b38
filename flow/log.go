package flow

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"
)

// Event is what Log tells: one thing that happened to a stream.
type Event struct {
	Time   time.Time
	Worker string // "elastic-2", or "main" and "goroutine" where no worker is held
	Stream string // the name that Log was given
	Signal Signal
	Demand int   // of Request: how many items are taken in ahead; 0: all of them
	Item   any   // of Next
	Err    error // of Error
}

// Signal says what happened.
type Signal string

// The signals, under the names that users of Reactor know.
const (
	Subscribe Signal = "onSubscribe" // a run begins
	Request   Signal = "request"     // the reader is ready
	Next      Signal = "onNext"      // an item
	Complete  Signal = "onComplete"  // the end
	Error     Signal = "onError"     // an error
	Cancel    Signal = "cancel"      // the reader has had enough
)

// String returns the event as a line of a log.
func (e Event) String() string {
	what := string(e.Signal) + "()"
	switch e.Signal {
	case Request:
		what = "request(unbounded)"
		if e.Demand > 0 {
			what = "request(" + strconv.Itoa(e.Demand) + ")"
		}
	case Next:
		what = fmt.Sprintf("onNext(%v)", e.Item)
	case Error:
		what = fmt.Sprintf("onError(%v)", e.Err)
	}
	return fmt.Sprintf("%s [%s] INFO  %s - %s", e.Time.Format("15:04:05.000"), e.Worker, e.Stream, what)
}

// Log passes a stream on and tells what happens to it. to is called in the goroutine in which it happens, so by several
// at once if several streams run at once.
func Log[T any](in Stream[T], name string, to func(Event)) Stream[T] {
	return stream(func(ctx context.Context, yield func(T, error) bool) error {
		p := placeOf(ctx)
		tell := func(e Event) {
			e.Time, e.Worker, e.Stream = time.Now(), p.where(), name
			to(e)
		}
		tell(Event{Signal: Subscribe})
		tell(Event{Signal: Request, Demand: p.demand})
		done := false // its end was told
		err := each(ctx, in, func(item T, err error) bool {
			if err != nil {
				done = true
				tell(Event{Signal: Error, Err: err})
			} else {
				tell(Event{Signal: Next, Item: item})
			}
			more := yield(item, err)
			if !more && !done {
				done = true
				tell(Event{Signal: Cancel})
			}
			return more
		})
		switch {
		case err != nil:
			tell(Event{Signal: Error, Err: err})
		case !done:
			tell(Event{Signal: Complete})
		}
		return err
	})
}

// LogTo writes events as lines. What it returns may be called from any goroutine. A line that cannot be written is
// lost.
func LogTo(w io.Writer) func(Event) {
	var mu sync.Mutex
	return func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = fmt.Fprintln(w, e)
	}
}
