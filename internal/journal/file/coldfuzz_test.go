package file

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/journal"
)

func FuzzDecodeFooter(f *testing.F) {
	for _, list := range [][]origins{
		nil,
		{{base: 0, rows: []movedRow{{slot: 130, group: 64, index: 0, units: 3},
			{slot: 131, group: 64, index: 1, units: 65535}}}},
		{{base: 4096, rows: []movedRow{{slot: 1, group: 65}}},
			{base: 1 << 40, rows: []movedRow{{slot: 1<<32 - 1, group: 70, index: 9}}}},
	} {
		f.Add(encodeFooter(list)[groupHeaderBytes:], uint32(3))
	}
	f.Add([]byte{1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}, uint32(1))
	f.Fuzz(func(t *testing.T, b []byte, number uint32) {
		// What comes from encodeFooter is padded: a decoder is given what the header tells.
		if len(b) >= footerStart {
			n := footerStart + int64(uint32(b[0])|uint32(b[1])<<8)*footerOriginBytes +
				int64(uint32(b[4])|uint32(b[5])<<8)*footerRowBytes
			if n <= int64(len(b)) {
				b = b[:n]
			}
		}
		const end = 1 << 30
		list, err := decodeFooter(b, number, end)
		if err != nil {
			if !errors.Is(err, errGroup) {
				t.Fatalf("%v does not say that this is no sound footer", err)
			}
			return
		}
		for i, o := range list {
			if len(o.rows) == 0 || i > 0 && o.base <= list[i-1].base || !slices.IsSortedFunc(o.rows, compareRows) {
				t.Fatalf("origin %d of %v is out of order", i, list)
			}
			for _, r := range o.rows {
				if at := int64(r.group) * groupAlign; r.cold != number || at < segmentHeaderBytes || at >= end {
					t.Fatalf("row %+v", r)
				}
			}
		}
		again := encodeFooter(list)
		if !bytes.Equal(b, again[groupHeaderBytes:][:len(b)]) && !spareBytes(b) {
			t.Fatalf("encoded again it is another one")
		}
	})
}

// spareBytes says whether a footer has something in the bytes that mean nothing.
func spareBytes(b []byte) bool {
	count := int(uint32(b[0]) | uint32(b[1])<<8)
	for i := range count {
		if !bytes.Equal(b[footerStart+i*footerOriginBytes+12:][:4], make([]byte, 4)) {
			return true
		}
	}
	return false
}

func FuzzDecodeOrigin(f *testing.F) {
	f.Add(originOf(1<<20, 4096, 7).appendTo(nil))
	f.Add([]byte("short"))
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := decodeOrigin(b)
		if err != nil {
			if len(b) >= originBytes || !errors.Is(err, errGroup) {
				t.Fatal(err)
			}
			return
		}
		if !bytes.Equal(o.appendTo(nil), b[:originBytes]) {
			t.Fatalf("%+v encodes to something else", o)
		}
	})
}

func TestAnOriginTellsTheAddressAndTheSlotOfItsRecord(t *testing.T) {
	a := journal.Address{Position: 1<<40 + 64*1000, Index: 77}
	o := originOf(1<<40, 64*1000, 77)
	if o.address() != a {
		t.Errorf("%v", o.address())
	}
	if s, ok := slotIn(1<<40, a); !ok || s != o.slot() || int64(s) != slot(64*1000, 77) {
		t.Errorf("slot %d, %t", s, ok)
	}
	for _, a := range []journal.Address{{Position: 1 << 40}, {Position: 1<<40 + 4097},
		{Position: 1<<40 + 4096 + 1, Index: 1}, {Position: 1<<63 - 64}} {
		if s, ok := slotIn(1<<40, a); ok {
			t.Errorf("%v has slot %d", a, s)
		}
	}
}

func TestTheFinderFindsWhatALookThroughEverythingFinds(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var j Journal
		rows := map[journal.Address]movedRow{}
		for base := journal.Position(0); len(j.moved) < rapid.IntRange(0, 6).Draw(r, "tables"); base += 64 << 10 {
			table := &movedTable{base: base}
			for _, n := range slices.Sorted(slices.Values(rapid.SliceOfNDistinct(rapid.IntRange(0, 500), 0, 20,
				func(n int) int { return n }).Draw(r, "groups"))) {
				row := movedRow{slot: originOf(base, 4096+int64(n)*groupAlign, 0).slot(), cold: uint32(n % 3),
					group: uint32(100 + n)}
				table.rows = append(table.rows, row)
				rows[journal.Address{Position: base + 4096 + journal.Position(n*groupAlign)}] = row
			}
			j.moved = append(j.moved, table)
		}
		f := j.finder()
		for range 50 {
			a := journal.Address{Position: journal.Position(rapid.IntRange(0, 8*1024).Draw(r, "position") * groupAlign)}
			want, there := rows[a]
			i, row := f.row(a)
			if there != (i >= 0) || there && f.moved[i].rows[row] != want {
				r.Fatalf("%v: table %d, row %d; it is there: %t", a, i, row, there)
			}
		}
	})
}

func TestMergedRowsAreThoseOfBothAndTheNewerWin(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		draw := func(name string, cold uint32) (rows []movedRow) {
			for _, n := range slices.Sorted(slices.Values(rapid.SliceOfNDistinct(rapid.Uint32Range(0, 30), 0, 20,
				func(n uint32) uint32 { return n }).Draw(r, name))) {
				rows = append(rows, movedRow{slot: n, cold: cold})
			}
			return rows
		}
		older, newer := draw("older", 1), draw("newer", 2)
		want := map[uint32]movedRow{}
		for _, row := range append(slices.Clone(older), newer...) {
			want[row.slot] = row
		}
		got := mergeRows(older, newer)
		if len(got) != len(want) || !slices.IsSortedFunc(got, compareRows) {
			r.Fatalf("%v and %v became %v", older, newer, got)
		}
		for _, row := range got {
			if want[row.slot] != row {
				r.Fatalf("%+v, not %+v", row, want[row.slot])
			}
		}
	})
}
