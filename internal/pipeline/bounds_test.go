package pipeline

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

func TestAFullPipelineHoldsUpItsSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := feedOf(numbers(1000)...)
		hung := &answer{send: func(ctx context.Context, _ []*message.Message) ([]component.Outcome, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		p := mustNew(t, &keeper{}, Options{MaxInFlight: 50},
			Node{Name: "in", Source: src}, step("pass", "in"),
			Node{Name: "out", Inputs: []string{"pass"}, Sink: hung,
				Settings: Settings{Request: Request{Timeout: time.Hour}}})
		go func() {
			time.Sleep(time.Minute)
			synctest.Wait()
			if s := p.Stats(); s[0].In != 50 || s[0].InFlight != 50 {
				t.Errorf("%d messages were let in, want 50; %d in flight", s[0].In, s[0].InFlight)
			}
		}()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		if _, err := p.Run(ctx); err != nil {
			t.Error(err)
		}
	})
}

func TestBytesAreBoundedButALargeMessagePassesAlone(t *testing.T) {
	var bodies []string
	for i := range 40 {
		bodies = append(bodies, strings.Repeat("x", 1+i*10))
	}
	src, out := feedOf(bodies...), &answer{}
	p := mustNew(t, &keeper{}, Options{MaxInFlightBytes: 100}, Node{Name: "in", Source: src}, step("pass", "in"),
		Node{Name: "out", Inputs: []string{"pass"}, Sink: out, Settings: Settings{Request: Request{Concurrency: 1}}})
	mustRun(t, p)
	equal(t, "delivered", out.got(), bodies)
	if p.budget.usedB != 0 || p.budget.usedN != 0 || p.entries[0].account.n != 0 || p.entries[0].account.bytes != 0 {
		t.Errorf("not everything was given back: %+v %+v", p.budget, p.entries[0].account)
	}
}

func TestASourceWhoseMessagesAreStuckDoesNotStopTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck, free := feedOf(numbers(1000)...), feedOf(numbers(1000)...)
		down := &answer{send: each(func(string) component.Outcome { return component.Again(0, errDown) })}
		up := &answer{}
		p := mustNew(t, &keeper{}, Options{MaxInFlight: 20},
			Node{Name: "stuck", Source: stuck}, Node{Name: "free", Source: free},
			Node{Name: "down", Inputs: []string{"stuck"}, Sink: down,
				Settings: Settings{Request: Request{RetryAttempts: Unbounded}}},
			Node{Name: "up", Inputs: []string{"free"}, Sink: up})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := p.Run(ctx); err != nil {
			t.Error(err)
		}
		if n := len(up.got()); n != 1000 {
			t.Errorf("delivered %d of 1000", n)
		}
		free.once(t, 1000)
	})
}

func TestATransformThatMakesManyWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		many := change(func(_ context.Context, m *message.Message, emit component.Emit) error {
			for range 30 {
				emit("", m)
			}
			return nil
		})
		out := &answer{}
		var p *Pipeline
		out.send = func(_ context.Context, batch []*message.Message) ([]component.Outcome, error) {
			time.Sleep(time.Second)
			if s := p.Stats(); s[2].InFlight > 20 || s[0].InFlight > 20 {
				t.Errorf("in flight: %d messages in the sink, %d deliveries", s[2].InFlight, s[0].InFlight)
			}
			return make([]component.Outcome, len(batch)), nil
		}
		src := feedOf(numbers(40)...)
		p = mustNew(t, &keeper{}, Options{MaxInFlight: 20},
			Node{Name: "in", Source: src}, Node{Name: "many", Inputs: []string{"in"}, Transform: many, Workers: 2},
			Node{Name: "out", Inputs: []string{"many"}, Sink: out, Settings: Settings{Batch: Batch{MaxEvents: 10}}})
		mustRun(t, p)
		if n := len(out.got()); n != 1200 {
			t.Errorf("delivered %d of 1200", n)
		}
		src.once(t, 40)
	})
}

