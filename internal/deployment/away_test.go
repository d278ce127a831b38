package deployment_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// awayStore is a store that another machine has: it cannot be asked while it is gone, or so many more times.
type awayStore struct {
	queue.Service
	gone                atomic.Bool
	claims, definitions atomic.Int32 // so many fail before the next does not
	owners              atomic.Int32 // so many are ended by their next claim
	unsure              atomic.Bool  // nobody hears that a put or notes were kept
}

// between puts the store between a Registry and its own.
func (s *awayStore) between(c *deployment.Config) {
	s.Service = c.Store
	c.Store = s
}

func (s *awayStore) err(fails *atomic.Int32) error {
	if s.gone.Load() || fails != nil && fails.Add(-1) >= 0 {
		return queue.ErrUnavailable
	}
	return nil
}

func (s *awayStore) kept(err error) error {
	if err == nil && s.unsure.Load() {
		return queue.ErrUnavailable
	}
	return err
}

func (s *awayStore) Notes(ctx context.Context, room string) ([]queue.Note, error) {
	if err := s.err(nil); err != nil {
		return nil, err
	}
	return s.Service.Notes(ctx, room)
}

func (s *awayStore) Definition(ctx context.Context, n queue.Name) (queue.Definition, uint64, error) {
	if err := s.err(&s.definitions); err != nil {
		return queue.Definition{}, 0, err
	}
	return s.Service.Definition(ctx, n)
}

func (s *awayStore) CreateQueue(ctx context.Context, n queue.Name, d queue.Definition) (bool, error) {
	if err := s.err(nil); err != nil {
		return false, err
	}
	return s.Service.CreateQueue(ctx, n, d)
}

func (s *awayStore) Put(ctx context.Context, n queue.Name, ms []message.Message) ([]queue.PutResult, error) {
	results, err := s.Service.Put(ctx, n, ms)
	return results, s.kept(err)
}

func (s *awayStore) SetNotes(ctx context.Context, notes ...queue.Note) error {
	if err := s.err(nil); err != nil {
		return err
	}
	return s.kept(s.Service.SetNotes(ctx, notes...))
}

func (s *awayStore) Claim(ctx context.Context, r queue.ClaimRequest) ([]queue.Claim, error) {
	if err := s.err(&s.claims); err != nil {
		return nil, err
	}
	if s.owners.Add(-1) >= 0 {
		r.Owner.Close()
	}
	return s.Service.Claim(ctx, r)
}

var work = queue.Name{Namespace: "default", Name: "work"}

