package http

import "time"

// ClaimRequest asks for messages of one queue.
type ClaimRequest struct {
	Where string   `json:"where,omitempty"` // a condition; "": every message
	Max   int      `json:"max,omitempty"`   // 0: 1; at most MaxClaim
	Wait  Duration `json:"wait,omitempty"`  // for the first message; 0: not at all
	Lease Duration `json:"lease,omitempty"` // 0: the queue's
}

// From names a queue and a condition.
type From struct {
	Queue string `json:"queue"` // name in the namespace of the path, or namespace/name
	Where string `json:"where,omitempty"`
}

// ClaimFromRequest asks for messages of several queues; the earlier ones come first, strictly.
type ClaimFromRequest struct {
	From  []From   `json:"from"`
	Max   int      `json:"max,omitempty"`
	Wait  Duration `json:"wait,omitempty"`
	Lease Duration `json:"lease,omitempty"`
}

// Bounds of requests.
const (
	MaxClaim  = 10_000 // messages in one claim
	MaxFrom   = 100    // queues in one claim
	MaxSettle = 10_000 // settlements, or tokens to extend, in one request
	MaxPeek   = 10_000 // messages in one peek
	MaxList   = 1_000  // queues or topics on one page
)

// Claimed is a message that was handed out. Its Token settles it.
type Claimed struct {
	Token    string    `json:"token"`
	Queue    string    `json:"queue"`          // namespace/name
	From     int       `json:"from,omitempty"` // index in the request's from
	Sequence uint64    `json:"sequence"`
	Attempt  int       `json:"attempt"`
	Deadline time.Time `json:"deadline"` // end of the lease
	Content
}

// Settlement ends one claim.
type Settlement struct {
	Token  string   `json:"token"`
	As     string   `json:"as,omitempty"`     // "done" (also ""), "back" or "dead"
	Delay  Duration `json:"delay,omitempty"`  // back: not before
	Reason string   `json:"reason,omitempty"` // dead
}

// The ways to settle.
const (
	Done = "done" // gone for good
	Back = "back" // ready again, after Delay
	Dead = "dead" // moved to the dead-letter queue with Reason
)

type settleRequest struct {
	Settlements []Settlement `json:"settlements"`
}

type extendRequest struct {
	Tokens []string `json:"tokens"`
	Lease  Duration `json:"lease"`
}

// TokenResult is what became of one settlement or extension. Problem is nil when it took effect.
type TokenResult struct {
	Token   string   `json:"token"`
	OK      bool     `json:"ok"`
	Problem *Problem `json:"problem,omitempty"`
}

type tokenResults struct {
	Results []TokenResult `json:"results"`
}

// Peeked is a message that was looked at.
type Peeked struct {
	Sequence uint64 `json:"sequence"`
	State    string `json:"state"` // ready, delayed, claimed or waiting
	Attempts int    `json:"attempts"`
	Damage   string `json:"damage,omitempty"` // why the body cannot be read
	// of a delayed one: when it wakes; of a claimed one: the end of the lease
	Until *time.Time `json:"until,omitempty"`
	// BodyBytes is how large the whole body is, of which only the beginning is here: max_body was asked for.
	BodyBytes int64 `json:"body_bytes,omitempty"`
	Content
}

// ReplayRequest asks for dead letters to be sent again.
type ReplayRequest struct {
	Where string `json:"where,omitempty"`
	Max   int    `json:"max,omitempty"` // 0: all there are now
	To    string `json:"to,omitempty"`  // "": the queue each came from
}

// Replayed tells what a replay did.
type Replayed struct {
	Moved    int `json:"moved"`
	Homeless int `json:"homeless"` // left: they came from no queue, and none was named
}

type purged struct {
	Purged int `json:"purged"`
}
