package queue

import (
	"time"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
)

// Definition is what can be said of a queue. The zero value is a queue without columns, bounds, retries or dead
// letters.
type Definition struct {
	Columns     message.Columns // with columns each message is a row
	MaxAttempts int             // hand-outs before a message becomes a dead letter; 0: no bound
	// queue or topic for dead letters, "name" or "namespace/name"; "": the queue's name with "_dead"
	DeadLetter  string
	Lease       time.Duration // of claims that do not say; 0: DefaultLease
	Retention   time.Duration // unclaimed messages expire after it; 0: never
	Delay       time.Duration // every message sleeps that long first, unless it says otherwise
	DedupWindow time.Duration // how long deduplication ids are remembered; 0: DefaultDedupWindow
	History     time.Duration // settled messages can be brought back by a seek for that long after their put; 0: not
	ExactlyOnce bool          // a claim is durable before it is handed out, an extension before it is confirmed
	Unordered   bool          // keys do not order
	MaxMessages int64         // a put beyond is refused; 0: the store's limit
	MaxBytes    int64         // likewise, for Message.Size summed
	Topic       string        // the topic it subscribes to, as namespace/name; "": none. Fixed at creation
	Filter      string        // with Topic: a condition; what does not match is not received. Fixed at creation
	Labels      map[string]string
}

// Defaults of Definition.
const (
	DefaultLease       = 30 * time.Second
	DefaultDedupWindow = 5 * time.Minute
	MaxLease           = 7 * 24 * time.Hour
)

// PutResult tells what a put made of one message.
type PutResult struct {
	ID        message.ID
	Sequence  uint64 // its place in the queue, from 1; 0 for what was published to a topic
	Duplicate bool   // nothing was put: ID and Sequence are those of the first one
	Unheard   bool   // nothing was put: the topic has no subscription
}

// QueuePut is some messages for one queue or topic.
type QueuePut struct {
	To       Name
	Messages []message.Message
	// Version is that of the definition (see Definition) for whose columns the rows were made, when To is a queue: when
	// its columns are others by now the change is refused, ErrChanged. 0: rows are taken as they are.
	Version uint64
}

// Change is a group that takes effect as a whole: puts to several queues, settlements, notes.
type Change struct {
	If      []NoteIs // notes that have to be so, else nothing of the change happens: ErrChanged
	Puts    []QueuePut
	Settles []Settlement
	Notes   []Note
	Needed  bool // the notes are kept whatever they take in memory: see KeepNotes
	// Existing makes no queue: where messages are put has to be there, else ErrNotFound.
	Existing bool
}

// From is a queue to claim from and the condition a message has to meet.
type From struct {
	Queue Name
	Where *condition.Expr // nil: every message
}

// Claim is a message handed to one reader until it is settled or its lease ends.
type Claim struct {
	Token    Token
	Queue    Name
	From     int // index in ClaimRequest.From
	Sequence uint64
	Attempt  int       // hand-outs of the message so far, with this one
	Deadline time.Time // end of the lease; zero: the owner's life
	Message  message.Message
	Columns  message.Columns // of Message.Row: those that the queue had when the message was claimed. Read them only
}

// Body is the message's body as a door without columns shows it: of a row, a JSON object.
func (c *Claim) Body() []byte { return body(&c.Message, c.Columns) }

// Body is the message's body as a door without columns shows it: of a row, a JSON object.
func (p *Peeked) Body() []byte { return body(&p.Message, p.Columns) }

func body(m *message.Message, columns message.Columns) []byte {
	if m.Row == nil || columns == nil {
		return m.Body
	}
	return columns.AppendJSON(nil, m.Row)
}

// SettleKind says how a claim ends.
type SettleKind uint8

const (
	Done SettleKind = iota // gone for good
	Back                   // ready again, after Delay
	Dead                   // moved to the dead-letter queue with Reason
)

// Settlement ends one claim.
type Settlement struct {
	Token  Token
	Kind   SettleKind
	Delay  time.Duration // Back: 0 is at once, in its old place
	Reason string        // Dead
	Step   string        // Dead: the pipeline step that gave it up; "": none
	// Apart lets a Back concern this message alone. Else the claims behind it of its key end too, and do not count.
	Apart bool
	// Uncounted takes the attempt back with a Back: the hand-out did not count (a clean stop).
	Uncounted bool
}

