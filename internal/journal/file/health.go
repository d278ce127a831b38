package file

import (
	"fmt"
)

// smallGroup is how many bytes have to fit for the journal to be healthy on a full disk.
const smallGroup = 4 << 10

// Failed implements journal.Journal.
func (j *Journal) Failed() <-chan struct{} { return j.ended }

// Health implements journal.Journal.
func (j *Journal) Health() error {
	if err := j.usable(); err != nil {
		return err
	}
	if !j.short.Load() {
		return nil
	}
	j.mu.Lock()
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
