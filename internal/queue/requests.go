package queue

import (
	"context"
	"time"

	"github.com/hikyaku/hikyaku/internal/condition"
)

// ClaimRequest asks for messages. Earlier entries of From come first, strictly; within one, the oldest message.
type ClaimRequest struct {
	From  []From
	Max   int           // messages; 0: 1
	Bytes int           // their sizes summed (Message.Size); 0: no bound. One message is handed out whatever its size
	Wait  time.Duration // how long to wait for the first one; 0: not at all
	Lease time.Duration // 0: the Owner's life if there is one, else the queue's lease
	Owner Owner         // claims end with it, or with the process; nil: they end with the lease alone
	// ByKey hands out all it can of one key before the next key, in place of the oldest messages of all keys.
	ByKey bool
	// Apart lets claims of one key end each by itself: while their leases go on, those behind one whose lease has ended
	// stay claimed. It is not kept over a restart. Else they go back with it.
	Apart bool
	// Hold is asked before the bodies are read, with the sizes of the messages summed and that of the largest. It may
	// wait; after an error of its own nothing is claimed, and no attempt counted. nil: nobody is asked.
	Hold func(ctx context.Context, sum, largest int64) error
}

// PeekRequest asks for messages without claiming them.
type PeekRequest struct {
	Where *condition.Expr
	After uint64 // sequences greater than this
	Max   int    // 0: 100
	Bytes int    // their sizes summed (Message.Size); 0: no bound. One message is shown whatever its size
	// Hold is asked before the bodies are read, as that of a ClaimRequest is. After an error of its own nothing is
	// shown.
	Hold func(ctx context.Context, sum, largest int64) error
	// NoBody leaves body and large column values out, and saves reading them.
	NoBody bool
	// Ready shows only messages that a claim could get now; else also the delayed and the claimed.
	Ready bool
}

// ReplayRequest asks for dead letters to be sent again.
type ReplayRequest struct {
	Where *condition.Expr
	Max   int  // 0: all there are at the call
	To    Name // zero: the queue each came from
	// Existing makes no queue: where they go has to be there, else ErrNotFound.
	Existing bool
	// Home, if set, tells which name the queue has by now from which a letter came, by the name that the letter has for
	// it. It is not called under the lock. nil: what the store itself remembers of former names.
	Home func(ctx context.Context, from Name) (Name, error)
}
