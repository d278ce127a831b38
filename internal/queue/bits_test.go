package queue

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func (s *sequences) all() (seqs []uint64) {
	s.Ascend(0, func(seq uint64) bool {
		seqs = append(seqs, seq)
		return true
	})
	return seqs
}

// TestASetOfSequencesIsASet compares it with a map, over dense and thin ranges.
func TestASetOfSequencesIsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s sequences
		want := map[uint64]bool{}
		seq := rapid.OneOf(rapid.Uint64Range(0, 700),
			rapid.SampledFrom([]uint64{255, 256, 257, 511, 512, 1 << 40, 1<<40 + 63, 1<<40 + 64}))
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				x := seq.Draw(t, "seq")
				if s.Add(x) == want[x] {
					t.Fatalf("adding %d: it says that it was there: %v", x, want[x])
				}
				want[x] = true
			},
			"delete": func(t *rapid.T) {
				x := seq.Draw(t, "seq")
				if s.Delete(x) != want[x] {
					t.Fatalf("deleting %d: it was there: %v", x, want[x])
				}
				delete(want, x)
			},
			"delete a page": func(t *rapid.T) {
				number := pageOf(seq.Draw(t, "seq"))
				s.deletePage(number)
				maps.DeleteFunc(want, func(x uint64, _ bool) bool { return pageOf(x) == number })
			},
			"look": func(t *rapid.T) {
				x := seq.Draw(t, "seq")
				if s.Has(x) != want[x] {
					t.Fatalf("has %d: %v", x, !want[x])
				}
				var from []uint64
				s.Ascend(x, func(y uint64) bool {
					from = append(from, y)
					return len(from) < 5
				})
				all := slices.Sorted(maps.Keys(want))
				i, _ := slices.BinarySearch(all, x)
				if !slices.Equal(from, all[i:min(i+5, len(all))]) {
					t.Fatalf("from %d on: %v of %v", x, from, all)
				}
			},
			"": func(t *rapid.T) {
				all := slices.Sorted(maps.Keys(want))
				if least, ok := s.Min(); ok != (len(all) > 0) || ok && least != all[0] {
					t.Fatalf("least is %d, %v of %v", least, ok, all)
				}
				if s.Len() != len(all) || !slices.Equal(s.all(), all) {
					t.Fatalf("%v, want %v", s.all(), all)
				}
			},
		})
	})
}

func TestNthIsRanksInverse(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		var b bitmap
		for range r.IntN(2 * pageSize) {
			b.set(uint8(r.IntN(pageSize)))
		}
		for slot := b.next(0); slot < pageSize; slot = b.next(slot + 1) {
			if got := b.nth(b.rank(uint8(slot))); got != uint8(slot) {
				t.Fatalf("%x: number %d is %d, not %d", b, b.rank(uint8(slot)), got, slot)
			}
		}
	}
}
