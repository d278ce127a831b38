package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/journal"
	journalfile "github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is a store's clock that tests put forward.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

func open(t *testing.T) (*queue.Store, *clock) {
	t.Helper()
	j, err := journalfile.Open(t.Context(), journalfile.Options{Dir: t.TempDir(), Durability: journal.OS})
	if err != nil {
		t.Fatal(err)
	}
	c := &clock{}
	s, err := queue.Open(t.Context(), queue.Options{Journal: j, OnDemand: true, Clock: c.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), j.Close()); err != nil {
			t.Error(err)
		}
	})
	return s, c
}

func named(name string) queue.Name { return queue.Name{Namespace: "default", Name: name} }

func put(t *testing.T, s *queue.Store, name string, ms ...message.Message) {
	t.Helper()
	if _, err := s.Put(t.Context(), named(name), ms); err != nil {
		t.Fatal(err)
	}
}

func text(body string) message.Message { return message.Message{Body: []byte(body)} }

func stats(t *testing.T, s *queue.Store, name string) queue.Stats {
	t.Helper()
	st, err := s.Stats(t.Context(), named(name))
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// out takes deliveries and lets the test settle them.
type out struct{ got chan component.Delivery }

func (o out) Send(ctx context.Context, d component.Delivery) error {
	select {
	case o.got <- d:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// running is a source that runs.
type running struct {
	*Source
	got    chan component.Delivery
	cancel context.CancelFunc
	ended  chan error
}

func run(t *testing.T, store *queue.Store, c Config) *running {
	t.Helper()
	return runWith(t, c, component.Env{Name: "waiting", Store: store})
}

func runWith(t *testing.T, c Config, env component.Env) *running {
	t.Helper()
	made, err := New(c, env)
	if err != nil {
		t.Fatal(err)
	}
	return start(t, made.(*Source))
}

func start(t *testing.T, s *Source) *running {
	t.Helper()
	r := &running{Source: s, got: make(chan component.Delivery), ended: make(chan error, 1)}
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r.cancel = cancel
	go func() { r.ended <- r.Run(ctx, out{r.got}) }()
	return r
}

// take receives a delivery and says which message it is.
func (r *running) take(t *testing.T) (component.Delivery, string) {
	t.Helper()
	select {
	case d := <-r.got:
		return d, string(d.Message.Body)
	case err := <-r.ended:
		t.Fatalf("the source ended: %v", err)
	case <-time.After(time.Minute):
		t.Fatal("no message came")
	}
	return component.Delivery{}, ""
}

func (r *running) stop(t *testing.T) {
	t.Helper()
	r.cancel()
	if err := <-r.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

var delivered = component.OK(time.Time{})

func TestMessagesAreClaimedInOrderAndSettled(t *testing.T) {
	store, _ := open(t)
	put(t, store, "q", text("a"), text("b"))
	r := run(t, store, Config{Queue: "q"})
	for _, want := range []string{"a", "b"} {
		d, body := r.take(t)
		if body != want || d.Attempt != 1 || d.Queue != "default/q" || d.Message.Hops[message.Claimed] == 0 {
			t.Errorf("%q: %+v", body, d)
		}
		d.Settle(delivered)
	}
	put(t, store, "q", text("later"))
	d, body := r.take(t)
	if body != "later" {
		t.Errorf("%q", body)
	}
	d.Settle(delivered)
	r.stop(t)
	if st := stats(t, store, "q"); st.Messages() != 0 || st.TotalDone != 3 {
		t.Errorf("%+v", st)
	}
}

// A disk that stands still takes no settlements while the far end goes on.
func TestClaimsThatAreNotSettledAreBounded(t *testing.T) {
	store, _ := open(t)
	put(t, store, "q", text("a"), text("b"))
	made, err := New(Config{Queue: "q", Max: 1}, component.Env{Name: "waiting", Store: store})
	if err != nil {
		t.Fatal(err)
	}
	made.(*Source).mostHeld = 1
	r := start(t, made.(*Source))
	d, _ := r.take(t)
	select {
	case d := <-r.got:
		t.Errorf("%q was claimed beside one that is not settled", d.Message.Body)
	case <-time.After(100 * time.Millisecond):
	}
	d.Settle(delivered)
	if d, body := r.take(t); body != "b" {
		t.Errorf("%q", body)
	} else {
		d.Settle(delivered)
	}
	r.stop(t)
}

func TestConditionsAreAskedInStrictOrder(t *testing.T) {
	store, _ := open(t)
	for i, vip := range []bool{false, true, false, true} {
		m := text(fmt.Sprint(i))
		m.Attributes.Set("vip", message.Bool(vip))
		put(t, store, "orders", m)
	}
	put(t, store, "invoices", text("invoice"))
	r := run(t, store, Config{Max: 1, From: []From{
		{Queue: "orders", Where: "vip = true"}, {Queue: "orders"}, {Queue: "invoices"},
	}})
	var got []string
	for range 5 {
		d, body := r.take(t)
		got = append(got, body)
		d.Settle(delivered)
	}
	if want := []string{"1", "3", "0", "2", "invoice"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	r.stop(t)
	if want := []queue.Name{named("orders"), named("orders"), named("invoices")}; !slices.Equal(r.Queues(), want) {
		t.Errorf("%v", r.Queues())
	}
}

func TestARowIsSeenAsAJSONObject(t *testing.T) {
	store, _ := open(t)
	columns, err := message.ParseColumns([]string{"id varchar(10) not null", "n int"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.CreateQueue(t.Context(), named("rows"), queue.Definition{Columns: columns}); err != nil {
		t.Fatal(err)
	}
	put(t, store, "rows", message.Message{Row: []message.Value{message.String("x"), message.Int(7)}})
	r := run(t, store, Config{Queue: "rows", Where: "n > 5"})
	d, body := r.take(t)
	if body != `{"id":"x","n":7}` || d.Message.Row != nil {
		t.Errorf("%s, row %v", body, d.Message.Row)
	}
	d.Settle(delivered)
	r.stop(t)
}

func TestACleanStopPutsBackWhatIsUnderWayUncounted(t *testing.T) {
	store, _ := open(t)
	put(t, store, "q", text("a"), text("b"), text("c"))
	r := run(t, store, Config{Queue: "q"})
	a, _ := r.take(t)
	b, _ := r.take(t)
	r.cancel() // c is claimed and not sent
	if err := <-r.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v", err)
	}
	a.Settle(delivered)
	b.Settle(component.Again(0, errors.New("stopping")))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if st := stats(t, store, "q"); st.Ready != 2 || st.TotalDone != 1 {
		t.Errorf("%+v", st)
	}
	again := run(t, store, Config{Queue: "q"})
	for _, want := range []string{"b", "c"} {
		if d, body := again.take(t); body != want || d.Attempt != 1 {
			t.Errorf("%q at attempt %d", body, d.Attempt)
		}
	}
	again.stop(t) // the owner puts both back
	if st := stats(t, store, "q"); st.Ready != 2 {
		t.Errorf("%+v", st)
	}
}

func TestWhatComesBackWhileItRunsSleepsAndIsCounted(t *testing.T) {
	store, clock := open(t)
	put(t, store, "q", text("a"))
	r := run(t, store, Config{Queue: "q"})
	d, _ := r.take(t)
	d.Settle(component.Again(time.Hour, errors.New("no room for a dead letter")))
	if err := r.settles.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st := stats(t, store, "q"); st.Delayed != 1 {
		t.Fatalf("%+v", st)
	}
	clock.forward(time.Hour)
	put(t, store, "q", text("b")) // lets the store look at its clock
	for range 2 {
		d, body := r.take(t)
		if want := map[string]int{"a": 2, "b": 1}[body]; d.Attempt != want {
			t.Errorf("%q at attempt %d", body, d.Attempt)
		}
		d.Settle(delivered)
	}
	r.stop(t)
}

func TestLeasesAreExtendedWhileAMessageIsUnderWay(t *testing.T) { synctest.Test(t, leasesAreExtended) }

func leasesAreExtended(t *testing.T) {
	store, _ := open(t)
	put(t, store, "q", text("slow"))
	r := run(t, store, Config{Queue: "q", Lease: time.Second})
	d, _ := r.take(t)
	first := deadline(t, store)
	for end := time.Now().Add(10 * time.Second); !deadline(t, store).After(first.Add(500 * time.Millisecond)); {
		if time.Now().After(end) {
			t.Fatal("the lease was not extended")
		}
		select { // nothing else may get it meanwhile
		case other := <-r.got:
			t.Fatalf("%q was handed out again", other.Message.Body)
		case <-time.After(20 * time.Millisecond):
		}
	}
	d.Settle(delivered)
	r.stop(t)
	if st := stats(t, store, "q"); st.TotalDone != 1 || st.TotalClaims != 1 {
		t.Errorf("%+v", st)
	}
}

func deadline(t *testing.T, store *queue.Store) time.Time {
	t.Helper()
	ms, err := store.Peek(t.Context(), named("q"), queue.PeekRequest{})
	if err != nil || len(ms) != 1 {
		t.Fatalf("%v, %v", ms, err)
	}
	return ms[0].Until
}

func TestASettlementThatComesTooLateIsNoFailure(t *testing.T) {
	store, _ := open(t)
	put(t, store, "q", text("a"))
	r := run(t, store, Config{Queue: "q"})
	d, _ := r.take(t)
	if _, err := store.Purge(t.Context(), named("q")); err != nil {
		t.Fatal(err)
	}
	d.Settle(delivered)
	put(t, store, "q", text("b"))
	if d, body := r.take(t); body != "b" {
		t.Errorf("%q", body)
	} else {
		d.Settle(delivered)
	}
	r.stop(t)
}

func TestManySettlementsShareACommit(t *testing.T) {
	store, _ := open(t)
	const n = 500
	ms := make([]message.Message, n)
	for i := range ms {
		ms[i] = text(fmt.Sprint(i))
	}
	put(t, store, "q", ms...)
	r := run(t, store, Config{Queue: "q", Max: n})
	var ds []component.Delivery
	for range n {
		d, _ := r.take(t)
		ds = append(ds, d)
	}
	before := store.JournalStats().Groups
	for _, d := range ds {
		d.Settle(delivered)
	}
	r.stop(t)
	if st := stats(t, store, "q"); st.TotalDone != n {
		t.Fatalf("%+v", st)
	}
	if groups := store.JournalStats().Groups - before; groups > n/4 {
		t.Errorf("%d groups for %d settlements", groups, n)
	}
}

func TestItEndsWhenNothingFeedsTheQueueAndNothingIsLeft(t *testing.T) {
	store, clock := open(t)
	late := text("late")
	late.NotBefore = time.Now().Add(time.Hour)
	put(t, store, "q", text("a"), late)
	r := run(t, store, Config{Queue: "q"})
	feeding := make(chan struct{})
	r.Finish(feeding)
	a, _ := r.take(t)
	put(t, store, "q", text("b"))
	b, _ := r.take(t)
	close(feeding)
	a.Settle(delivered)
	select {
	case err := <-r.ended:
		t.Fatalf("ended with a message under way and one asleep: %v", err)
	case <-time.After(3 * finishPatience):
	}
	b.Settle(delivered)
	select {
	case err := <-r.ended:
		t.Fatalf("ended with a message asleep: %v", err)
	case <-time.After(3 * finishPatience):
	}
	clock.forward(time.Hour)
	d, body := r.take(t)
	if body != "late" {
		t.Errorf("%q", body)
	}
	d.Settle(delivered)
	if err := <-r.ended; err != nil {
		t.Errorf("Run: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestWhatDoesNotMatchDoesNotKeepItFromEnding(t *testing.T) {
	store, _ := open(t)
	m := text("other")
	m.Attributes.Set("lang", message.String("en"))
	put(t, store, "q", m)
	r := run(t, store, Config{Queue: "q", Where: "lang = 'ja'"})
	feeding := make(chan struct{})
	close(feeding)
	r.Finish(feeding)
	if err := <-r.ended; err != nil {
		t.Errorf("Run: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if st := stats(t, store, "q"); st.Ready != 1 {
		t.Errorf("%+v", st)
	}
}

func TestAStoreThatIsOverEndsTheRun(t *testing.T) {
	store, _ := open(t)
	put(t, store, "q", text("a"))
	r := run(t, store, Config{Queue: "q"})
	d, _ := r.take(t)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	d.Settle(delivered)
	if err := <-r.ended; !errors.Is(err, queue.ErrClosed) {
		t.Errorf("Run: %v", err)
	}
	if err := r.Close(); !errors.Is(err, queue.ErrClosed) {
		t.Errorf("Close: %v", err)
	}
}

func TestSettingsAreChecked(t *testing.T) {
	for setting, c := range map[string]Config{
		"queue":         {},
		"queue ":        {Queue: "a b"},
		"where":         {Queue: "q", Where: "a = = 1"},
		"where ":        {From: []From{{Queue: "q"}}, Where: "a = 1"},
		"from":          {Queue: "q", From: []From{{Queue: "q"}}},
		"from[1].queue": {From: []From{{Queue: "q"}, {}}},
		"from[0].where": {From: []From{{Queue: "q", Where: "("}}},
		"lease":         {Queue: "q", Lease: time.Millisecond},
		"lease ":        {Queue: "q", Lease: 1000 * time.Hour},
		"max":           {Queue: "q", Max: -1},
	} {
		_, err := New(c, component.Env{})
		var s *component.SettingError
		if !errors.As(err, &s) || s.Setting != setting && s.Setting+" " != setting {
			t.Errorf("%s: %v", setting, err)
		}
		if c.Where == "a = = 1" && s != nil && s.Offset != 4 {
			t.Errorf("the place in the condition is %d", s.Offset)
		}
	}
}

func TestConditionsAreCheckedAgainstTheQueue(t *testing.T) {
	store, _ := open(t)
	columns, err := message.ParseColumns([]string{"n int"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.CreateQueue(t.Context(), named("rows"), queue.Definition{Columns: columns}); err != nil {
		t.Fatal(err)
	}
	made, err := New(Config{From: []From{{Queue: "q"}, {Queue: "rows", Where: "m > 1"}}},
		component.Env{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	var s *component.SettingError
	if err := made.(*Source).Start(t.Context()); !errors.As(err, &s) || s.Setting != "from[1].where" || s.Offset != 0 {
		t.Errorf("%v", err)
	}
	if err := made.Close(); err != nil {
		t.Error(err)
	}
}

func TestWithoutAStoreThereIsNoStart(t *testing.T) {
	made, err := New(Config{Queue: "q"}, component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if err := made.(*Source).Start(t.Context()); !errors.Is(err, ErrNoStore) {
		t.Errorf("%v", err)
	}
}

// BenchmarkClaimAndSettle takes messages of 100 bytes out of a queue, settled at once.
func BenchmarkClaimAndSettle(b *testing.B) {
	j, err := journalfile.Open(b.Context(), journalfile.Options{Dir: b.TempDir(), Durability: journal.OS})
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	store, err := queue.Open(b.Context(), queue.Options{Journal: j, OnDemand: true})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	body := make([]byte, 100)
	for left := b.N; left > 0; left -= 1000 {
		ms := make([]message.Message, min(left, 1000))
		for i := range ms {
			ms[i].Body = body
		}
		if _, err := store.Put(b.Context(), named("q"), ms); err != nil {
			b.Fatal(err)
		}
	}
	made, err := New(Config{Queue: "q"}, component.Env{Name: "waiting", Store: store})
	if err != nil {
		b.Fatal(err)
	}
	s := made.(*Source)
	if err := s.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	feeding := make(chan struct{})
	close(feeding)
	s.Finish(feeding)
	b.ResetTimer()
	if err := s.Run(b.Context(), settling{}); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

// settling settles everything at once.
type settling struct{}

func (settling) Send(_ context.Context, d component.Delivery) error {
	d.Settle(delivered)
	return nil
}
