// Package journal is the contract of the durable log under all queues.
//
// A journal keeps groups of records in one order. A group is atomic: after a crash all of its records are there or
// none. It knows nothing of messages: a record is a small head, which the owner needs whenever it starts, and a body,
// which only a reader of that record needs, labelled with the queue and sequence it belongs to so that an
// implementation can keep together what will be read together.
//
// Two kinds of log can stand behind it: the files of package journal/file, and a stream of a replicated log, where a
// position is a stream sequence and an append is fenced by the expected last sequence. So positions only compare, gaps
// between them are normal, and nothing here speaks of files.
//
// Package journaltest is the suite that every implementation passes.
package journal

import (
	"context"
	"io"
	"iter"
	"time"
)

// Position is the place of a group in the order of the log. Positions only compare: a later group has a greater one,
// and nothing can be said of the numbers between two of them. 0 is before every group.
type Position uint64

// Address is the place of a record: its group and its index in it, from 0. An address stays valid for as long as the
// record is kept, also when the implementation moves the record.
type Address struct {
	Position Position
	Index    uint32
}

// Compare orders addresses as the log does: -1, 0 or +1.
func (a Address) Compare(b Address) int {
	switch {
	case a.Position != b.Position && a.Position < b.Position, a.Position == b.Position && a.Index < b.Index:
		return -1
	case a == b:
		return 0
	default:
		return 1
	}
}

// Life says for how long the journal has to keep a record.
type Life uint8

const (
	// Passing records matter until a checkpoint saved at or after their position makes them superfluous: a settle, a
	// claim.
	Passing Life = iota
	// Lasting records are kept until they are released, whatever checkpoints there are: a message.
	Lasting
)

// Record is what a journal keeps. Head and Body are opaque to it.
type Record struct {
	Queue    uint32 // a label for keeping together what is read together; 0 when it belongs to none
	Life     Life
	Sequence uint64 // a label: the place within Queue
	Head     []byte // read at every start: keep it small
	Body     []byte // read only through Read (and by checks): as large as the limits allow
}

// Size is what a record counts against MaxGroupBytes.
func (r *Record) Size() int { return len(r.Head) + len(r.Body) }

// Group is an atomic group as Scan reports it. The records are valid until the next step of the iteration.
// Bodies are not read: Body is nil in every record.
type Group struct {
	Position Position
	Records  []Record
}

// Durability is what an implementation promises of a group when it calls done.
type Durability string

const (
	Fsync Durability = "fsync" // it survives a power cut
	OS    Durability = "os"    // it survives the death of the process; the operating system writes it when it likes
	None  Durability = "none"  // it may still be in the memory of the process
)

// Limits are an implementation's bounds of one group. What is larger is refused with ErrTooLarge.
type Limits struct {
	GroupBytes   int // sum of Record.Size
	GroupRecords int
}

// Info describes an implementation.
type Info struct {
	Durability Durability
	Limits     Limits
	Where      string // for people: a folder, a stream's name
}

// SmallGroup is how many bytes the records of a group may have, as Size counts them, to be copied by Append. The bodies
// of a larger group must not change until done is called.
const SmallGroup = 1 << 20

// Stats are running totals since the journal was opened, and present sizes.
type Stats struct {
	Groups, Records, Bytes uint64 // appended
	Syncs                  uint64
	LiveBytes, TotalBytes  uint64    // as far as releases tell; on the medium
	CopiedBytes            uint64    // of records that cleaning wrote again elsewhere
	CheckpointBytes        uint64    // of checkpoints that were written
	Segments               int       // files, or 0 where there are none
	DamagedPlaces          int       // known now; looked for while the journal is open, not by each read
	DamageFound            uint64    // places, those that were mended among them
	ScrubbedBytes          uint64    // read to look for damage
	ScrubRounds            uint64    // whole ones
	Scrubbed               time.Time // end of the last whole round; zero before
	Checkpoint             Position
}

