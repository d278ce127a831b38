package queue

import (
	"context"
	"errors"
	"testing"
)

// TestADefinitionAndItsNotesAreOne: after a refusal, whatever was too large, there is neither; after a crash both.
func TestADefinitionAndItsNotesAreOne(t *testing.T) {
	labels := map[string]string{"a": "b"}
	lease := func(s *Store, n Name) int64 {
		d, _, err := s.Definition(t.Context(), n)
		if err != nil {
			return -1
		}
		return int64(d.Lease)
	}
	for name, c := range map[string]struct {
		define func(context.Context, Definer) error
		there  func(*Store) bool
	}{
		"a queue": {func(ctx context.Context, w Definer) error {
			_, err := w.CreateQueue(ctx, Name{"default", "new"}, Definition{Lease: 7})
			return err
		}, func(s *Store) bool { return lease(s, Name{"default", "new"}) == 7 }},
		"another definition": {func(ctx context.Context, w Definer) error {
			return w.AlterQueue(ctx, news, Definition{Lease: 7})
		}, func(s *Store) bool { return lease(s, news) == 7 }},
		"a topic": {func(ctx context.Context, w Definer) error {
			_, err := w.CreateTopic(ctx, Name{"default", "new"}, nil)
			return err
		}, func(s *Store) bool { return must(s.HasTopic(t.Context(), Name{"default", "new"})) }},
		"other labels": {func(ctx context.Context, w Definer) error {
			_, err := w.CreateTopic(ctx, Name{"default", "topic"}, labels)
			return err
		}, func(s *Store) bool {
			st, err := s.TopicStats(t.Context(), Name{"default", "topic"})
			return err == nil && len(st.Labels) == 1
		}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				ctx, m := t.Context(), newMemory()
				s := open(t, m, withMemory(60_000))
				if _, err := s.CreateQueue(ctx, news, Definition{}); err != nil {
					t.Fatal(err)
				}
				if _, err := s.CreateTopic(ctx, Name{"default", "topic"}, nil); err != nil {
					t.Fatal(err)
				}
				whole := func(s *Store, want bool) {
					t.Helper()
					if _, noted, _ := s.Note(t.Context(), "room", "beside"); noted != want || c.there(s) != want {
						t.Errorf("noted: %v, defined: %v; both should be %v", noted, c.there(s), want)
					}
				}
				if err := c.define(ctx, s.Noted(sized("beside", 60_000))); !errors.Is(err, ErrQueueFull) {
					t.Errorf("a note that is too large for the memory: %v", err)
				}
				if err := c.define(ctx, s.Noted(sized("beside", MaxNoteBytes+1))); !errors.Is(err, ErrTooLarge) {
					t.Errorf("a note that is too large: %v", err)
				}
				whole(s, false)
				if err := c.define(ctx, s.Noted(sized("beside", 10)).If(NoteIs(sized("beside", 9)))); !errors.Is(err,
					ErrChanged) {
					t.Errorf("another note is expected: %v", err)
				}
				whole(s, false)
				m.refuse(true)
				if err := c.define(ctx, s.Noted(sized("beside", 10))); err == nil {
					t.Error("the journal refused it, and there was no error")
				}
				m.refuse(false)
				whole(s, false)
				if n := s.state.reservedResident; n != 0 {
					t.Errorf("%d bytes stay reserved", n)
				}
				whole(open(t, m.after(true)), false)
				for range 2 { // the second one finds the definition there
					if err := c.define(ctx, s.Noted(sized("beside", 10))); err != nil {
						t.Fatal(err)
					}
					whole(s, true)
					whole(open(t, m.after(true)), true)
					if err := s.SetNotes(ctx, Note{"room", "beside", nil}); err != nil {
						t.Fatal(err)
					}
				}
			})
		})
	}
}
