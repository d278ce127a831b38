package queue

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/journal"
	journalfile "github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, limits queue.Limits) *queue.Store {
	t.Helper()
	j, err := journalfile.Open(t.Context(), journalfile.Options{Dir: t.TempDir(), Durability: journal.OS})
	if err != nil {
		t.Fatal(err)
	}
	s, err := queue.Open(t.Context(), queue.Options{Journal: j, OnDemand: true, Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), j.Close()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func start(t *testing.T, store *queue.Store, to string) *Sink {
	t.Helper()
	made, err := New(Config{Queue: to}, component.Env{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	s := made.(*Sink)
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

var q = queue.Name{Namespace: "default", Name: "q"}

func peek(t *testing.T, store *queue.Store, n queue.Name) []queue.Peeked {
	t.Helper()
	ms, err := store.Peek(t.Context(), n, queue.PeekRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return ms
}

func send(t *testing.T, s *Sink, batch ...*message.Message) []component.Outcome {
	t.Helper()
	out, err := s.Send(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestMessagesKeepWhatTheyAre(t *testing.T) {
	store := open(t, queue.Limits{})
	s := start(t, store, "q")
	m := &message.Message{
		ID: message.NewID(), Key: "k", Body: []byte("hello"), Only: "step",
		Death: &message.Death{Reason: "was dead once"},
	}
	m.Attributes.Set("lang", message.String("ja"))
	before := time.Now()
	out := send(t, s, m, &message.Message{Body: []byte("second")})
	for _, o := range out {
		if o.Verdict != component.Delivered || o.Sent.Before(before) {
			t.Errorf("%+v", o)
		}
	}
	got := peek(t, store, q)
	if len(got) != 2 {
		t.Fatalf("%d messages", len(got))
	}
	first := got[0].Message
	if lang, _ := first.Attributes.Get("lang"); first.ID != m.ID || first.Key != "k" || string(first.Body) != "hello" ||
		lang.AsString() != "ja" {
		t.Errorf("%+v", first)
	}
	if first.Death != nil || first.Only != "" || got[1].Message.ID.IsZero() {
		t.Errorf("%+v", first)
	}
	if m.Death == nil || m.Only == "" {
		t.Error("the message given was changed")
	}
}

func TestABatchIsOneGroupOfTheJournal(t *testing.T) {
	store := open(t, queue.Limits{})
	s := start(t, store, "q")
	send(t, s, &message.Message{Body: []byte("makes the queue")})
	before := store.JournalStats().Groups
	batch := make([]*message.Message, 100)
	for i := range batch {
		batch[i] = &message.Message{Body: []byte{byte(i)}}
	}
	send(t, s, batch...)
	if groups := store.JournalStats().Groups - before; groups != 1 {
		t.Errorf("%d groups", groups)
	}
}

func TestWhatComesFromTheSamePlaceIsPutOnce(t *testing.T) {
	store := open(t, queue.Limits{})
	s := start(t, store, "q")
	for range 3 {
		for offset := range uint64(5) {
			o := send(t, s, &message.Message{Body: []byte("line"),
				Origin: message.Origin{Source: "file:x", Offset: offset}})
			if o[0].Verdict != component.Delivered {
				t.Fatalf("%+v", o[0])
			}
		}
	}
	if n := len(peek(t, store, q)); n != 5 {
		t.Errorf("%d messages of 5 places", n)
	}
}

func TestATopicOfTheNameIsPublishedTo(t *testing.T) {
	store := open(t, queue.Limits{})
	ctx := t.Context()
	if _, err := store.CreateTopic(ctx, q, nil); err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"one", "two"} {
		n := queue.Name{Namespace: "default", Name: sub}
		if _, err := store.CreateQueue(ctx, n, queue.Definition{Topic: q.String()}); err != nil {
			t.Fatal(err)
		}
	}
	send(t, start(t, store, "q"), &message.Message{Body: []byte("news")})
	for _, sub := range []string{"one", "two"} {
		if n := len(peek(t, store, queue.Name{Namespace: "default", Name: sub})); n != 1 {
			t.Errorf("%s got %d messages", sub, n)
		}
	}
}

func TestOneMessageThatDoesNotFitIsFoundByHalves(t *testing.T) {
	store := open(t, queue.Limits{MessageBytes: 1000})
	columns, err := message.ParseColumns([]string{"n int not null"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.CreateQueue(t.Context(), q, queue.Definition{Columns: columns}); err != nil {
		t.Fatal(err)
	}
	s := start(t, store, "q")
	good := &message.Message{Body: []byte(`{"n": 1}`)}
	for name, c := range map[string]struct {
		bad  *message.Message
		want error
	}{
		"another shape": {&message.Message{Body: []byte(`{"m": 1}`)}, queue.ErrMismatch},
		"too large": {&message.Message{Body: make([]byte, 2000),
			Attributes: message.Attributes{{Name: "a", Value: message.Int(1)}}}, nil},
	} {
		out, err := s.Send(t.Context(), []*message.Message{good, c.bad})
		if out != nil || !component.IsReject(err) {
			t.Errorf("%s: %v, %v", name, out, err)
		}
		alone := send(t, s, c.bad)
		if alone[0].Verdict != component.Rejected || c.want != nil && !errors.Is(alone[0].Reason, c.want) {
			t.Errorf("%s alone: %+v", name, alone[0])
		}
	}
	if n := len(peek(t, store, q)); n != 0 {
		t.Errorf("%d messages of refused batches", n)
	}
	if o := send(t, s, good); o[0].Verdict != component.Delivered {
		t.Errorf("%+v", o[0])
	}
}

func TestAFullQueueIsARetryThatAsksForLess(t *testing.T) {
	store := open(t, queue.Limits{})
	if _, err := store.CreateQueue(t.Context(), q, queue.Definition{MaxMessages: 1}); err != nil {
		t.Fatal(err)
	}
	s := start(t, store, "q")
	send(t, s, &message.Message{Body: []byte("a")})
	for _, o := range send(t, s, &message.Message{Body: []byte("b")}, &message.Message{Body: []byte("c")}) {
		if o.Verdict != component.Retry || !o.Slow || !errors.Is(o.Reason, queue.ErrQueueFull) {
			t.Errorf("%+v", o)
		}
	}
}

func TestAStoreThatIsOverIsARetry(t *testing.T) {
	store := open(t, queue.Limits{})
	s := start(t, store, "q")
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if o := send(t, s, &message.Message{}); o[0].Verdict != component.Retry || o[0].Slow ||
		!errors.Is(o[0].Reason, queue.ErrClosed) {
		t.Errorf("%+v", o[0])
	}
}

// failing is a store that always fails in the same way.
type failing struct{ err error }

func (f failing) Publish(context.Context, queue.Name, []message.Message) ([]queue.PutResult, error) {
	return nil, f.err
}

func TestErrorsBecomeOutcomes(t *testing.T) {
	for err, want := range map[error]component.Verdict{
		queue.ErrTooLarge: component.Rejected, queue.ErrMismatch: component.Rejected,
		queue.ErrNoRoom: component.Retry, queue.ErrUnavailable: component.Retry, queue.ErrNotFound: component.Retry,
		context.Canceled: component.Retry,
	} {
		s := &Sink{to: q, store: failing{err}}
		if o := send(t, s, &message.Message{}); o[0].Verdict != want || !errors.Is(o[0].Reason, err) {
			t.Errorf("%v: %+v", err, o[0])
		}
	}
}

func TestSettingsAreChecked(t *testing.T) {
	for _, c := range []Config{{}, {Queue: "a b"}, {Queue: "a/b/c"}} {
		_, err := New(c, component.Env{})
		var s *component.SettingError
		if !errors.As(err, &s) || s.Setting != "queue" {
			t.Errorf("%+v: %v", c, err)
		}
	}
	made, err := New(Config{Queue: "ns/q"}, component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if made.(*Sink).Queue() != (queue.Name{Namespace: "ns", Name: "q"}) {
		t.Errorf("%v", made.(*Sink).Queue())
	}
	if err := made.(*Sink).Start(t.Context()); !errors.Is(err, ErrNoStore) {
		t.Errorf("started without a store: %v", err)
	}
}
