package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/hikyaku/hikyaku/internal/link"
)

// AdminKind is the kind of the streams by which commands ask nodes.
const AdminKind = "admin"

// What a command may ask a node.
const (
	AskStatus = "status"
	AskMove   = "move"  // to give the shard to Request.Node, "" being whoever is best; of the owner
	AskDrain  = "drain" // to give the shard away and not to take it
	AskFill   = "fill"  // to take it again
	AskJoin   = "join"  // to let Request.Node take part, which is at Request.Address; of the owner
	AskLeave  = "leave" // to take Request.Node out of the log's group; of the owner
)

// Request is what a command asks.
type Request struct {
	Ask     string `json:"ask"`
	Node    string `json:"node,omitempty"`
	Address string `json:"address,omitempty"`
}

// reply is what it is told.
type reply struct {
	Error    string `json:"error,omitempty"`
	NotOwner bool   `json:"not_owner,omitempty"`
	Status   Status `json:"status"`
	// Now is when it was told, by the clock of the node.
	Now time.Time `json:"now"`
}

const (
	mostRequest = 4 << 10
	mostReply   = 1 << 20
	// moveTime is how long a node tries to give the shard away.
	moveTime = 30 * time.Second
)

// askTime is how long a node may take to answer, beside what it is asked to do.
var askTime = 10 * time.Second

// Admit answers commands for a replica, until stop is called.
func Admit(l *link.Listener, r Replica) (stop func()) {
	admit(l, func(ctx context.Context, asked Request) error { return do(ctx, r, asked) }, r.Status)
	return func() { l.Handle(AdminKind, nil) }
}

// AdmitWaiting answers commands for a node that has no log yet, until Admit does: it tells how it is, and refuses what
// else it is asked.
func AdmitWaiting(l *link.Listener, status func() Status) {
	admit(l, func(_ context.Context, asked Request) error {
		if asked.Ask != AskStatus {
			return errWaits
		}
		return nil
	}, status)
}

var errWaits = errors.New("it has no log yet, and waits for the other nodes")

// admit has do do what a command asks, and tells the status afterwards.
func admit(l *link.Listener, do func(context.Context, Request) error, status func() Status) {
	l.Handle(AdminKind, func(ctx context.Context, _ string, c net.Conn) {
		ctx, cancel := context.WithTimeout(ctx, moveTime+5*time.Second)
		defer cancel()
		defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })()
		var asked Request
		if json.NewDecoder(io.LimitReader(c, mostRequest)).Decode(&asked) != nil {
			return // it is gone
		}
		err := do(ctx, asked)
		told := reply{Status: status(), NotOwner: errors.Is(err, ErrNotOwner), Now: time.Now()}
		if err != nil {
			told.Error = err.Error()
		}
		_ = json.NewEncoder(c).Encode(told) // who asked is gone, or knows it
	})
}

func do(ctx context.Context, r Replica, asked Request) error {
	ctx, cancel := context.WithTimeout(ctx, moveTime)
	defer cancel()
	switch asked.Ask {
	case AskStatus:
		return nil
	case AskMove:
		return r.Transfer(ctx, asked.Node)
	case AskDrain:
		return r.Drain(ctx, true)
	case AskFill:
		return r.Drain(ctx, false)
	case AskJoin:
		return r.Join(ctx, link.Peer{Node: asked.Node, Address: asked.Address})
	case AskLeave:
		return r.Leave(ctx, asked.Node)
	}
	return fmt.Errorf("this node does not know what %q is: is its version older?", asked.Ask)
}

// Ask asks a node, and returns how it is afterwards, its times by this machine's clock. A node that hangs is given up
// after some seconds. The errors are those of link, ErrNotOwner, and what the node says.
func Ask(ctx context.Context, d *link.Dialer, node link.Peer, what Request) (Status, error) {
	within := askTime
	if what.Ask != AskStatus {
		within += moveTime
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var told reply
	if err := d.Ask(ctx, node, AdminKind, what, &told, mostReply); err != nil {
		return Status{}, err
	}
	if since := &told.Status.Owner.Since; !since.IsZero() && !told.Now.IsZero() {
		*since = since.Add(time.Since(told.Now))
	}
	switch {
	case told.NotOwner:
		return told.Status, fmt.Errorf("node %s: %w", node.Node, ErrNotOwner)
	case told.Error != "":
		return told.Status, fmt.Errorf("node %s: %s", node.Node, told.Error)
	}
	return told.Status, nil
}
