package file

import (
	"fmt"
	"time"
)

// smallGroup is how many bytes have to fit for the journal to be healthy on a full disk.
const smallGroup = 4 << 10

// lookAgain is how long Health waits before it tries again for a lock that may hang.
const lookAgain = time.Millisecond

// Failed implements journal.Journal.
func (j *Journal) Failed() <-chan struct{} { return j.ended }

// Health implements journal.Journal.
func (j *Journal) Health() error {
	if err := j.usable(); err != nil {
		return err
	}
	if err := j.stalled(); err != nil || !j.short.Load() {
		return err
	}
	for !j.mu.TryLock() { // who holds it may wait for a disk that does not answer
		if err := j.stalled(); err != nil {
			return err
		}
		time.Sleep(lookAgain)
	}
	defer j.mu.Unlock()
	if j.shortage == nil {
		return nil
	}
	// Nothing can be allocated: what there is has to do.
	n := max(j.refused, smallGroup)
	if fits := j.tail.end+n+sealBytes <= j.tail.size; len(j.spares) < reserveSegments || !fits &&
		len(j.spares) == reserveSegments {
		return fmt.Errorf("only the reserve for settling is left: %w", j.shortage)
	}
	return nil
}
