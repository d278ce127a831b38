package gate

import (
	"bytes"
	"slices"
	"testing"
)

// TestTheEndOfFetchedRowsIsFoundHoweverItIsWritten, also when a row's packets, or their bytes, look like it.
func TestTheEndOfFetchedRowsIsFoundHoweverItIsWritten(t *testing.T) {
	row := func(n int, first byte) []byte {
		return append([]byte{byte(n), byte(n >> 8), byte(n >> 16), 1, first}, make([]byte, n-1)...)
	}
	large := append(row(fullPacket, 0), row(5, endMark)...)
	for _, rows := range [][]byte{nil, row(7, 0), append(row(7, 0), row(300, 0)...), large, row(4, 0xff)} {
		for _, end := range [][]byte{{5, 0, 0, 2, endMark, 0, 0, 2, 0}, {7, 0, 0, 2, endMark, 0, 0, 2, 0, 0, 0}} {
			for _, status := range []byte{0x02, 0x82} {
				all := append(bytes.Clone(rows), end...)
				at := len(rows) + 4 + statusAt
				all[at] = status
				want := bytes.Clone(all)
				if status == 0x02 {
					want[at] = 0x42
				}
				for _, piece := range []int{1, 2, 3, 5, 9, 4096, len(all)} {
					if piece < 1000 && len(all) > 1000 {
						continue
					}
					var f fetched
					var got []byte
					for part := range slices.Chunk(all, piece) {
						got = append(got, f.told(part)...)
					}
					if !bytes.Equal(got, want) {
						t.Errorf("%d bytes of rows in pieces of %d: the end is %x", len(rows), piece, got[len(rows):])
					}
				}
			}
		}
	}
}
