package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
)

// users makes a database of so many users, each with a device.
func users(t *testing.T, path string, n int) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range []string{
		"create table users (id integer primary key, token text)",
		fmt.Sprintf("insert into users select value, printf('%%064x', value) from (with recursive c(value) as "+
			"(select 1 union all select value + 1 from c where value < %d) select value from c)", n),
	} {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
}

// campaigning is a configuration of campaigns to users.db, with so many pushes a second.
func campaigning(far *sandboxed, rate int) string {
	paced := fmt.Sprintf("inputs: gate\n    request: { rate_limit_num: %d }\n", rate)
	text := strings.ReplaceAll(pushing(far), "inputs: outbox\n", paced)
	return strings.ReplaceAll(text, "sources:\n", `
queues: { news: {}, outbox: { max_attempts: 2 } }
transforms:
  users:
    type: fanout
    inputs: [news]
    key: id
    start: 0
    into: user
    attributes: [token]
    page: 100
    source:
      type: sql
      database: users.db
      query: "select id, token from users where id > :after order by id limit :limit"
  shape: { type: jq, inputs: [users], program: '{aps: {alert: "news \(.news)"}}' }
  gate: { type: campaign, inputs: [outbox] }
sources:
  news: { type: queue, queue: news, lease: 2s }
`) + "  into_outbox: { type: queue, inputs: [shape], queue: outbox }\n"
}

// outbox is how many messages the queue outbox has, and how many of them are claimed or asleep.
func (s *served) outbox(t *testing.T) (messages, away int) {
	t.Helper()
	asked, err := http.Get(s.url + "/default/queues/outbox")
	if err != nil {
		t.Fatal(err)
	}
	defer asked.Body.Close()
	var q struct{ Ready, Delayed, Claimed, Behind int }
	if err := json.NewDecoder(asked.Body).Decode(&q); err != nil {
		t.Fatal(err)
	}
	return q.Ready + q.Delayed + q.Claimed + q.Behind, q.Claimed + q.Delayed
}

// campaign shows a campaign.
func (s *served) campaign(t *testing.T, id string) (v httpdoor.Campaign) {
	t.Helper()
	s.well(t, &v, "campaign", "show", id)
	return v
}

// campaigned starts a sandbox and a server with users, and returns the configuration, too.
func campaigned(t *testing.T, n, rate int) (far *sandboxed, s *served, config string) {
	t.Helper()
	dir := t.TempDir()
	users(t, filepath.Join(dir, "users.db"), n)
	far = sandboxHere(t, dir, "apns")
	config = campaigning(far, rate)
	return far, serveHere(t, dir, config), config
}

