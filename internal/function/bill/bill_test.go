package bill_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/function/bill"
)

const us = time.Microsecond

func TestDurationsAreRoundedUp(t *testing.T) {
	for _, c := range []struct {
		name   string
		rules  bill.Rules
		usage  bill.Usage
		billed time.Duration
	}{
		{"a part of a millisecond", bill.Rules{}, bill.Usage{Duration: 200 * us}, time.Millisecond},
		{"nothing", bill.Rules{}, bill.Usage{}, time.Millisecond},
		{"just so", bill.Rules{}, bill.Usage{Duration: 7 * time.Millisecond}, 7 * time.Millisecond},
		{"with its start, as today", bill.Rules{}, bill.Usage{Duration: 1500 * us, Init: 1600 * us},
			4 * time.Millisecond},
		{"started before anybody asked", bill.Rules{},
			bill.Usage{Duration: 1500 * us, Init: time.Second, Provisioned: true}, 2 * time.Millisecond},
		{"as then", bill.Old, bill.Usage{Duration: 97520 * us, Init: 2 * time.Second}, 100 * time.Millisecond},
		{"as then, the report's slow one", bill.Old, bill.Usage{Duration: 14531570 * us}, 14600 * time.Millisecond},
	} {
		if got := c.rules.Charge(c.usage).Billed; got != c.billed {
			t.Errorf("%s: %v, want %v", c.name, got, c.billed)
		}
	}
}

func TestTheCostIsMemoryTimesTimeAndTheRequest(t *testing.T) {
	c := bill.Rules{}.Charge(bill.Usage{Duration: 2 * time.Second, MemoryMB: 512})
	if c.GBSeconds != 1 || math.Abs(c.Cost-0.0000168667) > 1e-12 {
		t.Errorf("%+v", c)
	}
	c = bill.Rules{PricePerGBSecond: 2, PricePerRequest: 3}.Charge(bill.Usage{Duration: time.Second, MemoryMB: 1024})
	if c.Cost != 5 {
		t.Errorf("%+v", c)
	}
}

func TestTheBillNeverFallsShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := bill.Rules{Granularity: time.Duration(rapid.IntRange(0, 200).Draw(t, "granularity")) * time.Millisecond,
			FreeInit: rapid.Bool().Draw(t, "free")}
		u := bill.Usage{Duration: time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "duration")),
			Init: time.Duration(rapid.Int64Range(0, 1e10).Draw(t, "init"))}
		step := max(r.Granularity, time.Millisecond)
		took := u.Duration
		if !r.FreeInit {
			took += u.Init
		}
		got := r.Charge(u).Billed
		if got%step != 0 || got < took || got-took > step || got == 0 {
			t.Errorf("%v for %v by %v", got, took, step)
		}
	})
}

func TestTheLinesOfTheLog(t *testing.T) {
	charge := bill.Charge{Billed: 15 * time.Millisecond}
	for _, c := range []struct{ got, want string }{
		{bill.Start("id", "$LATEST"), "START RequestId: id Version: $LATEST"},
		{bill.End("id"), "END RequestId: id"},
		{bill.Report("id", bill.Usage{Duration: 14567 * us, MemoryMB: 128, PeakMB: 27, Limited: true}, charge),
			"REPORT RequestId: id\tDuration: 14.57 ms\tBilled Duration: 15 ms\tMemory Size: 128 MB\tMax Memory Used: " +
				"27 MB\t"},
		{bill.Report("id", bill.Usage{Duration: 5 * us, Init: 123450 * us, MemoryMB: 128, PeakMB: 27, Limited: true},
			charge),
			"REPORT RequestId: id\tDuration: 0.01 ms\tBilled Duration: 15 ms\tMemory Size: 128 MB\tMax Memory Used: " +
				"27 MB\tInit Duration: 123.45 ms\t"},
		{bill.Report("id", bill.Usage{MemoryMB: 128, PeakMB: 27, Init: time.Second, Provisioned: true, Limited: true,
			Status: "timeout"}, charge),
			"REPORT RequestId: id\tDuration: 0.00 ms\tBilled Duration: 15 ms\tMemory Size: 128 MB\tMax Memory Used: " +
				"27 MB\tStatus: timeout\t"},
		{bill.Report("id", bill.Usage{MemoryMB: 128, Status: "error", ErrorType: "Runtime.ExitError"}, charge),
			"REPORT RequestId: id\tDuration: 0.00 ms\tBilled Duration: 15 ms\tMemory Size: 128 MB\tMax Memory Used: " +
				"unknown\tStatus: error\tError Type: Runtime.ExitError\tMemory Limit: none\t"},
		{bill.InitReport(9999814*us, "init", "timeout", ""),
			"INIT_REPORT Init Duration: 9999.81 ms\tPhase: init\tStatus: timeout"},
		{bill.InitReport(time.Second, "invoke", "error", "Runtime.ExitError"), "INIT_REPORT Init Duration: 1000.00 " +
			"ms\tPhase: invoke\tStatus: error\tError Type: Runtime.ExitError"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
