package avoid

import (
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

func TestFailuresAreRememberedForAWhileAndNotTooMany(t *testing.T) {
	var f Failures
	now := time.Now()
	id := message.NewID()
	if n := f.Take(id); n != 0 {
		t.Errorf("nothing happened, avoids %d", n)
	}
	f.Add(id, 3, now)
	f.Add(id, 4, now.Add(long)) // the latest one counts
	if a, b := f.Take(id), f.Take(id); a != 4 || b != 0 {
		t.Errorf("avoids %d, then %d", a, b)
	}
	first := message.NewID()
	f.Add(first, 1, now.Add(long))
	for range 5 * most {
		f.Add(message.NewID(), 2, now.Add(long))
	}
	if n := f.Len(); n > 2*most {
		t.Errorf("%d are remembered", n)
	}
	if n := f.Take(first); n != 0 {
		t.Errorf("the first of many is remembered: %d", n)
	}
	f.Add(id, 5, now.Add(2*long))
	f.Add(message.NewID(), 6, now.Add(4*long))
	if n := f.Take(id); n != 0 || f.Len() != 1 {
		t.Errorf("after a long while it avoids %d, of %d", n, f.Len())
	}
}

func TestMessagesWithoutAnIDAvoidNothing(t *testing.T) {
	var f Failures
	f.Add(message.ID{}, 3, time.Now())
	if n := f.Take(message.ID{}); n != 0 || f.Len() != 0 {
		t.Errorf("avoids %d", n)
	}
}
