package pipeline

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/message"
)

func TestWhatATransformMakesHasAnIdentityOfItsOwnThatStaysTheSame(t *testing.T) {
	from := &message.Message{ID: message.NewID(), Dedup: "order-7"}
	made := func(step string, index int) message.Message {
		var m message.Message
		tellApart(&m, from, partOf(0, step, index), index)
		return m
	}
	if m := made("shape", 0); m.ID != from.ID {
		t.Errorf("the first has id %v, not that of its message", m.ID)
	}
	seen := map[string]string{}
	for _, step := range []string{"shape", "split"} {
		for index := range 3 {
			m, again := made(step, index), made(step, index)
			if m.ID != again.ID || m.Dedup != again.Dedup {
				t.Errorf("%s %d made again is another: %v, %v", step, index, m, again)
			}
			if other, ok := seen[m.Dedup]; ok {
				t.Errorf("%s %d passes for %s", step, index, other)
			}
			seen[m.Dedup] = step
			if index > 0 && (m.ID == from.ID || m.ID[6]>>4 != 8) {
				t.Errorf("%s %d has id %v", step, index, m.ID)
			}
		}
	}
	from.Dedup = ""
	if m := made("shape", 1); m.Dedup != "" {
		t.Errorf("a deduplication id %q of none", m.Dedup)
	}
}
