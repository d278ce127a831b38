package fanout

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// orders is what campaigns have to say.
type orders struct {
	campaigns *campaign.Registry // nil: nothing
	name      string             // of the transform
}

var (
	errPaused    = errors.New("its campaign is paused")
	errCancelled = errors.New("its campaign is cancelled")
	errForgotten = errors.New("it has the attribute " + campaign.Rows + " of a campaign that is not known here: " +
		"start another one with these rows")
)

// pausedFor is how long the message of a paused campaign sleeps in its queue. A source that knows of campaigns does not
// take it before the campaign goes on.
const pausedFor = time.Second

// check tells whether a campaign may go on: errCancelled, or a component.BackError while it is paused.
func (o *orders) check(id string) error {
	if id == "" {
		return nil
	}
	switch o.campaigns.Stopped().State(id) {
	case campaign.Paused:
		return component.BackError(pausedFor, errPaused)
	case campaign.Cancelled:
		return errCancelled
	}
	return nil
}

// progress counts items that are made, or that all are: see campaign.Registry.Progress. commit is never nil. The
// transform's lock may be held.
func (o *orders) progress(r *run, more int, over bool) (note queue.Note, commit func(), ok bool) {
	if r.campaign != "" {
		note, commit, ok = o.campaigns.Progress(r.campaign, o.name+" "+r.id[:8], more, over)
	}
	if !ok {
		commit = func() {}
	}
	return note, commit, ok
}

// trouble tells why a run does not go on, and, where it is not tried again by itself, what to do: the campaign would
// wait for ever.
func (o *orders) trouble(id string, err error) {
	if id == "" || errors.Is(err, errPaused) {
		return
	}
	if _, again := component.AsRetry(err); !again && !errors.Is(err, context.Canceled) {
		err = fmt.Errorf("%w; its message is a dead letter: put this right and replay it, or cancel the campaign", err)
	}
	o.campaigns.Trouble(id, err)
}

// rows are those that a campaign was given. A message with rows whose campaign is not known, as one from long ago that
// is replayed, is refused: without them, what was for a few would go to all that the source has.
func (o *orders) rows(id string, m *message.Message) (text string, given bool, err error) {
	v, given := m.Attributes.Get(campaign.Rows)
	switch {
	case !given:
		return "", false, nil
	case id == "":
		return "", false, component.RejectError(errForgotten)
	case v.Kind() != message.KindString:
		return "", false, component.RejectError(fmt.Errorf("the attribute %s is no text", campaign.Rows))
	}
	return v.AsString(), true, nil
}

// list gives rows to take, a page at a time, from behind that whose key is after.
func (c *Config) list(rows string, after json.RawMessage, take func([]item) error) error {
	items, err := readList(json.RawMessage(rows))
	if err != nil {
		return fmt.Errorf("the rows of the campaign: what was given %w", err)
	}
	if after != nil {
		for i := range items {
			if key, err := c.cursor(items[i : i+1]); err == nil && bytes.Equal(key, after) {
				items = items[i+1:]
				break
			}
		}
	}
	for len(items) > 0 {
		n := min(len(items), c.Page)
		if err := take(items[:n]); err != nil {
			return err
		}
		items = items[n:]
	}
	return nil
}
