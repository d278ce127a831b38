package pubsub

import (
	"context"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/hikyaku/hikyaku/internal/access"
)

// maxDeadline is the longest that an acknowledgement may be put off at once.
const maxDeadline = 600 * time.Second

// maxSettleBytes is what a request about messages that were handed out may have.
const maxSettleBytes = 512 << 10

// Acknowledge ends claims for good.
func (s subscriberService) Acknowledge(ctx context.Context, req *pubsubpb.AcknowledgeRequest) (*emptypb.Empty, error) {
	return s.d.settleCall(ctx, req, req.AckIds, func() error { return nil },
		func(x *settling, ids []ackID) { x.done = ids })
}

// ModifyAckDeadline moves deadlines, and with 0 puts messages back.
func (s subscriberService) ModifyAckDeadline(ctx context.Context,
	req *pubsubpb.ModifyAckDeadlineRequest) (*emptypb.Empty, error) {
	deadline := time.Duration(req.AckDeadlineSeconds) * time.Second
	check := func() error {
		if deadline < 0 || deadline > maxDeadline {
			return invalid("ack_deadline_seconds", "is %d: from 0 to 600 are allowed", req.AckDeadlineSeconds)
		}
		return nil
	}
	return s.d.settleCall(ctx, req, req.AckIds, check, func(x *settling, ids []ackID) {
		if deadline == 0 {
			x.back = ids
			return
		}
		x.longer, x.deadline = ids, make([]time.Duration, len(ids))
		for i := range x.deadline {
			x.deadline[i] = deadline
		}
	})
}

// settleRequest is a request about messages that were handed out.
type settleRequest interface {
	proto.Message
	GetSubscription() string
}

// settleCall answers a unary call about messages that were handed out. check looks at the rest of the request once it
// is known that the subscription is there.
func (d *Server) settleCall(ctx context.Context, req settleRequest, texts []string, check func() error,
	fill func(*settling, []ackID)) (*emptypb.Empty, error) {
	if size := proto.Size(req); size > maxSettleBytes { // Google looks at that before all else
		return nil, status.Errorf(codes.InvalidArgument, "the request has %d bytes, %d at most: send fewer ack ids at "+
			"once", size, maxSettleBytes)
	}
	r, err := parseResource("subscription", req.GetSubscription(), kindSubscription)
	if err != nil {
		return nil, err
	}
	if err := d.allow(ctx, access.Take, r); err != nil {
		return nil, err
	}
	sub, err := d.subscription(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := check(); err != nil {
		return nil, err
	}
	if len(texts) == 0 {
		return nil, invalid("ack_ids", "there are none")
	}
	if err := sub.pullable(r); err != nil {
		return nil, err
	}
	user := userOf(ctx)
	ids := make([]ackID, 0, len(texts))
	var wrong verdict
	places := make([]int, 0, len(texts)) // in texts, of ids
	for i, t := range texts {
		id, err := parseAckID(t, user)
		switch {
		case err == nil:
			ids, places = append(ids, id), append(places, i)
		case sub.def.ExactlyOnce:
			wrong.add(t)
		default:
			return nil, invalid("ack_ids", "%.60q is not an ack id", t)
		}
	}
	x := &settling{sub: sub}
	fill(x, ids)
	d.settleAll(ctx, []*settling{x})
	if x.err != nil {
		return nil, x.err
	}
	if sub.def.ExactlyOnce {
		for _, errs := range [][]error{x.doneErrs, x.backErrs, x.longerErrs} {
			for i, err := range errs {
				if err != nil {
					wrong.add(texts[places[i]])
				}
			}
		}
		if err := wrong.error(texts); err != nil {
			return nil, err
		}
	}
	return &emptypb.Empty{}, nil
}

// What Google's clients look for in the details of an error, for each ack id.
const (
	permanentFailure = "PERMANENT_FAILURE_INVALID_ACK_ID"
	transientFailure = "TRANSIENT_FAILURE_ASK_AGAIN"
	failureReason    = "EXACTLY_ONCE_ACKID_FAILURE"
	failureDomain    = "pubsub.googleapis.com"
)

// verdict collects the ack ids of a call that are of no use.
type verdict struct{ invalid map[string]string }

func (v *verdict) add(text string) {
	if v.invalid == nil {
		v.invalid = map[string]string{}
	}
	v.invalid[text] = permanentFailure
}

// error tells the client which ids failed. Its libraries take an id that is not mentioned for a failed one (Go, Python,
// Node) or a good one (Java) once the call has an error; so those that were good are told to be asked about again, and
// are confirmed then.
func (v *verdict) error(all []string) error {
	if len(v.invalid) == 0 {
		return nil
	}
	for _, text := range all {
		if v.invalid[text] == "" {
			v.invalid[text] = transientFailure
		}
	}
	st := status.New(codes.InvalidArgument, "some ack ids of the request are invalid: their deadline has passed, or "+
		"they are malformed")
	detailed, err := st.WithDetails(&errdetails.ErrorInfo{Reason: failureReason, Domain: failureDomain,
		Metadata: v.invalid})
	if err != nil {
		return st.Err()
	}
	return detailed.Err()
}
