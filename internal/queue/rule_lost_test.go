package queue

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	inmemory "github.com/hikyaku/hikyaku/internal/journal/memory"
	"github.com/hikyaku/hikyaku/internal/message"
)

// TestRuleWhoHasLostTheLogAcknowledgesHandsOutAndSettlesNothing opens the log of a store with a greater term, and goes
// on with it. The first store answers nothing more, and nothing that it was asked for is in the log.
func TestRuleWhoHasLostTheLogAcknowledgesHandsOutAndSettlesNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := t.Context()
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, text("held", "ready", "more")...)
		held := mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Hour})
		if err := s.SetNotes(ctx, Note{Room: "room", Key: "key", Value: []byte("x")}); err != nil {
			t.Fatal(err)
		}
		waiting := make(chan error, 1)
		go func() {
			_, err := s.Claim(ctx, ClaimRequest{From: from(holdsName("empty")), Wait: time.Hour})
			waiting <- err
		}()
		synctest.Wait()
		m.hold(true)
		pending := make(chan error, 2)
		go func() { _, err := s.Put(ctx, news, text("on its way")); pending <- err }()
		go func() { _, err := s.Settle(ctx, []Settlement{{Token: held[0].Token}}); pending <- err }()
		synctest.Wait()
		next := mustOpenTerm(t, m, 2)
		end := len(m.Groups())
		m.hold(false)
		for what, answers := range map[string]chan error{"put on its way": pending, "settlement": pending,
			"waiting claim": waiting} {
			if err := <-answers; !errors.Is(err, ErrUnavailable) || !errors.Is(err, journal.ErrLost) {
				t.Errorf("%s: %v", what, err)
			}
		}
		synctest.Wait()
		asked := whatIsAsked(held[0].Token)
		for i := range reflect.TypeFor[*Store]().NumMethod() {
			name := reflect.TypeFor[*Store]().Method(i).Name
			if asked[name] == nil && !slices.Contains(neverRefused, name) {
				t.Errorf("nobody asks for %s: add it to whatIsAsked", name)
			}
		}
		for what, ask := range asked {
			if err := ask(ctx, s); !errors.Is(err, ErrUnavailable) || !errors.Is(err, journal.ErrLost) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if n := len(m.Groups()); n != end {
			t.Errorf("%d groups came into the log", n-end)
		}
		s2 := open(t, next)
		if st := must(s2.Stats(ctx, news)); st.Ready != 2 || st.Claimed != 1 {
			t.Errorf("the next owner has %+v", st)
		}
		settle(t, s2, Settlement{Token: held[0].Token}) // the claim goes on
	})
}

// TestRuleAClaimThatWasWrittenBeforeTheLogWasLostIsNotHandedOut loses the log between the record of a claim and the
// answer.
func TestRuleAClaimThatWasWrittenBeforeTheLogWasLostIsNotHandedOut(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, text("x")...)
		m.BeforeFlush(m.Depose)
		c, err := s.Claim(t.Context(), ClaimRequest{From: from(news)})
		if len(c) > 0 || !errors.Is(err, ErrUnavailable) || !errors.Is(err, journal.ErrLost) {
			t.Errorf("%q is handed out: %v", bodies(c), err)
		}
		if g := m.last(); len(g.Records) != 1 || g.Records[0].Life != journal.Lasting {
			t.Errorf("the last group of the log is %+v: want the put", g)
		}
	})
}

// TestRuleAClaimIsNotRefusedByOneWhoHasLostTheLog loses the log before a store knows of it, as a process that was
// stopped for long does: the claim that it does not know may be one of the next owner's, who holds to it.
func TestRuleAClaimIsNotRefusedByOneWhoHasLostTheLog(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, text("x")...)
		c := mustClaim(t, s, ClaimRequest{From: from(news)})
		unknown := c[0].Token
		unknown.Epoch++
		if errs, err := s.Settle(t.Context(), []Settlement{{Token: unknown}}); err != nil ||
			!errors.Is(errs[0], ErrStale) {
			t.Errorf("its owner says of a claim that it does not know: %v %v", errs, err)
		}
		m.BeforeFlush(m.Depose)
		if errs, err := s.Settle(t.Context(), []Settlement{{Token: unknown}}); !errors.Is(err, ErrUnavailable) ||
			!errors.Is(err, journal.ErrLost) {
			t.Errorf("one who has lost the log says of it: %v %v", errs, err)
		}
	})
}

