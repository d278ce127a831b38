package file

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// tailState is what a look at an unsealed segment found.
type tailState struct {
	end      int64            // offset behind the last sound group
	last     journal.Position // of any kind
	ended    bool             // that is an end mark
	totals   totals
	durable  journal.Position // the highest position that a sound group says was synced
	broken   error            // why the walk ended at end
	stray    []int64          // offsets behind end where a group seems to begin
	synced   journal.Position // up to there all of the segment was synced, says the note; 0: it does not tell
	vouching int64            // offset of a sound group that says the one at end had been synced; 0 when there is none
}

// examineTail walks the newest segment after an unclean end, bodies included, and looks behind its end for groups that
// vouch for what is broken there. synced is a position up to which the segment is known to have been synced, 0 when
// that is not known. A group whose bodies do not read back, but nothing else of it, is the end of the log unless a
// later one says that it had been synced: then it is whole but for those bodies, which Read will tell.
func examineTail(ctx context.Context, s *segment, synced journal.Position) (*tailState, error) {
	t := &tailState{end: segmentHeaderBytes, totals: s.totals, synced: synced}
	// what was found before each group that nobody has vouched for yet, and whose bodies are broken
	var doubts []tailState
	w := newWalker(s, segmentHeaderBytes, s.size)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if w.offset == s.size {
			break
		}
		err := w.next()
		if errors.Is(err, errGroup) {
			t.broken = err
			break
		}
		if err == nil {
			if err = w.soundBodies(); errors.Is(err, errGroup) {
				before := *t
				before.broken = err
				doubts = append(doubts, before)
				err = nil
			}
		}
		if err != nil {
			return nil, err
		}
		t.last = w.header.position
		t.ended = w.header.kind == kindEnd
		t.durable = max(t.durable, w.header.durable)
		if w.header.kind == kindRecords {
			t.totals.add(t.last, w.entries)
		}
		t.end = w.offset
		for len(doubts) > 0 && s.at(doubts[0].end) <= max(t.durable, synced) {
			doubts = doubts[1:]
		}
	}
	if len(doubts) > 0 {
		durable := t.durable
		t = &doubts[0]
		t.durable = durable
	}
	if t.end == s.size {
		return t, nil
	}
	return t, t.lookBehind(ctx, s)
}

// soundBodies checks the bodies of the group last read.
func (k *walker) soundBodies() error {
	var first error
	err := k.verifyBodies(func(i int, err error) {
		if first == nil {
			first = fmt.Errorf("%w: record %d: %w", errGroup, i, err)
		}
	})
	if err != nil {
		return err
	}
	return first
}

// lookBehind searches the rest of the segment for beginnings of groups.
func (t *tailState) lookBehind(ctx context.Context, s *segment) error {
	w := window{s: s}
	want := mark(s.generation)
	for offset := t.end; offset+groupHeaderBytes <= s.size; offset += groupAlign {
		b, err := w.bytes(offset, groupHeaderBytes, s.size)
		if err != nil {
			return err
		}
		if binary.LittleEndian.Uint32(b) != want {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		t.stray = append(t.stray, offset)
		if offset == t.end || t.vouching != 0 {
			continue
		}
		k := newWalker(s, offset, s.size)
		switch err := k.next(); {
		case err == nil && k.header.durable >= s.at(t.end):
			t.vouching = offset
		case err != nil && !errors.Is(err, errGroup):
			return err
		}
	}
	return nil
}

// damage returns what is wrong at the end, when that is more than a torn tail.
func (t *tailState) damage(s *segment) error {
	broken := t.broken
	if broken == nil {
		broken = fmt.Errorf("%w: the segment ends here", errGroup)
	}
	switch {
	case t.vouching != 0:
		return s.damage(t.end, fmt.Sprintf("%v; the group at offset %d says that it was sound and synced once", broken,
			t.vouching))
	case t.synced >= s.at(t.end):
		return s.damage(t.end, fmt.Sprintf("%v; the group at position %d was synced once, as the file %s says", broken,
			t.synced, noteName))
	}
	return nil
}

// torn is how many bytes behind the end look like groups of this segment.
func (t *tailState) torn() int64 {
	if n := len(t.stray); n > 0 {
		return t.stray[n-1] + groupHeaderBytes - t.end
	}
	return 0
}

// recoverTail drops a torn tail and makes the rest durable.
func (j *Journal) recoverTail(t *tailState) error {
	s := j.tail
	if n := t.torn(); n > 0 {
		j.opts.Report(fmt.Errorf("%s, offset %d: %d bytes behind the last sound group are dropped: %w. The process "+
			"died before it was told that they are durable; "+
			"or they were the last that was appended, and the disk has lost them since: nothing that was synced "+
			"later tells", s.name, t.end, n, t.broken))
	}
	if err := s.rewrite(t); err != nil {
		return fmt.Errorf("make the tail of %s durable: %w", s.name, err)
	}
	j.durable.Store(uint64(j.last))
	if t.last == 0 {
		return nil // no group to vouch for
	}
	if err := j.seal(); err != nil && !errors.Is(err, journal.ErrFull) {
		return err
	}
	return j.syncSegment(s, j.last)
}

// rewrite writes again what may be in memory only, and takes away what seems to begin behind the end: a group that was
// never acknowledged must not come back behind the next one.
func (s *segment) rewrite(t *tailState) error {
	from := int64(segmentHeaderBytes)
	if t.durable > s.base {
		from = s.offset(t.durable)
	}
	buf := make([]byte, 1<<20)
	for from < s.end {
		b := buf[:min(int64(len(buf)), s.end-from)]
		if err := s.readAt(b, from); err != nil {
			return err
		}
		if _, err := s.f.WriteAt(b, from); err != nil {
			return err
		}
		from += int64(len(b))
	}
	if err := s.clearStray(t); err != nil {
		return err
	}
	return s.sync()
}

// clearStray takes away what seems to begin behind the end.
func (s *segment) clearStray(t *tailState) error {
	for _, offset := range t.stray {
		if _, err := s.f.WriteAt(zeros[:groupHeaderBytes], offset); err != nil {
			return err
		}
	}
	return nil
}
