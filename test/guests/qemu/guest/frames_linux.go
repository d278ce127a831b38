package main

import (
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/pace"
)

// frameScenes measure every frame against the kernel's own times of the events.
func frameScenes() []scene { return []scene{{"uinput/each of 600 frames", uinputEachFrame}} }

// uinputEachFrame changes something with every frame. That each is there, in its order, is held; how far from its place
// it was is told to people, since an emulated processor promises nothing.
func uinputEachFrame(t *test) {
	p := t.begin("<loop 300>\nlp 1\nmk 1\n</loop>\n", "play", "-", "--device", "uinput")
	w := t.watch("hikyaku pad 1")
	said := p.mustEnd(0, "600 of 600 frames")
	w.vanishes()
	seen := w.seen()
	if len(seen) != 601 {
		t.fatalf("there were %d changes, not 600 and the letting go", len(seen))
	}
	var errs []time.Duration
	for i, m := range seen[:600] {
		if want := down([]uint16{west, east}[i%2]); m.what != want {
			t.fatalf("frame %d has %s, not %s", i, m.what, want)
		}
		errs = append(errs, m.at.Sub(seen[0].at)-pace.NTSC().Deadline(int64(i)))
	}
	// Frame 0 may be late, too: the grid lies where half of the frames are earlier and half are later.
	grid := slices.Sorted(slices.Values(errs))[300]
	for i := range errs {
		errs[i] = (errs[i] - grid).Abs()
	}
	worst := slices.Index(errs, slices.Max(errs))
	within := 0
	for _, e := range errs {
		if e < pace.NTSC().Interval()/2 {
			within++
		}
	}
	slices.Sort(errs)
	t.logf("600 frames by the kernel's times: p50 %s, p99 %s, worst %s (frame %d); %d nearer to their frame than to "+
		"another\n%s",
		errs[300], errs[594], errs[599], worst, within, said)
}
