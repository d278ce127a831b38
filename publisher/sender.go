package publisher

import (
	"context"
	"time"

	"cloud.google.com/go/pubsub/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// sender makes requests of groups and takes them to the service. It is used by several goroutines at once.
type sender struct {
	base      context.Context // of every request
	topic, id string
	carrier   carrier
	tracer    tracer
	press     *press // nil: nothing is compressed
	hedge     *hedge // nil: nothing is sent twice
	patience  patience
}

// parts is into how many requests a group is divided at most to find the messages that the service will not have.
const parts = 40

// send sends a group. It returns an id a message, or an error for all of them; a message that failed by itself has its
// error in its result. Of a group with a key the error is the first one also where messages before it succeeded. took
// is that of a call which went well; 0: it did not.
func (s *sender) send(g *group) (took time.Duration, ids []string, err error) {
	ctx, w := s.patience.begin(s.base)
	defer s.patience.end(w)
	if s.tracer.on() {
		var end func(error)
		ctx, end = s.tracer.beginRequest(ctx, s, g)
		defer func() { end(err) }()
	}
	began := time.Now()
	ids, err = s.call(ctx, g.first, g.count)
	if err == nil {
		return time.Since(began), ids, nil
	}
	if g.count == 1 || !faulty(err) {
		return 0, nil, err
	}
	d := division{sender: s, keyed: g.lane.key != "", key: g.lane.key, ids: make([]string, 0, g.count), left: parts}
	d.divide(ctx, g.first, g.count, err)
	if d.keyed {
		return 0, d.ids, d.err
	}
	return 0, d.ids, nil
}

// call sends count messages from first on in one request.
func (s *sender) call(ctx context.Context, first *PublishResult, count int) ([]string, error) {
	if s.hedge == nil {
		return s.request(ctx, first, count)
	}
	return s.hedge.run(ctx, func(ctx context.Context) ([]string, error) { return s.request(ctx, first, count) })
}

// request makes one request of them.
func (s *sender) request(ctx context.Context, first *PublishResult, count int) ([]string, error) {
	r := newRequest(s.topic, first, count)
	defer r.free()
	r.compressed = s.press.pays(r.buffer.ReadOnlyData())
	answer, err := deliver(ctx, s.carrier, r)
	if err != nil {
		return nil, err
	}
	if ids := answer.GetMessageIds(); len(ids) == count {
		return ids, nil
	}
	return nil, &AnswerError{Messages: count, IDs: len(answer.GetMessageIds())}
}

// faulty tells whether the service found fault with some message, and took none.
func faulty(err error) bool { return status.Code(err) == codes.InvalidArgument }

// division sends a group, that was refused because of some message in it, by halves, until that one stands alone. The
// number of requests it takes is bounded.
type division struct {
	sender *sender
	keyed  bool
	key    string
	ids    []string
	err    error // of a keyed group: the first one, after which nothing is sent
	left   int   // requests
}

// divide deals with count messages from first on that were refused together.
func (d *division) divide(ctx context.Context, first *PublishResult, count int, err error) {
	if count == 1 || d.left < 2 || !faulty(err) {
		d.fail(first, count, err)
		return
	}
	half := count / 2
	middle := first
	for range half {
		middle = middle.next
	}
	d.try(ctx, first, half)
	d.try(ctx, middle, count-half)
}

func (d *division) try(ctx context.Context, first *PublishResult, count int) {
	if d.err != nil { // of a key, what follows would be out of order
		d.fail(first, count, pubsub.ErrPublishingPaused{OrderingKey: d.key})
		return
	}
	d.left--
	ids, err := d.sender.call(ctx, first, count)
	if err != nil {
		d.divide(ctx, first, count, err)
		return
	}
	d.ids = append(d.ids, ids...)
}

func (d *division) fail(first *PublishResult, count int, err error) {
	for range count {
		first.err = err
		first = first.next
		d.ids = append(d.ids, "")
	}
	if d.keyed && d.err == nil {
		d.err = err
	}
}
