package config

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/pipeline"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/transform/decode"
)

// Assembled is what a file's components have become.
type Assembled struct {
	// Nodes are for pipeline.New. A source with decoding is two nodes, NAME and NAME.decoding.
	Nodes []pipeline.Node
}

// decodingSuffix names the transform that does a source's decoding.
const decodingSuffix = ".decoding"

// Build makes the components over a store. base gives them what they share; name, store and folder are filled in here,
// and where requests may go unless base says it. Queues and topics are made by Define, which comes first. The error is
// Errors.
func (f *File) Build(store queue.Service, base component.Env) (*Assembled, error) {
	d := &decoder{&report{file: f.source, secrets: f.secrets}}
	decoded := map[string]bool{}
	for _, p := range f.parts {
		decoded[p.name] = p.decoding != nil
	}
	a := &Assembled{}
	for _, p := range f.parts {
		env := f.within(base, p, store)
		made := d.construct(p, env)
		if made == nil {
			continue
		}
		n := pipeline.Node{Name: p.name, Settings: p.common.settings()}
		for _, text := range p.common.Inputs {
			if name, _ := input(text); decoded[name] {
				text = name + decodingSuffix
			}
			n.Inputs = append(n.Inputs, text)
		}
		switch made := made.(type) {
		case component.Source:
			n.Source, n.Settings = made, pipeline.Settings{}
			n.Drains = drains(p)
		case component.Transform:
			n.Transform, n.Workers = made, p.common.Workers
		case component.GroupTransform:
			n.Group = made
		case component.StreamTransform:
			n.Stream, n.Workers = made, p.common.Workers
		case component.Sink:
			n.Sink = made
			n.Feeds = f.feeds(p)
		}
		a.Nodes = append(a.Nodes, n)
		if p.decoding != nil {
			t, err := decode.ForStream(*p.decoding, env)
			if err != nil {
				d.setting(err, p.node.get("decoding"), join(p.path, "decoding"))
				continue
			}
			a.Nodes = append(a.Nodes, pipeline.Node{
				Name: p.name + decodingSuffix, Inputs: []string{p.name}, Transform: t,
				Settings: pipeline.Settings{DeadLetter: p.name + "_dead"},
			})
		}
	}
	if errs := d.result(); errs != nil {
		return nil, errs
	}
	return a, nil
}

// within is what a component is made with, of what all of them share.
func (f *File) within(base component.Env, p *part, store queue.Service) component.Env {
	base.Name, base.Dir, base.Store = p.name, f.Dir(), store
	if base.Outbound == nil {
		base.Outbound = f.Outbound
	}
	return base
}

// env is what a component is made with while only checking.
func (f *File) env(p *part) component.Env {
	return component.Env{Name: p.name, Dir: f.Dir(), Outbound: f.Outbound}
}

// construct makes a component, nil when it has a mistake.
func (d *decoder) construct(p *part, env component.Env) any {
	if p.broken || p.kind == nil {
		return nil
	}
	made, err := p.kind.make(p.config, env)
	if err != nil {
		d.setting(err, p.node, p.path)
		return nil
	}
	if p.decoding == nil {
		return made
	}
	if p.decoding.Header && p.kind.name != "stdin" {
		// Another source may go on in the middle of a stream, where its header is not seen.
		_, at := p.node.lookUp("decoding.header")
		d.at(at, "list the columns", "%s.decoding.header: only a stdin source reads a header line", p.path)
		return nil
	}
	if _, err := decode.ForStream(*p.decoding, env); err != nil {
		d.setting(err, p.node.get("decoding"), join(p.path, "decoding"))
		return nil
	}
	return made
}

