package file

import (
	"encoding/binary"
	"hash/crc32"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/journal"
)

func TestLivenessBehavesLikeASet(t *testing.T) {
	const size = 64 << 10
	rapid.Check(t, func(r *rapid.T) {
		var l liveness
		set := map[int64]bool{}
		a := rapid.Int64Range(0, size/entryBytes-1)
		r.Repeat(map[string]func(*rapid.T){
			"set": func(r *rapid.T) {
				s := a.Draw(r, "slot")
				l.set(s, size)
				set[s] = true
			},
			"clear": func(r *rapid.T) {
				s := a.Draw(r, "slot")
				if l.clear(s) != set[s] {
					r.Fatalf("clear of %d did not say %t", s, set[s])
				}
				delete(set, s)
			},
			"clear before": func(r *rapid.T) {
				end := a.Draw(r, "end")
				l.clearBefore(end)
				for s := range set {
					if s < end {
						delete(set, s)
					}
				}
			},
			"clear from": func(r *rapid.T) {
				first := a.Draw(r, "first")
				l.clearFrom(first)
				for s := range set {
					if s >= first {
						delete(set, s)
					}
				}
			},
			"merge": func(r *rapid.T) {
				var more liveness
				for range 3 {
					s := a.Draw(r, "slot")
					more.set(s, size)
					set[s] = true
				}
				l.merge(&more)
			},
			"": func(r *rapid.T) {
				if l.count != len(set) {
					r.Fatalf("%d are live, not %d", l.count, len(set))
				}
				if l.count == 0 && cap(l.bits) > keptWords {
					r.Fatalf("an empty set takes %d words", cap(l.bits))
				}
				for s := range set {
					if !l.has(s) {
						r.Fatalf("%d is not live", s)
					}
				}
			},
		})
	})
}

func TestWhatWasClearedIsToldEachOnce(t *testing.T) {
	const size = 64 << 10
	rapid.Check(t, func(r *rapid.T) {
		slots := rapid.SliceOf(rapid.Int64Range(0, size/entryBytes-1))
		var l liveness
		for _, s := range slots.Draw(r, "live") {
			l.set(s, size)
		}
		before, gone := l.clone(), map[int64]bool{}
		for _, s := range slots.Draw(r, "cleared") {
			if l.clear(s) {
				gone[s] = true
			}
		}
		for _, s := range slots.Draw(r, "added") { // of these nothing is told, but of one that is live again
			if l.set(s, size); gone[s] {
				delete(gone, s)
			}
		}
		before.cleared(&l, func(s int64) {
			if !gone[s] {
				r.Fatalf("%d is told", s)
			}
			delete(gone, s)
		})
		if len(gone) > 0 {
			r.Fatalf("%v are not told", gone)
		}
	})
}

// TestRecordsThatGoAsTheyComeNeedNoMemory has each record of a segment released before the next one comes.
func TestRecordsThatGoAsTheyComeNeedNoMemory(t *testing.T) {
	const size = 64 << 20
	var l liveness
	next := int64(0)
	if n := testing.AllocsPerRun(1000, func() {
		l.set(next, size)
		l.clear(next)
		next += 100
	}); n > 0 {
		t.Errorf("a record that comes and goes allocates %v times", n)
	}
}

// TestSlotsInAnyOrderCostAsMuch sets the slots of a segment from the last to the first, as a queue's messages may be
// listed, and counts what is allocated.
func TestSlotsInAnyOrderCostAsMuch(t *testing.T) {
	const size = 64 << 20
	for _, step := range []int64{1, -1} {
		if n := testing.AllocsPerRun(1, func() {
			var l liveness
			for i := range int64(size / entryBytes / 64) {
				l.set((size/entryBytes-1+step*64*i)%(size/entryBytes), size)
			}
		}); n > 100 {
			t.Errorf("steps of %d words: %v allocations", step, n)
		}
	}
}

