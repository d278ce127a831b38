package file_test

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
)

func TestSegmentsAreSmallByThemselvesOnASmallDisk(t *testing.T) {
	for _, c := range []struct{ disk, want int64 }{
		{0, 64 << 20}, {1 << 40, 64 << 20}, {1 << 30, 64 << 20}, {1<<30 - 1, 32 << 20}, {264 << 20, 16 << 20},
		{40 << 20, 2 << 20}, {8 << 20, 1 << 20}, {1, 1 << 20},
	} {
		if got := file.SegmentBytesOn(c.disk); got != c.want {
			t.Errorf("on %d bytes: %d, not %d", c.disk, got, c.want)
		}
		d := faultfs.New()
		if c.disk < 4<<20 || c.disk > 1<<29 {
			continue
		}
		d.Limit(c.disk)
		j := mustOpen(t, file.Options{Dir: "log", FS: d})
		mustAppend(t, j, message(1, 100))
		if got := j.SegmentBytes(); got != c.want {
			t.Errorf("a journal on %d bytes has segments of %d, not %d", c.disk, got, c.want)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestSegmentsOfAnotherSizeStayReadable: the size may be set anew at any start, and the disk may have grown.
func TestSegmentsOfAnotherSizeStayReadable(t *testing.T) {
	d := faultfs.New()
	groups := 0
	for _, size := range []int64{64 << 10, 16 << 10, 256 << 10} {
		o := small(d)
		o.SegmentBytes = size
		j := mustOpen(t, o)
		for n := range 60 {
			mustAppend(t, j, message(groups+n, 2000))
		}
		groups += 60
		seen := 0
		for _, err := range j.Scan(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			seen++
		}
		if seen != groups {
			t.Errorf("with segments of %d: %d groups, not %d", size, seen, groups)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
