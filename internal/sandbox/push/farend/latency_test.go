package farend

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func TestLatenciesFollowTheirDistribution(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	l := Latency{Fixed: Duration(time.Millisecond), Median: Duration(40 * time.Millisecond), Sigma: 0.8}
	const n = 100_000
	all := make([]time.Duration, n)
	var sum time.Duration
	for i := range all {
		all[i] = l.draw(r)
		sum += all[i]
	}
	slices.Sort(all)
	for _, q := range []float64{0.01, 0.5, 0.9, 0.99} {
		got, want := all[int(q*n)], l.Quantile(q)
		if ratio := float64(got) / float64(want); ratio < 0.95 || ratio > 1.05 {
			t.Errorf("quantile %v: %v instead of %v", q, got, want)
		}
	}
	if ratio := float64(sum/n) / float64(l.Mean()); ratio < 0.97 || ratio > 1.03 {
		t.Errorf("mean %v instead of %v", sum/n, l.Mean())
	}
}

func TestLatenciesAreBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := Latency{
			Fixed:  Duration(rapid.Int64Range(0, int64(2*time.Hour)).Draw(t, "fixed")),
			Median: Duration(rapid.Int64Range(0, int64(2*time.Hour)).Draw(t, "median")),
			Sigma:  rapid.Float64Range(0, 10).Draw(t, "sigma"),
			Most:   Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "most")),
		}
		if err := l.check(); err != nil {
			t.Fatal(err)
		}
		most := time.Duration(l.Most)
		if most == 0 {
			most = mostLatency
		}
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		for range 100 {
			if d := l.draw(r); d < 0 || d > most {
				t.Fatalf("%v is not below %v", d, most)
			}
		}
	})
}

func TestTheWheelCallsEachOnceAndNeverTooEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		due := map[*stream]time.Time{}
		called := make(chan *stream, 10_000)
		w := newWheel(func(st *stream) { called <- st })
		defer w.stop()
		wait := func(d time.Duration) {
			st := new(stream)
			due[st] = time.Now().Add(d)
			w.add(st, d)
		}
		for range 3 {
			for range 1000 {
				wait(time.Duration(r.Int64N(int64(20 * time.Second)))) // some of them more than a turn of the wheel
			}
			wait(1)
			for range 500 {
				st := <-called
				if late := time.Since(due[st]); late < 0 || late > 2*wheelTick {
					t.Fatalf("called %v late", late)
				}
				delete(due, st)
			}
		}
		for len(due) > 0 {
			st := <-called
			at, ok := due[st]
			if late := time.Since(at); !ok || late < 0 || late > 2*wheelTick {
				t.Fatalf("called %v late (known: %v)", late, ok)
			}
			delete(due, st)
		}
		// After a rest it goes on.
		time.Sleep(time.Hour)
		wait(5 * time.Millisecond)
		if st := <-called; time.Since(due[st]) > 2*wheelTick {
			t.Error("late after a rest")
		}
	})
}

func TestOneDeviceInSomeIsAlwaysTheSame(t *testing.T) {
	p := newPlan(Behaviour{Devices: []Device{
		{Tokens: []string{"named"}, Latency: &Latency{Fixed: 1}}, {OneIn: 100, Latency: &Latency{Fixed: 2}},
	}})
	l := newLedger(0)
	r := rand.New(rand.NewPCG(1, 2))
	slow := map[string]bool{}
	for range 2 {
		for i := range 10_000 {
			name := fmt.Sprint(i)
			latency, _ := p.choose(name, l.hash(name), r)
			if was, ok := slow[name]; ok && was != (latency.Fixed == 2) {
				t.Fatalf("%s changed its mind", name)
			}
			slow[name] = latency.Fixed == 2
		}
	}
	n := 0
	for _, s := range slow {
		if s {
			n++
		}
	}
	if n < 60 || n > 150 {
		t.Errorf("%d of 10,000 are slow", n)
	}
	if latency, _ := p.choose("named", l.hash("named"), r); latency.Fixed != 1 {
		t.Error("a named device has not its own latency")
	}
}
