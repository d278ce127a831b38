package pubsub

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"

	"github.com/hikyaku/hikyaku/internal/door"
)

const (
	// connStands is what a connection of gRPC takes without a stream: its buffers, a frame, and a header that is not
	// complete.
	connStands = 64 << 10
	// streamStands is what an open stream takes, whatever it does: its goroutines, its buffers and a usual header.
	streamStands = 16 << 10
	// usualHeader is the length on the wire, compressed, up to which a header is a usual one. A longer one takes
	// headerCost times its length besides.
	usualHeader = 1 << 10
	headerCost  = 4
	// tinyStands is what a tiny frame of data takes, and tinyTime after how long one is forgotten.
	tinyStands = 64
	tinyTime   = 200 * time.Millisecond
	// standingStep is what a connection takes, and gives back, at once: few streams that come and go cost the account
	// nothing.
	standingStep = streamStands
)

// standing counts the streams that are open on one connection, as they are on the wire: from the first frame of a
// header until either side ends the stream. A client that opens streams and says nothing, or leaves small answers
// unread, holds memory that no message counts.
type standing struct {
	of    *door.Busy
	short atomic.Bool // there is no room for what is open: new streams are refused
	// some stream has had tiny frames
	indebted atomic.Bool

	mu    sync.Mutex
	last  uint32 // the highest number that was opened
	open  map[uint32]openStream
	need  int64 // of all that are open
	taken int64 // of the account
	ended bool
}

// openStream is what is known of a stream that is open.
type openStream struct {
	takes int64 // without its tiny frames
	tiny  int64 // tiny frames that may not have been read
	at    time.Time
}

func (o openStream) all() int64 { return o.takes + o.tiny*tinyStands }

// newStanding takes what a connection without streams takes. It is short where there is no room for that.
func newStanding(of *door.Busy) *standing {
	s := &standing{of: of, open: map[uint32]openStream{}, need: connStands}
	s.fit()
	return s
}

// header is told of a frame of a header, which has n bytes. The first one opens the stream.
func (s *standing) header(stream uint32, n int64, first bool) {
	var more int64
	if n > usualHeader || !first {
		more = headerCost * n
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case first && stream > s.last:
		s.last = stream
		more += streamStands
	case s.open[stream].takes == 0: // it has ended
		return
	}
	o := s.open[stream]
	o.takes += more
	s.open[stream] = o
	s.need += more
	s.fit()
}

// closed is told the end of a stream, by either side. Another one of the same stream, or of none, is nothing.
func (s *standing) closed(stream uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.open[stream].all(); n > 0 {
		delete(s.open, stream)
		s.need -= n
		s.fit()
	}
}

// idle tells whether no stream is open.
func (s *standing) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open) == 0
}

// data is told of a frame of data that does not end its stream. gRPC keeps each by itself until its message is complete
// and read, so a tiny one takes far more than its length. A program sends one now and then, to show that it is alive,
// and some send what announces a message by itself: with time, and by a frame that is not tiny, one is forgotten.
// It returns false when there is no room for another one.
func (s *standing) data(stream uint32, tiny bool, now time.Time) (room bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.open[stream]
	if o.takes == 0 {
		return true
	}
	was := o.all()
	o.tiny -= min(o.tiny, int64(now.Sub(o.at)/tinyTime))
	o.at = now
	if tiny {
		o.tiny++
		s.indebted.Store(true)
	} else {
		o.tiny = max(o.tiny-1, 0)
	}
	s.open[stream] = o
	s.need += o.all() - was
	s.fit()
	return !tiny || !s.short.Load()
}

// end gives everything back, when the connection is closed.
func (s *standing) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of.Give(s.taken)
	s.taken, s.ended = 0, true
}

// fit takes what is needed, and gives back what is not. mu is held.
func (s *standing) fit() {
	switch {
	case s.ended:
		return
	case s.need > s.taken:
		for _, n := range []int64{s.need - s.taken + standingStep, s.need - s.taken} {
			if s.of.Try(n) {
				s.taken += n
				break
			}
		}
	case s.taken > s.need+3*standingStep:
		s.of.Give(s.taken - s.need - standingStep)
		s.taken = s.need + standingStep
	}
	s.short.Store(s.need > s.taken)
}

// mostFields is how many fields the header of a call may have. Compressed they may have a byte each, and take a hundred
// times as much.
const mostFields = 100

// tap refuses a call, before anything is made for it, where there is no room for the streams of its connection.
func (d *Server) tap(ctx context.Context, call *tap.Info) (context.Context, error) {
	err := tapped(ctx, call)
	if err != nil {
		d.traffic.Ended("none", status.Code(err).String())
	}
	return ctx, err
}

func tapped(ctx context.Context, call *tap.Info) error {
	fields := 0
	for _, values := range call.Header {
		fields += len(values)
	}
	if fields > mostFields {
		return status.Errorf(codes.InvalidArgument, "the call's header has %d fields, and may have %d", fields,
			mostFields)
	}
	if p, ok := peer.FromContext(ctx); ok {
		if a, ok := p.Addr.(*knownAddr); ok && a.frames != nil && a.frames.standing.short.Load() {
			return status.Errorf(codes.ResourceExhausted, "%v: the streams and connections that are open leave "+
				"no room for another one (limits: busy_bytes): try again after a while", door.ErrBusy)
		}
	}
	return nil
}
