// Package cluster is what a node of a cluster has beside its journal: the front, which keeps the doors' addresses for
// as long as the node lives and brings each connection to the node that owns the shard; the loop that opens a house
// when this node owns it, and closes it when it does not any more; and what the nodes tell a command.
//
//	front := cluster.NewFront(cluster.FrontOptions{Node: "a", Link: l})
//	addr, err := front.Open(ctx, "http", "127.0.0.1:7700", cluster.Door{})
//	err = cluster.Run(ctx, replica, front, func(ctx context.Context, j journal.Journal, term uint64) error {
//		// opens a house over j, whose doors have front.Land("http") to listen on
//	})
//
// It knows neither doors nor queues: connections are bytes, and who replicates the log is behind an interface.
package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/link"
)

// Owner is the node that has the shard.
type Owner struct {
	Node    string    `json:"node"`              // "": nobody, as far as is known
	Address string    `json:"address,omitempty"` // where the other nodes reach it
	Term    uint64    `json:"term"`              // counted up whenever the shard changes hands
	Since   time.Time `json:"since"`             // when this node has learnt of it
}

// Log is a replicated log as one node sees it. Its methods may be called from any goroutine.
type Log interface {
	// Own waits until this node owns the shard, and opens the log for its term. Who calls it closes the journal before
	// the next call. The errors are ctx's, journal.ErrLost when the shard was somebody else's before it was open, and
	// those of a log that has failed.
	Own(ctx context.Context) (j journal.Journal, term uint64, err error)
	// Owner is who has the shard.
	Owner() Owner
	// Changed is closed when Owner says something else than when Changed was called.
	Changed() <-chan struct{}
}

// Replica is what a node has of a replicated log.
type Replica interface {
	Log
	// Status is how the node and, if it owns the shard, the others are.
	Status() Status
	// Transfer gives the shard to a node, "" being whoever is best, and returns when somebody else has it. Only the
	// owner can: else the error is ErrNotOwner. It is given to no node that is drained.
	Transfer(ctx context.Context, to string) error
	// Drain gives the shard away, if this node has it, and says whether it may own it from now on. After an error the
	// node is not drained.
	Drain(ctx context.Context, on bool) error
	// Join lets a node take part in the log that is reached by the others at an address. It returns when that is in
	// the log; the node is taken in when it comes. Only the owner can: else the error is ErrNotOwner.
	Join(ctx context.Context, node link.Peer) error
	// Leave takes a node out of the log's group, whether it is there or not, and returns when that is so. Only the
	// owner can: else the error is ErrNotOwner, also when it was the owner that shall leave, and has given the shard to
	// another one. It is refused unless most of the nodes that are left are there and have the log.
	Leave(ctx context.Context, node string) error
}

// ErrNotOwner: this node does not own the shard.
var ErrNotOwner = errors.New("this node does not own the shard")

// Status is what a node says of itself and of the others.
type Status struct {
	Node     string       `json:"node"`
	Owner    Owner        `json:"owner"`
	Draining bool         `json:"draining,omitempty"` // it does not take the shard
	Disk     string       `json:"disk,omitempty"`     // why its copy of the log takes nothing for now; "": it does
	Waits    string       `json:"waits,omitempty"`    // for what, while the node has no log yet; "": it has one
	Members  []MemberView `json:"members,omitempty"`
	// Peers are the nodes of its configuration, itself among them, and where they are reached. Where the log knows of
	// others, Members has those.
	Peers map[string]string `json:"peers,omitempty"`
}

// MemberView is a node as another one sees it.
type MemberView struct {
	Node    string `json:"node"`
	Address string `json:"address"`
	Alive   bool   `json:"alive"`
	Part    Part   `json:"part"`
	// Lag is how many groups of the log it does not have yet, and Known whether that is known: only the owner knows.
	Lag   uint64 `json:"lag"`
	Known bool   `json:"known"`
}

// Part is what a node is in the log's group.
type Part string

// Parts.
const (
	Votes  Part = "votes"  // it has the log, and a vote
	Learns Part = "learns" // it gets the log, and then a vote
	Waits  Part = "waits"  // it may take part, and has not come yet
)

// Run opens what live is over the log each time that this node owns the shard, and has the front know who does. live
// ends when its journal is lost, or ctx ends, or it fails. The error is that of live, unless that only lost the log or
// was stopped by ctx, or of the log itself.
func Run(ctx context.Context, l Log, f *Front, live func(context.Context, journal.Journal, uint64) error) error {
	watching, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			changed := l.Changed()
			o := l.Owner()
			f.Turn(link.Peer{Node: o.Node, Address: o.Address})
			select {
			case <-changed:
			case <-watching.Done():
				return
			}
		}
	}()
	defer func() {
		stop()
		<-done
	}()
	for ctx.Err() == nil {
		j, term, err := l.Own(ctx)
		switch {
		case ctx.Err() != nil && j == nil:
			return nil
		case errors.Is(err, journal.ErrLost):
			continue
		case err != nil:
			return err
		}
		f.taken.Add(1)
		err = live(ctx, j, term)
		switch {
		case errors.Is(err, journal.ErrLost) && !errors.Is(err, journal.ErrFailed):
			continue
		case ctx.Err() != nil && errors.Is(err, ctx.Err()):
			return nil // it was stopped while it opened the house
		}
		return err
	}
	return nil
}
