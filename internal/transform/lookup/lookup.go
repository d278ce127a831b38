package lookup

import (
	"context"
	"errors"
	"fmt"

	"github.com/hikyaku/hikyaku/flow"
	"github.com/hikyaku/hikyaku/internal/codec"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// Lookup fetches what messages need. It may be used by several goroutines at once.
type Lookup struct {
	config  Config
	batch   int
	many    int // groups at once
	source  source
	fields  *codec.Fields // of the question's parameters
	keyAt   int           // which of them says what to look for; -1: none alone
	missing *found        // what stands for nothing; nil: it is rejected
	loader  *flow.Loader[string, *found]
}

// New checks the settings. Errors are *component.SettingError.
func New(c Config, env component.Env) (component.GroupTransform, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Into == "" {
		c.Into = env.Name
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	t := &Lookup{config: c, batch: c.Batch, many: c.concurrency(), keyAt: -1}
	var err error
	if t.source, err = newSource(&t.config, env); err != nil {
		return nil, err
	}
	names := t.source.names()
	for i, name := range names {
		if name == nameKey && c.Key != "" {
			names[i], t.keyAt = c.Key, i
		}
	}
	t.fields = codec.NewFields(names...)
	if err := t.sizes(); err != nil {
		return nil, err
	}
	if c.OnMissing == missingPass || c.OnMissing == missingDefault {
		if t.missing, err = standIn(&c); err != nil {
			return nil, component.Setting("default", err)
		}
	}
	return t, nil
}

// sizes settles how many keys a question has.
func (t *Lookup) sizes() error {
	most, usual := t.source.most()
	switch {
	case t.batch == 0:
		t.batch = usual
	case t.batch > 1 && most == 1:
		return &component.SettingError{Setting: "batch", Offset: -1,
			Err:  fmt.Errorf("is %d, and the question is about one key", t.batch),
			Hint: "write :keys (of http {keys}) where it takes many"}
	}
	return nil
}

// Grouping is as many messages as a question has keys, and as many groups as there are questions at once.
func (t *Lookup) Grouping() component.Grouping {
	return component.Grouping{MaxEvents: t.batch, Concurrency: t.many, Ordered: t.config.Order != orderAny}
}

// Start lets the source look whether it understands the question.
func (t *Lookup) Start(ctx context.Context) error {
	if err := t.source.start(ctx); err != nil {
		return err
	}
	t.loader = flow.NewLoader(flow.LoaderConfig[string, *found]{
		Fetch:   func(ctx context.Context, keys []string) (map[string]*found, error) { return t.fetch(ctx, keys) },
		MaxKeys: t.batch, Concurrency: t.many, Timeout: t.config.Timeout,
		CacheSize: t.config.Cache.Size, TTL: t.config.Cache.TTL,
	})
	return nil
}

// Close ends what is being fetched, for which nobody waits any more, and lets go of the source.
func (t *Lookup) Close() error {
	if t.loader != nil {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		if err := t.loader.Shutdown(ended); err != nil && !errors.Is(err, context.Canceled) {
			return errors.Join(err, t.source.close())
		}
	}
	return t.source.close()
}

// TransformGroup looks up what the messages of a group need.
func (t *Lookup) TransformGroup(ctx context.Context, ms []*message.Message, emit component.EmitFor) []error {
	keys := make([]string, len(ms))
	var asked []string
	for i, m := range ms {
		values := t.fields.Read(m)
		if t.keyAt >= 0 && values[t.keyAt].IsNull() {
			continue // nothing is like null
		}
		keys[i] = encodeKey(values)
		asked = append(asked, keys[i])
	}
	answers, err := t.loader.LoadAll(ctx, asked...)
	var failed flow.KeyErrors[string]
	if err != nil && !errors.As(err, &failed) {
		failed = nil
	}
	errs := make([]error, len(ms))
	for i, m := range ms {
		f, why := answers[keys[i]], failed[keys[i]]
		switch {
		case keys[i] == "":
			why = flow.ErrMissing
		case f == nil && why == nil:
			why = err
		}
		if errors.Is(why, flow.ErrMissing) {
			f, why = t.missing, t.absent(keys[i])
		}
		if why == nil || f != nil {
			var out *message.Message
			if out, why = t.fill(m, f); why == nil {
				emit(i, "", out)
			}
		}
		errs[i] = t.judge(ctx, why)
	}
	return errs
}

// absent is the error of a message for which there is nothing; nil where it may pass.
func (t *Lookup) absent(key string) error {
	switch {
	case t.missing != nil:
		return nil
	case key == "":
		return fmt.Errorf("the message has no %s to look for", t.config.Key)
	}
	return fmt.Errorf("nothing was found for %s", t.describe(key))
}

// judge tells the pipeline whether an error may pass.
func (t *Lookup) judge(ctx context.Context, err error) error {
	var late *flow.TimeoutError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return component.RetryError(0, err)
	case t.config.OnError == errorReject:
		return component.RejectError(errors.New(err.Error())) // it must not be found to be a retry
	case errors.As(err, &late):
		return component.RetryError(0, fmt.Errorf("no answer within %v (timeout): %w", t.config.Timeout, err))
	case errors.Is(err, flow.ErrClosed), errors.Is(err, context.Canceled):
		return component.RetryError(0, err)
	}
	return err
}
