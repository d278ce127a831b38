package campaign_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/journal"
	journalfile "github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	news   = queue.Name{Namespace: queue.DefaultNamespace, Name: "news"}
	outbox = queue.Name{Namespace: queue.DefaultNamespace, Name: "outbox"}
)

// clock is put forward by tests.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// rig is a registry over a store with the queues news and outbox.
type rig struct {
	*campaign.Registry
	store *queue.Store
	clock *clock
}

func open(t *testing.T) *rig {
	t.Helper()
	j, err := journalfile.Open(t.Context(), journalfile.Options{Dir: t.TempDir(), Durability: journal.OS})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{clock: &clock{at: time.Now()}}
	if r.store, err = queue.Open(t.Context(), queue.Options{Journal: j, Clock: r.clock.now}); err != nil {
		t.Fatal(err)
	}
	for _, n := range []queue.Name{news, outbox} {
		if _, err := r.store.CreateQueue(t.Context(), n, queue.Definition{}); err != nil {
			t.Fatal(err)
		}
	}
	r.reopen(t)
	t.Cleanup(func() {
		if err := errors.Join(r.Close(), r.store.Close(), j.Close()); err != nil {
			t.Error(err)
		}
	})
	return r
}

// reopen is what a start of the program does; what was there before is lost, as by a kill, unless it was closed.
func (r *rig) reopen(t *testing.T) {
	t.Helper()
	made, err := campaign.Open(t.Context(), r.store, r.clock.now)
	if err != nil {
		t.Fatal(err)
	}
	r.Registry = made
	r.Guard(outbox)
}

