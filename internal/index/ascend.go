package index

import (
	"container/heap"
	"iter"
)

// Ascend walks the sequences of the entries whose key lies between lo and hi, both included, the least first. It looks
// only at the branches that may hold the next one. The tree must not change during the walk.
func (t *Tree) Ascend(lo, hi Key) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		if t.root == (node{}) || hi.Compare(lo) < 0 {
			return
		}
		from, to := entry{lo, 0}, entry{hi, none}
		w := walk{{least: t.root.leastSeq(), below: t.root}}
		for len(w) > 0 {
			s := heap.Pop(&w).(spot)
			switch {
			case s.below.leaf != nil:
				l := s.below.leaf
				for _, seq := range l.seq[l.search(from):l.search(to)] {
					heap.Push(&w, spot{least: seq})
				}
			case s.below.branch != nil:
				b := s.below.branch
				for i := b.child(from); i <= b.child(to); i++ {
					heap.Push(&w, spot{b.least[i], b.below[i]})
				}
			case !yield(s.least):
				return
			}
		}
	}
}

// spot is a place to look at: a node with the least sequence it may give, or an entry.
type spot struct {
	least uint64
	below node
}

// walk is a heap of spots.
type walk []spot

func (w walk) Len() int           { return len(w) }
func (w walk) Less(i, j int) bool { return w[i].least < w[j].least }
func (w walk) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }
func (w *walk) Push(x any)        { *w = append(*w, x.(spot)) }
func (w *walk) Pop() any {
	old := *w
	x := old[len(old)-1]
	*w = old[:len(old)-1]
	return x
}
