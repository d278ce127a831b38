package file_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
)

// TestACheckOfAJournalInUseGivesNoFalseAlarm: however many segments and checkpoints come and go while it looks.
func TestACheckOfAJournalInUseGivesNoFalseAlarm(t *testing.T) {
	o := small(nil)
	o.FS, o.Dir, o.Durability = nil, t.TempDir(), journal.OS
	o.IdleSeal, o.CleanBytes, o.SegmentBytes = time.Millisecond, 1<<40, 256<<10
	j := mustOpen(t, o)
	var looks atomic.Int64
	until := int64(amount(1000, 300, 20))
	w := &file.Watcher{Dir: o.Dir}
	var checker sync.WaitGroup
	checker.Go(func() {
		for ; looks.Load() < until; looks.Add(1) {
			look := func() (*file.Report, error) { return file.Check(context.Background(), o.Dir, nil) }
			if looks.Load()%2 == 0 {
				look = func() (*file.Report, error) {
					report, fresh, err := w.Look(context.Background(), nil)
					if len(fresh) > 0 {
						t.Errorf("look %d finds %v", looks.Load(), fresh)
					}
					return report, err
				}
			}
			report, err := look()
			if err != nil {
				t.Errorf("look %d: %v", looks.Load(), err)
			} else if len(report.Damages) > 0 {
				t.Errorf("look %d: %v", looks.Load(), report.Damages)
			}
			if t.Failed() {
				looks.Store(until)
				return
			}
		}
	})
	load(t, j, func() bool {
		st := j.Stats()
		return looks.Load() < until || !t.Failed() && (st.Groups < 800 || st.CopiedBytes == 0)
	})
	checker.Wait()
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}
