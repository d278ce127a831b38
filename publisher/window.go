package publisher

import "time"

const (
	// requestWorth is about what the two ends of a request spend on it. A round trip of so long hides one more request.
	requestWorth = 150 * time.Microsecond
	// messageWorth is about what they spend on a message when they are busy. It is no part of the round trip, but of the time of a call: of all messages that
	// are in flight, since they wait for each other.
	messageWorth = 6 * time.Microsecond
	// widest bounds the window: the share of a round trip for which a message may have to wait is one by this.
	widest = 32
	// unknownWidth is the window before the first answer: wide enough for a far service, narrow enough for a near one.
	unknownWidth = 8
	// windowCalls is how many requests the shortest round trip is remembered for, at least.
	windowCalls = 128
)

// window adapts the number of requests in flight to the round-trip time.
//
// Where a round trip is short, a second request in flight costs more than it gains: the line is busy with the first, and what gathers
// meanwhile goes together. Where it is long, a message need not wait for the answers to those before it. So the width, the number of requests that
// are in flight of a steady stream, is the shortest round trip of late over what a request costs.
//
// It is no limit at which everything stops, or the requests that filled it would come back together, a round trip later, and so would those
// after them. Up to the width requests leave as they like; beyond it each has to be as large as its share of what is in flight already,
// which spreads a stream's requests evenly over the round trip, without a clock.
type window struct {
	before, now time.Duration // the shortest of the calls that were counted before, and of those counted now; 0: none
	calls       int
}

// note takes the time of a request that succeeded, and how many messages were in flight when it left, its own among them. A time that the messages alone
// explain says nothing.
func (w *window) note(took time.Duration, messages int) {
	d := took - time.Duration(messages)*messageWorth
	if d <= 0 {
		return
	}
	if w.now == 0 || d < w.now {
		w.now = d
	}
	if w.calls++; w.calls == windowCalls {
		w.before, w.now, w.calls = w.now, 0, 0
	}
}

// roundTrip is the shortest round trip of late; 0: unknown.
func (w *window) roundTrip() time.Duration {
	if w.before == 0 || w.now != 0 && w.now < w.before {
		return w.now
	}
	return w.before
}

// width is how many requests a steady stream has in flight.
func (w *window) width() int {
	d := w.roundTrip()
	if d == 0 {
		return unknownWidth
	}
	return min(1+int(d/requestWorth), widest)
}

// need is how many messages have to wait before the next request leaves, with so many requests, of so many messages, in flight.
func (w *window) need(requests, messages int) int {
	width := w.width()
	if requests < width {
		return 1
	}
	square := width * width
	return (messages*requests + square - 1) / square
}
