package pubsub

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/queue"
)

const (
	// streamMessages and streamBytes bound one response of a stream. Small enough that the first message of many is not
	// held up by the last, and that no client refuses it.
	streamMessages = 500
	streamBytes    = 1 << 20
	// streamWait is how long a stream waits for messages before it looks at the subscription's settings again.
	streamWait = 30 * time.Second
)

// stream is one StreamingPull. Two goroutines work for it: the handler's sends, another one receives.
type stream struct {
	d        *Server
	r        resource
	user     *access.User
	wire     grpc.ServerStream
	in       *incoming // of the one who receives
	number   uint32
	pings    bool         // the client wants an answer to empty requests
	deadline atomic.Int64 // nanoseconds, for messages that are sent from now on
	latest   atomic.Int64 // Unix nanoseconds: the last deadline of all that were given
	flow     *flow
	owner    queue.Owner // holds messages of keys, where they are ordered; else nil
	outbox   outbox
	settling sync.WaitGroup // requests of the client on their way
	goodbye  *goodbye
	unwatch  func() // the end of goodbye
	leaving  bool   // the client has ended the stream: set at its end
	turn     turn

	ctx  context.Context
	stop context.CancelCauseFunc
}

// errHalfClosed is the cause when the client has nothing more to say: the stream ends well.
var errHalfClosed = errors.New("the client closed its side")

// streamingPull answers StreamingPull.
func (d *Server) streamingPull(ctx context.Context, wire grpc.ServerStream) error {
	in, err := d.incoming(wire)
	if err != nil {
		return err
	}
	receiving := false // then what in holds is given back by the one who receives
	defer func() {
		if !receiving {
			in.hold.End()
		}
	}()
	first := new(pubsubpb.StreamingPullRequest)
	if err := in.first(ctx, first); err != nil {
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}
	st, err := d.openStream(ctx, wire, first)
	if err != nil {
		return err
	}
	st.in = in
	defer st.end()
	defer context.AfterFunc(d.stopping, func() { st.stop(errStopping) })()
	if err := wire.SendHeader(nil); err != nil { // some clients wait for it to know that the stream stands
		st.unwatch()
		return err
	}
	receiving = true
	d.work.Go(func() { // it returns once the handler has: reading ends with the call
		err := st.receive(first)
		st.unwatch()
		st.stop(err)
	})
	err = st.send()
	st.leaving = st.goodbye.parted() || errors.Is(context.Cause(st.ctx), errHalfClosed) && !st.goodbye.deaf()
	switch cause := context.Cause(st.ctx); {
	case errors.Is(cause, errHalfClosed):
		return nil
	case cause != nil:
		return cause
	}
	return err
}

