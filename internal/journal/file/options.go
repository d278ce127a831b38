package file

import (
	"errors"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
)

const (
	defaultSegmentBytes  = 64 << 20
	defaultMaxGroupBytes = 72 << 20
	defaultMaxPending    = 4096
	defaultIdleSeal      = time.Second
	defaultCleanBytes    = 16 << 20
	defaultPatience      = 2 * time.Second
	defaultTableBytes    = 16 << 20

	// A disk has room for that many segments of the size that is chosen for it, if it has room for as many of the
	// least.
	segmentsOnDisk    = 16
	leastSegmentBytes = 1 << 20

	minSegmentBytes = 16 << 10
	maxSegmentBytes = 1 << 30
	maxGroupBytes   = 1 << 30
	maxGroupRecords = 1 << 18

	reserveSegments = 2 // spares that only groups without lasting records may use up
)

// Options says where a journal is and how it behaves. Only Dir has to be set.
type Options struct {
	Dir        string             // the folder; made when it is missing
	Durability journal.Durability // journal.Fsync when empty

	// size of a segment file, a multiple of 4096; when 0, 64 MiB, and less on a disk of less than 1 GiB (see
	// SegmentBytesOn). A group that is larger gets a larger segment
	SegmentBytes  int64
	MaxGroupBytes int // the largest sum of Record.Size in a group; 72 MiB when 0
	MaxPending    int // appends that wait for a sync before Append blocks; 4096 when 0

	// IdleSeal is how long the journal has to be idle before it writes a seal that vouches for the last group.
	// 1 s when 0, never when negative. Only journal.Fsync writes it.
	IdleSeal time.Duration

	// CleanBytes is how many bytes a second cleaning may copy when nothing is appended; while there is, half of what is
	// appended comes on top, or all of it while more is dead than alive. 16 MiB when 0; no cleaning when negative.
	CleanBytes int64

	// TableBytes is how much of what tells where the records of large groups are is kept in memory. 16 MiB when 0.
	TableBytes int

	// Watch is how often the journal looks whether its names still lead to the files that it has open: when they do
	// not, it fails and takes nothing more. 250 ms when 0, never when negative.
	Watch time.Duration

	// Patience is how long the disk may take for what an append waits for: after that Health is journal.ErrStalled, and
	// it is reported, until the disk answers. 2 s when 0, for ever when negative.
	Patience time.Duration

	// Scrub has the journal read all of its files again and again, to find what was damaged. Off when zero. SetScrub
	// changes it.
	Scrub Scrub

	Existing bool // makes no journal: where there is none, Open fails with ErrNoJournal and changes nothing
	ReadOnly bool // reads only, without the lock and without repairing a torn tail; Append and the like are refused

	// Report is told of trouble that costs nothing yet: a segment that could not be removed, a spare that could not be
	// made; and of what a start finds that a crash left: a torn tail, a manifest whose write was cut off; and, as a
	// *journal.DamageError, of damage that was found while the journal was open, each place once. It may be called from
	// any goroutine of the journal and must not block. May be nil.
	Report func(error)

	FS FS // the file layer; the operating system's when nil
}

// withDefaults fills in what was left empty and refuses what cannot work.
func (o Options) withDefaults() (Options, error) {
	if o.Dir == "" {
		return o, errors.New("open journal: no folder given: set Dir")
	}
	if o.Durability == "" {
		o.Durability = journal.Fsync
	}
	switch o.Durability {
	case journal.Fsync, journal.OS, journal.None:
	default:
		return o, fmt.Errorf("open journal %s: unknown durability %q: choose fsync, os or none", o.Dir, o.Durability)
	}
	if o.SegmentBytes != 0 && (o.SegmentBytes < minSegmentBytes || o.SegmentBytes > maxSegmentBytes ||
		o.SegmentBytes%4096 != 0) {
		return o, fmt.Errorf("open journal %s: SegmentBytes %d is not a multiple of 4096 between %d and %d", o.Dir,
			o.SegmentBytes, minSegmentBytes, maxSegmentBytes)
	}
	if o.MaxGroupBytes == 0 {
		o.MaxGroupBytes = defaultMaxGroupBytes
	}
	if o.MaxGroupBytes < 0 || o.MaxGroupBytes > maxGroupBytes {
		return o, fmt.Errorf("open journal %s: MaxGroupBytes %d is not between 1 and %d", o.Dir, o.MaxGroupBytes,
			maxGroupBytes)
	}
	if o.MaxPending <= 0 {
		o.MaxPending = defaultMaxPending
	}
	if o.IdleSeal == 0 {
		o.IdleSeal = defaultIdleSeal
	}
	if o.CleanBytes == 0 {
		o.CleanBytes = defaultCleanBytes
	}
	if o.TableBytes <= 0 {
		o.TableBytes = defaultTableBytes
	}
	if o.Watch == 0 {
		o.Watch = defaultWatch
	}
	if o.Patience == 0 {
		o.Patience = defaultPatience
	}
	if o.Report == nil {
		o.Report = func(error) {}
	}
	if o.FS == nil {
		o.FS = osFS{}
	}
	return o, nil
}

// SegmentBytesOn is the size of segments on a disk of so many bytes, of which nothing else is known: a power of two
// that is a sixteenth of it at most, from 1 to 64 MiB. 0 bytes: not known.
func SegmentBytesOn(disk int64) int64 {
	size := int64(defaultSegmentBytes)
	for disk > 0 && size > leastSegmentBytes && size > disk/segmentsOnDisk {
		size /= 2
	}
	return size
}