// And is what two journals make together: sums, and the later of two ends of a round. Of the positions of checkpoints,
// which only compare within a journal, it has none.
func (s Stats) And(o Stats) Stats {
	s.Groups, s.Records, s.Bytes, s.Syncs = s.Groups+o.Groups, s.Records+o.Records, s.Bytes+o.Bytes, s.Syncs+o.Syncs
	s.LiveBytes, s.TotalBytes = s.LiveBytes+o.LiveBytes, s.TotalBytes+o.TotalBytes
	s.CopiedBytes, s.CheckpointBytes = s.CopiedBytes+o.CopiedBytes, s.CheckpointBytes+o.CheckpointBytes
	s.Segments, s.DamagedPlaces = s.Segments+o.Segments, s.DamagedPlaces+o.DamagedPlaces
	s.DamageFound, s.ScrubbedBytes = s.DamageFound+o.DamageFound, s.ScrubbedBytes+o.ScrubbedBytes
	s.ScrubRounds = s.ScrubRounds + o.ScrubRounds
	if o.Scrubbed.After(s.Scrubbed) {
		s.Scrubbed = o.Scrubbed
	}
	s.Checkpoint = 0
	return s
}

// Reader is what a log is read with: the part of Journal that changes nothing.
type Reader interface {
	Read(ctx context.Context, addrs []Address, each func(i int, r Record, err error)) error
	Scan(ctx context.Context, from Position) iter.Seq2[Group, error]
}

// Done is told what became of a group: its position, or an error. left is how many done functions, of later groups,
// follow at once, without any wait: whoever is told of many groups may do once for several of them what they have in
// common.
type Done func(at Position, err error, left int)

// Reopener is a Journal that can be opened again while the process goes on, after it has failed with ErrReopen.
type Reopener interface {
	Journal
	// Reopen closes the journal and opens the same log again, as it was opened before. All that was durable is there,
	// of what was answered with ErrUnknown perhaps some, whole, and nothing of what was refused. Where that is not
	// certain it fails: an error that wraps ErrReopen says that a later try may succeed, any other one that none will.
	// By then a failure that came with ErrReopen may have turned out to be another one.
	Reopen(ctx context.Context) (Journal, error)
}

