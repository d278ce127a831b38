package pushtest

import (
	"context"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/collapse"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// awayStore is a store that nobody can ask: one that another machine has.
type awayStore struct{}

func (awayStore) First(context.Context, queue.From) (p queue.Peeked, ok bool, err error) {
	return p, false, queue.ErrUnavailable
}

// WhileAway delivers a message, whose device that attribute names, while the sink's backlog cannot be asked for newer
// ones: the message is not tried, and is delivered when the backlog is back.
func WhileAway(t testing.TB, s component.AsyncSink, backlog **collapse.Backlog, m *message.Message, attribute string) {
	t.Helper()
	have, outbox := *backlog, queue.Name{Namespace: queue.DefaultNamespace, Name: "outbox"}
	*backlog = collapse.NewBacklog(awayStore{}, outbox, attribute)
	o := Deliver1(t, s, m)
	Want(t, o, component.Retry, queue.ErrUnavailable.Error())
	if !o.Held {
		t.Error("that counts as an attempt")
	}
	*backlog = have
	Want(t, Deliver1(t, s, m), component.Delivered, "")
}
