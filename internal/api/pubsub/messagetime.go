package pubsub

import (
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hikyaku/hikyaku/internal/door"
)

// messageTime bounds how long a client may take for a message: door.BodyTime, and door.PartTime or up to twice as long
// once the door closes, for nobody has begun to work on it. It looks every door.PartTime, so that a message which comes
// at once, as nearly all do, costs no more than a timer that never fires.
type messageTime struct {
	mu      sync.Mutex
	in      *incoming
	timer   *time.Timer
	until   time.Time // when the message is late
	runs    bool
	closing bool  // the door was closing at the last look
	cut     error // why the call was ended; nil: it was not
}

var errLate = status.Errorf(codes.DeadlineExceeded, "a message was not complete %v after it began: send smaller "+
	"ones, or faster", door.BodyTime)

// begin begins the client's time for a message. Where it has begun already it goes on.
func (t *messageTime) begin(in *incoming) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.runs {
		return
	}
	t.in, t.runs, t.until = in, true, time.Now().Add(door.BodyTime)
	if t.timer == nil {
		t.timer = time.AfterFunc(door.PartTime, t.look)
	} else {
		t.timer.Reset(door.PartTime)
	}
}

// anew gives the client its whole time once more.
func (t *messageTime) anew() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.until = time.Now().Add(door.BodyTime)
}

// end ends the time. It returns why the call was ended by then, else err.
func (t *messageTime) end(err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.runs = false
	t.timer.Stop()
	if t.cut != nil {
		return t.cut
	}
	return err
}

// look ends the call when the time is over.
func (t *messageTime) look() {
	if why := t.over(); why != nil {
		_ = t.in.from.WriteStatus(status.Convert(why)) // a client that is gone misses it
	}
}

// over says why the call ends now. nil: it does not.
func (t *messageTime) over() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	left := time.Until(t.until)
	switch {
	case !t.runs:
		return nil
	case t.closing:
		t.cut = errStopping
	case left <= 0:
		t.cut = errLate
	default:
		t.closing = t.in.d.stopping.Err() != nil
		t.timer.Reset(min(left, door.PartTime))
	}
	return t.cut
}
