package http_test

import (
	"slices"
	"testing"

	"github.com/hikyaku/hikyaku/internal/access"
	door "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/campaign"
)

func TestCampaignsAreForThoseWhoMayPushToTheirQueue(t *testing.T) {
	grant := func(on string, can ...string) []access.Grant { return []access.Grant{{Can: can, On: []string{on}}} }
	r := start(t, settings{campaigns: true, users: []access.User{
		{Name: "sender", Secret: "sender-secret", Grants: grant("news*", "put", "push")},
		{Name: "watcher", Secret: "watcher-secret", Grants: grant("news", "push")},
		{Name: "writer", Secret: "writer-secret", Grants: grant("*", "put", "take", "admin")},
		{Name: "other", Secret: "other-secret", Grants: grant("sport", "put", "push")},
	}})
	const order = `{"queue":"news","json":{"news":42},"name":"winter","key":"w","rows":[{"id":1}]}`
	r.refused("unauthenticated", "POST", "/default/campaigns", order)
	r.secret = "writer-secret"
	r.want(201, "PUT", "/default/queues/news", "{}")
	r.refused("forbidden", "POST", "/default/campaigns", order)
	r.secret = "watcher-secret"
	r.refused("forbidden", "POST", "/default/campaigns", order)
	r.secret = "sender-secret"
	var started door.StartedCampaign
	r.want(200, "POST", "/default/campaigns", order).json(t, &started)
	v := started.Campaign
	if started.Before || v.State != campaign.Running || v.Rows != 1 || v.Body != `{"news":42}` ||
		v.Queue != "default/news" {
		t.Errorf("%+v", started)
	}
	r.want(200, "POST", "/default/campaigns", order).json(t, &started)
	if !started.Before || started.Campaign.ID != v.ID {
		t.Errorf("again: %+v", started)
	}
	of := "/default/campaigns/" + v.ID
	for _, secret := range []string{"writer-secret", "other-secret"} {
		r.secret = secret
		r.refused("no-such-campaign", "GET", of, "")
		r.refused("no-such-campaign", "POST", of+"/cancel", "")
		var list struct{ Campaigns []door.Campaign }
		r.want(200, "GET", "/default/campaigns", "").json(t, &list)
		if len(list.Campaigns) != 0 {
			t.Errorf("%s sees %+v", secret, list)
		}
	}
	r.secret = "watcher-secret"
	r.refused("no-such-campaign", "GET", "/elsewhere/campaigns/"+v.ID, "")
	for _, step := range []struct {
		word string
		want campaign.State
	}{{"pause", campaign.Paused}, {"resume", campaign.Running}, {"cancel", campaign.Cancelled}} {
		var got door.Campaign
		r.want(200, "POST", of+"/"+step.word, "").json(t, &got)
		r.want(200, "GET", of, "").json(t, &v)
		if got.State != step.want || v.State != step.want {
			t.Errorf("%s: %+v, %+v", step.word, got, v)
		}
	}
	r.refused("campaign-over", "POST", of+"/resume", "")
}

func TestOrdersOfCampaignsThatAreRefused(t *testing.T) {
	r := start(t, settings{campaigns: true})
	r.want(201, "PUT", "/default/queues/news", "{}")
	r.want(200, "POST", "/default/campaigns", `{"queue":"news","key":"k"}`)
	for order, word := range map[string]string{
		`{"queue":"nwes"}`:                            "not-found",
		`{"queue":""}`:                                "bad-name",
		`{"queue":"news","json":1,"body":"1"}`:        "bad-request",
		`{"queue":"news","rows":[1]}`:                 "bad-campaign",
		`{"queue":"news","rows":[]}`:                  "bad-campaign", // a list that came out empty is not for all
		`{"queue":"news","rows":null}`:                "bad-campaign",
		`{"queue":"news","row":[]}`:                   "bad-request",
		`{"queue":"news","local_time":"9 o'clock"}`:   "bad-campaign",
		`{"queue":"news","key":"k","name":"another"}`: "other-campaign",
	} {
		r.refused(word, "POST", "/default/campaigns", order)
	}
}

func TestCampaignsAreListedInPages(t *testing.T) {
	r := start(t, settings{campaigns: true})
	r.want(201, "PUT", "/default/queues/news", "{}")
	var ids []string
	for range 7 {
		var started door.StartedCampaign
		r.want(200, "POST", "/default/campaigns", `{"queue":"news"}`).json(t, &started)
		ids = append(ids, started.Campaign.ID)
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	var got []string
	sizes := []int{}
	for after := ""; ; {
		var page struct {
			Campaigns []door.Campaign
			Next      string
		}
		r.want(200, "GET", "/default/campaigns?max=3&after="+after, "").json(t, &page)
		sizes = append(sizes, len(page.Campaigns))
		for _, v := range page.Campaigns {
			got = append(got, v.ID)
		}
		if after = page.Next; after == "" {
			break
		}
	}
	if !slices.Equal(got, ids) || !slices.Equal(sizes, []int{3, 3, 1}) {
		t.Errorf("%v of %v in pages of %v", got, ids, sizes)
	}
	all, err := r.client("").Campaigns(t.Context(), "default")
	if err != nil || len(all) != len(ids) || all[0].ID != ids[0] {
		t.Errorf("the client sees %v, %v", all, err)
	}
	r.refused("bad-request", "GET", "/default/campaigns?max=1001", "")
}
