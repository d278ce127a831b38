package queue

import (
	"time"

	"github.com/tidwall/btree"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/journal"
)

// state is everything a Store knows: pure data, changed only by apply and by tick. It does no I/O and has no clock:
// time comes with events and with questions. It is not safe for concurrent use; the Store holds its lock around every
// call.
type state struct {
	limits *Limits // what puts may fill; the Store's
	now    int64   // journaled time, microseconds; never runs backwards
	clock  int64   // what the clock said last, ns
	time   timekeeper
	epoch  uint32
	nextID uint32 // of queues and topics

	versions uint64 // given to definitions: see beginVersions

	queues         map[uint32]*queueState
	queueNames     map[Name]*queueState
	topics         map[uint32]*topicState
	topicNames     map[Name]*topicState
	notes          *btree.BTreeG[Note]
	snapshots      map[Name]*snapshotState
	snapshotsTaken uint64               // they are numbered, since the start of the process
	former         map[Name]*queueState // by names that queues had
	graves         map[string]*grave    // by name

	queuesByID           btree.Map[uint32, *queueState]
	topicsByID           btree.Map[uint32, *topicState]
	queueList, topicList *btree.BTreeG[Name]
	snapshotList         *btree.BTreeG[*snapshotState]

	messages, bytes         int64 // of all queues, with those kept for a seek
	resident                int64 // bytes that messages, notes and definitions take in memory, about
	idBytes                 int64 // that deduplication ids, places of sources and snapshots take in memory
	reserved, reservedBytes int64 // puts under way to the journal
	reservedResident        int64 // and what they, notes and definitions under way will take in memory, about

	pending map[string]*draft // deduplication ids and notes under way to the journal

	coming          int // queues and topics under way to the journal,
	comingSnapshots int // and snapshots

	alarms alarms
	// Leases that had not ended at sparedFrom do not before sparedTill, see freeze.go.
	sparedFrom, sparedTill int64
	freezes                int // since sparedFrom
	windows                windows
	folding                bool // replaying the journal: what can be derived is made once, at the end
	released               []journal.Address

	postponed postponed
	asked     int // snapshots that the group which is being applied had to ask what they hold

	fresh map[*queueState][]entry // became claimable since the last serve, in queues where somebody waits
	// likewise, where a waiter's condition asks for a body: the Store reads it and serves again
	unserved     map[*queueState]*sequences
	known        map[entry]*looked // of them, while they are served: those whose bodies were read
	offerings    []*lane           // under way to those who have several wishes: the first lane is gone on with
	steps        int               // that serving may still take under this hold of the lock
	share        int               // of them, for one hold: servePiece
	patient      bool              // it goes on under other holds, with what is left
	waiterNumber uint64
	served       []*waiter        // who have to be told so: the Store does it
	exhausted    []doomed         // out of attempts: the Store moves them to a dead-letter queue
	overdue      []doomed         // expired: the Store writes it down
	lapsed       []event          // leases that tick ended: the Store writes it down
	traced       bool             // somebody wants to know where messages have been
	lapses       []observed       // if so, whose leases tick ended: the Store tells it
	over         []*snapshotState // their life has ended: the Store deletes them
	serial       uint32           // of the last claim of this epoch

	scratch entryEnv
	effort  int // the work of conditions that were asked since the lock was taken, as in condition.Effort
	saves   saves
	unread  []unread // of a checkpoint, while it is restored
}

type topicState struct {
	id         uint32
	name       Name
	labels     map[string]string
	weight     int64  // what it counts of state.resident
	publishes  uint64 // given numbers
	published  uint64
	dropped    uint64
	subscribed subscriptions
	coming     int    // subscriptions under way to the journal
	saved      uint64 // the newest checkpoint that has it as it was, or need not have it
}

// queueState is one queue.
type queueState struct {
	id      uint32
	name    Name
	former  []Name          // names that it had and nobody else has, the latest last
	def     Definition      // normal
	filter  *condition.Expr // def.Filter
	buries  *grave          // def.DeadLetter
	gone    bool            // deleted, or being deleted
	version uint64          // of def and name
	saved   uint64          // the newest checkpoint that has it as it was, or need not have it
	weight  int64           // what it counts, beside its messages,
	counts  *int64          // of state.resident; nil: it is gone
	layouts []*layout       // of rows that were put before the columns were altered, the oldest first
	next    uint64          // sequence of the next put
	seen    uint64          // behind the sequence of the last message that became durable

	all             messages
	ready           sequences // those a reader could claim now
	keys            map[string]*keyGroup
	views           []view // of the ready messages; most recently used first
	dedup           map[string]*remembered
	forget          []*remembered // in the order in which they were taken
	rememberedBytes int64         // of those in forget, and of origins
	window          window
	origins         btree.Map[string, *originState] // by source

	bytes                      int64
	pastBytes                  int64 // of the settled ones that are kept for a seek
	delayed, claimed           int64
	put, duplicate, done, dead uint64
	expired, purged, claims    uint64
	snapshots                  []*snapshotState
	heldLast                   heldOnPage
	seeking                    int    // seeks under way to the journal
	late                       bool   // some of the past was not forgotten in time because of one
	purgedTo                   uint64 // there is no message before it, and no past but what snapshots hold
	sweeping                   bool   // the past is looked at, in pieces, for what nothing keeps any more,
	sweep                      uint64 // and this is the sequence where that goes on
	waiting                    waiting
	unhanded                   []entry // fresh ones that wait for the end of a recall
	reserved, reservedBytes    int64   // puts under way to the journal
	together                   together
	scanned                    uint64 // messages looked at one by one, to build views and where keys did not tell
}

