package journey

import (
	"strconv"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

// Kind says what happened to a message.
type Kind uint8

// The kinds of steps.
const (
	Accepted  Kind = iota // a door or a source has it
	Durable               // the journal has it
	Duplicate             // it was put once more, and that was taken for the same message
	Claimed               // handed out
	Extended              // its lease was made longer
	Lapsed                // its lease ended, or its owner did: it waits again
	Back                  // its reader gave it back
	Answered              // a step of a pipeline has heard of its far end, or has given up waiting
	Made                  // a message was made of it: Text is that one's id
	MadeFrom              // it was made of another: Text is that one's id
	Replayed              // sent again from a queue of dead letters
	Done                  // settled for good
	Dead                  // it became a dead letter; Text is the reason
	Expired               // nobody took it in time
	In                    // it came to a step of a pipeline: told to taps alone, as what follows
	Out                   // a step of a pipeline has sent it on
)

var kindNames = [...]string{"accepted", "durable", "duplicate", "claimed", "extended", "lapsed", "back", "answered",
	"made", "made-from", "replayed", "done", "dead", "expired", "in", "out"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

// ends tells whether a message leaves its queue with such a step.
func (k Kind) ends() bool { return k == Done || k == Dead || k == Expired }

// Place is a queue or a topic or, without a namespace, a step of a pipeline.
type Place struct{ Namespace, Name string }

// IsStep tells whether it is a step of a pipeline.
func (p Place) IsStep() bool { return p.Namespace == "" }

// Step is one thing that happened to a message.
type Step struct {
	Kind    Kind
	Time    time.Time
	Place   Place         // where; zero: not known
	By      string        // who: a door, the holder of a claim, the step that gave it up; "": not known
	Attempt int           // of a claim, or of a request; 0: it has none
	For     time.Duration // the lease of a claim; of Answered how long the request took
	Text    string        // an answer or a reason, at most MaxText bytes
}

// MaxText bounds what a step quotes, in bytes.
const MaxText = 128

// maxSteps bounds the steps of one journey. Of a longer one the first firstSteps stay, and the last ones.
const (
	maxSteps   = 32
	firstSteps = 8
)

// Note is what somebody tells of a message.
type Note struct {
	ID      message.ID
	Kind    Kind
	Time    int64 // ns since 1970
	Place   Place
	By      string
	Attempt int
	For     time.Duration
	Text    string

	// From is the queue that Hops are of, and Hops what is known of the way there: a journey that is remembered only
	// now begins with them. nil: nothing is known.
	From Place
	Hops *message.Hops
}

// step is a Step as it is kept.
type step struct {
	at      int64
	text    string
	lasts   time.Duration
	attempt uint32
	place   uint16 // in the part's names
	by      uint16 // likewise
	kind    Kind
}

// stepBytes is what a step takes, but for its text.
const stepBytes = 48
