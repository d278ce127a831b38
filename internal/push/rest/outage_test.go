package rest

import (
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

func TestFailuresOfSeveralMessagesAreAnOutageUntilOneIsTaken(t *testing.T) {
	var o Outage
	now := noon
	ids := make([]message.ID, 6)
	for i := range ids {
		ids[i] = message.NewID()
	}
	for range 20 { // again and again the same message
		if rest := o.Failed(now, ids[0]); rest != 0 {
			t.Fatalf("one message makes a rest of %v", rest)
		}
	}
	for _, id := range ids[1:4] {
		if rest := o.Failed(now, id); rest != 0 {
			t.Fatalf("few messages make a rest of %v", rest)
		}
	}
	o.Worked()
	for _, id := range ids[:4] {
		if rest := o.Failed(now, id); rest != 0 {
			t.Fatalf("failures before one was taken count: a rest of %v", rest)
		}
	}
	for want := firstOutage; want < 4*longestOutage; want *= 2 {
		want := min(want, longestOutage)
		if rest := o.Failed(now, ids[4]); rest != want {
			t.Fatalf("it rests %v, wanted %v", rest, want)
		}
		half := now.Add(want / 2)
		if rest := o.Failed(half, ids[5]); rest != want/2 { // it was under way
			t.Fatalf("half a rest later %v are left of %v", rest, want)
		}
		now = now.Add(want)
	}
	o.Worked()
	for i, id := range ids[:5] {
		if rest := o.Failed(now, id); rest != 0 && (i < 4 || rest != firstOutage) {
			t.Fatalf("after one was taken failure %d makes a rest of %v", i+1, rest)
		}
	}
	if left := o.Failed(now.Add(time.Millisecond), ids[0]); left != firstOutage-time.Millisecond {
		t.Errorf("%v are left", left)
	}
}
