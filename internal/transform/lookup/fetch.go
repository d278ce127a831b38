package lookup

import (
	"context"
	"errors"
	"fmt"

	"github.com/hikyaku/hikyaku/flow"
	"github.com/hikyaku/hikyaku/internal/component"
)

// fetch asks the source about keys. A question that is refused for what is in it is asked again by halves, until the
// key to blame stands alone.
func (t *Lookup) fetch(ctx context.Context, keys []string) (map[string]*found, error) {
	answers := make(map[string]*found, len(keys))
	failed := flow.KeyErrors[string]{}
	t.ask(ctx, keys, answers, failed)
	if len(failed) > 0 {
		return answers, failed
	}
	return answers, nil
}

func (t *Lookup) ask(ctx context.Context, keys []string, answers map[string]*found, failed flow.KeyErrors[string]) {
	err := t.source.ask(ctx, keys, func(key string, f *found, err error) {
		if err != nil {
			failed[key] = err
			return
		}
		answers[key] = f
	})
	if err == nil {
		return
	}
	clearAll(keys, answers) // half an answer is none
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = component.RetryError(0, fmt.Errorf("no answer within %v (timeout): %w", t.config.Timeout, err))
	}
	if _, again := component.AsRetry(err); again || len(keys) == 1 || ctx.Err() != nil {
		for _, key := range keys {
			failed[key] = err
		}
		return
	}
	for _, key := range keys {
		delete(failed, key)
	}
	middle := len(keys) / 2
	t.ask(ctx, keys[:middle], answers, failed)
	t.ask(ctx, keys[middle:], answers, failed)
}

func clearAll(keys []string, answers map[string]*found) {
	for _, key := range keys {
		delete(answers, key)
	}
}

// unasked is the error of an answer about a key that nobody asked about: what else is in it cannot be trusted.
var errUnasked = errors.New("the answer has a row for a key that was not asked for")
