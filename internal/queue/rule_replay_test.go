package queue

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/hikyaku/hikyaku/internal/message"
)

func TestLargeDeadLettersAreReplayedInGroupsThatTheJournalTakes(t *testing.T) {
	const letters = 75 // more than a group of the journal takes
	s, j, err := openFile(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = errors.Join(s.Close(), j.Close()) }()
	body := bytes.Repeat([]byte("x"), 1<<20)
	dead := Name{DefaultNamespace, "news_dead"}
	for range letters {
		mustPut(t, s, dead, message.Message{Body: body, Death: &message.Death{Queue: news.String()}})
	}
	mustPut(t, s, news)
	done, err := s.Replay(t.Context(), dead, ReplayRequest{})
	if err != nil || done.Moved != letters {
		t.Fatalf("moved %d of %d dead letters: %v", done.Moved, letters, err)
	}
	if st, err := s.Stats(t.Context(), news); err != nil || st.Ready != letters {
		t.Fatalf("%d are ready, error %v", st.Ready, err)
	}
}

// TestAConditionOnBodiesReadsThemWithoutTheLock asks the store for something while it reads: that would never end if it
// held the lock.
func TestAConditionOnBodiesReadsThemWithoutTheLock(t *testing.T) {
	m := newMemory()
	s := open(t, m)
	mustPut(t, s, news, text("a", "b", "c")...)
	where := where(t, news, "body = 'b'")[0].Where
	asked := 0
	ask := func() {
		if _, err := s.Stats(t.Context(), news); err != nil {
			t.Error(err)
		}
		asked++
	}
	m.BeforeRead(ask)
	if ps, err := s.Peek(t.Context(), news, PeekRequest{Where: where}); err != nil || len(ps) != 1 ||
		string(ps[0].Message.Body) != "b" {
		t.Errorf("peeked %v, %v", ps, err)
	}
	m.BeforeRead(ask)
	if done, err := s.Replay(t.Context(), news,
		ReplayRequest{Where: where, To: Name{DefaultNamespace, "other"}}); err != nil || done.Moved != 1 {
		t.Errorf("replayed %v, %v", done, err)
	}
	if asked != 2 {
		t.Errorf("bodies were read %d times, want 2", asked)
	}
}

func TestAPeekAndAReplayEndWithTheirContext(t *testing.T) {
	m := newMemory()
	s := open(t, m)
	mustPut(t, s, news, text("a", "b", "c")...)
	where := where(t, news, "body = 'nothing'")[0].Where
	for name, do := range map[string]func(context.Context) error{
		"peek": func(ctx context.Context) error { _, err := s.Peek(ctx, news, PeekRequest{Where: where}); return err },
		"replay": func(ctx context.Context) error {
			_, err := s.Replay(ctx, news, ReplayRequest{Where: where})
			return err
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := do(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWhatIsSettledWhileItsBodyIsReadIsNotReplayed settles what a condition on bodies asks for in that very moment.
func TestWhatIsSettledWhileItsBodyIsReadIsNotReplayed(t *testing.T) {
	m := newMemory()
	s := open(t, m)
	mustPut(t, s, news, text("a", "b", "b")...)
	m.BeforeRead(func() {
		if n, err := s.Remove(context.Background(), news, []uint64{2}); n != 1 || err != nil {
			t.Errorf("removed %d, %v", n, err)
		}
	})
	other := Name{DefaultNamespace, "other"}
	done, err := s.Replay(t.Context(), news, ReplayRequest{Where: where(t, news, "body = 'b'")[0].Where, To: other})
	if err != nil || done.Moved != 1 {
		t.Errorf("%+v, %v", done, err)
	}
	if st, err := s.Stats(t.Context(), other); err != nil || st.Ready != 1 {
		t.Errorf("%d arrived, %v", st.Ready, err)
	}
}

// TestAReplayMakesNoQueueWhereItMayNot: one that was deleted in the meantime is not made again.
func TestAReplayMakesNoQueueWhereItMayNot(t *testing.T) {
	s := open(t, newMemory())
	from, to := Name{DefaultNamespace, "from"}, Name{DefaultNamespace, "gone"}
	mustPut(t, s, from, text("x")...)
	r := ReplayRequest{To: to, Existing: true}
	if done, err := s.Replay(t.Context(), from, r); !errors.Is(err, ErrNotFound) || done.Moved != 0 {
		t.Errorf("it has moved %d: %v", done.Moved, err)
	}
	if _, _, err := s.Definition(t.Context(), to); !errors.Is(err, ErrNotFound) {
		t.Errorf("the queue was made: %v", err)
	}
	if r.Existing = false; there(t, s, from) != "x" {
		t.Error("the message is gone")
	}
	if done, err := s.Replay(t.Context(), from, r); err != nil || done.Moved != 1 {
		t.Errorf("without that it has moved %d: %v", done.Moved, err)
	}
}
