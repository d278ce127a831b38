package config

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/pipeline"
	"github.com/hikyaku/hikyaku/internal/queue"
)

const buildText = `
topics:
  sport: { subscriptions: { fans: {}, other/press: {} } }
queues:
  news: { max_attempts: 5, topic: sport }
sources:
  lines: { type: stdin, decoding: { codec: json } }
  more: { type: file, include: more.log }
transforms:
  some: { type: filter, inputs: [lines, more], where: "a = 1", workers: 4, dead_letter: mail/bad }
  ways: { type: route, inputs: some, routes: { a: "a = 1" } }
sinks:
  keep:
    type: queue
    inputs: [ways.a, lines]
    queue: test/sport
    batch: { max_events: 10, max_bytes: 1MiB, timeout_secs: 0.5 }
    request:
      in_flight_limit: 7
      timeout_secs: 2.5
      retry_attempts: 0
      retry_initial_backoff_secs: 0.25
      retry_max_duration_secs: 10
      rate_limit_num: 100
      rate_limit_duration_secs: 60
  show: { type: stdout, inputs: more, request: { retry_attempts: unlimited } }
`

func TestBuildMakesTheNodesOfThePipeline(t *testing.T) {
	f := parse(t, "a.yaml", buildText)
	if len(f.Warnings) > 0 {
		t.Error(f.Warnings)
	}
	a, err := f.Build(nil, component.Env{Stdin: strings.NewReader(""), Stdout: &strings.Builder{}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	nodes := map[string]pipeline.Node{}
	for _, n := range a.Nodes {
		got = append(got, fmt.Sprintf("%s%v", n.Name, n.Inputs))
		nodes[n.Name] = n
	}
	if want := "lines[] lines.decoding[lines] more[] some[lines.decoding more] ways[some] keep[ways.a " +
		"lines.decoding] show[more]"; strings.Join(got, " ") != want {
		t.Errorf("%v, not %v", got, want)
	}
	if n := nodes["lines"]; n.Source == nil || n.Transform != nil || n.Sink != nil {
		t.Errorf("%+v", n)
	}
	if n := nodes["lines.decoding"]; n.Transform == nil || n.Settings.DeadLetter != "lines_dead" {
		t.Errorf("%+v", n)
	}
	if n := nodes["some"]; n.Transform == nil || n.Workers != 4 || n.Settings.DeadLetter != "mail/bad" {
		t.Errorf("%+v", n)
	}
	keep := nodes["keep"]
	want := pipeline.Settings{
		Batch: pipeline.Batch{MaxEvents: 10, MaxBytes: 1 << 20, Timeout: 500 * time.Millisecond},
		Request: pipeline.Request{
			Concurrency: 7, Timeout: 2500 * time.Millisecond, RetryAttempts: pipeline.NoRetries,
			RetryInitial: 250 * time.Millisecond,
			RetryMax:     10 * time.Second, RateNum: 100, RateDuration: time.Minute,
		},
	}
	if keep.Sink == nil || keep.Settings != want {
		t.Errorf("%+v", keep.Settings)
	}
	if got := fmt.Sprint(keep.Feeds); got != "[test/sport default/news default/fans other/press]" {
		t.Errorf("keep feeds %s", got)
	}
	if r := nodes["show"].Settings.Request; r.RetryAttempts != pipeline.Unbounded || r.Concurrency != 0 {
		t.Errorf("%+v", r)
	}
	if _, err := pipeline.New(a.Nodes, pipeline.Options{}); err != nil {
		t.Errorf("the pipeline does not take it: %v", err)
	}
}

func TestASinkWithoutSettingsHasThePipelinesDefaults(t *testing.T) {
	f := parse(t, "a.yaml", "sources: { a: { type: stdin } }\nsinks: { b: { type: stdout, inputs: a } }\n")
	got := f.parts[1].common.settings()
	want := pipeline.Settings{
		Batch: pipeline.Batch{MaxBytes: pipeline.DefaultBatchBytes},
		Request: pipeline.Request{
			RetryAttempts: pipeline.DefaultRetryAttempts, RetryInitial: pipeline.DefaultRetryInitial,
			RetryMax: pipeline.DefaultRetryMax, RateDuration: pipeline.DefaultRateDuration,
		},
	}
	if got != want {
		t.Errorf("%+v, not %+v", got, want)
	}
}

// definitions is a store that knows names only.
type definitions struct {
	queues map[queue.Name]queue.Definition
	topics map[queue.Name]bool
	fail   error
}

func (d *definitions) CreateTopic(_ context.Context, n queue.Name, _ map[string]string) (bool, error) {
	if d.fail != nil {
		return false, d.fail
	}
	d.topics[n] = true
	return true, nil
}

func (d *definitions) CreateQueue(_ context.Context, n queue.Name, def queue.Definition) (bool, error) {
	if d.fail != nil {
		return false, d.fail
	}
	have, ok := d.queues[n]
	switch {
	case ok && have.MaxAttempts != def.MaxAttempts:
		return false, &queue.DifferentError{Name: n, Have: have, Wanted: def, Differences: []queue.Difference{
			{Field: "max_attempts", Have: fmt.Sprint(have.MaxAttempts), Wanted: fmt.Sprint(def.MaxAttempts)},
		}}
	case ok:
		return false, nil
	}
	d.queues[n] = def
	return true, nil
}

func (d *definitions) AlterQueue(_ context.Context, n queue.Name, def queue.Definition) error {
	d.queues[n] = def
	return nil
}

func TestDefineMakesWhatIsMissing(t *testing.T) {
	f := parse(t, "a.yaml", buildText)
	d := &definitions{queues: map[queue.Name]queue.Definition{}, topics: map[queue.Name]bool{}}
	for range 2 {
		if err := f.Define(t.Context(), d, false); err != nil {
			t.Fatal(err)
		}
	}
	if !d.topics[queue.Name{Namespace: "default", Name: "sport"}] || len(d.topics) != 1 || len(d.queues) != 3 {
		t.Errorf("%+v", d)
	}
	if got := d.queues[queue.Name{Namespace: "other", Name: "press"}].Topic; got != "default/sport" {
		t.Errorf("the subscription's topic is %q", got)
	}
	if got := d.queues[queue.Name{Namespace: "default", Name: "news"}]; got.Topic != "default/sport" ||
		got.MaxAttempts != 5 {
		t.Errorf("%+v", got)
	}
}

func TestADifferentDefinitionStopsTheStartUnlessItIsAdopted(t *testing.T) {
	f := parse(t, "a.yaml", "queues:\n  news: { max_attempts: 5 }\n  mail: { max_attempts: 1 }\n")
	news := queue.Name{Namespace: "default", Name: "news"}
	d := &definitions{queues: map[queue.Name]queue.Definition{news: {MaxAttempts: 3}}, topics: map[queue.Name]bool{}}
	err := f.Define(t.Context(), d, false)
	var errs Errors
	var different *queue.DifferentError
	if !errors.As(err, &errs) || !errors.As(err, &different) || !errors.Is(err, queue.ErrExists) {
		t.Fatalf("%T: %v", err, err)
	}
	want := "a.yaml:2:3: queue news already exists with another definition: max_attempts is 3, not 5 (change the " +
		"file, or start with --adopt to take what it says)"
	if err.Error() != want {
		t.Errorf("%v", err)
	}
	if err := f.Define(t.Context(), d, true); err != nil || d.queues[news].MaxAttempts != 5 {
		t.Errorf("%v: %+v", err, d.queues)
	}
}

func TestAStoreThatFailsIsNoMistakeOfTheFile(t *testing.T) {
	f := parse(t, "a.yaml", "queues:\n  news: {}\n")
	err := f.Define(t.Context(), &definitions{fail: queue.ErrUnavailable}, false)
	var errs Errors
	if !errors.Is(err, queue.ErrUnavailable) || errors.As(err, &errs) {
		t.Errorf("%T: %v", err, err)
	}
}

func TestCheckFindsNothingNew(t *testing.T) {
	if err := parse(t, "a.yaml", buildText).Check(); err != nil {
		t.Error(err)
	}
}
