package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// receipted is an asynchronous sink whose receipts are wanted.
type receipted struct {
	caller
	to string
}

func (r *receipted) Receipts() queue.Name {
	return queue.Name{Namespace: queue.DefaultNamespace, Name: r.to}
}

// answering answers each message with the receipt of what f says.
func answering(f func(body string) component.Outcome) *receipted {
	r := &receipted{to: "receipts"}
	r.deliver = func(m *message.Message, _ time.Time, done func(component.Outcome)) {
		o := f(string(m.Body))
		o.Receipt = &component.Receipt{App: "news", Device: "d" + string(m.Body), PushID: "far/" + string(m.Body)}
		if o.Verdict != component.Delivered {
			o.Receipt.PushID, o.Receipt.Reason = "", "a \"word\""
		}
		done(o)
	}
	return r
}

// slip is a receipt as its reader sees it.
type slip struct {
	ID, Sink, Queue, App, Device, Outcome, Reason string
	PushID                                        string `json:"push_id"`
	Attempts                                      int
	HandedOut                                     int `json:"handed_out"`

	AcceptedAt    time.Time  `json:"accepted_at"`
	ClaimedAt     *time.Time `json:"claimed_at"`
	TransformedAt time.Time  `json:"transformed_at"`
	SentAt        time.Time  `json:"sent_at"`
	AnsweredAt    time.Time  `json:"answered_at"`
}

// slips are the receipts in a store, by device.
func slips(t *testing.T, bodies []string) map[string]slip {
	t.Helper()
	all := map[string]slip{}
	for _, b := range bodies {
		var s slip
		if err := json.Unmarshal([]byte(b), &s); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		if _, there := all[s.Device]; there {
			t.Errorf("a second receipt: %s", b)
		}
		all[s.Device] = s
	}
	return all
}

func TestEveryEndOfAMessageHasAReceipt(t *testing.T) {
	tries := 0
	sink := answering(func(body string) component.Outcome {
		switch body {
		case "refused":
			return component.Reject(errors.New("no"))
		case "late":
			return component.Drop(component.ErrExpired)
		case "old":
			return component.Drop(component.ErrReplaced)
		case "stubborn":
			return component.Again(0, errDown)
		case "second":
			if tries++; tries == 1 {
				return component.Again(0, errDown)
			}
		}
		return component.OK(time.Now())
	})
	f, k := feedOf("fine", "refused", "late", "old", "stubborn", "second"), &keeper{}
	p := mustNew(t, k, Options{}, Node{Name: "in", Source: f}, Node{
		Name: "out", Inputs: []string{"in"}, Sink: sink,
		Settings: Settings{Request: Request{RetryInitial: 1, RetryAttempts: 2}},
	})
	result := mustRun(t, p)
	f.once(t, 6)
	got := slips(t, k.bodies("receipts"))
	for body, want := range map[string]slip{
		"fine":     {Outcome: "delivered", PushID: "far/fine", Attempts: 1},
		"second":   {Outcome: "delivered", PushID: "far/second", Attempts: 2},
		"refused":  {Outcome: "rejected", Reason: `a "word"`, Attempts: 1},
		"stubborn": {Outcome: "rejected", Reason: `a "word"`, Attempts: 3},
		"late":     {Outcome: "expired", Reason: `a "word"`},
		"old":      {Outcome: "replaced", Reason: `a "word"`},
	} {
		s := got["d"+body]
		if s.Outcome != want.Outcome || s.Reason != want.Reason || s.PushID != want.PushID ||
			s.Attempts != want.Attempts || s.App != "news" ||
			s.Sink != "out" {
			t.Errorf("%s: %+v", body, s)
		}
		if s.ClaimedAt != nil || s.AcceptedAt.IsZero() || s.TransformedAt.Before(s.AcceptedAt) ||
			s.AnsweredAt.Before(s.SentAt) {
			t.Errorf("the times of %s: %+v", body, s)
		}
	}
	if n := result.Nodes[1]; len(got) != 6 || n.Receipts != 6 || n.ReceiptsDropped != 0 || !n.HasReceipts ||
		result.Nodes[0].HasReceipts {
		t.Errorf("%d receipts: %+v", len(got), n)
	}
}

func TestReceiptsThatAreRefusedHoldUpNothingAndAreTold(t *testing.T) {
	const n = 300
	var log bytes.Buffer
	f := feedOf(numbers(n)...)
	k := &keeper{fail: func(to queue.Name, _ []message.Message) error {
		if to.Name == "receipts" {
			return &queue.FullError{Name: to, Bound: "messages", Limit: 1}
		}
		return nil
	}}
	sink := answering(func(string) component.Outcome { return component.OK(time.Now()) })
	p := mustNew(t, k, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))},
		Node{Name: "in", Source: f}, Node{Name: "out", Inputs: []string{"in"}, Sink: sink})
	result := mustRun(t, p)
	f.once(t, n)
	if s := result.Nodes[1]; s.Delivered != n || s.Receipts != 0 || s.ReceiptsDropped != n {
		t.Errorf("%+v", s)
	}
	// The first one at once, and the others together when the run has ended: not a line each.
	if lines := strings.Count(log.String(), "receipts are dropped"); lines < 1 || lines > 2 {
		t.Errorf("%d lines:\n%s", lines, log.String())
	}
}

