package pipeline

import (
	"fmt"
	"maps"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
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
