package remote

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/hikyaku/hikyaku/internal/link"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// slow looks for a confirmation only some time after the answer, as a node under load does.
type slow struct{ grpc.ServerStream }

func (s slow) RecvMsg(m any) error {
	time.Sleep(20 * time.Millisecond)
	return s.ServerStream.RecvMsg(m)
}

var undone atomic.Int32

var answerSlowly = define("AnswerSlowly", func(_ context.Context, _ queue.Shard, _ none, x *exchange) (none, error) {
	x.stream, x.undo = slow{x.stream}, func() { undone.Add(1) }
	return none{}, nil
})

// A caller's context often ends as soon as it has its answer, which stays true.
func TestAnAnswerIsConfirmedWhenTheContextEndsAfterIt(t *testing.T) {
	const secret = "a secret of thirty-two characters or more"
	listen := func(node string) *link.Listener {
		l, err := link.Listen(t.Context(), link.Options{Listen: "127.0.0.1:0", Cluster: "test", Node: node,
			Secret: secret})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
		return l
	}
	here, there := listen("a"), listen("b")
	server := NewServer(there, func(int) (queue.Shard, error) { return nil, nil })
	t.Cleanup(server.Close)
	node, err := Dial(here.Dialer(), link.Peer{Node: "b", Address: there.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	undone.Store(0)
	for range 10 {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := answerSlowly.of(ctx, node.Shard(0, nil), none{})
		cancel()
		if err != nil {
			t.Error(err)
		}
	}
	node.active.Wait() // all streams have ended
	if n := undone.Load(); n > 0 {
		t.Errorf("%d of 10 answers that were read are undone", n)
	}
	if err := node.Close(); err != nil {
		t.Error(err)
	}
}
