package lambda

import (
	"sync"
	"testing"
)

// Of some mistakes the service does not say whose fault they are.
func TestSomeErrorsHaveNoType(t *testing.T) {
	r := newRig(t)
	r.create("f", map[string]any{"Publish": true})
	r.recorded(t, []recorded{
		{"POST", functions + "/f/aliases",
			`{"Name":"live","FunctionVersion":"$LATEST","RoutingConfig":{"AdditionalVersionWeights":{"1":0.5}}}`, 400,
			[]string{"$LATEST is not supported for an alias pointing to more than 1 version"}, []string{`"Type"`}},
		{"PUT", "/2019-09-30/functions/f/provisioned-concurrency?Qualifier=1",
			`{"ProvisionedConcurrentExecutions":1001}`, 400, []string{"unreserved concurrency"}, []string{`"Type"`}},
		{"POST", "/2015-03-31/event-source-mappings/", `{"FunctionName":"f","StartingPosition":"x"}`, 400,
			[]string{"[LATEST, AT_TIMESTAMP, TRIM_HORIZON]"}, nil},
	})
}

func TestMoreConcurrencyThanIsLeftIsRefusedInTheServicesWords(t *testing.T) {
	r := openRig(t, t.TempDir(), Config{Concurrency: 10}, nil)
	r.create("f", nil)
	r.create("g", nil)
	const f, g = "/2017-10-31/functions/f/concurrency", "/2017-10-31/functions/g/concurrency"
	const text = `{"message":"Specified ReservedConcurrentExecutions for function decreases account's ` +
		`UnreservedConcurrentExecution below its minimum value of [0]."}`
	r.recorded(t, []recorded{
		{"PUT", f, `{"ReservedConcurrentExecutions":11}`, 400, []string{text}, nil},
		{"PUT", f, `{"ReservedConcurrentExecutions":8}`, 200, nil, nil},
		{"PUT", g, `{"ReservedConcurrentExecutions":3}`, 400, []string{text}, nil},
		{"PUT", f, `{"ReservedConcurrentExecutions":10}`, 200, nil, nil}, // its own are not in its way
		{"PUT", g, `{"ReservedConcurrentExecutions":0}`, 200, nil, nil},
	})
}

// TestConcurrencyThatIsReservedAtOnceIsCountedTogether: of two requests that fit alone, one is refused.
func TestConcurrencyThatIsReservedAtOnceIsCountedTogether(t *testing.T) {
	r := openRig(t, t.TempDir(), Config{Concurrency: 10}, nil)
	names := []string{"a", "b", "c", "d"}
	for _, name := range names {
		r.create(name, nil)
	}
	at := func(name string) string { return "/2017-10-31/functions/" + name + "/concurrency" }
	for range 20 {
		var wg sync.WaitGroup
		for _, name := range names {
			wg.Go(func() { r.call("PUT", at(name), `{"ReservedConcurrentExecutions":6}`) })
		}
		wg.Wait()
		sum := 0
		for _, f := range r.functions.List() {
			if f.Reserved != nil {
				sum += *f.Reserved
			}
		}
		if sum != 6 {
			t.Fatalf("%d of 10 are reserved", sum)
		}
		for _, name := range names {
			r.ok(204, "DELETE", at(name), "")
		}
	}
}
