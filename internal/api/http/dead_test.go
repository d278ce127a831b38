package http_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	door "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/push/dead"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// registry is one in which n devices died of each of two reasons, on different days.
func registry(t *testing.T, n int) *dead.Registry {
	t.Helper()
	r := dead.New(dead.Config{Store: openStore(t, queue.Options{OnDemand: true}), Room: "phones",
		Platform: "apns"})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	day := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	done := make(chan error)
	for i := range n {
		for j, reason := range []string{"BadDeviceToken", "Unregistered"} {
			r.Mark(dead.Death{
				App: "news", Token: fmt.Sprint(reason, i), Since: day.AddDate(0, 0, j), Reason: reason,
				Status: 400 + 10*j,
			}, func(err error) { done <- err })
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
	}
	return r
}

func TestDeadDevicesAreCountedFoundAndRevived(t *testing.T) {
	phones := registry(t, 3)
	r := start(t, settings{dead: map[string]*dead.Registry{
		"phones": phones, "later": dead.New(dead.Config{Room: "later", Platform: "fcm"}),
	}})
	got := string(r.want(200, "GET", "/-/push/dead", "").body)
	want := `{"sinks":[{"sink":"later","platform":"fcm","devices":0},` +
		`{"sink":"phones","platform":"apns","devices":6}]}` + "\n"
	if got != want {
		t.Errorf("sinks: %s", got)
	}
	got = string(r.want(200, "GET", "/-/push/dead/phones", "").body)
	want = `{"sink":"phones","totals":[` +
		`{"app":"news","reason":"Unregistered","status":410,"day":"2026-11-21","devices":3},` +
		`{"app":"news","reason":"BadDeviceToken","status":400,"day":"2026-11-20","devices":3}]}` + "\n"
	if got != want {
		t.Errorf("totals: %s", got)
	}
	var totals door.DeadTotals
	const late = "/-/push/dead/phones?app=news&reason=BadDeviceToken&since=2026-11-21T00:00:00Z"
	r.want(200, "GET", late, "").json(t, &totals)
	if len(totals.Totals) != 0 {
		t.Errorf("of no day: %+v", totals)
	}
	got = string(r.want(200, "POST", "/-/push/dead/phones/find", `{"app":"news","token":"Unregistered1"}`).body)
	want = `{"sink":"phones","dead":true,"deaths":[` +
		`{"app":"news","reason":"Unregistered","status":410,"since":"2026-11-21T12:00:00Z"}]}` + "\n"
	if got != want {
		t.Errorf("found: %s", got)
	}
	got = string(r.want(200, "POST", "/-/push/dead/phones/find", `{"token":"x"}`).body)
	if want := `{"sink":"phones","dead":false,"deaths":[]}` + "\n"; got != want {
		t.Errorf("found: %s", got)
	}
	revive := func(request string) (did door.Revived) {
		t.Helper()
		r.want(200, "POST", "/-/push/dead/phones/revive", request).json(t, &did)
		return did
	}
	for _, c := range []struct {
		request string
		want    door.Revived
		left    int
	}{
		{`{"reason":"BadDeviceToken","dry_run":true}`, door.Revived{Revived: 3, DryRun: true}, 6},
		{`{"app":"news","token":"BadDeviceToken0"}`, door.Revived{Revived: 1}, 5},
		{`{"app":"news","reason":"BadDeviceToken","since":"2026-11-20T00:00:00Z"}`, door.Revived{Revived: 2}, 3},
		{`{"all":true}`, door.Revived{Revived: 3}, 0},
	} {
		if did := revive(c.request); did != c.want || phones.Len() != c.left {
			t.Errorf("%s: %+v, %d are left", c.request, did, phones.Len())
		}
	}
}

func TestAMistakenQuestionAboutDeadDevicesIsToldWhatToDo(t *testing.T) {
	const log = "it starts with the pipelines: see the log of the server"
	r := start(t, settings{dead: map[string]*dead.Registry{
		"later": dead.New(dead.Config{Room: "later"}), "phones": registry(t, 0),
	}})
	for _, c := range []struct{ word, method, path, body, hint string }{
		{"no-such-sink", "GET", "/-/push/dead/tablets", "", "sinks that push here: later, phones"},
		{"not-ready", "GET", "/-/push/dead/later", "", log},
		{"not-ready", "POST", "/-/push/dead/later/revive", `{"all":true}`, log},
		{"not-ready", "POST", "/-/push/dead/later/find", `{"token":"a"}`, log},
		{"bad-request", "POST", "/-/push/dead/phones/revive", `{}`,
			"name a token, an app, a reason or a time, or say all: true"},
		{"bad-request", "POST", "/-/push/dead/phones/find", `{"app":"news"}`, `send {"app": …, "token": …}`},
		{"bad-request", "GET", "/-/push/dead/phones?since=soon", "", "write it as 2006-01-02T15:04:05Z"},
		{"bad-request", "GET", "/-/push/dead/phones?token=a", "",
			"GET /openapi.yaml names the parameters of every path"},
	} {
		if p := r.refused(c.word, c.method, c.path, c.body); p.Hint != c.hint {
			t.Errorf("%s %s: hint %q", c.method, c.path, p.Hint)
		}
	}
	none := start(t, settings{})
	p := none.refused("no-such-sink", "GET", "/-/push/dead/phones", "")
	if p.Hint != "this server has no sink that pushes: those of type apns, fcm, hms, webpush and wns remember dead devices" {
		t.Errorf("hint %q", p.Hint)
	}
}

func TestDeadDevicesAreForThoseWhoMayDoEverything(t *testing.T) {
	some := []access.Grant{{Can: []string{"put", "take", "admin"}, On: []string{"default/*"}}}
	all := []access.Grant{{Can: []string{"admin"}, On: []string{"*"}}}
	r := start(t, settings{dead: map[string]*dead.Registry{"phones": registry(t, 1)}, users: []access.User{
		{Name: "some", Secret: "some-secret-of-a-user", Grants: some},
		{Name: "all", Secret: "all-secret-of-a-user", Grants: all},
	}})
	for path, body := range map[string]string{
		"": "", "/phones": "", "/nothing": "", "/phones/find": `{"token":"a"}`, "/phones/revive": `{"all":true}`,
	} {
		method := "GET"
		if body != "" {
			method = "POST"
		}
		r.secret = ""
		r.refused("unauthenticated", method, "/-/push/dead"+path, body)
		r.secret = "some-secret-of-a-user"
		r.refused("forbidden", method, "/-/push/dead"+path, body)
	}
	r.secret = "all-secret-of-a-user"
	c, err := door.NewClient(door.ClientConfig{URL: r.url, Secret: access.Secret(r.secret)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	sinks, err := c.DeadSinks(t.Context())
	if err != nil || len(sinks) != 1 || sinks[0].Devices != 2 {
		t.Errorf("%+v, %v", sinks, err)
	}
	since := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	s := door.DeadSelection{App: "news", Reason: "Unregistered", Since: &since}
	totals, err := c.DeadTotals(t.Context(), "phones", s)
	if err != nil || len(totals.Totals) != 1 || totals.Totals[0].Devices != 1 {
		t.Errorf("%+v, %v", totals, err)
	}
	if d, err := c.FindDead(t.Context(), "phones", door.DeadSelection{Token: "Unregistered0"}); err != nil || !d.Dead {
		t.Errorf("%+v, %v", d, err)
	}
	did, err := c.ReviveDead(t.Context(), "phones", door.ReviveRequest{DeadSelection: s})
	if err != nil || did.Revived != 1 {
		t.Errorf("%+v, %v", did, err)
	}
}
