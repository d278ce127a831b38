package file

import "testing"

func TestTheShelfHandsOutTheWindowThatReadsOn(t *testing.T) {
	var k shelf
	sealed, tail := new(segment), new(segment)
	fill := func(s *segment, from int64, fixed bool) *window {
		buf := make([]byte, windowFirst)
		return &window{s: s, buf: &buf, from: from, n: windowFirst, fixed: fixed}
	}
	one, other := fill(sealed, 1<<20, true), fill(sealed, 8<<20, true)
	k.put(one)
	k.put(other)
	if w := k.take(sealed, 8<<20+windowFirst); w != other {
		t.Error("who reads on does not get the window that ends there")
	}
	if w := k.take(sealed, 8<<20); w == other || w == one {
		t.Error("a window is in use twice, or one that lies elsewhere is taken while there is room for another")
	}
	if w := k.take(sealed, 1<<20+10); w != one {
		t.Error("who reads in a window does not get it")
	}
	// What was read of the tail may be old by the next time.
	k.put(fill(tail, 4096, false))
	if w := k.take(tail, 4096); w.n != 0 {
		t.Error("a window of the tail is used again")
	}
	for n := range int64(3 * shelfWindows) {
		k.put(fill(sealed, n<<20, true))
		if len(k.kept) > shelfWindows {
			t.Fatalf("%d windows are kept", len(k.kept))
		}
	}
	if w := k.take(tail, 0); w == nil || len(k.kept) != shelfWindows-1 {
		t.Error("a full shelf does not give its oldest")
	}
}
