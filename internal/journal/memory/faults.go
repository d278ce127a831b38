package memory

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// faults are what goes wrong with a journal, as its owner's tests want it.
type faults struct {
	held      bool   // nothing becomes durable
	full      bool   // lasting records are refused
	refusing  bool   // done functions are told ErrRefused
	losing    error  // the fate of the next group is unknown, and then nothing is taken, with this error
	broken    error  // nothing is taken
	keeping   bool   // but that group is there
	unflushed error  // what Flush answers
	reopening error  // and what Reopen does
	reading   func() // called before the next read,
	flushing  func() // and this one before the next flush
	reads     int
}

// Hold stops everything from becoming durable, and done functions from being called, until it is called with false.
// Close ends it.
func (j *Journal) Hold(on bool) { j.set(func() { j.faults.held = on }) }

// AnswerFirst calls the oldest of the done functions that Hold stops, and no other.
func (j *Journal) AnswerFirst() {
	var first waiter
	j.set(func() { first, j.waiting = j.waiting[0], j.waiting[1:] })
	first.done(first.at, first.err, 0)
}

// Refuse lets done functions be told journal.ErrRefused and nothing be kept, until it is called with false.
func (j *Journal) Refuse(on bool) { j.set(func() { j.faults.refusing = on }) }

// Fill lets groups with lasting records be refused with journal.ErrFull, until it is called with false.
func (j *Journal) Fill(on bool) { j.set(func() { j.faults.full = on }) }

// FailFlush lets Flush answer err, until it is called with nil.
func (j *Journal) FailFlush(err error) { j.set(func() { j.faults.unflushed = err }) }

// Break lets everything be refused with err, for good. A journal.ErrFailed closes Failed.
func (j *Journal) Break(err error) {
	j.set(func() { j.fail(err) })
}

// FailNext lets the done function of the next group be told journal.ErrUnknown. The group is not there, and the journal
// has failed then.
func (j *Journal) FailNext(on bool) { j.failNext(on, journal.ErrFailed) }

// InterruptNext is FailNext of a journal that can be opened again then (Reopen). kept: the group is there all the same.
func (j *Journal) InterruptNext(on, kept bool) {
	j.failNext(on, fmt.Errorf("%w (%w)", journal.ErrFailed, journal.ErrReopen))
	j.set(func() { j.faults.keeping = kept })
}

func (j *Journal) failNext(on bool, why error) {
	if !on {
		why = nil
	}
	j.set(func() { j.faults.losing = why })
}

// FailReopen lets Reopen answer err, until it is called with nil.
func (j *Journal) FailReopen(err error) { j.set(func() { j.faults.reopening = err }) }

// fail ends the journal. The lock is held.
func (j *Journal) fail(err error) {
	over := func(err error) bool { return errors.Is(err, journal.ErrFailed) || errors.Is(err, journal.ErrLost) }
	if over(err) && !over(j.faults.broken) {
		close(j.failed)
	}
	j.faults.broken = err
	j.disk.tell()
}

// Depose lets the disk be somebody else's, as when it is opened with a greater term: what is not durable is lost, and
// nothing is taken any more: journal.ErrLost. The disk can be opened then.
func (j *Journal) Depose() { j.set(j.depose) }

// depose is Depose with the lock held.
func (j *Journal) depose() {
	j.disk.cut(j.disk.synced)
	j.lost, j.disk.owner = true, nil
	j.fail(journal.ErrLost)
	j.wake.Broadcast()
}

// BeforeRead lets f be called, once, before the next read.
func (j *Journal) BeforeRead(f func()) { j.set(func() { j.faults.reading = f }) }

// BeforeFlush lets f be called, once, before the next flush.
func (j *Journal) BeforeFlush(f func()) { j.set(func() { j.faults.flushing = f }) }

// Reads is how many records were read.
func (j *Journal) Reads() (n int) {
	j.set(func() { n = j.faults.reads })
	return n
}

func (j *Journal) set(change func()) {
	j.disk.mu.Lock()
	defer j.disk.mu.Unlock()
	change()
	j.wake.Broadcast()
}

// Damage flips a bit of the record at a: whoever reads it gets a *journal.DamageError.
func (d *Disk) Damage(a journal.Address) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if k := d.find(a); k != nil {
		k.damaged = true
	}
}

// DamageCheckpoint flips a bit of the newest checkpoint that is not damaged yet.
func (d *Disk) DamageCheckpoint() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := len(d.saved) - 1; i >= 0; i-- {
		if !d.saved[i].damaged {
			d.saved[i].damaged = true
			return nil
		}
	}
	return journal.ErrNoCheckpoint
}

// Cut loses every group behind a position.
func (d *Disk) Cut(behind journal.Position) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cut(behind)
}

// Lose loses the groups for which lost says so, as a medium that moved their lasting records elsewhere.
func (d *Disk) Lose(lost func(journal.Group) bool) {
	gone := map[journal.Position]bool{}
	for _, g := range d.Groups() {
		gone[g.Position] = lost(g)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.groups = slices.DeleteFunc(d.groups, func(g group) bool {
		if gone[g.position] {
			d.dropped(g)
		}
		return gone[g.position]
	})
}

// ForgetCheckpoints loses every checkpoint.
func (d *Disk) ForgetCheckpoints() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.saved = nil
}

// AlterCheckpoints puts others in the place of those that are kept.
func (d *Disk) AlterCheckpoints(alter func(content []byte) []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.saved {
		d.saved[i].content = alter(d.saved[i].content)
	}
}

// Checkpoints are the contents of those that are kept, the older one first.
func (d *Disk) Checkpoints() (contents [][]byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.saved {
		contents = append(contents, bytes.Clone(c.content))
	}
	return contents
}

// Groups are all groups of the log with their bodies, released ones among them. They share the memory of the log.
func (d *Disk) Groups() []journal.Group {
	d.mu.Lock()
	defer d.mu.Unlock()
	groups := make([]journal.Group, 0, len(d.groups))
	for _, g := range d.groups {
		out := journal.Group{Position: g.position, Records: make([]journal.Record, len(g.records))}
		for i := range g.records {
			out.Records[i] = g.records[i].Record
		}
		groups = append(groups, out)
	}
	return groups
}

// Released tells whether the record at a is gone, or was never there.
func (d *Disk) Released(a journal.Address) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := d.find(a)
	return k == nil || k.released
}

// Synced is the position up to which everything survives a power cut.
func (d *Disk) Synced() journal.Position {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.synced
}

// Record reads the record at a, whoever has the disk open.
func (d *Disk) Record(a journal.Address) (journal.Record, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.read(a)
}
