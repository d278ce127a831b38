package file

import (
	"errors"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/durable"
	"github.com/hikyaku/hikyaku/internal/journal"
)

// A block that was allocated but never written costs the sync that first writes it a change of the file's metadata,
// which is most of a small sync. So the keeper writes zeros in the tail a little ahead of the log, in large pieces and
// in step with it: a log that does not grow costs nothing. Where each sync has much to write zeros would only cost
// bandwidth, and there are none. To fill spares, each with syncs of its own, was measured to be slower than this.
const (
	zeroBytes  = 128 << 10 // zeros written at a time: the next sync of the log waits for them
	aheadBytes = 1 << 20   // zeros kept ahead in the tail
	aheadBelow = 128 << 10 // only while a sync has less than this to write
)

// zeros is never written to.
var zeros [zeroBytes]byte

// step is how far a log grows before the keeper looks again.
func (s *segment) step() int64 { return min(zeroBytes, s.size/8) }

// syncLoad is what the keeper saw when it looked last.
type syncLoad struct{ bytes, syncs uint64 }

// small says whether a sync had little to write since the last look.
func (l *syncLoad) small(c *counters) bool {
	now := syncLoad{c.bytes.Load(), c.syncs.Load()}
	bytes, syncs := now.bytes-l.bytes, now.syncs-l.syncs
	*l = now
	return bytes <= aheadBelow*max(1, syncs)
}

// zeroAhead writes zeros where the log will soon be, if syncs are small.
func (j *Journal) zeroAhead(small bool) error {
	if j.opts.Durability != journal.Fsync || !small {
		return nil
	}
	for {
		if more, err := j.zeroTail(); err != nil || !more {
			return err
		}
	}
}

// zeroBeginning writes zeros where a new spare begins, so that the first syncs of the segment that it becomes need not
// wait for that. It tells how many are durable. Nothing depends on them.
func (j *Journal) zeroBeginning(sp spare) (n int64, err error) {
	if j.opts.Durability != journal.Fsync {
		return 0, nil
	}
	for end := min(aheadBytes, sp.size); n < end; {
		piece := min(zeroBytes, end-n)
		_, err := sp.f.WriteAt(zeros[:piece], n)
		if err == nil {
			err = sp.f.Datasync()
		}
		if err != nil {
			return 0, err
		}
		n += piece
	}
	return n, nil
}

// zeroTail writes the next zeros in the tail and says whether it did. They become durable with the next sync, or do
// not: nothing depends on them.
func (j *Journal) zeroTail() (bool, error) {
	j.mu.Lock()
	s := j.tail
	from := s.written
	if from < s.end { // behind what is being appended right now
		from = min((s.end+s.step()/4+4095)&^4095, s.size)
	}
	n := min(zeroBytes, s.size-from)
	if n <= 0 || from >= s.end+aheadBytes || j.failed() != nil {
		j.mu.Unlock()
		return false, nil
	}
	s.zeroing, s.written = from, from+n
	j.zeroMu.Lock()
	j.mu.Unlock()
	j.disk.begin(zeroing)
	s.use.RLock()
	err := s.gone
	if err == nil {
		_, err = s.f.WriteAt(zeros[:n], from)
	}
	s.use.RUnlock()
	j.disk.end(zeroing)
	j.zeroMu.Unlock()
	j.mu.Lock()
	s.zeroing = 0
	j.mu.Unlock()
	switch {
	case err == nil:
		return true, nil
	case durable.Full(err), errors.Is(err, errGone):
		return false, nil
	default:
		return false, j.fail(fmt.Errorf("write zeros ahead at %d of %s: %w", from, s.name, err))
	}
}

// awaitZeros waits while the keeper writes zeros where groups from offset from on belong. It keeps away from the end of
// the log, so this is rare. mu is held, and stays so: what follows relies on it.
func (j *Journal) awaitZeros(s *segment, from int64) {
	if s.zeroing != 0 && from < s.written && s.end > s.zeroing {
		j.zeroMu.Lock()
		//lint:ignore SA2001 to wait is all there is to do
		j.zeroMu.Unlock()
	}
}
