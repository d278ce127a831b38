package pubsub

import (
	"context"
	"slices"
	"time"

	"cloud.google.com/go/iam/apiv1/iampb"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc"
	_ "google.golang.org/grpc/encoding/gzip" // clients compress with it
	"google.golang.org/grpc/keepalive"

	"github.com/hikyaku/hikyaku/internal/door"
)

// maxRequest is more than a request may have, so that one that has a little too much is told so by name.
const maxRequest = maxPublishBytes + 2<<20

// maxStreams is how many calls of one connection go on at once: more wait at the client.
const maxStreams = 10_000

// streamWorkers is how many goroutines take one call after the other, with a stack that has grown before. Calls beyond
// them have a goroutine each.
const streamWorkers = 32

// newGRPC makes the gRPC server with all services.
func (d *Server) newGRPC() *grpc.Server {
	s := grpc.NewServer(
		grpc.ForceServerCodecV2(codec{}),
		grpc.ConnectionTimeout(door.HeaderTime),
		grpc.InTapHandle(d.tap),
		grpc.UnknownServiceHandler(d.unknown),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.MaxHeaderListSize(16<<10),
		grpc.ReadBufferSize(128<<10),
		grpc.WriteBufferSize(128<<10),
		grpc.InitialWindowSize(window(d.busy.Limit())), // a large Publish does not wait for its second round trip
		grpc.InitialConnWindowSize(16<<20),
		grpc.WaitForHandlers(true),
		grpc.NumStreamWorkers(streamWorkers),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: time.Minute, Timeout: 20 * time.Second}),
		// Clients ask for a sign of life as often as every 10 seconds or so (Java: 5 minutes, Go: 30 s, Node: 5
		// minutes), also without a call.
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second,
			PermitWithoutStream: true}),
	)
	d.register(s)
	return s
}

// register adds the services to a gRPC server, or to what calls them for the REST form.
func (d *Server) register(s grpc.ServiceRegistrar) {
	publishing := pubsubpb.Publisher_ServiceDesc
	replace(&publishing, "Publish", unaryMethod("Publish", d.publish))
	subscribing := pubsubpb.Subscriber_ServiceDesc
	replace(&subscribing, "Pull", unaryMethod("Pull", d.pull))
	all := registrar{d, s}
	all.RegisterService(&publishing, publisherService{d: d})
	all.RegisterService(&subscribing, subscriberService{d: d})
	pubsubpb.RegisterSchemaServiceServer(all, schemaService{d: d})
	iampb.RegisterIAMPolicyServer(all, policyService{d: d})
}

// replace gives a service another handler of a method.
func replace(s *grpc.ServiceDesc, method string, m grpc.MethodDesc) {
	s.Methods = slices.Clone(s.Methods)
	i := slices.IndexFunc(s.Methods, func(x grpc.MethodDesc) bool { return x.MethodName == method })
	s.Methods[i] = m
}

// unaryMethod makes a method of types that only codec knows.
func unaryMethod[Req any, Res any](method string, call func(context.Context, *Req) (*Res, error)) grpc.MethodDesc {
	return grpc.MethodDesc{MethodName: method, Handler: func(_ any, ctx context.Context, decode func(any) error,
		_ grpc.UnaryServerInterceptor) (any, error) {
		req := new(Req)
		if err := decode(req); err != nil {
			return nil, err
		}
		return call(ctx, req)
	}}
}
