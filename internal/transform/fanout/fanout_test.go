package fanout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

func TestEachItemBecomesAMessageOfItsOwn(t *testing.T) {
	made, err := New(Config{Source: Source{Type: "body"}, Key: "id", Into: "user", Attributes: []string{"lang"},
		OrderKey: "id"}, component.Env{Name: "users"})
	if err != nil {
		t.Fatal(err)
	}
	f := made.(*Fanout)
	f.config.Source.Items, f.source.(*bodySource).path = "all.users", []string{"all", "users"}
	if err := f.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c, out := newCampaign(), &port{auto: true}
	c.message.Body = []byte(`{"title": "x", "all": {"users": [{"id": 7, "lang": "ja"}, {"id": "b", "lang": null}]}}`)
	c.message.Attributes.Set("campaign", message.Int(42))
	if err := f.Stream(t.Context(), c.delivery(), out); err != nil {
		t.Fatal(err)
	}
	if v := c.verdict(t); v != component.Delivered {
		t.Error(v)
	}
	want := []string{`{"title":"x","user":{"id":7,"lang":"ja"}}`, `{"title":"x","user":{"id":"b","lang":null}}`}
	if got := out.bodies(); !slices.Equal(got, want) {
		t.Fatalf("got %q", got)
	}
	a, b := out.taken[0].Message, out.taken[1].Message
	lang, _ := a.Attributes.Get("lang")
	number, _ := a.Attributes.Get("campaign")
	if lang != message.String("ja") || number != message.Int(42) || a.Key != "7" || b.Key != "b" {
		t.Errorf("%+v, %+v", a, b)
	}
	if a.ID == b.ID || a.ID == c.message.ID || a.Dedup == b.Dedup || !strings.HasPrefix(a.Dedup, "d~") {
		t.Errorf("their identities are %s %s, %s %s", a.ID, a.Dedup, b.ID, b.Dedup)
	}
	if _, ok := c.message.Attributes.Get("lang"); ok || c.message.Key != "k" {
		t.Error("the message given was changed")
	}
}

