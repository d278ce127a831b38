package file

import (
	"errors"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// seal vouches for everything before it. Where no group fits behind it any more it is the end mark. mu is held.
func (j *Journal) seal() error {
	k := kindSeal
	switch {
	case j.tail.ended:
		return nil
	case j.tail.end+2*sealBytes > j.tail.size:
		k = kindEnd
	}
	j.addOwn(encodeSeal(k, j.tail.totals))
	return j.flush()
}

// sealClean ends a journal that is closed: everything durable, a seal at the end, and a manifest that says so.
func (j *Journal) sealClean() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.failed(); err != nil {
		return errors.Join(err, j.confirm())
	}
	if err := j.write(); err != nil && !errors.Is(err, journal.ErrFull) {
		return err
	}
	// Synced before the seal is written, which can then vouch for all of it.
	if err := j.syncSegment(j.tail, j.lastWritten); err != nil {
		return err
	}
	if err := j.seal(); errors.Is(err, journal.ErrFull) {
		return nil // everything is durable, but the next start has to look
	} else if err != nil {
		return err
	}
	if err := j.syncSegment(j.tail, j.last); err != nil {
		return err
	}
	j.manifestMu.Lock()
	defer j.manifestMu.Unlock()
	m := j.manifest.clone()
	m.clean = true
	m.segments[len(m.segments)-1].end = j.tail.end
	if err := j.lists.write(&m); err != nil {
		return err
	}
	j.manifest = m
	return nil
}

// sealIdle writes a seal when nothing was appended since seen, the last group a while ago.
func (j *Journal) sealIdle(seen journal.Position) (journal.Position, error) {
	if j.opts.Durability != journal.Fsync || j.failed() != nil {
		return seen, nil
	}
	j.mu.Lock()
	last, records := j.last, j.tail.totals.last
	j.mu.Unlock()
	if last != seen || last != records {
		return last, nil // busy, or sealed already
	}
	if err := j.syncLog(); err != nil {
		return seen, err
	}
	j.mu.Lock()
	err := j.failed()
	if err == nil && j.last == last {
		err = j.seal()
	}
	j.mu.Unlock()
	if err != nil {
		return seen, err
	}
	return last, j.syncLog()
}
