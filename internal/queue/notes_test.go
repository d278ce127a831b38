package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

// sized is a note of so many bytes.
func sized(key string, size int) Note { return Note{"room", key, bytes.Repeat([]byte{'n'}, size)} }

// fillWithNotes keeps notes of 10,000 bytes until one is refused, and returns how many there are.
func fillWithNotes(t *testing.T, s *Store) (n int) {
	t.Helper()
	for ; n < 1000; n++ {
		err := s.SetNotes(t.Context(), sized(fmt.Sprintf("filling%d", n), 10_000))
		var full *FullError
		if errors.As(err, &full) && errors.Is(err, ErrQueueFull) && full.Bound == "bytes of memory" &&
			full.Name == (Name{}) {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Fatalf("%d notes of 10,000 bytes were kept with a limit of %d", n, s.limits.Memory)
	return n
}

// anAttribute is a message that takes so many bytes of memory.
func anAttribute(size int) []message.Message {
	m := message.Message{}
	m.Attributes.Set("a", message.String(strings.Repeat("a", size)))
	return []message.Message{m}
}

func withMemory(limit int64) func(*Options) {
	return func(o *Options) { o.Limits.Memory = limit }
}

func TestNotesCountInTheLimitOfMemory(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx, q := t.Context(), Name{"default", "q"}
		m := newMemory()
		s := open(t, m, withMemory(500_000))
		n := fillWithNotes(t, s)
		if n < 40 || n > 50 {
			t.Errorf("%d notes of 10,000 bytes were kept", n)
		}
		if _, err := s.Put(ctx, q, anAttribute(10_000)); !errors.Is(err, ErrQueueFull) {
			t.Errorf("a message was put beside them: %v", err)
		}
		_, _, err := s.Commit(ctx, Change{Notes: []Note{sized("filling0", 20_000)}})
		if !errors.Is(err, ErrQueueFull) {
			t.Errorf("one grew: %v", err)
		}
		for _, c := range []struct {
			what  string
			notes []Note
		}{
			{"one as large in its place", []Note{sized("filling0", 10_000)}},
			{"one in the place of two", []Note{sized("new", 15_000), {"room", "filling0", nil},
				{"room", "filling1", nil}}},
			{"what was never there is forgotten", []Note{{"room", "unknown", nil}}},
			{"one that is smaller", []Note{sized("new", 1)}},
		} {
			if err := s.SetNotes(ctx, c.notes...); err != nil {
				t.Errorf("%s: %v", c.what, err)
			}
		}
		if _, err := s.Put(ctx, q, anAttribute(10_000)); err != nil {
			t.Errorf("the notes that went made no room: %v", err)
		}
	})
}

func TestNotesUnderWayCountInTheLimitOfMemory(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m, withMemory(50_000))
		m.hold(true)
		first := make(chan error)
		go func() { first <- s.SetNotes(t.Context(), sized("one", 30_000)) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.SetNotes(ctx, sized("two", 30_000)); !errors.Is(err, ErrQueueFull) {
			t.Error("beside one that is under way:", err)
		}
		m.hold(false)
		if err := <-first; err != nil {
			t.Error(err)
		}
		if err := s.SetNotes(t.Context(), sized("three", 15_000)); err != nil {
			t.Error("what was under way counts twice:", err)
		}
	})
}

func TestNotesOfAnEarlierStartCountInTheLimitOfMemory(t *testing.T) {
	for _, checkpoint := range []bool{false, true} {
		t.Run(fmt.Sprintf("from a checkpoint: %v", checkpoint), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				m := newMemory()
				s := open(t, m, withMemory(500_000))
				fillWithNotes(t, s)
				if checkpoint {
					if err := s.checkpoint(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				again := open(t, m.after(true), withMemory(500_000))
				if err := again.SetNotes(t.Context(), sized("new", 10_000)); !errors.Is(err,
					ErrQueueFull) {
					t.Error(err)
				}
				if err := again.SetNotes(t.Context(), Note{"room", "filling0", nil}); err != nil {
					t.Error(err)
				}
				if err := again.SetNotes(t.Context(), sized("new", 10_000)); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestWorkGoesOnWhenNotesFillMemory does what empties a store that is full.
func TestWorkGoesOnWhenNotesFillMemory(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx, q := t.Context(), Name{"default", "q"}
		s := open(t, newMemory(), withMemory(500_000))
		if _, err := s.Put(ctx, q, anAttribute(10_000)); err != nil {
			t.Fatal(err)
		}
		fillWithNotes(t, s)
		if err := s.KeepNotes(ctx, sized("how far a source is", 10_000)); err != nil {
			t.Error(err)
		}
		claims, err := s.Claim(ctx, ClaimRequest{From: []From{{Queue: q}}})
		if err != nil || len(claims) != 1 {
			t.Fatal(claims, err)
		}
		_, settled, err := s.Commit(ctx, Change{Settles: []Settlement{{Token: claims[0].Token, Kind: Done}},
			Notes: []Note{sized("what became of it", 10_000)}})
		if err != nil || settled[0] != nil {
			t.Error(err, settled)
		}
		if err := s.SetNotes(ctx, sized("another", 10_000)); !errors.Is(err, ErrQueueFull) {
			t.Error("what the work has noted does not count:", err)
		}
	})
}
