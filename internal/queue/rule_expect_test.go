package queue

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
)

// TestRuleAChangeHappensOnlyIfNotesAreAsItExpects refuses changes whole, also where a note is still on its way to the
// journal.
func TestRuleAChangeHappensOnlyIfNotesAreAsItExpects(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		m := newMemory()
		s := open(t, m)
		change := func(body string, is, becomes []byte) error {
			_, _, err := s.Commit(ctx, Change{
				If:    []NoteIs{{Room: "r", Key: "k", Value: is}},
				Puts:  []QueuePut{{To: news, Messages: text(body)}},
				Notes: []Note{{Room: "r", Key: "k", Value: becomes}},
			})
			return err
		}
		for i, c := range []struct {
			is, becomes []byte
			refused     bool
		}{
			{is: []byte("1"), becomes: []byte("2"), refused: true}, // there is none yet
			{is: nil, becomes: []byte("1")},
			{is: nil, becomes: []byte("1"), refused: true},
			{is: []byte{}, becomes: []byte("1"), refused: true},
			{is: []byte("0"), becomes: []byte("1"), refused: true},
			{is: []byte("1"), becomes: []byte{}},
			{is: nil, becomes: []byte("1"), refused: true},
			{is: []byte{}, becomes: nil},
			{is: []byte{}, becomes: nil, refused: true},
			{is: nil, becomes: []byte("4")},
		} {
			if err := change("m"+strconv.Itoa(i), c.is, c.becomes); errors.Is(err, ErrChanged) != c.refused ||
				!c.refused && err != nil {
				t.Errorf("change %d: %v", i, err)
			}
		}
		if got := there(t, s, news); got != "m1 m5 m7 m9" {
			t.Errorf("there are %q", got)
		}
		m.hold(true) // now one is on its way that sets another value, and one behind it that expects the old one
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { first <- change("first", []byte("4"), []byte("5")) }()
		synctest.Wait()
		go func() { second <- change("second", []byte("4"), []byte("6")) }()
		synctest.Wait()
		m.hold(false)
		if err := <-first; err != nil {
			t.Error(err)
		}
		if err := <-second; !errors.Is(err, ErrChanged) {
			t.Errorf("the second of two that expect the same: %v", err)
		}
		if v, _, _ := open(t, m.after(true)).Note(t.Context(), "r", "k"); string(v) != "5" {
			t.Errorf("after a power cut the note is %q", v)
		}
	})
}

func TestConcurrentChangesThatDependOnANoteComeOneByOne(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		s := open(t, newMemory())
		var work sync.WaitGroup
		for range 8 {
			work.Go(func() {
				for done := 0; done < 20; {
					old, there, _ := s.Note(t.Context(), "r", "count")
					n, _ := strconv.Atoi(string(old))
					if !there {
						old = nil
					}
					_, _, err := s.Commit(ctx, Change{
						If:   []NoteIs{{Room: "r", Key: "count", Value: old}},
						Puts: []QueuePut{{To: news, Messages: text(strconv.Itoa(n))}},
						Notes: []Note{{Room: "r", Key: "count", Value: []byte(strconv.Itoa(n + 1))},
							{Room: "r", Key: "other", Value: []byte("x")}},
					})
					switch {
					case err == nil:
						done++
					case !errors.Is(err, ErrChanged):
						t.Error(err)
						return
					}
				}
			})
		}
		work.Wait()
		if n, _, _ := s.Note(t.Context(), "r", "count"); string(n) != "160" {
			t.Errorf("the count is %s", n)
		}
		for i, c := range mustClaim(t, s, ClaimRequest{From: from(news), Max: 1000}) {
			if string(c.Message.Body) != strconv.Itoa(i) {
				t.Fatalf("message %d is %s", i, c.Message.Body)
			}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.state.pending) != 0 {
			t.Errorf("%d notes are on their way for ever", len(s.state.pending))
		}
	})
}

// TestAChangeWaitsForTheLastOfTheNotesThatAreOnTheirWay lets the first of two groups with one note become durable, and
// the second not yet.
func TestAChangeWaitsForTheLastOfTheNotesThatAreOnTheirWay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		m := newMemory()
		s := open(t, m)
		m.hold(true)
		var work sync.WaitGroup
		for _, v := range []string{"1", "2"} {
			work.Go(func() {
				if err := s.SetNotes(ctx, Note{Room: "r", Key: "k", Value: []byte(v)}); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		m.AnswerFirst()
		if v, _, _ := s.Note(t.Context(), "r", "k"); string(v) != "1" {
			t.Fatalf("the note is %q", v)
		}
		answer := make(chan error, 1)
		go func() {
			_, _, err := s.Commit(ctx, Change{If: []NoteIs{{Room: "r", Key: "k", Value: []byte("1")}},
				Notes: []Note{{Room: "r", Key: "other", Value: []byte("x")}}})
			answer <- err
		}()
		synctest.Wait()
		select {
		case err := <-answer:
			t.Errorf("it is answered before the second is durable: %v", err)
			answer <- err
		default:
		}
		m.hold(false)
		if err := <-answer; !errors.Is(err, ErrChanged) {
			t.Errorf("it answers %v", err)
		}
		work.Wait()
	})
}

// TestRuleADefinitionHappensOnlyIfNotesAreAsItExpects: also where a note is still on its way to the journal.
func TestRuleADefinitionHappensOnlyIfNotesAreAsItExpects(t *testing.T) {
	is := func(value string) NoteIs { return NoteIs{Room: "r", Key: "k", Value: []byte(value)} }
	for name, define := range map[string]func(context.Context, Definer) error{
		"a queue": func(ctx context.Context, w Definer) error {
			_, err := w.CreateQueue(ctx, Name{"default", "new"}, Definition{})
			return err
		},
		"another definition": func(ctx context.Context, w Definer) error {
			return w.AlterQueue(ctx, news, Definition{MaxAttempts: 7})
		},
		"a topic": func(ctx context.Context, w Definer) error {
			_, err := w.CreateTopic(ctx, Name{"default", "topic"}, nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				ctx, m := context.Background(), newMemory()
				s := open(t, m)
				if _, err := s.CreateQueue(ctx, news, Definition{}); err != nil {
					t.Fatal(err)
				}
				if err := s.SetNotes(ctx, Note(is("1"))); err != nil {
					t.Fatal(err)
				}
				m.hold(true)
				first, late, early := make(chan error, 1), make(chan error, 1), make(chan error, 1)
				go func() { first <- s.SetNotes(ctx, Note(is("2"))) }()
				synctest.Wait()
				go func() { late <- define(ctx, s.Noted(Note(is("3"))).If(is("1"))) }()
				synctest.Wait()
				m.hold(false)
				if err := <-first; err != nil {
					t.Error(err)
				}
				if err := <-late; !errors.Is(err, ErrChanged) {
					t.Errorf("a definition that expects what a note was: %v", err)
				}
				go func() { early <- define(ctx, s.Noted(Note(is("3"))).If(is("2"))) }()
				if err := <-early; err != nil {
					t.Errorf("a definition that expects what the note is: %v", err)
				}
				if v, _, _ := open(t, m.after(true)).Note(ctx, "r", "k"); string(v) != "3" {
					t.Errorf("after a power cut the note is %q", v)
				}
			})
		})
	}
}
