package push

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// bound is what no sender can do better, on the average.
type bound struct{ mean, p50, p99, max time.Duration }

// boundOf plays n pushes, all of which are there at once, against a far end whose answers take what latency says, that
// allows so many streams in all and takes so many pushes a second: a push begins when a stream is free and the far end
// has come to it, and ends when its answer has. Nothing else takes any time: not the network, not the sender.
func boundOf(latency farend.Latency, n, streams int, capacity float64) bound {
	const plays = 20 // the tail of a single one depends on chance
	var sum bound
	for play := range plays {
		b := playOnce(latency, n, streams, capacity, rand.New(rand.NewPCG(uint64(n), uint64(play))))
		sum.mean, sum.p50, sum.p99, sum.max = sum.mean+b.mean, sum.p50+b.p50, sum.p99+b.p99, sum.max+b.max
	}
	return bound{sum.mean / plays, sum.p50 / plays, sum.p99 / plays, sum.max / plays}
}

func playOnce(latency farend.Latency, n, streams int, capacity float64, r *rand.Rand) bound {
	free := make(moments, min(n, streams)) // when each stream can be used next
	ends := make([]time.Duration, n)
	var sum time.Duration
	for i := range n {
		begin := max(free[0], time.Duration(float64(i)/capacity*float64(time.Second)))
		ends[i] = begin + drawn(latency, r)
		free[0] = ends[i]
		heap.Fix(&free, 0)
		sum += ends[i]
	}
	slices.Sort(ends)
	at := func(q float64) time.Duration { return ends[min(n-1, int(math.Ceil(q*float64(n)))-1)] }
	return bound{sum / time.Duration(n), at(0.5), at(0.99), ends[n-1]}
}

// drawn is a wait by chance.
func drawn(l farend.Latency, r *rand.Rand) time.Duration {
	q := r.Float64()
	if q == 0 {
		q = 0.5
	}
	return l.Quantile(q)
}

// moments is a heap, the earliest first.
type moments []time.Duration

func (m moments) Len() int           { return len(m) }
func (m moments) Less(i, j int) bool { return m[i] < m[j] }
func (m moments) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }

// Push and Pop are heap.Interface's; the number of streams does not change.
func (m *moments) Push(x any) { *m = append(*m, x.(time.Duration)) }
func (m *moments) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}
