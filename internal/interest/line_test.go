package interest

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestALineIsAListOfIds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l line
		var plain []uint64
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				for range rapid.SampledFrom([]int{1, 10, 2 * mostInPiece}).Draw(t, "n") {
					id := uint64(len(plain))
					if len(plain) > 0 {
						id = plain[len(plain)-1] + uint64(len(plain)%3)
					}
					l.add(id)
					plain = append(plain, id)
				}
			},
			"insert": func(t *rapid.T) {
				id := rapid.Uint64Range(0, 2000).Draw(t, "id")
				for range rapid.SampledFrom([]int{1, 10, 2 * mostInPiece}).Draw(t, "n") {
					l.add(id)
					at, _ := slices.BinarySearch(plain, id)
					plain = slices.Insert(plain, at, id)
					id = (id*7 + 3) % 2001
				}
			},
			"remove": func(t *rapid.T) {
				for n := rapid.SampledFrom([]int{1, 10, 2 * mostInPiece}).Draw(t, "n"); n > 0 && len(plain) > 0; n-- {
					at := (n * 7919) % len(plain)
					if !l.remove(plain[at]) {
						t.Fatalf("%d was not there", plain[at])
					}
					plain = slices.Delete(plain, at, at+1)
				}
				if l.remove(1 << 40) {
					t.Fatal("what never was there was removed")
				}
			},
			"": func(t *rapid.T) {
				var got []uint64
				room := 0
				for _, p := range l.pieces {
					got = append(got, p...)
					if room += cap(p); len(p) == 0 || len(p) > mostInPiece {
						t.Fatalf("a piece has %d ids", len(p))
					}
				}
				if !slices.Equal(got, plain) || l.empty() != (len(plain) == 0) {
					t.Fatalf("%v, want %v", got, plain)
				}
				if room > 16*len(plain)+2*mostInPiece {
					t.Fatalf("room for %d ids, there are %d", room, len(plain))
				}
				at, ok := cursor{}, !l.empty()
				for i := range plain {
					if !ok || l.pieces[at.piece][at.at] != plain[i] {
						t.Fatalf("the walk goes wrong at %d", i)
					}
					_, at, ok = l.after(at)
				}
				if ok {
					t.Fatal("the walk goes on behind the end")
				}
			},
		})
	})
}
