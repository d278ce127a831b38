package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
)

// as runs the program as a user with a secret.
func (s *served) as(t *testing.T, secret string, args ...string) result {
	t.Helper()
	return hikyaku(t, "", []string{"HIKYAKU_URL=" + s.url, "HIKYAKU_SECRET=" + secret}, args...)
}

// shown is a campaign as a user with a secret sees it.
func (s *served) shown(t *testing.T, secret, id string) (v httpdoor.Campaign) {
	t.Helper()
	r := s.as(t, secret, "campaign", "show", id, "--json")
	if r.code != 0 {
		t.Fatalf("%+v", r)
	}
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestWhoMayPushRunsACampaignToItsEndAndNothingElse: a user who may put to the campaigns' queue and push, and may
// neither take nor look into the outbox.
func TestWhoMayPushRunsACampaignToItsEndAndNothingElse(t *testing.T) {
	const phones, marketing, backend = 600, "the-secret-of-marketing", "the-secret-of-the-back-end"
	dir := t.TempDir()
	users(t, filepath.Join(dir, "users.db"), phones)
	far := sandboxHere(t, dir, "apns")
	s := serveHere(t, dir, campaigning(far, 200)+fmt.Sprintf(`
users:
  marketing: { secret: %s, grants: [{ can: [put, push], on: [news] }] }
  backend: { secret: %s, grants: [{ can: [put, take], on: ["*"] }] }
`, marketing, backend))
	order := []string{"campaign", "start", "news", `{"news": 42}`, "--key", "k"}
	if r := s.as(t, backend, order...); r.code == 0 || !strings.Contains(r.stderr, "push") {
		t.Errorf("who may not push starts a campaign: %+v", r)
	}
	started := s.as(t, marketing, order...)
	if started.code != 0 {
		t.Fatalf("%+v", started)
	}
	id := strings.TrimSpace(started.stdout)
	if r := s.as(t, marketing, "queue", "peek", "outbox"); r.code == 0 {
		t.Errorf("it sees the outbox: %+v", r)
	}
	if r := s.as(t, backend, "campaign", "cancel", id); r.code == 0 {
		t.Errorf("another cancels it: %+v", r)
	}
	pushtest.Eventually(t, func() bool {
		v := s.shown(t, marketing, id)
		return v.Complete && v.Rate > 0 && v.End != nil && v.End.After(time.Now().Add(-time.Minute)) ||
			v.State == campaign.Done // on a machine that is so busy that nobody looked in between
	})
	if r := s.as(t, marketing, "campaign", "watch", id); r.code != 0 || !strings.Contains(r.stdout, "done  made 600") {
		t.Errorf("%+v", r)
	}
	v := s.shown(t, marketing, id)
	if v.State != campaign.Done || !v.Complete || v.Made != phones || v.Sent != phones || v.Left != 0 || v.Rate != 0 ||
		v.End != nil || v.Ended == nil || v.Refused+v.Dropped+v.Cancelled+v.Capped != 0 {
		t.Errorf("%+v", v)
	}
	if c := far.counts(t); c.Messages != phones || c.Devices != phones || c.Doubles != 0 {
		t.Errorf("%+v", c)
	}
}

// TestLocalTimesAndQuietHoursHoldBackThoseForWhomItIsNotTheTime starts a campaign for a minute ago. It was that time in
// UTC, it is not yet five hours west of it, and it is night six hours east.
func TestLocalTimesAndQuietHoursHoldBackThoseForWhomItIsNotTheTime(t *testing.T) {
	const each = 50
	dir := t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(dir, "users.db")+"?_pragma=busy_timeout(60000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range []string{
		"create table users (id integer primary key, token text, tz text)",
		fmt.Sprintf("insert into users select value, printf('%%064x', value), case value %% 3 when 0 then 'Etc/UTC' "+
			"when 1 then 'Etc/GMT+5' else 'Etc/GMT-6' end from (with recursive c(value) as "+
			"(select 1 union all select value + 1 from c where value < %d) select value from c)", 3*each),
	} {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now().UTC()
	of := func(d time.Duration) string { return now.Add(d).Format("15:04") }
	far := sandboxHere(t, dir, "apns")
	s := serveHere(t, dir, strings.NewReplacer("attributes: [token]", "attributes: [token, tz]",
		"select id, token from", "select id, token, tz from",
		"gate: { type: campaign, inputs: [outbox] }",
		fmt.Sprintf("gate: { type: campaign, inputs: [outbox], time_zone: tz, quiet: { from: '%s', to: '%s' } }",
			of(5*time.Hour), of(8*time.Hour)),
	).Replace(campaigning(far, 1000)))
	id := s.start(t, "news", `{"news": 42}`, "--local-time", now.Add(-time.Minute).Format(campaign.LocalForm))
	pushtest.Eventually(t, func() bool { return s.campaign(t, id).Sent == each })
	pushtest.Eventually(t, func() bool { _, away := s.outbox(t); return away == 2*each })
	v := s.campaign(t, id)
	if messages, _ := s.outbox(t); messages != 2*each || v.State != campaign.Running || v.Made != 3*each ||
		v.Left != 2*each || v.LocalTime == "" {
		t.Errorf("%d wait; %+v", messages, v)
	}
	if c := far.counts(t); c.Messages != each {
		t.Errorf("%+v", c)
	}
}
