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
	vouching int64            // offset of a sound group that says the one at end had been synced; 0 when there is none
}

// examineTail walks the newest segment after an unclean end, bodies included, and looks behind its end for groups that
// vouch for what is broken there. A group whose bodies do not read back, but nothing else of it, is the end of the log unless
// a later one says that it had been synced: then it is whole but for those bodies, which Read will tell.
func examineTail(ctx context.Context, s *segment) (*tailState, error) {
	t := &tailState{end: segmentHeaderBytes, totals: s.totals}
	var doubts []tailState // what was found before each group that nobody has vouched for yet, and whose bodies are broken
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
		for len(doubts) > 0 && s.at(doubts[0].end) <= t.durable {
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

// recoverTail finds the end of the newest segment after an unclean end, drops a torn tail and makes the rest durable.
func (j *Journal) recoverTail(ctx context.Context) error {
	s := j.tail
	t, err := examineTail(ctx, s)
	if err != nil {
		return err
	}
	if t.vouching != 0 {
		return s.damage(t.end, fmt.Sprintf("%v; the group at offset %d says that it was sound and synced once", t.broken, t.vouching))
	}
	s.end, s.ended, s.totals = t.end, t.ended, t.totals
	j.last = t.last
	if j.last == 0 {
		j.last = s.base // nothing here yet: vouch for all segments before
	}
	if j.opts.ReadOnly {
		return nil
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
