package pubsub

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/api/pubsub/rest"
)

// registrar gives services to a gRPC server. All their methods become streams there, which on the wire is the same: the
// server would read a whole message before the handler of a unary method is asked anything, and a stream's handler
// reads by itself (incoming).
type registrar struct {
	d  *Server
	to grpc.ServiceRegistrar
}

// RegisterService implements grpc.ServiceRegistrar.
func (r registrar) RegisterService(s *grpc.ServiceDesc, service any) {
	made := *s
	made.Methods, made.Streams = nil, slices.Clone(s.Streams)
	for i := range made.Streams { // there is one, StreamingPull
		made.Streams[i].Handler = func(_ any, wire grpc.ServerStream) error {
			return r.d.call(wire, s.Streams[i].StreamName, r.d.streamingPull)
		}
	}
	for _, m := range s.Methods {
		made.Streams = append(made.Streams, grpc.StreamDesc{StreamName: m.MethodName, ServerStreams: true,
			Handler: func(srv any, wire grpc.ServerStream) error {
				return r.d.call(wire, m.MethodName,
					func(ctx context.Context, wire grpc.ServerStream) error { return r.d.unary(ctx, wire, srv, &m) })
			}})
	}
	r.to.RegisterService(&made, service)
}

// call stands around every call: who comes, what an error and a panic become.
func (d *Server) call(wire grpc.ServerStream, method string,
	handle func(context.Context, grpc.ServerStream) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = d.panicked(method, v)
		}
		if !rest.Counts(wire.Context()) {
			d.traffic.Ended(method, status.Code(err).String())
		}
	}()
	ctx, err := d.admit(wire.Context())
	if err != nil {
		return err
	}
	if !slices.Contains(noActs, method) {
		ctx = access.Asked(ctx, userOf(ctx), addressOf(ctx), "")
	}
	return d.statusOf(handle(ctx, wire))
}

// noActs are the calls that are made all the time and administer nothing: the others' contexts tell who asks.
var noActs = []string{"Publish", "StreamingPull", "Pull", "Acknowledge", "ModifyAckDeadline"}

// unknown answers a call of a method that is not there: counted as no call, since its client made the name up.
func (d *Server) unknown(_ any, wire grpc.ServerStream) error {
	return d.call(wire, "none", func(context.Context, grpc.ServerStream) error {
		method, _ := grpc.MethodFromServerStream(wire)
		return status.Errorf(codes.Unimplemented, "there is no such method: %.200s", method)
	})
}

// unary answers a call of one message with one.
func (d *Server) unary(ctx context.Context, wire grpc.ServerStream, srv any, m *grpc.MethodDesc) error {
	in, err := d.incoming(wire)
	if err != nil {
		return err
	}
	defer in.hold.End()
	ctx, answer := d.answering(ctx)
	defer answer.End()
	res, err := m.Handler(srv, ctx, func(req any) error { return in.only(ctx, req) }, nil)
	if err != nil {
		return err
	}
	in.hold.End() // a client may be slow to take the answer, and has taken room for that
	if res, err = written(res, answer); err != nil {
		return err
	}
	return wire.SendMsg(res)
}

func (d *Server) panicked(method string, v any) error {
	d.report(fmt.Errorf("pubsub door: panic in %s: %v\n%s", method, v, debug.Stack()))
	return status.Error(codes.Internal, "the call ran into a defect; the server's log has it")
}
