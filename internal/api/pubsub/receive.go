package pubsub

import (
	"errors"
	"io"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/hikyaku/hikyaku/internal/access"
)

// receive does what the client asks for, and returns why the stream ends.
func (st *stream) receive(req *pubsubpb.StreamingPullRequest) error {
	defer st.in.hold.End()
	for first := true; ; first = false {
		if err := st.obey(req, first); err != nil {
			return err
		}
		st.in.hold.End()
		req = new(pubsubpb.StreamingPullRequest)
		if err := st.in.next(st.ctx, req); err != nil {
			if errors.Is(err, io.EOF) {
				st.unwatch()       // nothing that is sent is waited for where the client is gone
				st.settling.Wait() // the client hears what became of its last requests
				return errHalfClosed
			}
			return err
		}
	}
}

// obey does what one request asks for.
func (st *stream) obey(req *pubsubpb.StreamingPullRequest, first bool) error {
	if !first {
		if err := checkLater(req); err != nil {
			return err
		}
		if s := req.StreamAckDeadlineSeconds; s != 0 {
			if err := checkStreamDeadline(s); err != nil {
				return err
			}
			st.deadline.Store(int64(time.Duration(s) * time.Second))
		}
	}
	if len(req.ModifyDeadlineAckIds) != len(req.ModifyDeadlineSeconds) {
		return invalid("modify_deadline_seconds", "has %d elements, modify_deadline_ack_ids %d: they belong together",
			len(req.ModifyDeadlineSeconds), len(req.ModifyDeadlineAckIds))
	}
	if st.outbox.full() {
		return errNotReading
	}
	if len(req.AckIds) == 0 && len(req.ModifyDeadlineAckIds) == 0 {
		if first || !st.pings {
			return nil
		}
		s, err := st.d.subscription(st.ctx, st.r)
		if err != nil {
			return err
		}
		st.answer(&pubsubpb.StreamingPullResponse{SubscriptionProperties: s.properties()}, func() {})
		return nil
	}
	return st.settle(req)
}

// checkLater refuses what only the first request may say.
func checkLater(req *pubsubpb.StreamingPullRequest) error {
	const only = "may be set in the first request of a stream alone"
	switch {
	case req.Subscription != "":
		return invalid("subscription", only)
	case req.ClientId != "":
		return invalid("client_id", only)
	case req.MaxOutstandingMessages != 0:
		return invalid("max_outstanding_messages", only)
	case req.MaxOutstandingBytes != 0:
		return invalid("max_outstanding_bytes", only)
	case req.ProtocolVersion != 0:
		return invalid("protocol_version", only)
	}
	return nil
}

func (s *subscription) properties() *pubsubpb.StreamingPullResponse_SubscriptionProperties {
	return &pubsubpb.StreamingPullResponse_SubscriptionProperties{
		ExactlyOnceDeliveryEnabled: s.def.ExactlyOnce, MessageOrderingEnabled: !s.def.Unordered,
	}
}

// settle acknowledges and moves deadlines. It goes on its way in a group with what others settle, and is not waited
// for.
func (st *stream) settle(req *pubsubpb.StreamingPullRequest) error {
	if err := st.d.allow(st.ctx, access.Take, st.r); err != nil {
		return err
	}
	s, err := st.d.subscription(st.ctx, st.r)
	if err != nil {
		return err
	}
	x := &settling{sub: s}
	var c confirmation
	malformed := func(field, text string, wrong *[]string) error {
		if s.def.ExactlyOnce {
			*wrong = append(*wrong, text)
			return nil
		}
		return invalid(field, "%.60q is not an ack id", text)
	}
	for _, text := range req.AckIds {
		id, err := parseAckID(text, st.user)
		if err != nil {
			if err := malformed("ack_ids", text, &c.ackInvalid); err != nil {
				return err
			}
			continue
		}
		x.done, c.done = append(x.done, id), append(c.done, text)
	}
	for i, text := range req.ModifyDeadlineAckIds {
		seconds := req.ModifyDeadlineSeconds[i]
		if seconds < 0 || seconds > int32(maxDeadline/time.Second) {
			return invalid("modify_deadline_seconds", "has %d: from 0 to 600 are allowed", seconds)
		}
		id, err := parseAckID(text, st.user)
		switch {
		case err != nil:
			if err := malformed("modify_deadline_ack_ids", text, &c.modifyInvalid); err != nil {
				return err
			}
		case seconds == 0:
			x.back, c.back = append(x.back, id), append(c.back, text)
		default:
			x.longer, c.longer = append(x.longer, id), append(c.longer, text)
			x.deadline = append(x.deadline, time.Duration(seconds)*time.Second)
		}
	}
	taken := st.in.hold.Leave() // until it is settled
	settled := func() {
		st.in.hold.Of.Give(taken)
		st.settling.Done()
	}
	if s.def.ExactlyOnce {
		x.after = func(x *settling) { st.answer(c.response(x), settled) }
	} else {
		x.after = func(x *settling) {
			if x.err != nil {
				st.stop(x.err) // the client learns that its acknowledgements came to nothing
			}
			settled()
		}
	}
	st.settling.Add(1)
	if err := st.d.settles.PostWait(st.ctx, x); err != nil {
		settled()
		return err
	}
	return nil
}

// answer sends a response and calls then. Neither who receives, nor who settles for all streams, waits for the client
// to read it.
func (st *stream) answer(res *pubsubpb.StreamingPullResponse, then func()) {
	st.outbox.leave(res)
	st.d.work.Go(func() {
		defer then()
		if err := st.outbox.flush(st.wire); err != nil {
			st.stop(err)
		}
	})
}

// confirmation collects the ids of a request by what becomes of them, where delivery is exactly once.
type confirmation struct {
	ackInvalid, modifyInvalid []string // malformed
	done, back, longer        []string // as in settling
}

// response tells the client.
func (c *confirmation) response(x *settling) *pubsubpb.StreamingPullResponse {
	res := &pubsubpb.StreamingPullResponse{SubscriptionProperties: x.sub.properties()}
	if len(c.done)+len(c.ackInvalid) > 0 {
		a := &pubsubpb.StreamingPullResponse_AcknowledgeConfirmation{InvalidAckIds: c.ackInvalid}
		sort(c.done, x.doneErrs, x.err, &a.AckIds, &a.InvalidAckIds, &a.TemporaryFailedAckIds)
		res.AcknowledgeConfirmation = a
	}
	if len(c.back)+len(c.longer)+len(c.modifyInvalid) > 0 {
		m := &pubsubpb.StreamingPullResponse_ModifyAckDeadlineConfirmation{InvalidAckIds: c.modifyInvalid}
		sort(c.back, x.backErrs, x.err, &m.AckIds, &m.InvalidAckIds, &m.TemporaryFailedAckIds)
		sort(c.longer, x.longerErrs, x.err, &m.AckIds, &m.InvalidAckIds, &m.TemporaryFailedAckIds)
		res.ModifyAckDeadlineConfirmation = m
	}
	return res
}

// sort puts each id where it belongs.
func sort(ids []string, errs []error, whole error, good, invalid, temporary *[]string) {
	for i, id := range ids {
		switch {
		case i >= len(errs):
			if whole != nil {
				*temporary = append(*temporary, id)
			}
		case errs[i] == nil:
			*good = append(*good, id)
		default:
			*invalid = append(*invalid, id)
		}
	}
}
