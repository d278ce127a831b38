package pipeline

import (
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/metricstest"
)

func TestTheMetricsTellWhatBecameOfTheMessagesOfASink(t *testing.T) {
	outcomes := map[string]component.Outcome{
		"m0000": component.Drop(fmt.Errorf("offer of yesterday: %w", component.ErrExpired)),
		"m0001": component.Drop(component.ErrReplaced),
		"m0002": component.Drop(component.ErrReplaced),
		"m0003": component.Reject(errDown),
	}
	sink := &answer{send: each(func(body string) component.Outcome { return outcomes[body] })}
	p := mustNew(t, &keeper{}, Options{}, Node{Name: "in", Source: feedOf(numbers(10)...)},
		Node{Name: "out", Inputs: []string{"in"}, Sink: sink})
	want := map[string]float64{
		"hikyaku_sink_messages_total delivered out": 0, "hikyaku_sink_messages_total rejected out": 0,
		"hikyaku_sink_messages_total expired out": 0, "hikyaku_sink_messages_total replaced out": 0,
		"hikyaku_sink_retries_total out": 0, "hikyaku_sink_in_flight out": 0,
	}
	if got := metricstest.Of(t, NewCollector(p)); !maps.Equal(got, want) {
		t.Errorf("before the run: %v", got)
	}
	mustRun(t, p)
	want["hikyaku_sink_messages_total delivered out"] = 6
	want["hikyaku_sink_messages_total rejected out"] = 1
	want["hikyaku_sink_messages_total expired out"] = 1
	want["hikyaku_sink_messages_total replaced out"] = 2
	if got := metricstest.Of(t, NewCollector(p)); !maps.Equal(got, want) {
		t.Errorf("after the run: %v", got)
	}
}

// tallied is a source that counts.
type tallied struct {
	feed
	component.Tally
}

func TestTheMetricsTellWhatASourceCounts(t *testing.T) {
	src := &tallied{}
	src.Add("cut", "a line was cut")
	p := mustNew(t, &keeper{}, Options{}, Node{Name: "in", Source: src},
		Node{Name: "out", Inputs: []string{"in"}, Sink: &answer{}})
	if got := metricstest.Of(t, NewCollector(p)); got["hikyaku_source_events_total cut in"] != 1 {
		t.Errorf("%v", got)
	}
}

// TestEachRetryOfASinkIsCountedOnce, of one that answers for each message by itself: the first try is none, and the
// last one of a message that is given up is one.
func TestEachRetryOfASinkIsCountedOnce(t *testing.T) {
	fails := map[string]int{"m0001": 1, "m0002": 2, "m0003": 100, "m0004": 100}
	var mu sync.Mutex
	sink := &caller{deliver: func(m *message.Message, _ time.Time, done func(component.Outcome)) {
		o := component.OK(time.Now())
		mu.Lock()
		if fails[string(m.Body)]--; fails[string(m.Body)] >= 0 {
			o = component.Again(0, errDown)
		}
		mu.Unlock()
		done(o)
	}}
	p := mustNew(t, &keeper{}, Options{}, Node{Name: "in", Source: feedOf(numbers(10)...)},
		Node{Name: "out", Inputs: []string{"in"}, Sink: sink,
			Settings: Settings{Request: Request{RetryInitial: 1, RetryAttempts: 3}}})
	mustRun(t, p)
	got := metricstest.Of(t, NewCollector(p))
	if n := got["hikyaku_sink_retries_total out"]; n != 1+2+3+3 {
		t.Errorf("%v retries", n)
	}
	if got["hikyaku_sink_messages_total delivered out"] != 8 || got["hikyaku_sink_messages_total rejected out"] != 2 {
		t.Errorf("%v", got)
	}
}