// TestWhatCannotBeAskedIsUnavailable: it is neither missing nor wrong, and nothing changes.
func TestWhatCannotBeAskedIsUnavailable(t *testing.T) {
	dir, store := t.TempDir(), &awayStore{}
	r, s, end := open(t, dir, store.between)
	if _, err := r.Create(t.Context(), "f", python, says(t, "one"), nil); err != nil {
		t.Fatal(err)
	}
	put(t, s, work, "a")
	store.gone.Store(true)
	_, mapped := r.Map(t.Context(), deployment.Mapping{Queue: work.String(), Function: "f"})
	_, made := r.Create(t.Context(), "g", python, says(t, "two"), nil)
	_, kept := r.Enqueue(t.Context(), function.Request{Function: "f", Payload: []byte("{}")})
	for what, err := range map[string]error{"a mapping": mapped, "a function": made, "an event": kept,
		"to delete": r.Delete(t.Context(), "f", "")} {
		if !errors.Is(err, queue.ErrUnavailable) || errors.Is(err, deployment.ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	want(t, invoke(t, r, "f", ""), `"one"`)
	_, err := deployment.Open(t.Context(), deployment.Config{Store: store, Dir: filepath.Join(dir, "functions"),
		Pool: function.Config{Isolation: function.None}})
	if !errors.Is(err, queue.ErrUnavailable) {
		t.Errorf("what the store knows of functions cannot be read: %v", err)
	}
	end()
	r, _, _ = open(t, dir)
	want(t, invoke(t, r, "f", ""), `"one"`)
	if all := r.List(); len(all) != 1 {
		t.Errorf("%d functions are there", len(all))
	}
}

// TestEventsAndMappingsGoOnWhenTheStoreIsBack, and a person is told once that it is away.
func TestEventsAndMappingsGoOnWhenTheStoreIsBack(t *testing.T) {
	store, told := &awayStore{}, atomic.Int32{}
	r, s, end := open(t, t.TempDir(), store.between, func(c *deployment.Config) {
		c.Report = func(err error) {
			if told.Add(1); !errors.Is(err, queue.ErrUnavailable) {
				t.Error("reported:", err)
			}
		}
	})
	if _, err := r.Create(t.Context(), "f", python, says(t, "done"), nil); err != nil {
		t.Fatal(err)
	}
	put(t, s, work, "a")
	store.claims.Store(2)
	if _, err := r.Map(t.Context(), deployment.Mapping{Queue: work.String(), Function: "f"}); err != nil {
		t.Fatal(err)
	}
	empty(t, s, work)
	store.claims.Store(1)
	if _, err := r.Enqueue(t.Context(), function.Request{Function: "f", Payload: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	empty(t, s, events("f"))
	end()
	if n := told.Load(); n != 2 {
		t.Errorf("%d reports of a store that was away twice", n)
	}
}

// TestAnOwnerThatTheStoreHasEndedIsReplaced, as one that was away may end it.
func TestAnOwnerThatTheStoreHasEndedIsReplaced(t *testing.T) {
	store := &awayStore{}
	r, s, _ := open(t, t.TempDir(), store.between)
	if _, err := r.Create(t.Context(), "f", python, says(t, "done"), nil); err != nil {
		t.Fatal(err)
	}
	store.owners.Store(1)
	if _, err := r.Enqueue(t.Context(), function.Request{Function: "f", Payload: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	empty(t, s, events("f"))
}

// TestMessagesOfAQueueThatCannotBeAskedAboutComeAgain, and that counts for no attempt.
func TestMessagesOfAQueueThatCannotBeAskedAboutComeAgain(t *testing.T) {
	store := &awayStore{}
	r, s, _ := open(t, t.TempDir(), store.between)
	if _, err := r.Create(t.Context(), "f", python, says(t, "done"), nil); err != nil {
		t.Fatal(err)
	}
	dead := queue.Name{Namespace: "default", Name: "dead"}
	if _, err := s.CreateQueue(t.Context(), work, queue.Definition{MaxAttempts: 1, DeadLetter: "dead"}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Map(t.Context(), deployment.Mapping{Queue: work.String(), Function: "f"}); err != nil {
		t.Fatal(err)
	}
	store.definitions.Store(1)
	put(t, s, work, "a")
	empty(t, s, work)
	if stats, err := s.Stats(t.Context(), dead); err == nil && stats.TotalPut > 0 {
		t.Error("the message became a dead letter: its function never had it")
	}
}

// TestAnEventThatMayHaveBeenKeptIsInvoked also where nobody comes after it.
func TestAnEventThatMayHaveBeenKeptIsInvoked(t *testing.T) {
	store := &awayStore{}
	r, s, _ := open(t, t.TempDir(), store.between)
	settings, code, record := recorder(t)
	if _, err := r.Create(t.Context(), "f", settings, code, nil); err != nil {
		t.Fatal(err)
	}
	store.unsure.Store(true)
	_, err := r.Enqueue(t.Context(), function.Request{Function: "f", ID: "one", Payload: []byte("{}")})
	if !errors.Is(err, queue.ErrUnavailable) {
		t.Fatal(err)
	}
	waittest.Until(t, "the event is invoked", func() bool {
		times, _ := recorded(t, record)
		return times["one"] > 0
	})
	empty(t, s, events("f"))
}

// slowStore keeps notes, and is never as fast as the end of a context.
type slowStore struct{ queue.Service }

func (s slowStore) SetNotes(ctx context.Context, notes ...queue.Note) error {
	return errors.Join(s.Service.SetNotes(context.WithoutCancel(ctx), notes...), ctx.Err())
}

// TestACallerWhoGoesAwayLeavesNothingHalfDone: what is there is the same before and after a restart.
func TestACallerWhoGoesAwayLeavesNothingHalfDone(t *testing.T) {
	dir := t.TempDir()
	r, s, end := open(t, dir, func(c *deployment.Config) { c.Store = slowStore{c.Store} })
	put(t, s, work, "a")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Create(gone, "old", python, says(t, "one"), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Create(gone, "new", python, says(t, "two"), nil); err != nil {
		t.Fatal(err)
	}
	m, err := r.Map(gone, deployment.Mapping{Queue: work.String(), Function: "new", Off: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Delete(gone, "old", ""); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if all := r.List(); len(all) != 1 || all[0].Name != "new" {
			t.Errorf("%d functions are there", len(all))
		}
		if _, err := r.Mapping(m.ID); err != nil {
			t.Error(err)
		}
		end()
		r, _, end = open(t, dir)
	}
}

// TestCodeThatMayBeNamedStays until a start, which knows.
func TestCodeThatMayBeNamedStays(t *testing.T) {
	dir, store := t.TempDir(), &awayStore{}
	r, _, end := open(t, dir, store.between)
	if _, err := r.Create(t.Context(), "f", python, says(t, "one"), nil); err != nil {
		t.Fatal(err)
	}
	store.unsure.Store(true)
	code := says(t, "two")
	if _, err := r.Update(t.Context(), "f", "", nil, &code); !errors.Is(err, queue.ErrUnavailable) {
		t.Fatal(err)
	}
	if _, err := r.Create(t.Context(), "g", python, says(t, "three"), nil); !errors.Is(err, queue.ErrUnavailable) {
		t.Fatal(err)
	}
	end()
	r, _, _ = open(t, dir)
	want(t, invoke(t, r, "f", ""), `"two"`)
	want(t, invoke(t, r, "g", ""), `"three"`)
	archives, err := os.ReadDir(filepath.Join(dir, "functions", "code"))
	if err != nil || len(archives) != 2 {
		t.Errorf("archives: %v, %v", archives, err)
	}
}