// openStream checks the first request.
func (d *Server) openStream(ctx context.Context, wire grpc.ServerStream, first *pubsubpb.StreamingPullRequest) (*stream,
	error) {
	r, err := parseResource("subscription", first.Subscription, kindSubscription)
	if err != nil {
		return nil, err
	}
	if err := d.allow(ctx, access.Take, r); err != nil {
		return nil, err
	}
	s, err := d.subscription(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := checkStreamDeadline(first.StreamAckDeadlineSeconds); err != nil {
		return nil, err
	}
	if err := s.pullable(r); err != nil {
		return nil, err
	}
	st := &stream{
		d: d, r: r, user: userOf(ctx), wire: wire, number: d.nextStream(), pings: first.ProtocolVersion > 0,
		flow: newFlow(first.MaxOutstandingMessages, first.MaxOutstandingBytes),
	}
	st.deadline.Store(int64(time.Duration(first.StreamAckDeadlineSeconds) * time.Second))
	// Where delivery is exactly once, claims must survive a restart of the server, which an owner's do not. Then one
	// response at a time holds messages of a key.
	if !s.def.Unordered && !s.def.ExactlyOnce {
		st.owner = d.store.NewOwner("pubsub " + r.String())
	}
	st.goodbye, st.unwatch = watchGoodbye(ctx)
	st.ctx, st.stop = context.WithCancelCause(ctx)
	d.streams.Store(st.number, st)
	return st, nil
}

// nextStream numbers streams; 0 is none.
func (d *Server) nextStream() uint32 {
	for {
		if n := d.lastStream.Add(1); n != 0 {
			return n
		}
	}
}

func checkStreamDeadline(seconds int32) error {
	if seconds < 10 || seconds > 600 {
		return invalid("stream_ack_deadline_seconds", "is %d: from 10 to 600 are allowed", seconds)
	}
	return nil
}

// send hands out messages until the stream ends.
func (st *stream) send() error {
	t := taker{d: st.d, user: st.user, asks: true, stream: st.number,
		hold: door.Hold{Of: st.d.answers, Traffic: st.d.traffic},
		cost: streamCost, waits: st.d.traffic.Waiting(door.ForMessages)}
	defer t.hold.End()
	most := min(streamBytes, int(st.d.answers.Limit()/(4*streamCost)))
	var properties []byte
	for {
		if st.goodbye.over() {
			<-st.ctx.Done() // when all has been done that the client said before
			return st.ctx.Err()
		}
		if err := st.d.allow(st.ctx, access.Take, st.r); err != nil { // users change while streams stand
			return err
		}
		s, err := st.d.subscription(st.ctx, st.r)
		if err != nil {
			return err
		}
		if err := s.pullable(st.r); err != nil {
			return err
		}
		st.d.used(s.name)
		n, b, err := st.flow.room(st.ctx, streamMessages, most)
		if err != nil {
			return err
		}
		deadline := time.Duration(st.deadline.Load())
		claims, told, err := st.take(&t, s, n, b, deadline)
		if errors.Is(err, door.ErrBusy) || errors.Is(err, context.Canceled) && st.ctx.Err() == nil {
			continue // the messages went back as if nobody had asked; or the turn has ended
		}
		if errors.Is(err, queue.ErrNotFound) {
			continue // deleted or detached: the look at the top says which
		}
		if err != nil {
			return err
		}
		if len(claims) == 0 {
			continue
		}
		if st.goodbye.over() { // it is the one who gave them back, maybe
			st.d.untake(st.ctx, claims)
			continue
		}
		until := time.Now().Add(deadline)
		st.flow.hold(claims, until)
		st.reach(until)
		properties = appendProperties(properties[:0], s.def.ExactlyOnce, !s.def.Unordered)
		if err := st.outbox.send(st.wire, counted(receivedFrame(told, properties), &t.hold)); err != nil {
			st.d.untake(st.ctx, claims)
			return err
		}
	}
}

// take takes messages in a turn, which ends also with a panic: others wait for that.
func (st *stream) take(t *taker, s *subscription, n, b int, deadline time.Duration) ([]queue.Claim, []delivery, error) {
	ctx := st.turn.begin(st.ctx)
	defer st.turn.done()
	return t.take(ctx, s, n, b, streamWait, deadline, st.owner)
}

// reach remembers the last deadline that was given.
func (st *stream) reach(until time.Time) {
	for {
		old := st.latest.Load()
		if until.UnixNano() <= old || st.latest.CompareAndSwap(old, until.UnixNano()) {
			return
		}
	}
}

// extend is told that the deadline of a message was moved.
func (st *stream) extend(id ackID, until time.Time) {
	st.reach(until)
	st.flow.extend(id, until)
}

// farewell is how long a client that has ended its stream may still say something of its messages by other calls.
const farewell = 500 * time.Millisecond

// end is called when the stream is over. What its client holds stays with it until its deadline: it may acknowledge by
// other calls, and it reconnects. But who has ended the stream does not read any more: messages that it has said
// nothing of go back soon.
func (st *stream) end() {
	st.stop(nil)
	st.turn.end()
	if !st.leaving && st.owner == nil {
		st.d.streams.Delete(st.number)
		return
	}
	st.d.work.Go(func() {
		defer st.d.streams.Delete(st.number)
		if st.leaving && st.sleep(time.Now().Add(farewell)) {
			st.d.giveBack(context.Background(), st.flow.unheard())
		}
		if st.owner == nil {
			return
		}
		for st.sleep(time.Unix(0, st.latest.Load())) {
			if time.Now().UnixNano() >= st.latest.Load() {
				st.owner.Close()
				return
			}
		}
	})
}

// sleep sleeps until then. false: the door closes meanwhile, and the deadlines go on without us.
func (st *stream) sleep(until time.Time) bool {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-st.d.stopping.Done():
		return false
	}
}
