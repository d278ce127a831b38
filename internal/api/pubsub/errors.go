package pubsub

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// withField adds, in the way of Google's services, which field of the request is meant.
func withField(s *status.Status, field string) error {
	detailed, err := s.WithDetails(
		&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: field,
			Description: s.Message()}}})
	if err != nil {
		return s.Err()
	}
	return detailed.Err()
}

// kinds is searched from the top: what is more particular stands first.
var kinds = []struct {
	err  error
	code codes.Code
}{
	{queue.ErrBadName, codes.InvalidArgument},
	{queue.ErrBadToken, codes.InvalidArgument},
	{queue.ErrNotFound, codes.NotFound},
	{queue.ErrExists, codes.AlreadyExists},
	{queue.ErrProtected, codes.FailedPrecondition},
	{queue.ErrSnapshot, codes.AlreadyExists},
	{queue.ErrTooLarge, codes.InvalidArgument},
	{queue.ErrMismatch, codes.InvalidArgument},
	{queue.ErrUnheard, codes.FailedPrecondition},
	{queue.ErrDefinition, codes.FailedPrecondition},
	{queue.ErrCondition, codes.FailedPrecondition},
	{queue.ErrStale, codes.FailedPrecondition},
	{queue.ErrQueueFull, codes.ResourceExhausted},
	{queue.ErrTooManyWaiters, codes.ResourceExhausted},
	{door.ErrBusy, codes.ResourceExhausted},
	{queue.ErrNoRoom, codes.ResourceExhausted},
	{queue.ErrRefused, codes.Unavailable},
	{queue.ErrChanged, codes.Aborted},
	{queue.ErrUnavailable, codes.Unavailable},
	{queue.ErrClosed, codes.Unavailable},
	{context.Canceled, codes.Canceled},
	{context.DeadlineExceeded, codes.DeadlineExceeded},
}

// statusOf tells an error as a status. What is neither a status nor in the table is reported, and told as internal
// without its text.
func (d *Server) statusOf(err error) error {
	if err == nil {
		return nil
	}
	var s interface{ GRPCStatus() *status.Status }
	if errors.As(err, &s) {
		return s.GRPCStatus().Err()
	}
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			return status.Error(k.code, err.Error())
		}
	}
	d.report(fmt.Errorf("pubsub door: %w", err))
	return status.Error(codes.Internal, "something went wrong in the server: its log says more")
}

// errStopping ends calls that wait while the door closes. Clients reconnect after it.
var errStopping = status.Error(codes.Unavailable, "the server is shutting down")

// missing is the error for what is not there. A name that nothing made here can have is called malformed then: other
// doors have freer ones.
type missing struct{ r resource }

func notFound(r resource) error { return &missing{r} }

func (e *missing) Error() string { return e.GRPCStatus().Err().Error() }

// GRPCStatus is how clients are told.
func (e *missing) GRPCStatus() *status.Status {
	if wrong := e.r.checkNew("name"); wrong != nil {
		return status.Convert(wrong)
	}
	return status.Newf(codes.NotFound, "there is no such resource: %s", e.r)
}

func exists(r resource) error {
	return status.Errorf(codes.AlreadyExists, "there is such a resource already: %s", r)
}

// unserved is the error for what needs Google's other services.
func unserved(field, what string) error {
	return withField(status.New(codes.Unimplemented, field+": "+what+" is not served here"), field)
}
