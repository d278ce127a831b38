// Package filter is the transform that lets the messages through that meet a condition:
//
//	transforms:
//	  urgent:
//	    type: filter
//	    inputs: [fields]
//	    where: priority >= 3 and user.country = 'jp'
//
// The others are dropped: by the user's choice, so they count as delivered. Names in the condition are attributes, then
// fields of a JSON body (fields of fields with dots), then id, key, time, enqueued_at and body; see codec.Matcher.
// Whoever wants the others too uses a route.
package filter

import (
	"context"
	"errors"

	"github.com/hikyaku/hikyaku/internal/codec"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
)

// Config are the settings of a filter.
type Config struct {
	// Where is in the language of package condition.
	Where string `yaml:"where" required:"true" doc:"The condition of the messages that pass; the others are dropped. Names are attributes, then fields of a JSON body, then id, key, time, enqueued_at and body."`
}

// New checks the settings. Errors are *component.SettingError; one about the condition holds the byte where it went
// wrong and wraps a *condition.Error.
func New(c Config, _ component.Env) (component.Transform, error) {
	where, err := condition.Parse(c.Where)
	if err != nil {
		setting := &component.SettingError{Setting: "where", Offset: -1, Err: err}
		var bad *condition.Error
		if errors.As(err, &bad) {
			setting.Offset = bad.Offset
		}
		return nil, setting
	}
	return &transform{codec.NewMatcher(where)}, nil
}

type transform struct{ matcher *codec.Matcher }

func (t *transform) Transform(_ context.Context, m *message.Message, emit component.Emit) error {
	if t.matcher.Subject(m).Match(0) {
		emit("", m.Clone())
	}
	return nil
}
