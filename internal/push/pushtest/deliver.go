package pushtest

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/dead"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Patience is how long a delivery may take: its deadline, from now.
const Patience = 10 * time.Second

// Message makes a message of now; what follows the body are names and values of attributes.
func Message(body string, attributes ...string) *message.Message {
	m := &message.Message{ID: message.NewID(), Time: time.Now(), Body: []byte(body)}
	for i := 0; i+1 < len(attributes); i += 2 {
		m.Attributes.Set(attributes[i], message.String(attributes[i+1]))
	}
	return m
}

// Deliver delivers messages, all at once, and waits for their outcomes.
func Deliver(t testing.TB, s component.AsyncSink, ms ...*message.Message) []component.Outcome {
	t.Helper()
	outcomes := make([]component.Outcome, len(ms))
	var wg sync.WaitGroup
	for i, m := range ms {
		wg.Add(1)
		s.Deliver(m, time.Now().Add(Patience), func(o component.Outcome) {
			outcomes[i] = o
			wg.Done()
		})
	}
	wg.Wait()
	return outcomes
}

// Deliver1 delivers one message and waits for its outcome.
func Deliver1(t testing.TB, s component.AsyncSink, m *message.Message) component.Outcome {
	t.Helper()
	return Deliver(t, s, m)[0]
}

// Among delivers a message to a device that is refused, and others again and again until it is answered. It returns its
// outcome. Others have to be delivered.
func Among(t testing.TB, s component.AsyncSink, m *message.Message,
	others func() []*message.Message) component.Outcome {
	t.Helper()
	answered := make(chan component.Outcome, 1)
	s.Deliver(m, time.Now().Add(Patience), func(o component.Outcome) { answered <- o })
	for {
		for _, o := range Deliver(t, s, others()...) {
			if o.Verdict != component.Delivered {
				t.Fatalf("one of the others: %+v", o)
			}
		}
		select {
		case o := <-answered:
			return o
		default:
		}
	}
}

// longestPersistence is how long Persist goes on trying.
const longestPersistence = 60 * time.Second

// Persist delivers messages, all at once and each again and again, until none is to be tried again. It tells how many
// were rejected.
func Persist(t testing.TB, s component.AsyncSink, ms []*message.Message) (rejected int) {
	t.Helper()
	var mu sync.Mutex
	left := len(ms)
	all := make(chan struct{})
	var try func(m *message.Message)
	try = func(m *message.Message) {
		s.Deliver(m, time.Now().Add(Patience), func(o component.Outcome) {
			if o.Verdict == component.Retry {
				go try(m) // as the pipeline would, but at once
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if o.Verdict == component.Rejected {
				rejected++
			}
			if left--; left == 0 {
				close(all)
			}
		})
	}
	for _, m := range ms {
		try(m)
	}
	end := time.NewTimer(longestPersistence)
	defer end.Stop()
	select {
	case <-all:
	case <-end.C:
		mu.Lock()
		defer mu.Unlock()
		t.Fatalf("%d of %d messages have no end after %v", left, len(ms), longestPersistence)
	}
	return rejected
}

// Want checks an outcome: its verdict, and that its reason has a text in it.
func Want(t testing.TB, o component.Outcome, v component.Verdict, reason string) {
	t.Helper()
	text := ""
	if o.Reason != nil {
		text = o.Reason.Error()
	}
	if o.Verdict != v || !strings.Contains(text, reason) {
		t.Errorf("%v: %q, want %v with %q", o.Verdict, text, v, reason)
	}
}

// Last is the latest of what a far end saw. There must be something.
func Last[Seen any](t testing.TB, seen []Seen) Seen {
	t.Helper()
	if len(seen) == 0 {
		t.Fatal("the far end saw nothing")
	}
	return seen[len(seen)-1]
}

// Feedback is the name of the queue that Reports reads: the setting feedback of the sink.
const Feedback = "gone"

// Reports are the bodies on the queue Feedback of a sink's store, a line each. "": there are none.
func Reports(t testing.TB, store dead.Store) string {
	t.Helper()
	all, err := StoreOf(t, store).Peek(t.Context(), queue.Name{Namespace: "default", Name: Feedback},
		queue.PeekRequest{})
	if errors.Is(err, queue.ErrNotFound) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, p := range all {
		b.Write(p.Message.Body)
		b.WriteByte('\n')
	}
	return b.String()
}
