package jq

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/itchyny/gojq"

	"github.com/hikyaku/hikyaku/internal/codec"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// Config are the settings of a jq.
type Config struct {
	Program string `yaml:"program" required:"true" doc:"The jq program that makes the new bodies. Each output is a message; none drops the message."`
	// Attributes is a string, a map[string]string, a map[string]any of strings or nil.
	Attributes any           `yaml:"attributes" doc:"Makes attributes of each new body: names with a jq program each, or one program for an object. null takes an attribute away; those that are not named stay."`
	Raw        bool          `yaml:"raw" doc:"An output that is a string becomes the body as it is, without quotes."`
	Timeout    time.Duration `yaml:"timeout" default:"10s" doc:"How long the programs may work on one message."`
	MaxOutputs int           `yaml:"max_outputs" min:"1" default:"10000" doc:"How many messages one message may become."`
}

// The defaults of Config, and the bound on the bodies made of one message, in bytes together.
const (
	DefaultTimeout    = 10 * time.Second
	DefaultMaxOutputs = 10_000
	MaxOutputBytes    = 64 << 20
)

// New checks the settings and compiles the programs. Errors are *component.SettingError with the byte where a
// program went wrong.
func New(c Config, _ component.Env) (component.Transform, error) {
	switch {
	case c.Timeout < 0:
		return nil, component.Setting("timeout", fmt.Errorf("%v is negative", c.Timeout))
	case c.MaxOutputs < 0:
		return nil, component.Setting("max_outputs", fmt.Errorf("%d is negative", c.MaxOutputs))
	case c.Program == "":
		return nil, &component.SettingError{Setting: "program", Offset: -1, Err: errors.New("there is no program"),
			Hint: `"." leaves bodies as they are`}
	}
	t := &transform{config: c}
	if t.config.Timeout == 0 {
		t.config.Timeout = DefaultTimeout
	}
	if t.config.MaxOutputs == 0 {
		t.config.MaxOutputs = DefaultMaxOutputs
	}
	ps, err := compilePrograms(c)
	if err != nil {
		return nil, err
	}
	t.compiled.Store(ps)
	t.short = newShortcut(t.config, ps)
	return t, nil
}

// programs are a Config's programs, compiled.
type programs struct {
	body       *gojq.Code
	attributes attributes
}

func compilePrograms(c Config) (ps *programs, err error) {
	ps = &programs{}
	if ps.body, err = compile("program", c.Program); err != nil {
		return nil, err
	}
	if ps.attributes, err = compileAttributes(c.Attributes); err != nil {
		return nil, err
	}
	return ps, nil
}

type transform struct {
	config   Config // with its defaults
	compiled atomic.Pointer[programs]
	served   atomic.Uint64 // messages, for renewal
	short    *shortcut     // nil: the programs are not simple enough
}

// renewal is how many messages one compilation serves. Compiled code remembers every regular expression that it has
// seen as long as it lives; with expressions that come out of messages that would be memory without end.
const renewal = 10_000

func (t *transform) programs() *programs {
	if t.served.Add(1)%renewal == 0 {
		if fresh, err := compilePrograms(t.config); err == nil { // it compiled before, so it does again
			t.compiled.Store(fresh)
		}
	}
	return t.compiled.Load()
}

func (t *transform) Transform(ctx context.Context, m *message.Message, emit component.Emit) error {
	if t.short != nil {
		if out, ok := t.short.transform(m); ok {
			return t.emit(ctx, out, emit)
		}
	}
	body, err := codec.Tree(m.Body)
	if err != nil {
		return fmt.Errorf("jq reads JSON bodies: %w", err)
	}
	limited, cancel := context.WithTimeout(ctx, t.config.Timeout)
	defer cancel()
	if err := t.run(limited, m, body, emit); err != nil {
		return t.explain(ctx, err)
	}
	return nil
}

// emit sends what the short cut made, as long as it is wanted.
func (t *transform) emit(ctx context.Context, out []*message.Message, emit component.Emit) error {
	for _, o := range out {
		if ctx.Err() != nil {
			break
		}
		emit("", o)
	}
	if err := ctx.Err(); err != nil {
		return t.explain(ctx, err)
	}
	return nil
}

// explain tells the two ends of a context apart: the pipeline's is no fault of the message.
func (t *transform) explain(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return component.RetryError(0, fmt.Errorf("jq was stopped: %w", ctx.Err()))
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("jq did not end within %v (raise timeout if the program is meant to take so long): %w",
			t.config.Timeout, err)
	default:
		return err
	}
}

func (t *transform) run(ctx context.Context, m *message.Message, body any, emit component.Emit) error {
	values := variableValues(m, body)
	ps := t.programs()
	outputs := iterate(ctx, ps.body, body, values)
	size := 0
	for n := 1; ; n++ {
		v, ok, err := outputs.next()
		if err != nil {
			return fmt.Errorf("jq: %w", err)
		}
		if !ok {
			return nil
		}
		if n > t.config.MaxOutputs {
			return fmt.Errorf("jq: the program has more than %d outputs for one message (raise max_outputs if it is "+
				"meant to)", t.config.MaxOutputs)
		}
		out := m.Clone()
		out.Row = nil // the columns that the old body stood for
		if out.Body, err = t.body(v); err != nil {
			return fmt.Errorf("jq: output %d: %w", n, err)
		}
		if size += len(out.Body); size > MaxOutputBytes {
			return fmt.Errorf("jq: the outputs for one message take more than %d bytes", MaxOutputBytes)
		}
		if err := ps.attributes.set(ctx, out, v, values); err != nil {
			return err
		}
		emit("", out)
	}
}

func (t *transform) body(v any) ([]byte, error) {
	if s, ok := v.(string); ok && t.config.Raw {
		return []byte(s), nil
	}
	return marshal(v)
}