func TestACampaignIsPausedOverAKillAndEachPhoneGetsItOnce(t *testing.T) {
	const phones = 2000
	far, s, config := campaigned(t, phones, 600)
	var started httpdoor.StartedCampaign
	s.well(t, &started, "campaign", "start", "news", `{"news": 42}`, "--name", "winter", "--key", "w")
	id := started.Campaign.ID
	s.well(t, &started, "campaign", "start", "news", `{"news": 42}`, "--name", "winter", "--key", "w")
	if !started.Before || started.Campaign.ID != id {
		t.Errorf("again with its key: %+v", started)
	}
	if r := s.do(t, "", "campaign", "start", "news", `{"news": 43}`, "--key", "w"); r.code == 0 {
		t.Errorf("another with its key: %+v", r)
	}
	pushtest.Eventually(t, func() bool { return far.counts(t).Accepted >= 200 })
	var v httpdoor.Campaign
	s.well(t, &v, "campaign", "pause", id)
	if v.State != campaign.Paused {
		t.Fatalf("%+v", v)
	}
	pushtest.Eventually(t, func() bool { _, away := s.outbox(t); return away == 0 })
	paused := far.counts(t).Accepted
	left, _ := s.outbox(t)
	if paused >= phones-200 || left == 0 {
		t.Fatalf("%d had left, %d wait", paused, left)
	}
	pushtest.Eventually(t, func() bool { return s.campaign(t, id).Sent == uint64(paused) })
	s.kill(t) // up to a second of the counts goes with it
	s = serveHere(t, s.dir, config)
	other := s.start(t, "news", `{"news": 1}`, "--to", list(t, s.dir))
	pushtest.Eventually(t, func() bool { return s.campaign(t, other).State == campaign.Done })
	if v = s.campaign(t, other); v.Sent != 3 || v.Made != 3 || v.Left != 0 || v.Rows != 3 {
		t.Errorf("the one beside it: %+v", v)
	}
	if v = s.campaign(t, id); v.State != campaign.Paused ||
		v.Sent > uint64(paused) || far.counts(t).Accepted != paused+3 {
		t.Errorf("after a kill: %+v, %d", v, far.counts(t).Accepted)
	}
	s.well(t, &v, "campaign", "resume", id)
	watched := s.do(t, "", "campaign", "watch", id)
	if watched.code != 0 || !strings.Contains(watched.stdout, "running  made 2,000") ||
		!strings.Contains(watched.stdout, "done  made 2,000  sent ") {
		t.Errorf("%+v", watched)
	}
	c := far.counts(t)
	if c.Accepted != phones+3 || c.Messages != phones+3 || c.Devices != phones+3 || c.Doubles != 0 {
		t.Errorf("%+v", c)
	}
	v = s.campaign(t, id)
	if v.State != campaign.Done || v.Sent > phones || v.Sent < phones-uint64(paused) || v.Made != phones ||
		v.Left != phones-v.Sent || !v.Complete || v.Ended == nil {
		t.Errorf("%+v", v)
	}
	if dead := s.metric(t, `hikyaku_campaigns{state="done"}`); dead != "2" {
		t.Errorf("%s are done", dead)
	}
}

// start starts a campaign and returns its id.
func (s *served) start(t *testing.T, args ...string) string {
	t.Helper()
	r := s.do(t, "", append([]string{"campaign", "start"}, args...)...)
	if r.code != 0 {
		t.Fatalf("%+v", r)
	}
	return strings.TrimSpace(r.stdout)
}

// list is a file of three users who are in no database.
func list(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "us.ndjson")
	var text strings.Builder
	for i := range 3 {
		fmt.Fprintf(&text, "{\"id\": %d, \"token\": \"%064x\"}\n", 9001+i, 9001+i)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestACancelledCampaignLeavesNothingBehind(t *testing.T) {
	const phones = 1500
	far, s, _ := campaigned(t, phones, 500)
	id := s.start(t, "news", `{"news": 42}`)
	later := s.start(t, "news", `{"news": 43}`, "--at", time.Now().Add(time.Hour).Format(time.RFC3339))
	if v := s.campaign(t, later); v.State != campaign.Scheduled || v.Made != 0 {
		t.Errorf("%+v", v)
	}
	pushtest.Eventually(t, func() bool { return far.counts(t).Accepted >= 100 })
	var v httpdoor.Campaign
	s.well(t, &v, "campaign", "cancel", id)
	if r := s.do(t, "", "campaign", "resume", id); r.code == 0 || !strings.Contains(r.stderr, "cancelled") {
		t.Errorf("%+v", r)
	}
	pushtest.Eventually(t, func() bool { v = s.campaign(t, id); return v.Ended != nil })
	if messages, _ := s.outbox(t); messages != 0 {
		t.Errorf("%d are left in the queue", messages)
	}
	c := far.counts(t)
	if v.State != campaign.Cancelled || v.Left != 0 || v.Sent+v.Cancelled != v.Made || v.Cancelled == 0 ||
		v.Sent != uint64(c.Accepted) {
		t.Errorf("%+v, far end: %+v", v, c)
	}
	if c.Accepted >= phones {
		t.Errorf("all have left")
	}
}
