package function_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/place"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// A storm of invocations, many of which kill their instance in one way or another: each gets its own answer or its own
// error, and afterwards nothing is left.
func TestEachGetsItsOwnAnswerInAStorm(t *testing.T) {
	for _, policy := range []place.Kind{place.Warm, place.Spread, place.Ahead} {
		t.Run(string(policy), func(t *testing.T) {
			p := open(t, function.Config{})
			deploy(t, p, func(d *function.Definition) {
				d.Policy, d.Timeout, d.Idle, d.Freeze = policy, time.Minute, 50*time.Millisecond, 10*time.Millisecond
			})
			var wg sync.WaitGroup
			for worker := range 6 {
				wg.Go(func() {
					r := rand.New(rand.NewPCG(uint64(worker), 7))
					for n := range 25 {
						storm(t, p, r, fmt.Sprintf("worker-%d-%d", worker, n))
					}
				})
			}
			wg.Wait()
			waittest.Until(t, "every instance has gone", func() bool {
				s, _ := p.Stats("f", "")
				return s.Counts.Running == 0 && s.Counts.Waiting == 0 &&
					(len(s.Instances) == 0 || policy == place.Ahead && s.Counts.Busy == 0)
			})
			if s, _ := p.Stats("f", ""); s.Invocations != 6*25 {
				t.Errorf("%d invocations are counted", s.Invocations)
			}
			log := text(t, p)
			if starts, ends, reports := strings.Count(log, "START RequestId"), strings.Count(log, "END RequestId"),
				strings.Count(log, "REPORT RequestId"); starts != 150 || ends != 150 || reports != 150 {
				t.Errorf("the log has %d STARTs, %d ENDs, %d REPORTs", starts, ends, reports)
			}
		})
	}
}

// storm is one invocation of the storm.
func storm(t *testing.T, p *function.Pool, r *rand.Rand, id string) {
	expected := map[string]struct{ payload, kind string }{
		`{"id":"` + id + `"}`:                      {`{"id":"` + id + `"}`, ""},
		`{"do":"crash","n":9,"text":"` + id + `"}`: {"exit status 9", "Runtime.ExitError"},
		`{"do":"crash after"}`:                     {`"last words"`, ""},
		`{"do":"error","text":"` + id + `"}`:       {`"errorMessage":"` + id, "Oops"},
		`{"do":"twice"}`:                           {`"first"`, ""},
		`{"do":"stranger"}`:                        {`"mine"`, ""},
		`{"do":"stream","n":3}`:                    {"piece 2", ""},
	}
	events := []string{`{"id":"` + id + `"}`, `{"id":"` + id + `"}`, `{"id":"` + id + `"}`}
	for e := range expected {
		events = append(events, e)
	}
	event := events[r.IntN(len(events))]
	got, err := p.Invoke(t.Context(), function.Request{Function: "f", ID: id, Payload: json.RawMessage(event),
		LogTail: true})
	if err != nil {
		t.Errorf("%s: %v", event, err)
		return
	}
	want := expected[event]
	if got.ErrorType != want.kind || !strings.Contains(string(got.Payload), want.payload) || got.RequestID != id {
		t.Errorf("%s: %q of type %q", event, got.Payload, got.ErrorType)
	}
	if !strings.Contains(string(got.LogTail), "END RequestId: "+id) ||
		strings.Count(string(got.LogTail), "START RequestId") != 1 {
		t.Errorf("%s: the end of its log is not its own: %s", event, got.LogTail)
	}
}
