package campaign

import (
	"errors"
	"time"
)

// Attributes of the messages of a campaign.
const (
	Attribute = "campaign"            // the id; what is made of a message has it, too
	Local     = "campaign_local_time" // LocalForm: each user is to get it at that time of where they are
	Rows      = "campaign_rows"       // of the start alone: a JSON list, which the fanout takes in place of its source
)

// LocalForm is how a local time is written.
const LocalForm = "2006-01-02T15:04"

// State says whether a campaign goes on.
type State string

// The states. Scheduled is shown for a running one that is not due yet.
const (
	Scheduled State = "scheduled"
	Running   State = "running"
	Paused    State = "paused"
	Cancelled State = "cancelled"
	Done      State = "done"
)

// States lists all of them.
func States() []State { return []State{Scheduled, Running, Paused, Cancelled, Done} }

// Bounds.
const (
	MostActive    = 1000 // campaigns that have not ended
	MostPaused    = 100
	MostEnded     = 1000 // that are remembered
	MostBody      = 256 << 10
	MostRows      = 1000
	MostRowsBytes = 1 << 20
	mostName      = 200     // bytes, of names and keys
	mostShown     = 4 << 10 // bytes of a body that are remembered
	mostReasons   = 32      // of a campaign; further ones share one
	mostReason    = 100     // bytes
	mostRuns      = 16      // fanouts of one campaign that are told apart
	mostProblem   = 300     // bytes
)

// Errors.
var (
	ErrNotFound = errors.New("there is no such campaign")
	ErrState    = errors.New("the campaign is over")
	ErrTooMany  = errors.New("there are too many campaigns")
	ErrOrder    = errors.New("this campaign cannot be started")
	// ErrOther: the key belongs to a campaign that is another one.
	ErrOther = errors.New("the key belongs to another campaign")
)

// View is a campaign as it is now.
type View struct {
	ID        string     `json:"id"`
	Name      string     `json:"name,omitempty"`
	Queue     string     `json:"queue"` // namespace/name
	State     State      `json:"state"`
	Started   time.Time  `json:"started"`
	Due       *time.Time `json:"due,omitempty"`
	LocalTime string     `json:"local_time,omitempty"`
	First     *time.Time `json:"first,omitempty"` // when it was first known what became of a message
	Last      *time.Time `json:"last,omitempty"`  // the last time
	Ended     *time.Time `json:"ended,omitempty"` // nothing of it is left: of a cancelled one, too
	Rows      int        `json:"rows,omitempty"`  // that it was given; 0: those of the fanout's source

	Made      uint64 `json:"made"`      // messages, so far
	Complete  bool   `json:"complete"`  // all are made
	Sent      uint64 `json:"sent"`      // that the far end took
	Refused   uint64 `json:"refused"`   // dead letters
	Dropped   uint64 `json:"dropped"`   // expired, or replaced by newer ones
	Cancelled uint64 `json:"cancelled"` // settled without being sent
	Capped    uint64 `json:"capped"`    // settled without being sent: their users have had as many as are allowed
	// Left are those of which nothing is known; once it has ended: that were given up before the gate, or settled just
	// before a kill.
	Left    uint64     `json:"left"`
	Rate    float64    `json:"rate"`          // outcomes a second, over the last ten
	End     *time.Time `json:"end,omitempty"` // estimated
	Reasons []Reason   `json:"reasons"`       // why others than those sent were not, the most frequent first
	Problem string     `json:"problem,omitempty"`
	Body    string     `json:"body,omitempty"` // its beginning, where it is text
}

// Reason counts messages with one outcome and reason.
type Reason struct {
	Outcome string `json:"outcome"` // refused or dropped
	Reason  string `json:"reason"`  // the far end's word
	Count   uint64 `json:"count"`
}

// cut shortens a text to so many bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && text[most]&0xc0 == 0x80 {
		most--
	}
	return text[:most]
}
