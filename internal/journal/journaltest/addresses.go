package journaltest

import (
	"slices"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// testAddressesStay keeps a few records of many for a long time, through checkpoints, releases of their neighbours and
// reopenings: an implementation may move them as often as it likes, their addresses go on meaning them.
func testAddressesStay(t *testing.T, h Harness) {
	j := open(t, h)
	j.Keep(slices.Values([]journal.Address(nil)))
	var addrs []journal.Address
	var records []journal.Record
	n := 0
	for round := range 12 {
		for range 40 {
			group := []journal.Record{settle(n), message(n, 600), message(n+1, 300)}
			p := appendWait(t, j, group...)
			if n%10 == 0 {
				addrs = append(addrs, journal.Address{Position: p, Index: 2})
				records = append(records, group[2])
				j.Release(journal.Address{Position: p, Index: 1})
			} else {
				j.Release(journal.Address{Position: p, Index: 1}, journal.Address{Position: p, Index: 2})
			}
			n += 2
		}
		reclaimable(t, j)
		mustRead(t, j, addrs, records)
		// Some of those that stayed go later.
		var gone []journal.Address
		var was []journal.Record
		for i := len(addrs) - 1; i >= 0; i -= 3 {
			gone, was = append(gone, addrs[i]), append(was, records[i])
			addrs, records = slices.Delete(addrs, i, i+1), slices.Delete(records, i, i+1)
		}
		j.Release(gone...)
		got, errs := readAll(t, j, gone...)
		for i := range gone {
			goneOrSame(t, got[i], errs[i], was[i])
		}
		if round%4 == 3 {
			shut(t, j)
			j = open(t, h)
			mustRead(t, j, addrs, records)
			if round%8 == 3 {
				j.Keep(slices.Values(addrs))
			} else { // in any order
				backwards := slices.Clone(addrs)
				slices.Reverse(backwards)
				j.Keep(slices.Values(backwards))
			}
		}
		mustRead(t, j, addrs, records)
	}
}
