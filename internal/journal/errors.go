package journal

import (
	"errors"
	"fmt"
)

// Errors of Append and Write.
var (
	// ErrTooLarge: the group is over the implementation's Limits. Split it; trying again as it is will not help.
	ErrTooLarge = errors.New("group is larger than the journal takes")
	// ErrFull: there is no room on the medium. Nothing was kept. Try again when there is room.
	ErrFull = errors.New("no room left for the journal")
	// ErrRefused: nothing was kept. It may be tried again.
	ErrRefused = errors.New("journal refused the group")
	// ErrUnknown: nobody can tell whether the group was kept. Reopen the journal and look.
	ErrUnknown = errors.New("fate of the group is unknown")
	// ErrFailed: an earlier sync or write failed; the journal takes nothing more until it is reopened.
	ErrFailed = errors.New("journal has failed and must be reopened")
	// ErrReopen comes with ErrFailed where nothing that was called durable is in doubt: the same process may open the
	// log again (see Reopener). A journal that has failed without it is opened again by another process, at the
	// earliest, and perhaps after a person has looked at the medium.
	ErrReopen = errors.New("this process may open it again")
	// ErrLost: the log is somebody else's by now, who may append to it. The journal takes nothing more, and nothing
	// that it refuses with this error is ever in the log. Who wants the log back opens it anew, and folds what came.
	ErrLost = errors.New("another owner has taken over the log")
	// ErrStalled: the medium has not answered for a while. Who appends waits until it does. Only Health says so.
	ErrStalled = errors.New("the disk does not answer")
	// ErrClosed: Close was called.
	ErrClosed = errors.New("journal is closed")
)

// Errors of reading and opening.
var (
	// ErrReleased: the record was released and is gone, or never was there; or groups may be gone that are to be
	// followed.
	ErrReleased = errors.New("record is no longer in the journal")
	// ErrNoCheckpoint: no checkpoint was ever saved: start from the beginning of the log.
	ErrNoCheckpoint = errors.New("no checkpoint")
	// ErrLocked: another process has the journal open, and lets nobody take it over.
	ErrLocked = errors.New("journal is in use by another process")
)

// DamageError says that bytes which were once durable are not what was written. It is never repaired silently.
type DamageError struct {
	Where  string // what a person needs to find it: file and offset, or stream and sequence
	What   string // what is wrong
	Hint   string // the command that inspects it
	Record Address
}

func (e *DamageError) Error() string {
	s := fmt.Sprintf("damage in %s: %s", e.Where, e.What)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// FormatError says that a file is sound, and written in a format that this program does not read: by a later version.
// Nothing is damaged.
type FormatError struct {
	Where         string // the file
	What          string // what has a format: "the journal", "the checkpoint"
	Found         uint64 // its format
	Oldest, Known uint64 // those that this program reads
	// Reason, if set, is what this program does not understand, where no number says it: bytes behind a checksum that
	// fits are those that were written, so whoever wrote them knew more.
	Reason string
}

func (e *FormatError) Error() string {
	if e.Reason != "" {
		return fmt.Sprintf("%s: %s was written by a later version of hikyaku: its checksum fits, and %s", e.Where,
			e.What, e.Reason)
	}
	reads := fmt.Sprintf("format %d", e.Known)
	if e.Oldest < e.Known {
		reads = fmt.Sprintf("formats %d to %d", e.Oldest, e.Known)
	}
	if e.Found < e.Oldest {
		return fmt.Sprintf("%s: %s has format %d, which this version of hikyaku no longer reads: it reads %s", e.Where,
			e.What, e.Found, reads)
	}
	return fmt.Sprintf("%s: %s was written by a later version of hikyaku, in format %d; this one reads %s", e.Where,
		e.What, e.Found, reads)
}
