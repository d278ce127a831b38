package pubsub

import (
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
)

// ackErrors are what an error says of ack ids, read as Google's clients read it.
func ackErrors(err error) map[string]string {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			return info.Metadata
		}
	}
	return nil
}

// fieldOf is the field that an error complains about.
func fieldOf(err error) string {
	for _, d := range status.Convert(err).Details() {
		if bad, ok := d.(*errdetails.BadRequest); ok && len(bad.FieldViolations) > 0 {
			return bad.FieldViolations[0].Field
		}
	}
	return ""
}

func updateOf(id string, s *pubsubpb.Subscription, paths ...string) *pubsubpb.UpdateSubscriptionRequest {
	s.Name = subscriptionName(id)
	return &pubsubpb.UpdateSubscriptionRequest{Subscription: s, UpdateMask: &fieldmaskpb.FieldMask{Paths: paths}}
}

// callOption is what calls of the stubs take besides.
type callOption = grpc.CallOption
