package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/message"
)

// What is published to a topic is planned and applied once for each subscription, and so is a dead letter: that is done
// under the lock, in a group that is there whole or not at all. So copies are bounded as the messages of a put are. One
// message always passes: the number of subscriptions of a topic is bounded by itself.

// fewCopies refuses a change that would make too many copies. The lock is held, and nothing is lacking.
func (s *Store) fewCopies(p *prepared) error {
	messages, copies := 0, 0
	for i := range p.puts {
		if t := p.puts[i].topic; t != nil {
			n := len(p.change.Puts[i].Messages)
			messages, copies = messages+n, copies+n*t.subscribed.Len()
		}
	}
	for _, d := range p.dead {
		messages, copies = messages+1, copies+len(d.copies)
	}
	return s.limits.tooMany(messages, copies)
}

// PublishEach is Publish for messages that need not be there all at once: where a topic has many subscriptions they go
// in several groups, one after the other, in their order. After an error the first of them may have been published.
func (s *Store) PublishEach(ctx context.Context, n Name, msgs []message.Message) ([]PutResult, error) {
	var results []PutResult
	for {
		k := s.publishable(n, len(msgs))
		some, err := s.Publish(ctx, n, msgs[:k])
		var many *CopiesError
		switch {
		case errors.As(err, &many) && k > 1:
			continue // more subscriptions have come
		case err != nil:
			return nil, err
		case k == len(msgs) && results == nil:
			return some, nil
		}
		results = append(results, some...)
		if msgs = msgs[k:]; len(msgs) == 0 {
			return results, nil
		}
	}
}

// publishable is how many of so many messages may be published in one group now.
func (s *Store) publishable(n Name, messages int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.state.topicNames[s.Resolve(n)]
	if t == nil || t.subscribed.Len() == 0 {
		return messages
	}
	return min(messages, max(1, s.limits.Copies/t.subscribed.Len()))
}

// mayHaveMore refuses one more subscription of a topic that has as many as it may have.
func (s *Store) mayHaveMore(t *topicState) error {
	if n := t.subscribed.Len() + t.coming; n >= s.limits.Subscriptions {
		return fmt.Errorf("%w: topic %s has %d subscriptions, the limit is %d: delete some, or raise "+
			"limits.subscriptions", ErrDefinition, t.name.Short(), n, s.limits.Subscriptions)
	}
	return nil
}
