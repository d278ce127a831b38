package queue

import (
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/message"
)

// A message has an id, a key, attempts and so on whether or not it has attributes of these names: AttributeName tells
// them apart.
func TestAMarkedNameIsAnAttributeAndNothingElse(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		ctx := t.Context()
		topic := Name{DefaultNamespace, "t"}
		if _, err := s.CreateTopic(ctx, topic, nil); err != nil {
			t.Fatal(err)
		}
		marked := message.Attributes{}
		for _, name := range []string{"@x", "attempts", "body", "enqueued_at", "id", "key", "lang"} {
			marked.Set(name, message.String("given"))
			if _, err := s.CreateQueue(ctx, Name{DefaultNamespace, "sub-" + strings.TrimPrefix(name, "@")},
				Definition{Topic: "t", Filter: "`" + AttributeName(name) + "` = 'given'"}); err != nil {
				t.Fatal(name, err)
			}
		}
		if AttributeName("lang") != "lang" {
			t.Errorf("lang is named %s", AttributeName("lang"))
		}
		msgs := []message.Message{{Body: []byte("plain"), Key: "given"},
			{Body: []byte("marked"), Key: "given", Attributes: marked}}
		if _, err := s.Publish(ctx, topic, msgs); err != nil {
			t.Fatal(err)
		}
		mustPut(t, s, news, msgs...)
		for _, name := range []string{"@x", "attempts", "body", "enqueued_at", "id", "key", "lang"} {
			sub := Name{DefaultNamespace, "sub-" + strings.TrimPrefix(name, "@")}
			if got := bodies(mustClaim(t, s, ClaimRequest{From: from(sub), Max: 9})); got != "marked" {
				t.Errorf("the filter on %s let %q through", name, got)
			}
			for where, want := range map[string]int{"is not null": 1, "is null": 1, "= 'given'": 1} {
				e, err := s.Parse(t.Context(), news, "`"+AttributeName(name)+"` "+where)
				if err != nil {
					t.Fatal(err)
				}
				p, err := s.Peek(ctx, news, PeekRequest{Where: e})
				if err != nil || len(p) != want {
					t.Errorf("%s %s: %d messages, %v; want %d", name, where, len(p), err, want)
				}
			}
		}
	})
}