// settings are the common keys as the pipeline takes them.
func (c *common) settings() pipeline.Settings {
	r := c.Request
	s := pipeline.Settings{
		Batch: pipeline.Batch{MaxEvents: c.Batch.MaxEvents, MaxBytes: c.Batch.MaxBytes,
			Timeout: seconds(c.Batch.TimeoutSecs)},
		Request: pipeline.Request{
			Concurrency: int(r.Concurrency), Timeout: seconds(r.TimeoutSecs), RetryAttempts: int(r.RetryAttempts),
			RetryInitial: max(seconds(r.RetryInitialBackoffSecs), time.Nanosecond),
			RetryMax:     max(seconds(r.RetryMaxDurationSecs), time.Nanosecond),
			RateNum:      r.RateLimitNum, RateDuration: seconds(r.RateLimitDurationSecs),
		},
		DeadLetter: c.DeadLetter,
	}
	if !c.Pace.IsZero() {
		s.Request.Pace, s.Batch.MaxEvents = c.Pace.Rate, 1
	}
	if r.RetryAttempts == 0 {
		s.Request.RetryAttempts = pipeline.NoRetries
	}
	return s
}

// declared is the index in f.Queues of the queue of that name, -1 when the file does not define it.
func (f *File) declared(text string) int {
	name, err := queue.ParseName(text)
	if err != nil {
		return -1
	}
	name = f.resolve(name)
	for i, q := range f.Queues {
		if f.resolve(q.Name) == name {
			return i
		}
	}
	return -1
}

// drains are the queues that a source takes from.
func drains(p *part) []string {
	var names []string
	for _, w := range p.wants() {
		names = append(names, w.queue.text)
	}
	return names
}

// feeds are the queues that a sink writes into: what it names, and the subscriptions of a topic of that name.
// Those that the file does not declare are not known.
func (f *File) feeds(p *part) []string {
	var feeds []string
	for _, setting := range feeding[p.kind.name] {
		if n := p.node.get(setting); n != nil && n.kind == kindString {
			feeds = append(feeds, f.fedBy(n.text)...)
		}
	}
	return feeds
}

// feeding are the settings of kinds of sinks that name queues which they write into.
var feeding = map[string][]string{
	"queue": {"queue"}, "function": {"answers"},
	"apns": {"feedback", "receipts"}, "fcm": {"feedback", "receipts"}, "webpush": {"feedback", "receipts"},
	"hms": {"feedback", "receipts"}, "wns": {"feedback", "receipts"},
}

// fedBy are the queues that get what is put into the queue or topic of that name.
func (f *File) fedBy(text string) []string {
	feeds := []string{text}
	name, err := queue.ParseName(text)
	if err != nil {
		return feeds
	}
	for _, q := range f.Queues {
		topic, err := queue.ParseName(q.Definition.Topic)
		if err == nil && f.resolve(topic) == f.resolve(name) {
			feeds = append(feeds, q.Name.String())
		}
	}
	return feeds
}

// Define makes the file's topics and queues that the store does not have. A queue that is there with another definition
// is a mistake that shows both (errors.As finds the *queue.DifferentError), unless adopt says to take the file's.
// Mistakes are Errors; anything else is the store's own failure.
func (f *File) Define(ctx context.Context, store queue.Definer, adopt bool) error {
	d := &decoder{&report{file: f.source, secrets: f.secrets}}
	mistake := func(err error, at place, hint, what string) error {
		if errors.Is(err, queue.ErrClosed) || errors.Is(err, queue.ErrUnavailable) || errors.Is(err, queue.ErrNoRoom) ||
			ctx.Err() != nil {
			return fmt.Errorf("define %s: %w", what, err)
		}
		d.at(at, hint, "%v", err).cause = err
		return nil
	}
	for _, t := range f.Topics {
		if _, err := store.CreateTopic(ctx, t.Name, t.Labels); err != nil {
			if err := mistake(err, t.at, "", "topic "+t.Name.Short()); err != nil {
				return err
			}
		}
	}
	for _, q := range f.Queues {
		_, err := store.CreateQueue(ctx, q.Name, q.Definition)
		hint := ""
		if different := (*queue.DifferentError)(nil); errors.As(err, &different) {
			hint = "change the file, or start with --adopt to take what it says"
			if adopt {
				hint = ""
				err = store.AlterQueue(ctx, q.Name, q.Definition)
			}
		}
		if err != nil {
			if err := mistake(err, q.at, hint, "queue "+q.Name.Short()); err != nil {
				return err
			}
		}
	}
	if errs := d.result(); errs != nil {
		return errs
	}
	return nil
}
