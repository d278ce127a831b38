package remote

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// method is a call: its name between nodes, and what the node that is asked does.
type method[A, R any] struct {
	name string
	do   func(ctx context.Context, s queue.Shard, args A, x *exchange) (R, error)
}

// streams are all methods, as gRPC's server knows them.
var streams []grpc.StreamDesc

func define[A, R any](name string, do func(context.Context, queue.Shard, A, *exchange) (R, error)) method[A, R] {
	m := method[A, R]{name, do}
	streams = append(streams, grpc.StreamDesc{StreamName: name, ServerStreams: true, ClientStreams: true,
		Handler: func(server any, stream grpc.ServerStream) error { return m.serve(server.(*Server), stream) }})
	return m
}

// exchange is a call as the node sees it that is asked.
type exchange struct {
	stream  grpc.ServerStream
	session *session
	// undo takes back what was done, if the caller does not hear of it; nil: it stays.
	undo func()
}

// question is an answer that asks.
type question struct {
	Hold *sizes      `cbor:",omitempty"`
	Home *queue.Name `cbor:",omitempty"`
}

func (x *exchange) ask(q question) (r reply, err error) {
	if err = x.stream.SendMsg(&q); err == nil {
		err = x.stream.RecvMsg(&r)
	}
	if err == nil && r.Failed {
		err = errHeld
	}
	return r, err
}

// hold is a request's Hold; nil: it has none.
func (x *exchange) hold(wanted bool) func(context.Context, int64, int64) error {
	if !wanted {
		return nil
	}
	return func(_ context.Context, sum, largest int64) error {
		_, err := x.ask(question{Hold: &sizes{sum, largest}})
		return err
	}
}

// home is a request's Home; nil: it has none.
func (x *exchange) home(wanted bool) func(context.Context, queue.Name) (queue.Name, error) {
	if !wanted {
		return nil
	}
	return func(_ context.Context, from queue.Name) (queue.Name, error) {
		r, err := x.ask(question{Home: &from})
		return r.Home, err
	}
}

// serve answers a call.
func (m method[A, R]) serve(server *Server, stream grpc.ServerStream) error {
	ctx := stream.Context()
	var q request[A]
	if err := stream.RecvMsg(&q); err != nil {
		return err
	}
	x := &exchange{stream: stream, session: sessionOf(ctx)}
	var a answer[R]
	s, err := server.stores(q.Shard)
	if err == nil {
		a.Result, err = m.do(ctx, s, q.Args, x)
	}
	a.Error = failureOf(err)
	err = stream.SendMsg(&a)
	if x.undo == nil {
		return err
	}
	if err == nil && errors.Is(x.stream.RecvMsg(&reply{}), io.EOF) {
		return nil // the caller has it
	}
	x.undo()
	return err
}

// asked is who answers a call's questions.
type asked struct {
	hold func(ctx context.Context, sum, largest int64) error
	home func(ctx context.Context, from queue.Name) (queue.Name, error)
}

func (by *asked) answer(ctx context.Context, hold *sizes, home *queue.Name) (name queue.Name, err error) {
	switch {
	case hold != nil && by.hold != nil:
		return name, by.hold(ctx, hold.Sum, hold.Largest)
	case home != nil && by.home != nil:
		return by.home(ctx, *home)
	}
	return name, fmt.Errorf("%w: the node of the shard asks what was not offered", queue.ErrUnavailable)
}

// of calls the method at the store's node.
func (m method[A, R]) of(ctx context.Context, s *Store, args A) (R, error) {
	return m.ask(ctx, s, args, asked{})
}

// ask is of, with questions back.
func (m method[A, R]) ask(ctx context.Context, s *Store, args A, by asked) (result R, err error) {
	// The stream outlives the caller's context, which may end as soon as the caller has the answer: until the answer is
	// confirmed, the other node undoes what it did.
	alive, cancel := context.WithCancel(context.WithoutCancel(ctx))
	follows := context.AfterFunc(ctx, cancel)
	defer follows()
	stream, err := s.node.conn.NewStream(alive, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true},
		"/"+service+"/"+m.name)
	if err != nil {
		cancel()
		return result, s.broken(ctx, ErrAway, err)
	}
	if err := stream.SendMsg(&request[A]{s.shard, args}); err != nil && !errors.Is(err, io.EOF) {
		cancel()
		return result, s.broken(ctx, errUnknown, err)
	}
	var own error // of who answers questions
	for {
		var a answer[R]
		if err := stream.RecvMsg(&a); err != nil {
			cancel()
			return result, s.broken(ctx, errUnknown, err)
		}
		if !a.asks() {
			if !follows() { // the stream is cut, and nothing is confirmed
				return result, s.broken(ctx, errUnknown, context.Canceled)
			}
			s.node.finish(stream, cancel)
			if own != nil {
				return a.Result, own
			}
			return a.Result, a.Error.err()
		}
		var r reply
		if r.Home, own = by.answer(ctx, a.Hold, a.Home); own != nil {
			r.Failed = true
		}
		if err := stream.SendMsg(&r); err != nil && !errors.Is(err, io.EOF) {
			cancel()
			return result, s.broken(ctx, errUnknown, err)
		}
	}
}

// errUnknown: the connection ended before the answer came.
var errUnknown = fmt.Errorf("%w: %w", queue.ErrUnavailable, journal.ErrUnknown)

// broken is the error of a call that was not answered: ctx's, if that has ended.
func (s *Store) broken(ctx context.Context, what, why error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w: node %s: %w", what, s.node.peer.Node, why)
}
