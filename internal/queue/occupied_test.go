package queue

import (
	"fmt"
	"testing"
	"time"
)

// TestAQueueWithManySnapshotsIsEmptyOnceAllIsSettled alters what can change only while a queue is empty as soon as all
// of its messages are settled, and there are more snapshots than are asked at once whether they hold one of them: none
// does.
func TestAQueueWithManySnapshotsIsEmptyOnceAllIsSettled(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		if _, err := s.CreateQueue(t.Context(), news, Definition{History: time.Hour}); err != nil {
			t.Fatal(err)
		}
		const many, pages = fewSnapshots + 1, 100
		for i := range pages { // so many that time and again not all of them are looked at
			mustPut(t, s, news, text(fmt.Sprint(i))...)
			s.mu.Lock()
			s.state.queueNames[news].next = uint64(i+1) * pageSize
			s.mu.Unlock()
		}
		settleOldest(t, s, news, pages)
		for i := range many {
			if _, err := s.TakeSnapshot(t.Context(), holdsName("s%d", i), news, SnapshotOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		mustSeek(t, s, news, SeekTo{Time: time.Now().Add(-time.Hour)})
		if err := s.AlterQueue(t.Context(), news, Definition{}); err != nil {
			t.Fatal(err)
		}
		settleOldest(t, s, news, pages)
		if err := s.AlterQueue(t.Context(), news, Definition{Unordered: true}); err != nil {
			t.Error(err)
		}
		if st, err := s.Stats(t.Context(), news); err != nil || st.Past != 0 {
			t.Errorf("%d messages are past, %v", st.Past, err)
		}
	})
}