func mustOpenTerm(t *testing.T, m *memory, term uint64) *memory {
	t.Helper()
	j, err := m.Open(inmemory.Options{Durability: journal.Fsync, Term: term, KeepAll: true})
	if err != nil {
		t.Fatal(err)
	}
	return &memory{j, m.Disk}
}

// neverRefused are the exported methods of a Store that answer always.
var neverRefused = []string{"Close", "Configured", "JournalStats", "NewOwner", "Noted", "Resolve"}

// whatIsAsked are the others.
func whatIsAsked(tok Token) map[string]func(ctx context.Context, s *Store) error {
	one := from(news)
	other := Name{DefaultNamespace, "other"}
	return map[string]func(ctx context.Context, s *Store) error{
		"Put": func(ctx context.Context, s *Store) error {
			_, err := s.Put(ctx, news, text("x"))
			return err
		},
		"Publish": func(ctx context.Context, s *Store) error {
			_, err := s.Publish(ctx, news, text("x"))
			return err
		},
		"PublishEach": func(ctx context.Context, s *Store) error {
			_, err := s.PublishEach(ctx, news, []message.Message{{}})
			return err
		},
		"Claim": func(ctx context.Context, s *Store) error {
			_, err := s.Claim(ctx, ClaimRequest{From: one})
			return err
		},
		"Commit": func(ctx context.Context, s *Store) error {
			_, _, err := s.Commit(ctx, Change{Notes: []Note{{Room: "r", Key: "k"}}})
			return err
		},
		"Settle": func(ctx context.Context, s *Store) error {
			_, err := s.Settle(ctx, []Settlement{{Token: tok}})
			return err
		},
		"Extend": func(ctx context.Context, s *Store) error {
			_, err := s.Extend(ctx, []Token{tok}, time.Minute)
			return err
		},
		"Peek": func(ctx context.Context, s *Store) error {
			_, err := s.Peek(ctx, news, PeekRequest{})
			return err
		},
		"Has": func(ctx context.Context, s *Store) error { _, err := s.Has(ctx, news); return err },
		"HasSnapshot": func(ctx context.Context, s *Store) error {
			_, err := s.HasSnapshot(ctx, other)
			return err
		},
		"TookFrom": func(ctx context.Context, s *Store) error {
			_, _, err := s.TookFrom(ctx, news, "a source", []uint64{1})
			return err
		},
		"NowCalled": func(ctx context.Context, s *Store) error {
			_, _, err := s.NowCalled(ctx, other)
			return err
		},
		"RenameNoted": func(ctx context.Context, s *Store) error {
			return s.RenameNoted(ctx, news, other, Note{Room: "r", Key: "k"})
		},
		"RenameDeadLetters": func(ctx context.Context, s *Store) error {
			return s.RenameDeadLetters(ctx, other, news)
		},
		"Look":  func(ctx context.Context, s *Store) error { _, err := s.Look(ctx, news, 1); return err },
		"First": func(ctx context.Context, s *Store) error { _, _, err := s.First(ctx, one[0]); return err },
		"Idle":  func(ctx context.Context, s *Store) error { _, err := s.Idle(ctx, news, nil); return err },
		"Stats": func(ctx context.Context, s *Store) error { _, err := s.Stats(ctx, news); return err },
		"Purge": func(ctx context.Context, s *Store) error { _, err := s.Purge(ctx, news); return err },
		"Remove": func(ctx context.Context, s *Store) error {
			_, err := s.Remove(ctx, news, []uint64{2})
			return err
		},
		"Replay": func(ctx context.Context, s *Store) error {
			_, err := s.Replay(ctx, news, ReplayRequest{To: other})
			return err
		},
		"Seek": func(ctx context.Context, s *Store) error {
			_, err := s.Seek(ctx, news, SeekTo{Time: time.Now()})
			return err
		},
		"SetNotes":  func(ctx context.Context, s *Store) error { return s.SetNotes(ctx, Note{Room: "r", Key: "k"}) },
		"KeepNotes": func(ctx context.Context, s *Store) error { return s.KeepNotes(ctx, Note{Room: "r", Key: "k"}) },
		"Note": func(ctx context.Context, s *Store) error {
			_, _, err := s.Note(ctx, "room", "key")
			return err
		},
		"NoteSize": func(ctx context.Context, s *Store) error {
			_, _, err := s.NoteSize(ctx, "room", "key")
			return err
		},
		"Notes": func(ctx context.Context, s *Store) error {
			_, err := s.Notes(ctx, "room")
			return err
		},
		"NoteKeys": func(ctx context.Context, s *Store) error {
			_, err := s.NoteKeys(ctx, "room", "")
			return err
		},
		"Queues":    func(ctx context.Context, s *Store) error { _, err := s.Queues(ctx); return err },
		"Topics":    func(ctx context.Context, s *Store) error { _, err := s.Topics(ctx); return err },
		"Snapshots": func(ctx context.Context, s *Store) error { _, err := s.Snapshots(ctx); return err },
		"HasTopic": func(ctx context.Context, s *Store) error {
			_, err := s.HasTopic(ctx, news)
			return err
		},
		"TopicStats": func(ctx context.Context, s *Store) error {
			_, err := s.TopicStats(ctx, news)
			return err
		},
		"Definition": func(ctx context.Context, s *Store) error {
			_, _, err := s.Definition(ctx, news)
			return err
		},
		"Parse": func(ctx context.Context, s *Store) error {
			_, err := s.Parse(ctx, news, "n = 1")
			return err
		},
		"QueueOf": func(ctx context.Context, s *Store) error {
			_, _, err := s.QueueOf(ctx, tok)
			return err
		},
		"TokenOf": func(ctx context.Context, s *Store) error {
			_, _, err := s.TokenOf(ctx, news, 1)
			return err
		},
		"Ready":       func(ctx context.Context, s *Store) error { return s.Ready(ctx) },
		"Checkpoint":  func(ctx context.Context, s *Store) error { return s.Checkpoint(ctx) },
		"RenameQueue": func(ctx context.Context, s *Store) error { return s.RenameQueue(ctx, news, other) },
		"DeleteQueue": func(ctx context.Context, s *Store) error { return s.DeleteQueue(ctx, news) },
		"DeleteTopic": func(ctx context.Context, s *Store) error { return s.DeleteTopic(ctx, news) },
		"AlterQueue": func(ctx context.Context, s *Store) error {
			return s.AlterQueue(ctx, news, Definition{MaxAttempts: 2})
		},
		"AlterColumns": func(ctx context.Context, s *Store) error {
			return s.AlterColumns(ctx, news, Definition{MaxAttempts: 2}, nil, 0)
		},
		"CreateQueue": func(ctx context.Context, s *Store) error {
			_, err := s.CreateQueue(ctx, other, Definition{})
			return err
		},
		"CreateTopic": func(ctx context.Context, s *Store) error {
			_, err := s.CreateTopic(ctx, other, nil)
			return err
		},
		"TakeSnapshot": func(ctx context.Context, s *Store) error {
			_, err := s.TakeSnapshot(ctx, other, news, SnapshotOptions{})
			return err
		},
		"DeleteSnapshot": func(ctx context.Context, s *Store) error { return s.DeleteSnapshot(ctx, other) },
	}
}