func TestABatchThatWaitsForCompanyDoesNotWaitWhenThePipelineIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		src, out := feedOf(numbers(200)...), &answer{}
		p := mustNew(t, &keeper{}, Options{MaxInFlight: 20}, Node{Name: "in", Source: src}, step("pass", "in"),
			Node{Name: "out", Inputs: []string{"pass"}, Sink: out,
				Settings: Settings{Batch: Batch{MaxEvents: 1000, Timeout: time.Hour}}})
		mustRun(t, p)
		if took := time.Since(began); took > 0 {
			t.Errorf("took %v: nothing more could come", took)
		}
		if n := len(out.got()); n != 200 {
			t.Errorf("delivered %d of 200", n)
		}
	})
}

func TestWorkersRunAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		slow := change(func(_ context.Context, m *message.Message, emit component.Emit) error {
			time.Sleep(time.Second)
			emit("", m)
			return nil
		})
		p := mustNew(t, &keeper{}, Options{}, Node{Name: "in", Source: feedOf(numbers(40)...)},
			Node{Name: "slow", Inputs: []string{"in"}, Transform: slow, Workers: 8}, sink("out", "slow"))
		mustRun(t, p)
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("40 seconds of work for 8 workers took %v", took)
		}
	})
}

func TestRequestsKeepTheirRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var at []time.Duration
		out := &answer{limits: component.SinkLimits{MaxEvents: 1}}
		out.send = each(func(string) component.Outcome {
			at = append(at, time.Since(began))
			return component.Outcome{}
		})
		p := mustNew(t, &keeper{}, Options{}, Node{Name: "in", Source: feedOf(numbers(100)...)},
			Node{Name: "out", Inputs: []string{"in"}, Sink: out,
				Settings: Settings{Request: Request{Concurrency: 1, RateNum: 7, RateDuration: time.Second}}})
		mustRun(t, p)
		for i := range at {
			if i >= 7 && at[i]-at[i-7] < time.Second {
				t.Fatalf("requests %d to %d within %v", i-7, i, at[i]-at[i-7])
			}
		}
		if last := at[99]; last > 15*time.Second {
			t.Errorf("the last of 100 at %v", last)
		}
	})
}

func TestPacerNeitherLetsMoreThroughNorCatchesUp(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, r := range []Request{{RateNum: 1, RateDuration: time.Second}, {RateNum: 3, RateDuration: time.Second},
		{RateNum: 999, RateDuration: 7 * time.Second}, {RateNum: 5, RateDuration: 3}} {
		p := newPacer(r)
		now := time.Unix(0, 0)
		var at []time.Time
		for range 5000 {
			if next := p.next(); next.After(now) {
				now = next
			}
			if random.IntN(50) == 0 {
				now = now.Add(time.Duration(random.Int64N(int64(3 * r.RateDuration))))
			}
			p.took(now)
			at = append(at, now)
		}
		for i := r.RateNum; i < len(at); i++ {
			if d := at[i].Sub(at[i-r.RateNum]); d < r.RateDuration {
				t.Fatalf("%d in %v: %d within %v", r.RateNum, r.RateDuration, r.RateNum+1, d)
			}
		}
	}
	none := newPacer(Request{})
	none.took(time.Now())
	if !none.next().IsZero() {
		t.Error("no rate, but a wait")
	}
}

func TestBackoffDoublesUpToItsBoundAndKeepsToWhatWasAsked(t *testing.T) {
	r := Request{RetryInitial: time.Second, RetryMax: 30 * time.Second}
	for n, want := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 5: 16 * time.Second,
		6: 30 * time.Second, 63: 30 * time.Second, 1_000_000: 30 * time.Second} {
		if got := backoff(r, n, 0, 0.999999); want-got > time.Millisecond || got > want {
			t.Errorf("retry %d: at most %v, want nearly %v", n, got, want)
		}
		if got := backoff(r, n, 0, 0); got != 0 {
			t.Errorf("retry %d: at least %v, want 0", n, got)
		}
		if got := backoff(r, n, time.Hour, 0.5); got != time.Hour {
			t.Errorf("retry %d: %v, an hour was asked for", n, got)
		}
	}
}

func TestBudgetServesThoseWhoWaitInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(4, 100)
		opened, _ := b.open(1, func() {})
		a := opened[0]
		take := func(size int) error {
			_, err := b.take(t.Context(), nil, a, size)
			return err
		}
		if err := take(60); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var order []string
		waits := func(name string, ctx context.Context, size int) {
			go func() {
				if _, err := b.take(ctx, nil, a, size); err != nil {
					name += " " + err.Error()
				}
				mu.Lock()
				defer mu.Unlock()
				order = append(order, name)
			}()
			synctest.Wait()
		}
		ctx, cancel := context.WithCancel(t.Context())
		waits("large", ctx, 70)
		waits("small", t.Context(), 10) // fits, but does not overtake
		if mu.Lock(); len(order) != 0 {
			t.Errorf("served %v", order)
		}
		mu.Unlock()
		cancel()
		synctest.Wait()
		b.give(a, 1, 60)
		waits("huge", t.Context(), 1000)
		b.give(a, 1, 10)
		synctest.Wait()
		b.give(a, 1, 1000)
		mu.Lock()
		defer mu.Unlock()
		if got := strings.Join(order, ", "); got != "large context canceled, small, huge" &&
			got != "small, large context canceled, huge" {
			t.Errorf("order %s", got)
		}
		if a.n != 0 || a.bytes != 0 || b.usedN != 0 || b.usedB != 0 {
			t.Errorf("left over: %+v %+v", a, b)
		}
		stop := make(chan struct{})
		close(stop)
		_ = take(100)
		if _, err := b.take(t.Context(), stop, a, 1); !errors.Is(err, ErrStopping) {
			t.Errorf("error %v", err)
		}
	})
}

func TestAsMuchIsInFlightAsLargeBatchesNeed(t *testing.T) {
	for _, c := range []struct {
		limits component.SinkLimits
		batch  int
		most   int
		want   int
	}{
		{component.SinkLimits{}, 0, 0, DefaultMaxInFlight},
		{component.SinkLimits{DefaultEvents: 5000, Concurrency: 5}, 0, 0, 25_000},
		{component.SinkLimits{DefaultEvents: 5000, Concurrency: 5}, 100, 0, DefaultMaxInFlight},
		{component.SinkLimits{DefaultEvents: 5000, Concurrency: 50}, 0, 0, mostMaxInFlight},
		{component.SinkLimits{DefaultEvents: 5000}, 0, 0, DefaultMaxInFlight}, // nobody knows how many at once
		{component.SinkLimits{DefaultEvents: 5000, Concurrency: 5}, 0, 20, 20},
	} {
		out := sink("out", "in")
		out.Sink = &answer{limits: c.limits}
		out.Settings.Batch.MaxEvents = c.batch
		p := mustNew(t, &keeper{}, Options{MaxInFlight: c.most}, Node{Name: "in", Source: feedOf(numbers(1)...)}, out)
		if got := p.options.MaxInFlight; got != c.want {
			t.Errorf("%+v with batches of %d and %d configured: %d in flight, want %d", c.limits, c.batch, c.most, got,
				c.want)
		}
	}
}

func TestASinkSaysHowLongItsRequestsMayTake(t *testing.T) {
	for _, c := range []struct{ sink, configured, want time.Duration }{
		{0, 0, DefaultTimeout},
		{time.Hour, 0, time.Hour},
		{time.Hour, time.Second, time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			out, left := sink("out", "in"), time.Duration(0)
			out.Settings.Request.Timeout = c.configured
			out.Sink = &answer{limits: component.SinkLimits{DefaultTimeout: c.sink},
				send: func(ctx context.Context, batch []*message.Message) ([]component.Outcome, error) {
					if deadline, ok := ctx.Deadline(); ok {
						left = time.Until(deadline)
					}
					return make([]component.Outcome, len(batch)), nil
				}}
			mustRun(t, mustNew(t, &keeper{}, Options{}, Node{Name: "in", Source: feedOf(numbers(1)...)}, out))
			if left != c.want {
				t.Errorf("a sink that says %s, with %s configured, has %s", c.sink, c.configured, left)
			}
		})
	}
}