// Journal is a durable log. Its methods may be called from any goroutine.
//
// Who owns what: the journal keeps no reference to a record's slices after Append or Write returned, but to the bodies
// of a large group (see SmallGroup). The slices it hands out belong to the caller, but for those of Scan.
type Journal interface {
	// Append gives records their place in the log, as one group, in the order of the calls of Append and Write. It
	// returns as soon as that order is certain, and waits for no medium unless room has to be made; done is called
	// once, when the group is durable (in the sense of Info().Durability) or has failed. Concurrent appends share one
	// sync. The done functions are called in the order of the log, one at a time, from a goroutine of the journal's or
	// a turn of AppendTurn's, never from within Append: they must not block, and must not call Close, Sync or Append,
	// which waits while too many groups do. Write, Read and Release are allowed. An error returned by Append itself
	// means that the group was refused and done will not be called (ErrTooLarge, ErrClosed, ErrFull, ErrRefused,
	// ErrFailed, ErrLost). An error given to done is ErrRefused or ErrLost (nothing was kept) or ErrUnknown (the group
	// may be found in the log later, or not: reopen and catch up). A group that becomes durable at all does so before a
	// later owner finds the end of the log.
	Append(records []Record, done Done) error

	// AppendTurn is Append by somebody who will wait for done and can make the sync himself. When no sync runs, the
	// journal may leave the next one to him: turn is then a function that he has to call, once and soon, without a lock
	// that done functions take; it makes durable what has been appended by then and calls their done functions. Until
	// it is called nothing else becomes durable, so nothing that waits for the journal may come between. It spares a
	// lone writer the way to another goroutine and back. A nil turn means that the journal sees to it, as after Append.
	AppendTurn(records []Record, done Done) (turn func(), err error)

	// Write is Append for records nobody waits for. It returns as soon as their place in the order is certain, and
	// waits for no medium unless room has to be made. The group becomes durable with the next sync, which Write does
	// not cause; Flush lets it survive the death of the process. A group that is lost is lost together with everything
	// after it. A group that was taken is not refused later, unless the journal fails. The errors are those of Append,
	// ErrRefused also when as much as may waits already and this call may not, and ErrUnknown.
	Write(records []Record) error

	// Flush returns when everything written before the call, and what was appended before that, survives the death of
	// the process (unless durability is None). It costs nothing when that is so already. Of a log on several nodes it
	// means another thing: that nobody else has the log now, so that what is handed out next is handed out by its
	// owner; what was written may be lost with the node until a moment later. ErrFull, ErrRefused: the
	// medium does not take some of it now; it is kept in memory, and written when that is possible.
	Flush() error

	// Sync returns when everything appended and written before the call is durable in the sense of Info().Durability.
	Sync(ctx context.Context) error

	// Read fetches records in any number and order. For each address, each is called once with its index in addrs, in
	// any order, one at a time: with the record (Head and Body), or with an error: ErrReleased when the record is no
	// longer kept, a *DamageError when its bytes are not what was written. Of a log on several nodes that is ErrFailed:
	// other nodes have what was written. Read itself fails only when no more can be tried.
	Read(ctx context.Context, addrs []Address, each func(i int, r Record, err error)) error

	// Scan walks the groups after position from, oldest first, up to the last group there was when it began. Released
	// records may still be reported. Every group behind the older of the two kept checkpoints is there; of those before
	// it some may be missing, also when a lasting record of theirs is kept: its address is the way to it. A problem
	// ends the walk with an error as its last step.
	Scan(ctx context.Context, from Position) iter.Seq2[Group, error]

	// Follow is a Scan that goes on: it walks the groups after position from, oldest first, each as soon as it is
	// durable in the sense of Info().Durability, until ctx ends, or the journal is closed, fails or is lost. Why it
	// ended is its last step. It misses no group: where some may have been reclaimed, because from is before the older
	// of the two kept checkpoints, or the walk has fallen so far behind, it ends with ErrReleased, and whoever follows
	// begins anew from the newest checkpoint.
	Follow(ctx context.Context, from Position) iter.Seq2[Group, error]

	// End is the position of the last group that was appended or written before the call. Unless Flush has returned
	// since then it may wait for the medium. A group that Flush says is kept in memory may not be counted.
	End() Position

	// Release says that these lasting records are no longer needed. It is advisory: their space may be reclaimed at any
	// later time. Call it only when what made them superfluous is durable. Of an owner who has lost the log it means
	// nothing, and neither do ReleaseBefore and Keep.
	Release(addrs ...Address)

	// ReleaseBefore releases every lasting record whose position is less than p.
	ReleaseBefore(p Position)

	// Keep is called once after a start's Scan with everything that is still needed. All other lasting records up to
	// the present end are released. Until Keep is called nothing is reclaimed.
	Keep(live iter.Seq[Address])

	// SaveCheckpoint durably keeps what write produces as the owner's state as of position at: a later start needs only
	// it, the groups after at, and the lasting records that are not released. The last two checkpoints are kept, and
	// what only a start from the older one needs is not reclaimed: a damaged checkpoint costs time, not data. write is
	// called once; an error of it leaves everything as it was. at must not be greater than End. Where the log is on
	// several nodes, the next owner may be on one that has not got it yet: he starts from one before, and what follows.
	SaveCheckpoint(ctx context.Context, at Position, write func(io.Writer) error) error

	// LoadCheckpoint returns the newest sound checkpoint, verified whole before it returns. ErrNoCheckpoint when none
	// was ever saved. skipped lists the damaged ones that were passed over, for the log. The caller closes r.
	LoadCheckpoint(ctx context.Context) (at Position, r io.ReadCloser, skipped []error, err error)

	Info() Info
	Stats() Stats

	// Failed is closed when the journal takes nothing any more until it is reopened; Health then tells why, and with
	// ErrReopen that this process may do that.
	Failed() <-chan struct{}

	// Health is nil when a small group with lasting records would be taken now: otherwise it is what Append would say
	// (ErrFailed, ErrLost, ErrFull, ErrClosed, ErrRefused), or ErrStalled when Append would not return, or nobody be
	// told that the group is durable, for the medium does not answer. It costs little, changes nothing and never hangs.
	Health() error

	// Close waits for what was appended to be durable and for its done functions, then lets go of the log. A second
	// Close does nothing.
	Close() error
}