// sharedBody is the body of a message published to a topic, kept while a subscription needs it.
type sharedBody struct {
	addr journal.Address
	head []byte
	refs int
}

// claimState is a claim that is not settled yet.
type claimState struct {
	epoch    uint32
	serial   uint32 // of the claim, in its epoch
	deadline int64  // µs; 0: the owner's life
	at       int64  // when it was handed out, ns
	owner    *owner // nil when it was owned before a restart
	claimant uint64 // who holds the key
	wake     int64  // of a doomed message: until when it would sleep
	lapsed   uint64 // with an ended lease: from this sequence on those of its key went back; 0: none did
	owned    bool   // it ends with its owner
	apart    bool   // while its lease goes on it does not go back with those before it
	settling bool   // its end is on the way to the journal: nobody else may end it
	retry    bool   // of a doomed message: it would hold up those behind it of its key
	back     bool   // with settling: it goes back, so nothing behind it of its key may be handed out
}

// stays tells whether a claim goes on when one before it of its key goes back: by when that one ended, not by when that
// is noticed.
func (c *claimState) stays(before *claimState, now int64) bool {
	if before.deadline != 0 {
		now = min(now, before.deadline)
	}
	return c.apart && c.deadline > now
}

func newState() *state {
	return &state{
		nextID:     1,
		queues:     map[uint32]*queueState{},
		queueNames: map[Name]*queueState{},
		topics:     map[uint32]*topicState{},
		topicNames: map[Name]*topicState{},
		notes:      newListed(lessNote),
		snapshots:  map[Name]*snapshotState{},
		former:     map[Name]*queueState{},
		graves:     map[string]*grave{},
		pending:    map[string]*draft{},
		queueList:  newListed(lessName), topicList: newListed(lessName), snapshotList: newListed(lessSnapshot),
		share:    servePiece,
		fresh:    map[*queueState][]entry{},
		unserved: map[*queueState]*sequences{},
	}
}

// advance moves journaled time on by a reading of the clock, see timekeeper. It returns the present journaled time.
func (s *state) advance(t time.Time) int64 {
	s.look(t)
	s.now = s.time.read(s.now, t)
	return s.now
}

// look takes a reading of the clock for what is handed out now, and leaves journaled time as it is.
func (s *state) look(t time.Time) { s.clock = t.UnixNano() }

func (s *state) newQueueState(id uint32, name Name, def Definition) *queueState {
	q := &queueState{
		all: messages{queue: id, saves: &s.saves},
		id:  id, name: name, def: def, next: 1, seen: 1, saved: s.saves.number, counts: &s.resident,
		keys:  map[string]*keyGroup{},
		dedup: map[string]*remembered{},
	}
	s.redefined(q)
	return q
}

// redefined does what follows from another definition or name of q.
func (s *state) redefined(q *queueState) {
	s.versions++
	q.version = s.versions
	q.parseFilter()
	s.burying(q, q.def.DeadLetter)
	q.weigh()
}

// beginVersions numbers the versions of definitions of this epoch, so that no number was given before: whoever
// remembers one of an earlier epoch finds that it is another.
func (s *state) beginVersions() {
	base := uint64(s.epoch) << 32
	for _, q := range s.queues {
		q.version += base
	}
	for _, t := range s.topics {
		t.subscribed.version += base
	}
	s.versions += base
}

// renewed is redefined where only texts of the definition are others, which take so many bytes more: it takes a few
// steps, whatever else is defined, because there may be thousands of such queues. Who has changed a filter sees to it.
func (s *state) renewed(q *queueState, grown int64) {
	s.versions++
	q.version = s.versions
	s.burying(q, q.def.DeadLetter)
	q.weight += grown
	*q.counts += grown
}

func (q *queueState) parseFilter() {
	q.filter = nil
	if q.def.Filter != "" {
		// A definition that does not parse was refused before it was journaled.
		q.filter, _ = condition.Parse(q.def.Filter)
	}
}

// takeReleased returns, once, the addresses that the journal need not keep any more.
func (s *state) takeReleased() []journal.Address {
	r := s.released
	s.released = nil
	return r
}

func newListed[T any](less func(a, b T) bool) *btree.BTreeG[T] {
	return btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})
}

func lessName(a, b Name) bool { return compareNames(a, b) < 0 }

func lessSnapshot(a, b *snapshotState) bool { return lessName(a.name, b.name) }
