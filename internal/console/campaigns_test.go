package console_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/console"
	"github.com/hikyaku/hikyaku/internal/push/dead"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// withCampaigns gives a door the campaigns of its store.
func withCampaigns(t *testing.T) func(*httpdoor.Options) {
	return func(o *httpdoor.Options) {
		all, err := campaign.Open(t.Context(), o.Store.(*queue.Store), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := all.Close(); err != nil {
				t.Error(err)
			}
		})
		o.Campaigns = all
	}
}

// campaign starts one as the user who looks, and returns the path of its page.
func (r *rig) campaign() string {
	r.t.Helper()
	r.queue("news", queue.Definition{})
	order := strings.NewReader(`{"queue": "news", "json": {"text": "` + strings.ReplaceAll(evil, `"`, `\"`) + `"}, ` +
		`"name": "<img src=x>"}`)
	req := r.request("POST", "/default/campaigns", nil, "Content-Type", "application/json")
	req.Body, req.ContentLength = readCloser{order}, int64(order.Len())
	_, id, _ := strings.Cut(r.want(200, req), `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	return "campaign/default/" + id
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

func TestACampaignIsShownPausedResumedAndCancelled(t *testing.T) {
	r := startWith(t, httpdoor.Config{}, withCampaigns(t))
	has(t, r.page("campaigns"), "There is no campaign")
	path := r.campaign()
	has(t, r.page("campaigns"), path, "running", "hikyaku campaign ls")
	for _, step := range [][2]string{{"pause", "paused"}, {"resume", "running"}, {"cancel", "cancelled"}} {
		page := r.want(200, r.request("POST", console.Base+path+"/"+step[0], nil))
		has(t, page, "The campaign is now: "+step[1]+".", "&lt;script&gt;")
		lacks(t, page, "<script>alert", "<img")
	}
	has(t, r.want(409, r.request("POST", console.Base+path+"/resume", nil)), "Campaign is over")
	r.want(404, r.request("GET", console.Base+"campaign/default/none", nil))
	lacks(t, r.page("campaigns"), "<script>alert", "<img")
}

func TestCampaignsAreForThoseWhoMayPush(t *testing.T) {
	grant := func(can ...string) []access.Grant { return []access.Grant{{Can: can, On: []string{"*"}}} }
	users := []access.User{{Name: "sender", Secret: "sender-secret", Grants: grant("put", "push")},
		{Name: "boss", Secret: "boss-secret", Grants: grant("put", "take", "admin")}}
	r := startWith(t, httpdoor.Config{}, withCampaigns(t), users...)
	r.user = "sender"
	path := r.campaign()
	has(t, r.page("campaigns"), path)
	r.user = "boss"
	lacks(t, r.page("campaigns"), path)
	r.want(404, r.request("GET", console.Base+path, nil))
	r.want(404, r.request("POST", console.Base+path+"/cancel", nil))

	only := startWith(t, httpdoor.Config{Console: "read"}, withCampaigns(t))
	path = only.campaign()
	lacks(t, only.page(path), "/cancel", "/pause")
	only.want(403, only.request("POST", console.Base+path+"/cancel", nil))
}

// withDead gives a door a sink that remembers two dead devices.
func withDead(t *testing.T) func(*httpdoor.Options) {
	return func(o *httpdoor.Options) {
		r := dead.New(dead.Config{Store: o.Store.(*queue.Store), Room: "phones", Platform: "apns"})
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
		done := make(chan error)
		for _, reason := range []string{"Unregistered", "<img src=x>"} {
			r.Mark(dead.Death{App: "news", Token: "t" + reason, Since: time.Now(), Reason: reason, Status: 410},
				func(err error) { done <- err })
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		o.Dead = func() map[string]*dead.Registry { return map[string]*dead.Registry{"phones": r} }
	}
}

func TestDeadDevicesAreCountedFoundAndRevived(t *testing.T) {
	r := startWith(t, httpdoor.Config{}, withDead(t))
	has(t, r.page("push"), "push/phones", "apns", ">2<")
	page := r.page("push/phones")
	has(t, page, "Unregistered", "&lt;img src=x&gt;", "410")
	lacks(t, page, "<img")
	act := func(status int, word string, form url.Values) string {
		t.Helper()
		return r.want(status, r.request("POST", console.Base+"push/phones/"+word, form))
	}
	found := act(200, "find", url.Values{"app": {"news"}, "token": {"tUnregistered"}})
	has(t, found, "is dead: news Unregistered")
	lacks(t, found, "tUnregistered")
	has(t, act(200, "find", url.Values{"token": {"other"}}), "is not dead.")
	some := url.Values{"reason": {"Unregistered"}, "count": {"yes"}}
	has(t, act(200, "revive", some), "They would be: 1.", "Unregistered")
	some.Del("count")
	has(t, act(200, "revive", some), "Taken for alive again: 1.")
	lacks(t, r.page("push/phones"), "Unregistered")
	act(400, "revive", url.Values{"since": {"yesterday"}})
	act(400, "revive", url.Values{}) // nothing selects them all by chance
	has(t, act(200, "revive", url.Values{"all": {"yes"}}), "Taken for alive again: 1.", "No device is dead.")
	r.want(404, r.request("GET", console.Base+"push/none", nil))
}

func TestDeadDevicesAreForThoseWhoMayAdministerEverything(t *testing.T) {
	r := startWith(t, httpdoor.Config{}, withDead(t), access.User{Name: "keeper", Secret: "keeper-secret",
		Grants: []access.Grant{{Can: []string{"push", "admin"}, On: []string{"news"}}}})
	r.user = "keeper"
	for _, path := range []string{"push", "push/phones"} {
		r.want(403, r.request("GET", console.Base+path, nil))
	}
	for _, word := range []string{"find", "revive"} {
		r.want(403, r.request("POST", console.Base+"push/phones/"+word, url.Values{"token": {"x"}}))
	}
	only := startWith(t, httpdoor.Config{Console: "read"}, withDead(t))
	page := only.page("push/phones")
	has(t, page, "/find")
	lacks(t, page, "/revive")
	only.want(403, only.request("POST", console.Base+"push/phones/revive", url.Values{"all": {"yes"}}))
	has(t, only.want(200, only.request("POST", console.Base+"push/phones/find", url.Values{"token": {"x"}})),
		"is not dead.")
}