func TestSlotsOutsideOfTheSegmentAreNoSlots(t *testing.T) {
	var l liveness
	l.set(3, 4096)
	for _, s := range []int64{-1, 1 << 40, 4096} {
		if l.clear(s) {
			t.Errorf("slot %d was live", s)
		}
	}
	l.set(1<<40, 4096)
	if l.count != 1 {
		t.Errorf("%d are live", l.count)
	}
}

func TestTableCacheStaysSmallAndKeepsWhatWasUsedLast(t *testing.T) {
	const most = 1 << 20
	c := tableCache{most: most}
	make := func(p journal.Position, bytes int) *table {
		return &table{header: header{position: p}, meta: make([]byte, bytes)}
	}
	for p := journal.Position(1); p <= 100; p++ {
		c.put(1, make(p, most/10))
		if c.get(1, 1) == nil {
			t.Fatalf("the table that is used all the time was dropped after %d", p)
		}
		if c.bytes > most || c.order.Len() != len(c.at) {
			t.Fatalf("%d bytes in %d tables", c.bytes, len(c.at))
		}
	}
	if c.get(1, 2) != nil || c.get(1, 100) == nil {
		t.Error("an old table is there, or a new one is not")
	}
	c.put(1, make(1000, 2*most))
	if c.get(1, 1000) == nil || c.order.Len() != 1 {
		t.Error("a table larger than the cache is not there alone")
	}
	c.put(1, make(1000, 1))
	if c.order.Len() != 1 {
		t.Error("the same table is there twice")
	}
}

func TestChecksumOfAGroupIsCRC32COfGenerationAndMeta(t *testing.T) {
	meta := []byte("12345678 and the rest")
	want := crc32.Checksum(append(binary.LittleEndian.AppendUint64(nil, testGeneration), meta[8:]...), castagnoli)
	if got := metaCRC(testGeneration, meta); got != want {
		t.Errorf("%08x, not %08x", got, want)
	}
}

func TestNamesOfFilesAreReadBack(t *testing.T) {
	if base, ok := parseSegmentName("00000000000fffc0.log"); !ok || base != 0xfffc0 {
		t.Errorf("%d, %t", base, ok)
	}
	for _, name := range []string{"", "log", "1.log", "00000000000fffc0", "zzzzzzzzzzzzzzzz.log",
		"00000000000fffc0.log.tmp"} {
		if _, ok := parseSegmentName(name); ok {
			t.Errorf("%q is taken for a segment", name)
		}
	}
	if n, ok := parseColdName("0000002a.cold"); !ok || n != 42 ||
		coldName("d", n) != filepath.Join("d", "0000002a.cold") {
		t.Errorf("%d, %t", n, ok)
	}
	for _, name := range []string{"", "2a.cold", "0000002a.log", "zzzzzzzz.cold", "0000002a.cold.tmp"} {
		if _, ok := parseColdName(name); ok {
			t.Errorf("%q is taken for a cold segment", name)
		}
	}
	for _, name := range []string{"", "spare-", "spare-x", "checkpoint-1"} {
		if _, ok := parseSpareName(name); ok {
			t.Errorf("%q is taken for a spare", name)
		}
		if _, ok := parseCheckpointName(name); ok {
			t.Errorf("%q is taken for a checkpoint", name)
		}
	}
}

func TestSegmentHeaderTellsWhatIsWrong(t *testing.T) {
	want := firstBlock{4096, testGeneration, 77, 16384}
	good := segmentHeader(want)
	if got, err := decodeSegmentHeader(good); got != want || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []struct {
		at   int
		with byte
	}{{0, 'X'}, {8, 2}, {12, 1}, {20, 1}, {24, 1}, {35, 1}, {41, 1}, {4000, 1}} {
		b := append([]byte(nil), good...)
		b[bad.at] ^= bad.with
		if _, err := decodeSegmentHeader(b); err == nil {
			t.Errorf("byte %d was altered and nobody noticed", bad.at)
		}
	}
	if _, err := decodeSegmentHeader(good[:100]); err == nil {
		t.Error("a short header was accepted")
	}
}
