package publisher

import "time"

const (
	// requestWorth is about what the two ends of a request spend on it when they have nothing else to do: so much more
	// of a round trip hides one more.
	requestWorth = 150 * time.Microsecond
	// widest bounds the number of lone messages in flight.
	widest = 32
	// apart is the time between two requests of a steady stream. Google's publisher, where it is set well, leaves about
	// as much.
	apart = 1400 * time.Microsecond
	// messageWorth is about what both ends spend on a message when they are busy. Where there are more than many in
	// flight, that is no part of the round trip, but of the time of a call: of all of them, since they wait for each
	// other.
	messageWorth = 6 * time.Microsecond
	many         = 1000
	// unknownTrip is taken for the round trip before the first answer: something between a near service and a far one.
	unknownTrip = 10 * time.Millisecond
	// windowCalls is how many requests the shortest round trip is remembered for, at least.
	windowCalls = 128
)

// window adapts the number of requests in flight to the round-trip time.
//
// Where a round trip is short, a second request in flight costs more than it gains: the line is busy with the first,
// and what gathers meanwhile goes together. Where it is long, a message need not wait for the answers to those before
// it. So as long as few messages are in flight, or few requests, the next leaves at once.
//
// Of a steady stream, as many requests are in flight as the round trip has room for. That is no limit at which
// everything stops, or the requests that filled it would come back together, a round trip later, and so would those
// after them. Instead a request that would be one more has to be as large as its share of what is in flight already,
// which spreads a stream's requests evenly over the round trip, without a clock.
type window struct {
	before, now time.Duration // the shortest of the calls that were counted before, and of those counted now; 0: none
	calls       int
}

// note takes the time of a request that succeeded, and how many messages were in flight when it left, its own among
// them. A time that the messages alone explain says nothing.
func (w *window) note(took time.Duration, messages int) {
	d := took - time.Duration(max(messages-many, 0))*messageWorth
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

// lone is how many messages may be in flight each by itself.
func (w *window) lone() int { return min(1+int(w.assumed()/requestWorth), widest) }

// width is how many requests a steady stream has in flight.
func (w *window) width() int { return min(1+int(w.assumed()/apart), widest) }

func (w *window) assumed() time.Duration {
	if d := w.roundTrip(); d > 0 {
		return d
	}
	return unknownTrip
}

// need is how many messages have to wait before the next request leaves, with so many requests, of so many messages, in
// flight.
func (w *window) need(requests, messages int) int {
	width := w.width()
	if requests < width || messages < w.lone() {
		return 1
	}
	// Its share, and some more where there are few: next door a second request is seldom worth while.
	share := width * width * width
	return (messages*requests*(width+1) + share - 1) / share
}
