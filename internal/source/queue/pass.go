package queue

import (
	"context"
	"strings"

	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// passes are what the source wants while campaigns are paused: their messages stay in the queue, where they cost
// nothing and are in nobody's way. Run alone uses it, but for unfollow.
type passes struct {
	campaigns *campaign.Registry // nil: there are none
	unfollow  func()
	of        *campaign.Stopped // for which from was made
	from      []queue.From
}

// wanted is what to claim now.
func (s *Source) wanted(ctx context.Context) []queue.From {
	p := &s.passes
	now := p.campaigns.Stopped()
	if now == nil || len(now.Paused) == 0 {
		return s.from
	}
	if now != p.of {
		p.of, p.from = now, s.without(ctx, now.Paused)
	}
	return p.from
}

// without is what the source wants but messages of campaigns. Where a queue cannot be asked so, as one whose columns
// have no such name, it is all of its messages: the transform campaign gives those back.
func (s *Source) without(ctx context.Context, campaigns []string) []queue.From {
	from := make([]queue.From, len(s.from))
	copy(from, s.from)
	list := "'" + strings.Join(campaigns, "', '") + "'"
	others := campaign.Attribute + " is null or not (" + campaign.Attribute + " in (" + list + "))"
	for i, w := range s.wants {
		text := others
		if w.where != "" {
			text = "(" + w.where + ") and (" + others + ")"
		}
		if where, err := s.store.Parse(ctx, w.name, text); err == nil {
			from[i].Where = where
		}
	}
	return from
}
