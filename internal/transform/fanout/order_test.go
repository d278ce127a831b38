package fanout

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/journal"
	journalfile "github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

var news = queue.Name{Namespace: queue.DefaultNamespace, Name: "news"}

// controlled is a fanout of 50 users over a store with a campaign, which is to be closed, and the campaign's message.
type controlled struct {
	*Fanout
	store     *queue.Store
	campaigns *campaign.Registry
	id        string
	order     *ordered
	users     *table
}

func control(t *testing.T, o campaign.Order) *controlled {
	t.Helper()
	j, err := journalfile.Open(t.Context(), journalfile.Options{Dir: t.TempDir(), Durability: journal.OS})
	if err != nil {
		t.Fatal(err)
	}
	c := &controlled{users: &table{resume: true, ids: upTo(50)}}
	if c.store, err = queue.Open(t.Context(), queue.Options{Journal: j}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.store.CreateQueue(t.Context(), news, queue.Definition{}); err != nil {
		t.Fatal(err)
	}
	if c.campaigns, err = campaign.Open(t.Context(), c.store, nil); err != nil {
		t.Fatal(err)
	}
	c.begin(t)
	t.Cleanup(func() {
		if err := errors.Join(c.Close(), c.campaigns.Close(), c.store.Close(), j.Close()); err != nil {
			t.Error(err)
		}
	})
	o.Queue, o.Body = news, []byte(`{"news":42}`)
	v, _, err := c.campaigns.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	c.id = v.ID
	claims, err := c.store.Claim(t.Context(), queue.ClaimRequest{From: []queue.From{{Queue: news}}})
	if err != nil || len(claims) != 1 {
		t.Fatal(err, claims)
	}
	c.order = newCampaign()
	c.order.message = &claims[0].Message
	return c
}

// begin makes the fanout, as a start of the program does.
func (c *controlled) begin(t *testing.T) {
	t.Helper()
	settings := Config{Source: Source{Type: "body"}, Key: "id", Page: 10}
	made, err := New(settings, component.Env{Name: "users", Store: c.store, Campaigns: c.campaigns})
	if err != nil {
		t.Fatal(err)
	}
	c.Fanout = made.(*Fanout)
	c.users.config, c.source = &c.config, c.users
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// restart is what a kill and a start leave.
func (c *controlled) restart(t *testing.T) {
	t.Helper()
	if err := errors.Join(c.Close(), c.campaigns.Close()); err != nil {
		t.Fatal(err)
	}
	var err error
	if c.campaigns, err = campaign.Open(t.Context(), c.store, nil); err != nil {
		t.Fatal(err)
	}
	c.begin(t)
}

func (c *controlled) show(t *testing.T) campaign.View {
	t.Helper()
	v, err := c.campaigns.Show(c.id)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// when does something once, before the item with this body leaves.
func when(body string, do func()) func(string) error {
	return func(b string) error {
		if b == body {
			do()
		}
		return nil
	}
}

func TestAPausedCampaignGoesOnWhereItWasAfterARestart(t *testing.T) {
	c := control(t, campaign.Order{})
	out := &port{auto: true, full: when(`{"id":15}`, func() {
		if _, err := c.campaigns.Pause(t.Context(), c.id); err != nil {
			t.Error(err)
		}
	})}
	for range 2 {
		err := c.Stream(t.Context(), c.order.delivery(), out)
		if !component.IsBack(err) || !component.IsHold(err) {
			t.Fatalf("it is not given back: %v", err)
		}
		if v := c.show(t); v.State != campaign.Paused || v.Made != 20 || v.Complete || len(out.taken) != 20 ||
			v.Problem != "" {
			t.Fatalf("%+v, %d have left", v, len(out.taken))
		}
		c.restart(t)
	}
	if _, err := c.campaigns.Resume(t.Context(), c.id); err != nil {
		t.Fatal(err)
	}
	out.full = nil
	if err := c.Stream(t.Context(), c.order.delivery(), out); err != nil {
		t.Fatal(err)
	}
	if v := c.order.verdict(t); v != component.Delivered {
		t.Error(v)
	}
	var want []string
	for _, id := range upTo(50) {
		want = append(want, fmt.Sprintf(`{"id":%d}`, id))
	}
	if got := out.bodies(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	c.restart(t)
	if v := c.show(t); v.Made != 50 || !v.Complete || v.State != campaign.Running {
		t.Errorf("%+v", v)
	}
}

func TestACancelledCampaignMakesNoMore(t *testing.T) {
	c := control(t, campaign.Order{})
	out := &port{auto: true, full: when(`{"id":15}`, func() {
		if _, err := c.campaigns.Cancel(t.Context(), c.id); err != nil {
			t.Error(err)
		}
	})}
	for range 2 { // the second time it comes again after its end
		if err := c.Stream(t.Context(), c.order.delivery(), out); err != nil {
			t.Fatal(err)
		}
		if v := c.order.verdict(t); v != component.Delivered {
			t.Error(v)
		}
		if v := c.show(t); v.State != campaign.Cancelled || v.Made != 20 || !v.Complete || len(out.taken) != 20 {
			t.Errorf("%+v, %d have left", v, len(out.taken))
		}
	}
}

func TestTheRowsOfACampaignStandForThoseOfTheSource(t *testing.T) {
	var rows []json.RawMessage
	for i := range 25 {
		rows = append(rows, json.RawMessage(fmt.Sprintf(`{"id": %d}`, 1000-i))) // in no order
	}
	c := control(t, campaign.Order{Rows: rows})
	out := &port{auto: true, full: when(`{"id":985}`, func() {
		if _, err := c.campaigns.Pause(t.Context(), c.id); err != nil {
			t.Error(err)
		}
	})}
	if err := c.Stream(t.Context(), c.order.delivery(), out); !component.IsBack(err) {
		t.Fatal(err)
	}
	c.restart(t)
	if _, err := c.campaigns.Resume(t.Context(), c.id); err != nil {
		t.Fatal(err)
	}
	out.full = nil
	if err := c.Stream(t.Context(), c.order.delivery(), out); err != nil {
		t.Fatal(err)
	}
	if v := c.order.verdict(t); v != component.Delivered {
		t.Error(v)
	}
	got := out.bodies()
	if slices.Sort(got); len(slices.Compact(got)) != 25 || len(out.taken) != 25 || c.show(t).Made != 25 {
		t.Errorf("%d: %q, %+v", len(out.taken), got, c.show(t))
	}
	for _, d := range out.taken {
		_, has := d.Message.Attributes.Get(campaign.Rows)
		if id, _ := d.Message.Attributes.Get(campaign.Attribute); has || id.AsString() != c.id {
			t.Fatalf("%+v", d.Message.Attributes)
		}
	}
}

func TestACampaignTellsWhyItsFanoutDoesNotGoOn(t *testing.T) {
	c := control(t, campaign.Order{Rows: []json.RawMessage{json.RawMessage(`{"name":"nobody"}`)}})
	if err := c.Stream(t.Context(), c.order.delivery(), &port{auto: true}); err == nil ||
		c.show(t).Problem != err.Error()+"; its message is a dead letter: put this right and replay it, or cancel the "+
			"campaign" {
		t.Errorf("%v, %+v", err, c.show(t))
	}
}

func TestRowsOfACampaignThatIsForgottenAreNotForAll(t *testing.T) {
	c := control(t, campaign.Order{Rows: []json.RawMessage{json.RawMessage(`{"id": 1000}`)}})
	c.order.message.Attributes.Set(campaign.Attribute, message.String("0forgotten00"))
	out := &port{auto: true}
	if err := c.Stream(t.Context(), c.order.delivery(), out); !component.IsReject(err) || len(out.taken) != 0 {
		t.Errorf("%d have left: %v", len(out.taken), err)
	}
}

func TestAMessageWhoseItemsWaitComesAgainWhenTheFirstIsWanted(t *testing.T) {
	c := control(t, campaign.Order{})
	out := &port{}
	if err := c.Stream(t.Context(), c.order.delivery(), out); err != nil {
		t.Fatal(err)
	}
	for i, d := range out.taken {
		d.Settle(component.GiveBack(time.Duration(1+(i+20)%50)*time.Hour, errors.New("it is night there")))
	}
	select {
	case o := <-c.order.told:
		if !o.Back || !o.Held || o.After != time.Hour || o.Reason.Error() != "it is night there" {
			t.Errorf("%+v", o)
		}
	case <-time.After(time.Minute):
		t.Fatal("it was never settled")
	}
}
