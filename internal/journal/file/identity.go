package file

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// logIdentity is what a checkpoint has to fit. A checkpoint says where groups go on, not what is in them: one of
// another log, or one from before, would be taken without it, and what was put would be gone.
type logIdentity struct {
	number uint32           // random, of this log alone; 0: none was given yet, by a version that knew of none
	floor  journal.Position // the groups up to here, or some of them, were reclaimed
}

func newLogNumber() uint32 { return uint32(newGeneration()>>32) | 1 } // never 0

// misfit is why a checkpoint is not one of the log; nil: it is. One without a number is of a version that gave none.
func (l logIdentity) misfit(h checkpointHead) error {
	switch {
	case h.log != 0 && l.number != 0 && h.log != l.number:
		return fmt.Errorf("it is a checkpoint of another journal: of log %08x, not of %08x", h.log, l.number)
	case h.at < l.floor:
		return fmt.Errorf("it is a checkpoint from before, of position %d: the log behind it was reclaimed up to "+
			"position %d", h.at, l.floor)
	}
	return nil
}

// identity is that of the log, as it is now.
func (j *Journal) identity() logIdentity {
	j.manifestMu.Lock()
	defer j.manifestMu.Unlock()
	return j.manifest.log
}