// TestReceiptsThatAreDroppedAreToldWithinTenSeconds: also when none is dropped any more, and the run goes on.
func TestReceiptsThatAreDroppedAreToldWithinTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log said
		f := feedOf(numbers(300)...)
		f.stay = true
		k := &keeper{fail: func(to queue.Name, _ []message.Message) error {
			return &queue.FullError{Name: to, Bound: "messages", Limit: 1}
		}}
		sink := answering(func(string) component.Outcome { return component.OK(time.Now()) })
		p := mustNew(t, k, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))},
			Node{Name: "in", Source: f}, Node{Name: "out", Inputs: []string{"in"}, Sink: sink})
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan error, 1)
		go func() { _, err := p.Run(ctx); over <- err }()
		time.Sleep(obituaryEvery + time.Second)
		synctest.Wait()
		told := 0
		for _, m := range regexp.MustCompile(`receipts are dropped.* count=(\d+)`).FindAllStringSubmatch(log.String(), -1) {
			n, _ := strconv.Atoi(m[1])
			told += n
		}
		if told != 300 {
			t.Errorf("%d are told of while it runs:\n%s", told, log.String())
		}
		stop()
		if err := <-over; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// said is a log that is read while it is written.
type said struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *said) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(text)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// queued is a source that takes receipts with settlements, as that of a queue.
type queued struct{ *feed }

func (q queued) Run(ctx context.Context, out component.Out) error {
	for i := range q.deliveries {
		q.deliveries[i].Receipts = true
		q.deliveries[i].Queue = "default/outbox"
		q.deliveries[i].Attempt = 2
	}
	return q.feed.Run(ctx, out)
}

func TestTheSettlementTakesReceiptsAlongAndTooManyGoAhead(t *testing.T) {
	const parts = 20
	f, k := feedOf("m"), &keeper{}
	many := change(func(_ context.Context, m *message.Message, emit component.Emit) error {
		for i := range parts {
			c := m.Clone()
			c.Body = fmt.Appendf(nil, "%02d", i)
			emit("", c)
		}
		return nil
	})
	sink := answering(func(string) component.Outcome { return component.OK(time.Now()) })
	p := mustNew(t, k, Options{}, Node{Name: "in", Source: queued{f}},
		Node{Name: "many", Inputs: []string{"in"}, Transform: many},
		Node{Name: "out", Inputs: []string{"many"}, Sink: sink})
	mustRun(t, p)
	f.once(t, 1)
	var bodies []string
	for r := f.settled["m"][0].Receipt; r != nil; r = r.Next {
		if r.To.Short() != "receipts" {
			t.Errorf("to %v", r.To)
		}
		bodies = append(bodies, string(r.Message.Body))
	}
	ahead := k.bodies("receipts")
	if len(bodies) != mostRiding || len(ahead) != parts-mostRiding {
		t.Errorf("%d receipts with the settlement, %d before", len(bodies), len(ahead))
	}
	for device, s := range slips(t, append(bodies, ahead...)) {
		if s.Queue != "outbox" || s.HandedOut != 2 || s.ClaimedAt == nil {
			t.Errorf("%s: %+v", device, s)
		}
	}
}

func TestAReceiptHasABoundAndIsAlwaysJSON(t *testing.T) {
	long := strings.Repeat("\x00\xff\"", 100_000)
	sink := answering(nil)
	sink.deliver = func(_ *message.Message, _ time.Time, done func(component.Outcome)) {
		o := component.Reject(errors.New(long))
		o.Receipt = &component.Receipt{App: long, Environment: long, Device: long, Reason: long, PushID: long}
		done(o)
	}
	f, k := feedOf("m"), &keeper{}
	mustRun(t, mustNew(t, k, Options{}, Node{Name: "in", Source: f},
		Node{Name: "out", Inputs: []string{"in"}, Sink: sink}))
	for _, b := range k.bodies("receipts") {
		if len(b) > 20_000 || !json.Valid([]byte(b)) {
			t.Errorf("%d bytes: %.300s", len(b), b)
		}
	}
	if len(k.bodies("receipts")) != 1 {
		t.Errorf("%d receipts", len(k.bodies("receipts")))
	}
}

func TestReceiptsThatWouldGoRoundAreRefused(t *testing.T) {
	sink := answering(func(string) component.Outcome { return component.Outcome{} })
	reader := Node{Name: "reader", Source: feedOf(), Drains: []string{"receipts"}}
	out := Node{Name: "out", Inputs: []string{"reader"}, Sink: sink}
	_, err := New([]Node{reader, out}, Options{})
	if err == nil || !strings.Contains(err.Error(), "its receipts would come back to it: source reader takes from "+
		"receipts") {
		t.Errorf("%v", err)
	}
	// Beside it, on their way elsewhere, they may be read.
	out.Inputs = []string{"in"}
	_, err = New([]Node{reader, {Name: "table", Inputs: []string{"reader"}, Sink: &caller{}},
		{Name: "in", Source: feedOf()}, out}, Options{})
	if err != nil {
		t.Error(err)
	}
}
