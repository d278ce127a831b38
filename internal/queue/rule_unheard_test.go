package queue

import (
	"errors"
	"testing"
)

func TestAPublishThatNobodyHearsIsToldOrRefused(t *testing.T) {
	for _, required := range []bool{false, true} {
		s := open(t, newMemory(), func(o *Options) { o.Limits.RequireSubscription = required })
		if _, err := s.CreateTopic(t.Context(), news, nil); err != nil {
			t.Fatal(err)
		}
		results, err := s.Publish(t.Context(), news, text("x"))
		st, statsErr := s.TopicStats(t.Context(), news)
		switch {
		case statsErr != nil:
			t.Fatal(statsErr)
		case required && (!errors.Is(err, ErrUnheard) || st.TotalDropped != 0):
			t.Errorf("it is not refused: %v, %+v", err, st)
		case !required && (err != nil || !results[0].Unheard || st.TotalDropped != 1):
			t.Errorf("it is not told: %+v, %v, %+v", results, err, st)
		}
		if _, err := s.CreateQueue(t.Context(), Name{DefaultNamespace, "hears"},
			Definition{Topic: news.String()}); err != nil {
			t.Fatal(err)
		}
		if results, err := s.Publish(t.Context(), news, text("y")); err != nil || results[0].Unheard {
			t.Errorf("%+v, %v", results, err)
		}
	}
}