func (r *rig) start(t *testing.T, o campaign.Order) campaign.View {
	t.Helper()
	o.Queue = news
	v, _, err := r.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// made says that so many messages were made, and puts them.
func (r *rig) made(t *testing.T, id string, n int, over bool) {
	t.Helper()
	note, commit, ok := r.Progress(id, "users", n, over)
	if !ok {
		t.Fatalf("no campaign %s", id)
	}
	var msgs []message.Message
	for range n {
		m := message.Message{Body: []byte("x")}
		m.Attributes.Set(campaign.Attribute, message.String(id))
		msgs = append(msgs, m)
	}
	change := queue.Change{Notes: []queue.Note{note}}
	if n > 0 {
		change.Puts = []queue.QueuePut{{To: outbox, Messages: msgs}}
	}
	if _, _, err := r.store.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	commit()
}

func (r *rig) show(t *testing.T, id string) campaign.View {
	t.Helper()
	v, err := r.Show(id)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// beat is a second that passes.
func (r *rig) beat(t *testing.T) {
	t.Helper()
	r.clock.forward(time.Second)
	r.Beat(t.Context())
}

func TestAStartPutsOneMessageAndIsRemembered(t *testing.T) {
	r := open(t)
	at := r.clock.now().Add(time.Hour)
	o := campaign.Order{Queue: news, Body: []byte(`{"news":42}`), Name: "winter", Key: "w", At: at,
		Local: "2026-12-01T09:00",
		Rows:  []json.RawMessage{json.RawMessage(`{"id":1}`), json.RawMessage(`{"id":2}`)}}
	v, before, err := r.Start(t.Context(), o)
	if err != nil || before || v.State != campaign.Scheduled || v.Rows != 2 || v.Body != `{"news":42}` ||
		!v.Due.Equal(at) {
		t.Fatalf("%+v, %v, %v", v, before, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r.reopen(t)
	again, before, err := r.Start(t.Context(), o)
	if err != nil || !before || again.ID != v.ID {
		t.Errorf("the same key after a restart: %+v, %v, %v", again, before, err)
	}
	o.Name = "spring"
	if _, _, err := r.Start(t.Context(), o); !errors.Is(err, campaign.ErrOther) {
		t.Errorf("its key with another order: %v", err)
	}
	found, err := r.store.Peek(t.Context(), news, queue.PeekRequest{})
	if err != nil || len(found) != 1 || found[0].State != queue.Delayed ||
		string(found[0].Message.Body) != `{"news":42}` {
		t.Fatalf("%+v, %v", found, err)
	}
	for name, want := range map[string]string{campaign.Attribute: v.ID, campaign.Local: o.Local,
		campaign.Rows: `[{"id":1},{"id":2}]`} {
		if got, _ := found[0].Message.Attributes.Get(name); got.AsString() != want {
			t.Errorf("%s is %q, want %q", name, got.AsString(), want)
		}
	}
}

func TestOrdersAreChecked(t *testing.T) {
	r := open(t)
	many := make([]json.RawMessage, campaign.MostRows+1)
	for i := range many {
		many[i] = json.RawMessage(`{}`)
	}
	for name, o := range map[string]campaign.Order{
		"body": {Body: make([]byte, campaign.MostBody+1)},
		"name": {Name: strings.Repeat("x", 201)},
		"row":  {Rows: []json.RawMessage{json.RawMessage(`[1]`)}},
		"rows": {Rows: many}, "no rows": {Rows: []json.RawMessage{}},
		"row bytes": {Rows: []json.RawMessage{json.RawMessage(`{"a":"` + strings.Repeat("x", campaign.MostRowsBytes) +
			`"}`)}},
		"local time": {Local: "tomorrow"},
	} {
		o.Queue = news
		if _, _, err := r.Start(t.Context(), o); !errors.Is(err, campaign.ErrOrder) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := r.Start(t.Context(),
		campaign.Order{Queue: queue.Name{Namespace: "default", Name: "nwes"}}); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("a queue that is not there: %v", err)
	}
	if all := r.List(func(string) bool { return true }); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}

func TestACampaignIsDoneWhenNothingOfItIsLeft(t *testing.T) {
	r := open(t)
	v := r.start(t, campaign.Order{})
	r.made(t, v.ID, 3, false)
	r.made(t, v.ID, 1, false)
	r.made(t, v.ID, 0, true)
	for i := range 4 {
		r.Count(v.ID, []campaign.Outcome{campaign.Sent, campaign.Sent, campaign.Refused, campaign.Dropped}[i],
			"Unregistered")
	}
	r.beat(t)
	if got := r.show(t, v.ID); got.State != campaign.Running || got.Made != 4 || got.Left != 0 || !got.Complete {
		t.Errorf("while its messages are in the queue: %+v", got)
	}
	claims, err := r.store.Claim(t.Context(), queue.ClaimRequest{From: []queue.From{{Queue: outbox}}, Max: 10})
	if err != nil || len(claims) != 4 {
		t.Fatal(err, len(claims))
	}
	r.beat(t)
	if got := r.show(t, v.ID); got.State != campaign.Running {
		t.Errorf("while they are claimed: %+v", got)
	}
	for _, c := range claims {
		if _, err := r.store.Settle(t.Context(), []queue.Settlement{{Token: c.Token}}); err != nil {
			t.Fatal(err)
		}
	}
	r.beat(t)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r.reopen(t)
	got := r.show(t, v.ID)
	if got.State != campaign.Done || got.Ended == nil || got.Sent != 2 || got.Refused != 1 || got.Dropped != 1 ||
		len(got.Reasons) != 2 {
		t.Errorf("%+v", got)
	}
	if _, err := r.Pause(t.Context(), v.ID); !errors.Is(err, campaign.ErrState) {
		t.Errorf("pausing what is done: %v", err)
	}
}

func TestCountsThatAKillHasTakenDoNotKeepACampaignFromItsEnd(t *testing.T) {
	r := open(t)
	v := r.start(t, campaign.Order{})
	r.made(t, v.ID, 2, true)
	r.Count(v.ID, campaign.Sent, "")
	if _, err := r.store.Purge(t.Context(), outbox); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		r.beat(t)
	}
	if got := r.show(t, v.ID); got.State != campaign.Done || got.Left != 1 {
		t.Errorf("%+v", got)
	}
}

func TestStatesAreDurable(t *testing.T) {
	r := open(t)
	changes := 0
	defer r.Follow(func() { changes++ })()
	v := r.start(t, campaign.Order{})
	for range 2 { // the second one changes nothing
		if got, err := r.Pause(t.Context(), v.ID); err != nil || got.State != campaign.Paused {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	if changes != 1 {
		t.Errorf("%d changes were told", changes)
	}
	killed := r.Registry
	defer killed.Close()
	r.reopen(t)
	if s := r.Stopped(); len(s.Paused) != 1 || s.State(v.ID) != campaign.Paused || s.State("other") != "" || s.None() {
		t.Errorf("%+v", s)
	}
	if got, err := r.Resume(t.Context(), v.ID); err != nil || got.State != campaign.Running || !r.Stopped().None() {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := r.Cancel(t.Context(), v.ID); err != nil || got.State != campaign.Cancelled || got.Ended != nil {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := r.Resume(t.Context(), v.ID); !errors.Is(err, campaign.ErrState) {
		t.Errorf("resuming what is cancelled: %v", err)
	}
	if _, err := r.Pause(t.Context(), "nobody"); !errors.Is(err, campaign.ErrNotFound) {
		t.Error(err)
	}
	r.made(t, v.ID, 0, true)
	r.beat(t)
	if got := r.show(t, v.ID); got.State != campaign.Cancelled || got.Ended == nil {
		t.Errorf("nothing is left of it: %+v", got)
	}
}

// A fanout is missing, or the message was deleted: nobody will say that everything is made.
func TestACampaignThatNobodyMakesEndsWhenItIsCancelled(t *testing.T) {
	r := open(t)
	v := r.start(t, campaign.Order{})
	if _, err := r.Cancel(t.Context(), v.ID); err != nil {
		t.Fatal(err)
	}
	r.beat(t)
	if got := r.show(t, v.ID); got.Ended != nil {
		t.Errorf("its message waits, and it has ended: %+v", got)
	}
	if _, err := r.store.Purge(t.Context(), news); err != nil {
		t.Fatal(err)
	}
	r.clock.forward(time.Minute)
	r.beat(t)
	if got := r.show(t, v.ID); got.State != campaign.Cancelled || got.Ended == nil {
		t.Errorf("nothing is left of it: %+v", got)
	}
}

func TestWhatIsRememberedIsBounded(t *testing.T) {
	r := open(t)
	r.Registry.Close() // its beats would only be in the way
	first := ""
	for i := range campaign.MostEnded + 3 {
		v := r.start(t, campaign.Order{Key: fmt.Sprint(i)})
		if first == "" {
			first = v.ID
		}
		r.made(t, v.ID, 0, true)
		r.beat(t)
	}
	all := r.List(func(string) bool { return true })
	if len(all) != campaign.MostEnded || r.Totals()[campaign.Done] != campaign.MostEnded {
		t.Errorf("%d are remembered", len(all))
	}
	if _, err := r.Show(first); !errors.Is(err, campaign.ErrNotFound) {
		t.Errorf("the first one: %v", err)
	}
	notes, err := r.store.Notes(t.Context(), "campaign")
	if err != nil {
		t.Error(err)
	}
	for _, n := range notes {
		if strings.HasPrefix(n.Key, first) {
			t.Errorf("a note is left: %s", n.Key)
		}
	}
	v := r.start(t, campaign.Order{})
	for i := range 100 {
		r.Count(v.ID, campaign.Refused, fmt.Sprint(i, strings.Repeat("x", 200)))
	}
	got := r.show(t, v.ID)
	if len(got.Reasons) != 33 || got.Reasons[0].Reason != "(others)" || got.Reasons[0].Count != 68 ||
		len(got.Reasons[1].Reason) != 100 {
		t.Errorf("%d reasons: %+v", len(got.Reasons), got.Reasons[:2])
	}
}

func TestMostCampaignsAreRefused(t *testing.T) {
	r := open(t)
	for i := range campaign.MostActive {
		v := r.start(t, campaign.Order{})
		if i < campaign.MostPaused {
			if _, err := r.Pause(t.Context(), v.ID); err != nil {
				t.Fatal(err)
			}
		} else if _, err := r.Pause(t.Context(), v.ID); !errors.Is(err, campaign.ErrTooMany) {
			t.Fatalf("pausing number %d: %v", i+1, err)
		}
	}
	if _, _, err := r.Start(context.Background(), campaign.Order{Queue: news}); !errors.Is(err, campaign.ErrTooMany) {
		t.Error(err)
	}
}

func TestALongTextIsShownUpToItsLastWholeLetter(t *testing.T) {
	r := open(t)
	v := r.start(t, campaign.Order{Body: []byte("xx" + strings.Repeat("飛脚", 2000))})
	if v.Body == "" || !strings.HasPrefix(v.Body, "xx飛脚") || len(v.Body) > 4<<10 {
		t.Errorf("%d bytes are shown: %.20q", len(v.Body), v.Body)
	}
}

// told is a store that calls kept once a change is durable, before anybody else hears of it.
type told struct {
	queue.Service
	kept func(queue.Change)
}

func (s *told) Commit(ctx context.Context, c queue.Change) ([][]queue.PutResult, []error, error) {
	results, errs, err := s.Service.Commit(ctx, c)
	if err == nil {
		s.kept(c)
	}
	return results, errs, err
}

func TestACampaignIsKnownToTheFirstWhoHasItsMessage(t *testing.T) {
	r := open(t)
	store := &told{Service: r.store}
	reg, err := campaign.Open(t.Context(), store, r.clock.now)
	if err != nil {
		t.Fatal(err)
	}
	defer reg.Close()
	id := ""
	store.kept = func(c queue.Change) {
		if len(c.Puts) > 0 {
			id = reg.Of(&c.Puts[0].Messages[0])
		}
	}
	v, _, err := reg.Start(t.Context(), campaign.Order{Queue: news, Body: []byte("x")})
	if err != nil || id != v.ID {
		t.Errorf("its fanout takes it for one of %q, it is %q: %v", id, v.ID, err)
	}
}

func TestACallerWhoGoesAwayLeavesNothingHalfDone(t *testing.T) {
	r := open(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	v, _, err := r.Start(gone, campaign.Order{Queue: news, Body: []byte("x")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Pause(gone, v.ID); err != nil {
		t.Fatal(err)
	}
	if now, err := r.Show(v.ID); err != nil || now.State != campaign.Paused ||
		r.Stopped().State(v.ID) != campaign.Paused {
		t.Errorf("%+v, %v", now, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r.reopen(t)
	if now, err := r.Show(v.ID); err != nil || now.State != campaign.Paused {
		t.Errorf("after a restart: %+v, %v", now, err)
	}
}

func TestACampaignThatCannotBeKeptIsNotKnown(t *testing.T) {
	r := open(t)
	reg, err := campaign.Open(t.Context(), full{r.store}, r.clock.now)
	if err != nil {
		t.Fatal(err)
	}
	defer reg.Close()
	for range 2 {
		_, _, err = reg.Start(t.Context(), campaign.Order{Queue: news, Key: "k", Body: []byte("x")})
		if all := reg.List(func(string) bool { return true }); !errors.Is(err, queue.ErrNoRoom) || len(all) != 0 {
			t.Errorf("%v, %+v", err, all)
		}
	}
}

// full is a store that has no room.
type full struct{ queue.Service }

func (full) Commit(context.Context, queue.Change) ([][]queue.PutResult, []error, error) {
	return nil, nil, queue.ErrNoRoom
}
