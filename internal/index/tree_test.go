package index

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// check holds the tree to what it promises of itself.
func (t *Tree) check(tb interface{ Fatalf(string, ...any) }) {
	total := 0
	var last *entry
	var visit func(n node, depth int) (least uint64)
	leaves := -1
	var made usage
	visit = func(n node, depth int) uint64 {
		least := uint64(none)
		if l := n.leaf; l != nil {
			if leaves >= 0 && depth != leaves {
				tb.Fatalf("leaves at depths %d and %d", leaves, depth)
			}
			leaves = depth
			if l.n == 0 {
				tb.Fatalf("an empty leaf")
			}
			if (l.form == wide) != (l.more != nil) {
				tb.Fatalf("a leaf of form %d with %v", l.form, l.more)
			}
			made.leaves++
			if l.form == wide {
				made.wide++
			}
			for i := range l.len() {
				e := l.at(i)
				if last != nil && !last.before(e) {
					tb.Fatalf("%v is not before %v", *last, e)
				}
				last = &e
				least = min(least, e.seq)
				total++
			}
			return least
		}
		b := n.branch
		made.branches++
		for i := range b.n {
			if f := b.below[i].firstEntry(); f.before(b.first[i]) {
				tb.Fatalf("child %d begins with %v, before %v", i, f, b.first[i])
			}
			if got := visit(b.below[i], depth+1); got != b.least[i] {
				tb.Fatalf("child %d has least %d, the branch says %d", i, got, b.least[i])
			}
			least = min(least, b.least[i])
		}
		return least
	}
	if t.root != (node{}) {
		visit(t.root, 0)
	}
	if made != t.use {
		tb.Fatalf("made of %+v, the tree says %+v", made, t.use)
	}
	if total != t.Len() {
		tb.Fatalf("%d entries, Len says %d", total, t.Len())
	}
}

func TestTheTreeDoesWhatAListDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tree Tree
		var list []entry
		domain := rapid.SampledFrom([]uint64{2, 20, 1 << 62}).Draw(t, "domain")
		// The shapes that indexes have: a range alone, equality alone, both, and what no leaf can shorten.
		shape := rapid.SampledFrom([]func(Key) Key{
			func(k Key) Key { return Key{0, k.B} }, func(k Key) Key { return Key{k.B, 0} },
			func(k Key) Key { return k }, func(k Key) Key { return Key{k.B, k.B * 3} },
		}).Draw(t, "shape")
		key := rapid.Custom(func(t *rapid.T) Key {
			k := Key{rapid.Uint64Range(0, 2).Draw(t, "a"), rapid.Uint64Range(0, domain).Draw(t, "b")}
			return shape(k)
		})
		add := func(k Key, seq uint64) {
			tree.Insert(k, seq)
			if e := (entry{k, seq}); !slices.Contains(list, e) {
				list = append(list, e)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				n := rapid.SampledFrom([]int{1, 10, 500}).Draw(t, "n")
				k, s := key.Draw(t, "key"), rapid.Uint64Range(0, 5000).Draw(t, "seq")
				r := rand.New(rand.NewPCG(s, k.B))
				for range n {
					add(k, s)
					k, s = shape(Key{r.Uint64N(3), r.Uint64N(domain + 1)}), r.Uint64N(5000)
				}
			},
			"insert in order": func(t *rapid.T) {
				k, s := key.Draw(t, "key"), rapid.Uint64Range(0, 5000).Draw(t, "seq")
				step := rapid.SampledFrom([]uint64{1, math.MaxUint64}).Draw(t, "step") // up or down
				for range rapid.SampledFrom([]int{10, 300}).Draw(t, "n") {
					add(k, s)
					if s += step; s > 10_000 {
						break
					}
					if rapid.Bool().Draw(t, "next key") {
						k = shape(Key{k.A, k.B + step})
					}
				}
			},
			"delete": func(t *rapid.T) {
				n := rapid.SampledFrom([]int{1, 10, 400}).Draw(t, "n")
				for range min(n, len(list)) {
					i := rapid.IntRange(0, len(list)-1).Draw(t, "which")
					if !tree.Delete(list[i].key, list[i].seq) {
						t.Fatalf("%v was not there", list[i])
					}
					list = slices.Delete(list, i, i+1)
				}
				if tree.Delete(Key{9, 9}, 9) {
					t.Fatal("what never was there was deleted")
				}
			},
			"go on": func(t *rapid.T) {
				k, s := key.Draw(t, "key"), rapid.Uint64Range(0, 5000).Draw(t, "seq")
				want, there := entry{}, false
				for _, e := range list {
					if !e.before(entry{k, s}) && (!there || e.before(want)) {
						want, there = e, true
					}
				}
				if k, s, ok := tree.Seek(k, s); ok != there || (entry{k, s}) != want {
					t.Fatalf("found %v %d, %v; want %v", k, s, ok, want)
				}
			},
			"ask": func(t *rapid.T) {
				lo, hi := key.Draw(t, "lo"), key.Draw(t, "hi")
				var want []uint64
				for _, e := range list {
					if e.key.Compare(lo) >= 0 && e.key.Compare(hi) <= 0 {
						want = append(want, e.seq)
					}
				}
				slices.Sort(want)
				got, ok := tree.Least(lo, hi)
				if ok != (len(want) > 0) || ok && got != want[0] {
					t.Fatalf("least of %v to %v: %d, %v; want %v", lo, hi, got, ok, want)
				}
				if walked := slices.Collect(tree.Ascend(lo, hi)); !slices.Equal(walked, want) {
					t.Fatalf("from %v to %v: %v, want %v", lo, hi, walked, want)
				}
			},
			"": func(t *rapid.T) { tree.check(t) },
		})
	})
}

func TestEntriesInTheirOrderFillTheLeaves(t *testing.T) {
	var tree Tree
	const n = 100_000
	for i := range uint64(n) {
		tree.Insert(Key{0, i}, i)
	}
	tree.check(t)
	if leaves := tree.use.leaves; leaves > n/leafFan+1 {
		t.Errorf("%d leaves for %d entries", leaves, n)
	}
	for i := range uint64(n) {
		tree.Delete(Key{0, i}, i)
	}
	if tree.Len() != 0 || tree.root != (node{}) {
		t.Error("something is left")
	}
}

func ExampleTree_Least() {
	var t Tree
	t.Insert(Key{B: 5}, 1)
	t.Insert(Key{B: 9}, 2)
	t.Insert(Key{B: 7}, 3)
	fmt.Println(t.Least(Key{B: 6}, Key{B: math.MaxUint64}))
	// Output: 2 true
}
