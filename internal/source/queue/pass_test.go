package queue

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// TestMessagesOfAPausedCampaignStayInTheirQueue: others behind them are taken; after the campaign goes on, they are, by
// a source that waits.
func TestMessagesOfAPausedCampaignStayInTheirQueue(t *testing.T) {
	store, _ := open(t)
	if _, err := store.CreateQueue(t.Context(), named("news"), queue.Definition{}); err != nil {
		t.Fatal(err)
	}
	campaigns, err := campaign.Open(t.Context(), store, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer campaigns.Close()
	v, _, err := campaigns.Start(t.Context(), campaign.Order{Queue: named("news"), Body: []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		m := text(fmt.Sprint(i))
		if i%2 == 0 {
			m.Attributes.Set(campaign.Attribute, message.String(v.ID))
		}
		m.Attributes.Set("platform", message.String([]string{"ios", "ios", "ios", "web"}[i%4]))
		put(t, store, "q", m)
	}
	if _, err := campaigns.Pause(t.Context(), v.ID); err != nil {
		t.Fatal(err)
	}
	r := runWith(t, Config{Queue: "q", Where: "platform = 'ios'"},
		component.Env{Name: "waiting", Store: store, Campaigns: campaigns})
	for _, want := range []string{"1", "5"} {
		d, body := r.take(t)
		if body != want {
			t.Errorf("got %s, want %s", body, want)
		}
		d.Settle(delivered)
	}
	if _, err := campaigns.Resume(t.Context(), v.ID); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"0", "2", "4"} {
		d, body := r.take(t)
		if body != want || d.Attempt != 1 {
			t.Errorf("got %s at attempt %d, want %s", body, d.Attempt, want)
		}
		d.Settle(delivered)
	}
	r.stop(t)
}

// TestWhatIsGivenBackUntriedIsNotCounted: else a queue's max_attempts would make dead letters of what only waits.
func TestWhatIsGivenBackUntriedIsNotCounted(t *testing.T) {
	store, clock := open(t)
	if _, err := store.CreateQueue(t.Context(), named("q"), queue.Definition{MaxAttempts: 2}); err != nil {
		t.Fatal(err)
	}
	put(t, store, "q", text("a"))
	r := run(t, store, Config{Queue: "q"})
	for i := range 5 {
		d, _ := r.take(t)
		if d.Attempt != 1 {
			t.Fatalf("attempt %d after it was given back %d times", d.Attempt, i)
		}
		d.Settle(component.GiveBack(time.Hour, errors.New("it is night there")))
		if err := r.settles.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if st := stats(t, store, "q"); st.Delayed != 1 || st.TotalDead != 0 {
			t.Fatalf("%+v", st)
		}
		clock.forward(time.Hour)
		put(t, store, "q", text("b")) // lets the store look at its clock
		r.next(t, "b").Settle(delivered)
	}
	d, _ := r.take(t)
	d.Settle(delivered)
	r.stop(t)
}

// next takes messages until that with a body comes; the others are given back untried.
func (r *running) next(t *testing.T, want string) component.Delivery {
	t.Helper()
	for {
		d, body := r.take(t)
		if body == want {
			return d
		}
		d.Settle(component.GiveBack(0, errors.New("another is wanted")))
	}
}
