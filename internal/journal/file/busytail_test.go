package file_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
)

// syncedEnds are how far the first segment was written when each of its syncs began.
type syncedEnds struct {
	mu      sync.Mutex
	written int64
	ends    []int64
}

func (s *syncedEnds) see(op faultfs.Op) error {
	if op.Name != firstSegment {
		return nil
	}
	if op.Kind == "sync" {
		time.Sleep(200 * time.Microsecond) // others append meanwhile
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch op.Kind {
	case "write":
		s.written = op.Offset + int64(op.Bytes) // groups lie one behind the other
	case "sync":
		s.ends = append(s.ends, s.written)
	}
	return nil
}

func (s *syncedEnds) now() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.ends)
}

// TestWithoutTheNoteAtMostTwoSyncsOfABusyLogCannotBeVouchedFor damages each group of a log that eight writers keep
// busy, at several moments, with the note of what was synced gone as after a power cut. All that was durable before the
// last two syncs is told from a write that was cut off.
func TestWithoutTheNoteAtMostTwoSyncsOfABusyLogCannotBeVouchedFor(t *testing.T) {
	d := faultfs.New()
	var syncs syncedEnds
	d.Fault(syncs.see)
	o := small(d)
	o.SegmentBytes = 1 << 20
	j := mustOpen(t, o)
	var writers sync.WaitGroup
	stop := make(chan struct{})
	for n := range 8 {
		writers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := appendWait(j, message(n, 100)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	type moment struct {
		disk  *faultfs.Disk
		until int64 // what is before has to be told
		acked int64
	}
	var moments []moment
	for len(moments) < amount(20, 5, 2) {
		before := syncs.now()
		after := d.Clone()
		if now := syncs.now(); len(now) == len(before) && len(now) > 8*(len(moments)+1) {
			moments = append(moments, moment{after, now[len(now)-3], now[len(now)-1]})
		}
	}
	close(stop)
	writers.Wait()
	abandon(t, j, d)
	for _, m := range moments {
		m.disk.Put(synced, nil)
		at, err := groupsOn(t, m.disk.Clone())
		if err != nil {
			t.Fatal(err)
		}
		untold, base := 0, int64(baseOf(t, firstSegment))
		for _, p := range at {
			c := m.disk.Clone()
			offset := int64(p) - base
			if err := c.Flip(firstSegment, offset+20, 0); err != nil {
				t.Fatal(err)
			}
			j, err := file.Open(t.Context(), small(c))
			var damage *journal.DamageError
			switch {
			case errors.As(err, &damage) && strings.HasPrefix(damage.Where, firstSegment):
				continue
			case err != nil:
				t.Fatal(err)
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			if offset < m.until {
				t.Errorf("a flip at offset %d is not told, though all before %d was durable two syncs ago", offset,
					m.until)
			}
			if offset < m.acked {
				untold++
			}
		}
		t.Logf("%d groups, of which %d were durable and cannot be vouched for", len(at), untold)
	}
}