func TestWhatCannotBeAnItemRejectsTheMessage(t *testing.T) {
	for body, says := range map[string]string{
		`text`:                           "not JSON",
		`{}`:                             "has no users",
		`{"users": {}}`:                  "no list",
		`{"users": null}`:                "no list",
		`{"users": [1]}`:                 "is no object, and has no id",
		`{"users": [{"a": 1}]}`:          "an item has no id; it has a",
		`{"users": [{"id": {}}]}`:        "a text or number is wanted",
		`{"users": [{"id":1},{"id":1}]}`: "two items have the id 1",
	} {
		made, err := New(Config{Source: Source{Type: "body"}, Key: "id"}, component.Env{Name: "users"})
		if err != nil {
			t.Fatal(err)
		}
		f := made.(*Fanout)
		f.config.Source.Items, f.source.(*bodySource).path = "users", []string{"users"}
		if err := f.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		c := newCampaign()
		c.message.Body = []byte(body)
		err = f.Stream(t.Context(), c.delivery(), &port{auto: true})
		if _, again := component.AsRetry(err); err == nil || again || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", body, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestNothingToSendIsDelivered(t *testing.T) {
	f := begin(t, Config{}, newNotes(), &table{})
	defer f.Close()
	c := newCampaign()
	if err := f.Stream(t.Context(), c.delivery(), &port{}); err != nil || c.verdict(t) != component.Delivered {
		t.Error(err)
	}
}

// TestASourceThatFailsIsAskedForTheRest, whether it can go on in the middle or not, and whether anything is remembered
// or not.
func TestASourceThatFailsIsAskedForTheRest(t *testing.T) {
	for _, resume := range []bool{false, true} {
		for _, n := range []*notes{nil, newNotes()} {
			for _, settled := range []bool{true, false} {
				t.Run(fmt.Sprint(resume, n != nil, settled), func(t *testing.T) {
					away := true
					s := &table{ids: upTo(100), resume: resume, fail: func(id int) error {
						if id == 57 && away {
							return errDown
						}
						return nil
					}}
					f := begin(t, Config{Page: 10}, n, s)
					defer f.Close()
					c, out := newCampaign(), &port{auto: settled}
					for range 3 {
						if err := f.Stream(t.Context(), c.delivery(), out); !errors.Is(err, errDown) {
							t.Fatal(err)
						}
						if err := f.settles.Flush(t.Context()); err != nil {
							t.Fatal(err)
						}
					}
					if got := len(out.bodies()); got != 50 {
						t.Fatalf("%d left", got)
					}
					away = false
					if err := f.Stream(t.Context(), c.delivery(), out); err != nil {
						t.Fatal(err)
					}
					if !settled {
						for _, d := range out.taken {
							d.Settle(component.OK(time.Time{}))
						}
					}
					if c.verdict(t) != component.Delivered {
						t.Error("it was given back")
					}
					got := out.bodies()
					slices.Sort(got)
					if len(got) != 100 || len(slices.Compact(got)) != 100 {
						t.Errorf("%d left, %d different ones", len(out.bodies()), len(slices.Compact(got)))
					}
				})
			}
		}
	}
}

func TestAMessageIsGivenBackWhenOneOfItsItemsIs(t *testing.T) {
	for _, resume := range []bool{false, true} {
		n := newNotes()
		f := begin(t, Config{Page: 10}, n, &table{ids: upTo(95), resume: resume})
		c, out := newCampaign(), &port{}
		if err := f.Stream(t.Context(), c.delivery(), out); err != nil {
			t.Fatal(err)
		}
		for i, d := range out.taken {
			if i == 33 || i == 66 {
				d.Settle(component.Again(0, errDown))
			} else {
				d.Settle(component.OK(time.Time{}))
			}
		}
		if c.verdict(t) != component.Retry {
			t.Error("it was settled")
		}
		again := &port{auto: true}
		if err := f.Stream(t.Context(), c.delivery(), again); err != nil {
			t.Fatal(err)
		}
		if c.verdict(t) != component.Delivered || !slices.Equal(again.bodies(), []string{`{"id":34}`, `{"id":67}`}) {
			t.Errorf("the second time %q", again.bodies())
		}
		// Its settlement was lost with a crash, and it comes once more.
		f.Close()
		f = begin(t, Config{Page: 10}, n, &table{ids: upTo(95), resume: resume})
		none := &port{}
		if err := f.Stream(t.Context(), c.delivery(), none); err != nil || c.verdict(t) != component.Delivered ||
			len(none.taken) > 0 {
			t.Errorf("the third time %q, %v", none.bodies(), err)
		}
		f.Close()
		if count, _ := n.size(); count != 2 { // labels, and that it is over
			t.Errorf("%d notes are left: %v", count, n.all)
		}
	}
}

func TestAPipelineThatStopsLeavesTheRestForTheNextTime(t *testing.T) {
	stopping := errors.New("the pipeline is stopping")
	n := newNotes()
	f := begin(t, Config{Page: 10}, n, &table{ids: upTo(50), resume: true})
	c := newCampaign()
	out := &port{auto: true, full: func(body string) error {
		if body == `{"id":26}` {
			return stopping
		}
		return nil
	}}
	if err := f.Stream(t.Context(), c.delivery(), out); !errors.Is(err, stopping) {
		t.Fatal(err)
	}
	f.Close()
	f = begin(t, Config{Page: 7}, n, &table{ids: upTo(50), resume: true})
	defer f.Close()
	rest := &port{auto: true}
	if err := f.Stream(t.Context(), c.delivery(), rest); err != nil || c.verdict(t) != component.Delivered {
		t.Fatal(err)
	}
	if got := rest.bodies(); len(got) != 25 || got[0] != `{"id":26}` {
		t.Errorf("%q", got)
	}
}

func TestNothingLeavesThatCouldNotBeRemembered(t *testing.T) {
	n := newNotes()
	broken := false
	n.fail = func() error {
		if broken {
			return errFull
		}
		return nil
	}
	f := begin(t, Config{Page: 10}, n, &table{ids: upTo(30), resume: true})
	c, out := newCampaign(), &port{}
	out.full = func(body string) error {
		broken = body == `{"id":10}`
		return nil
	}
	err := f.Stream(t.Context(), c.delivery(), out)
	if _, again := component.AsRetry(err); !again || !errors.Is(err, errFull) || len(out.taken) != 10 {
		t.Fatalf("%d left, %v", len(out.taken), err)
	}
	broken, out.full, out.auto = false, nil, true
	if err := f.Stream(t.Context(), c.delivery(), out); err != nil || len(out.taken) != 30 {
		t.Fatalf("%d left, %v", len(out.taken), err)
	}
	// What became of items cannot be kept: the message is given back.
	n.mu.Lock()
	broken = true
	n.mu.Unlock()
	for _, d := range out.taken[:10] {
		d.Settle(component.OK(time.Time{}))
	}
	if c.verdict(t) != component.Retry {
		t.Error("it was settled")
	}
	if err := f.Close(); !errors.Is(err, errFull) {
		t.Errorf("Close returns %v", err)
	}
}

func TestTwoMessagesWithOneIdAreNotMadeAtOnce(t *testing.T) {
	f := begin(t, Config{}, newNotes(), &table{ids: upTo(3)})
	defer f.Close()
	c, out := newCampaign(), &port{}
	if err := f.Stream(t.Context(), c.delivery(), out); err != nil {
		t.Fatal(err)
	}
	err := f.Stream(t.Context(), c.delivery(), out)
	if _, again := component.AsRetry(err); !again {
		t.Error(err)
	}
	other := c.delivery()
	other.Way = 7 // it came another way, as another message
	if err := f.Stream(t.Context(), other, &port{auto: true}); err != nil || c.verdict(t) != component.Delivered {
		t.Error(err)
	}
	for _, d := range out.taken {
		d.Settle(component.OK(time.Time{}))
	}
	if c.verdict(t) != component.Delivered {
		t.Error("the first was given back")
	}
}

func TestAMillionItemsTakeLittleRoom(t *testing.T) {
	const users = 200_000
	for _, resume := range []bool{false, true} {
		n := newNotes()
		s := &table{resume: resume}
		f := begin(t, Config{}, n, s)
		most := 0
		var window []component.Delivery
		out := sendFunc(func(_ context.Context, d component.Delivery) error {
			if window = append(window, d); len(window) > 5000 { // what a pipeline may have in flight
				window[0].Settle(component.OK(time.Time{}))
				window = window[1:]
			}
			return nil
		})
		s.mu.Lock()
		s.ids = upTo(users)
		s.mu.Unlock()
		pages := 0
		s.fail = func(id int) error {
			if pages++; pages%10_000 == 0 {
				if err := f.settles.Flush(t.Context()); err != nil {
					return err
				}
				_, bytes := n.size()
				most = max(most, bytes)
			}
			return nil
		}
		c := newCampaign()
		quick := &quickTable{table: s}
		f.source = quick
		if err := f.Stream(t.Context(), c.delivery(), out); err != nil {
			t.Fatal(err)
		}
		for _, d := range window {
			d.Settle(component.OK(time.Time{}))
		}
		if c.verdict(t) != component.Delivered {
			t.Error("it was given back")
		}
		if limit := 100_000; resume && most > limit || !resume && most > 8*users+limit {
			t.Errorf("resume %v: the notes took %d bytes", resume, most)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

type sendFunc func(context.Context, component.Delivery) error

func (f sendFunc) Send(ctx context.Context, d component.Delivery) error { return f(ctx, d) }