// Peeked is a message as Peek shows it.
type Peeked struct {
	Sequence uint64
	State    MessageState
	Attempts int
	Until    time.Time // of a delayed message: when it wakes; of a claimed one: when its lease ends
	Message  message.Message
	Columns  message.Columns // of Message.Row: those that the queue had at that moment. Read them only
	Damage   string          // why the body cannot be read; "" if it can
	More     bool            // of the last one that a Peek shows: there may be others behind it
}

// MessageState tells where a message stands.
type MessageState string

const (
	Ready   MessageState = "ready"
	Delayed MessageState = "delayed"
	Claimed MessageState = "claimed"
	Waiting MessageState = "waiting" // behind another of its key
)

// Replayed tells what a replay did.
type Replayed struct {
	Moved    int
	Homeless int // left where they are: they came from no queue, and the request named none
}

// Stats describes a queue now. Totals count since the queue was made, Bytes is what its messages count against limits.
type Stats struct {
	Name Name
	// as Token.Queue has it: of this queue alone, from its creation to its end, under all its names; one made anew has
	// another
	ID                              uint32
	Definition                      Definition
	Ready, Delayed, Claimed, Behind int64 // Behind: waiting behind another of their key
	Bytes                           int64
	Waiters                         int
	// settled messages that a seek can bring back: they count against the limits of the store
	Past, PastBytes           int64
	PastFrom                  time.Time // when the oldest of them was put; zero: none
	Oldest                    time.Time // when the oldest message that could be claimed now was put; zero: none
	TotalPut, TotalDuplicate  uint64
	TotalDone, TotalDead      uint64
	TotalExpired, TotalPurged uint64
	TotalClaims               uint64
	// messages looked at one by one for conditions, since the start of the process
	TotalExamined uint64
	NextSequence  uint64
	Views         []ViewStats // what is kept for conditions, most recently used first
}

// Messages is the number of messages there are.
func (s Stats) Messages() int64 { return s.Ready + s.Delayed + s.Claimed + s.Behind }

// TopicStats describes a topic now.
type TopicStats struct {
	Name          Name
	Labels        map[string]string
	Subscriptions []Name
	TotalPublish  uint64
	TotalDropped  uint64 // published while there was no subscription
}

// Note is a small thing that a room of the house remembers across restarts. A nil Value forgets it.
type Note struct {
	Room  string // who remembers: "source/file"
	Key   string
	Value []byte // at most MaxNoteBytes
}

// NoteIs is a note as a change expects it. A nil Value expects that there is none.
type NoteIs Note

// MaxNoteBytes bounds a note's value.
const MaxNoteBytes = 64 << 10

// Limits bound a whole Store; a queue's own bounds apply too. MessageBytes, PutMessages, Copies and Subscriptions are
// never more than the journal takes in one group.
type Limits struct {
	Messages int64 // waiting messages in all queues; 0: 10 million
	Bytes    int64 // their sizes summed, with ids and sources' places that are remembered; 0: 64 GiB
	// Memory is about what they and notes take in memory: attributes and keys, and 64 bytes each; keys and values of
	// notes, and 128 bytes each. 0: no bound.
	Memory       int64
	MessageBytes int // one message; 0: 64 MiB
	PutMessages  int // messages in one Change; 0: 10,000
	// copies that the messages of one Change make for the subscriptions of topics, unless it is one message; 0: 10,000
	Copies        int
	Subscriptions int // of one topic; 0: 10,000
	Queues        int // queues and topics; 0: 100,000
	Waiters       int // claims that wait at once; 0: 100,000
	// RequireSubscription refuses what is published to a topic without subscriptions with ErrUnheard, in place of
	// dropping and counting it.
	RequireSubscription bool
}

// Snapshot remembers which messages of a queue were not settled at one moment. They, and all that came later, are kept
// while it exists, also when they are
// settled or purged meanwhile. A message that expires is gone all the same.
type Snapshot struct {
	Name    Name
	Queue   Name
	Time    time.Time // when it was taken
	Expires time.Time // zero: never
	Labels  map[string]string
}

// records is about how many records a change makes.
func (c *Change) records() int {
	n := len(c.Settles) + len(c.Notes)
	for i := range c.Puts {
		n += len(c.Puts[i].Messages)
	}
	return n
}

// Bounds of snapshots.
const (
	DefaultSnapshotLife = 7 * 24 * time.Hour
	MaxSnapshots        = 5000
)
