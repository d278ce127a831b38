package flow

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/flow"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// caseChannels is what one would write by hand.
const caseChannels = "channels"

// overheadWorkers is how many goroutines a pool has.
const overheadWorkers = 4

// measureOverhead compares a Map without work with a pool on channels.
func (s *session) measureOverhead(ctx context.Context) error {
	c, err := s.overhead.Alternate(ctx, s.Step, harness.ByCost, pool(mapPool), pool(channelPool))
	if err != nil {
		return err
	}
	r := s.Report.Row(harness.CaseOurs, workOverhead).Set("writers", overheadWorkers).Set("item_ns",
		itemNanoseconds(&c.Ours)).Rate(c.Ours.N, c.Ours.Elapsed)
	harness.SetRatio(r, "ratio", c.Peers[0].Ratios)
	harness.Judge(r, s.Quick, harness.AtMost("ratio", 1.2))
	peer := &c.Peers[0].Total
	s.Report.Row(caseChannels, workOverhead).Set("writers", overheadWorkers).Set("item_ns",
		itemNanoseconds(peer)).Rate(peer.N, peer.Elapsed)
	return nil
}

func itemNanoseconds(t *harness.Total) float64 {
	return harness.Hundredths(float64(t.Elapsed.Nanoseconds()) / float64(max(t.N, 1)))
}

// pool passes the numbers of a source through goroutines that do nothing with them, and returns how many arrived and
// their sum. It ends with ctx.
type pool func(ctx context.Context, more func() bool) (n, sum int64, err error)

// Run lets numbers through for about d.
func (p pool) Run(ctx context.Context, d time.Duration) (harness.Sample, error) {
	began := time.Now()
	made := int64(0)
	n, sum, err := p(ctx, func() bool {
		made++
		return made%1024 != 0 || time.Since(began) < d // the clock costs as much as an item
	})
	switch {
	case ctx.Err() != nil:
		return harness.Sample{}, context.Cause(ctx)
	case err != nil:
		return harness.Sample{}, err
	case sum != n*(n-1)/2:
		return harness.Sample{}, fmt.Errorf("%d items arrived, but their sum is %d: some are lost, some came twice", n,
			sum)
	}
	return harness.Sample{N: n, Elapsed: time.Since(began)}, nil
}

// mapPool is ours.
func mapPool(ctx context.Context, more func() bool) (n, sum int64, err error) {
	numbers := flow.Source(func(_ context.Context, emit func(int64) bool) error {
		for i := int64(0); more() && emit(i); i++ {
		}
		return nil
	})
	for v, err := range flow.Map(numbers, noWork, flow.Options{Concurrency: overheadWorkers})(ctx) {
		if err != nil {
			return n, sum, err
		}
		n++
		sum += v
	}
	return n, sum, nil
}

func noWork(_ context.Context, i int64) (int64, error) { return i, nil }

// channelPool is the usual one: a channel of jobs, a channel of results, and everybody can be cancelled.
func channelPool(ctx context.Context, more func() bool) (n, sum int64, err error) {
	type result struct {
		value int64
		err   error
	}
	ctx, cancel := context.WithCancel(ctx)
	jobs, results := make(chan int64), make(chan result)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() {
		defer close(jobs)
		for i := int64(0); more(); i++ {
			select {
			case jobs <- i:
			case <-ctx.Done():
				return
			}
		}
	})
	var workers sync.WaitGroup
	for range overheadWorkers {
		workers.Add(1)
		wg.Go(func() {
			defer workers.Done()
			for i := range jobs {
				v, err := noWork(ctx, i)
				select {
				case results <- result{v, err}:
				case <-ctx.Done():
					return
				}
			}
		})
	}
	wg.Go(func() {
		workers.Wait()
		close(results)
	})
	for r := range results {
		if r.err != nil {
			return n, sum, r.err
		}
		n++
		sum += r.value
	}
	return n, sum, ctx.Err()
}

// setTotals sets the median of times, and the ideal beside it.
func setTotals(r *measure.Row, times, ideal []time.Duration) float64 {
	took, best := medianTime(times), medianTime(ideal)
	r.Set("total_ms", measure.Milliseconds(took)).Set("ideal_ms", measure.Milliseconds(best))
	return float64(took) / float64(best)
}

func medianTime(times []time.Duration) time.Duration {
	values := make([]float64, len(times))
	for i, d := range times {
		values[i] = float64(d)
	}
	return time.Duration(harness.Quantile(harness.Sorted(values), 0.5))
}
