// Package bill says what an invocation costs: how long it took, what of that is billed, and how the provider's log says
// so. It does arithmetic and text, nothing else.
//
//	rules := bill.Rules{}                                     // as today: by the millisecond, the initialisation billed
//	c := rules.Charge(bill.Usage{Duration: d, Init: i, MemoryMB: 128})
//	line := bill.Report(id, usage, c)                         // REPORT RequestId: …
package bill

import "time"

// Rules say how usage becomes a bill. The zero value is how AWS Lambda bills today.
type Rules struct {
	// Granularity is the step that a duration is rounded up to; 0 means 1 ms. It was 100 ms until December 2020.
	Granularity time.Duration
	// FreeInit leaves the initialisation of an instance off the bill, as it was for most runtimes until August 2025.
	FreeInit bool
	// PricePerGBSecond and PricePerRequest are in US dollars; 0 means what us-east-1 asks for x86-64 at first.
	PricePerGBSecond, PricePerRequest float64
}

// What us-east-1 asks for x86-64, in US dollars.
const (
	DefaultPricePerGBSecond = 0.0000166667
	DefaultPricePerRequest  = 0.0000002
)

// Old are the rules at the time of the field report that compares languages on one-tenth of a second.
var Old = Rules{Granularity: 100 * time.Millisecond, FreeInit: true}

// Usage is what an invocation used.
type Usage struct {
	// Duration is the time from the hand-over of the event to the answer.
	Duration time.Duration
	// Init is how long the instance took to start for this invocation, apart from Duration; 0 for a warm one.
	Init time.Duration
	// MemoryMB is what the function is given, in MiB. The bill counts it, however much is used.
	MemoryMB int
	// PeakMB is the most that the instance has used so far, in MiB; 0 when it could not be measured.
	PeakMB int
	// Provisioned instances started before anybody asked: their Init is not this invocation's.
	Provisioned bool
	// Limited tells that MemoryMB was enforced.
	Limited bool
	// Status is "" for success, else timeout or error.
	Status string
	// ErrorType is the kind of an error, as Runtime.ExitError.
	ErrorType string
}

// Charge is a bill.
type Charge struct {
	Billed    time.Duration // a multiple of the granularity, at least one step
	GBSeconds float64
	Cost      float64 // US dollars, with the request's own price
}

// Charge reckons what u costs.
func (r Rules) Charge(u Usage) Charge {
	step := r.Granularity
	if step <= 0 {
		step = time.Millisecond
	}
	perGBSecond, perRequest := r.PricePerGBSecond, r.PricePerRequest
	if perGBSecond == 0 {
		perGBSecond = DefaultPricePerGBSecond
	}
	if perRequest == 0 {
		perRequest = DefaultPricePerRequest
	}
	took := u.Duration
	if !r.FreeInit && !u.Provisioned {
		took += u.Init
	}
	billed := max((took+step-1)/step*step, step)
	gbs := billed.Seconds() * float64(u.MemoryMB) / 1024
	return Charge{Billed: billed, GBSeconds: gbs, Cost: gbs*perGBSecond + perRequest}
}
