package main

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
)

// changeUsers runs a statement on the database of users, as their owner may at any time.
func changeUsers(t *testing.T, dir, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "users.db")+"?_pragma=busy_timeout(60000)") // others read and mark
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// TestACampaignToNobodyEnds: a table without users is no reason to wait.
func TestACampaignToNobodyEnds(t *testing.T) {
	_, s, _ := campaigned(t, 1, 600)
	changeUsers(t, s.dir, "delete from users")
	id := s.start(t, "news", `{"news": 42}`)
	pushtest.Eventually(t, func() bool { return s.campaign(t, id).State == campaign.Done })
	if v := s.campaign(t, id); v.Made != 0 || v.Left != 0 || v.Problem != "" || !v.Complete {
		t.Errorf("%+v", v)
	}
}

// TestACampaignWithAUserTwiceSaysSoAndGoesOnWhenThatIsMended: each phone is told once all the same.
func TestACampaignWithAUserTwiceSaysSoAndGoesOnWhenThatIsMended(t *testing.T) {
	const phones = 250
	dir := t.TempDir()
	users(t, filepath.Join(dir, "users.db"), phones)
	changeUsers(t, dir, "create table more as select * from users where id = 120")
	far := sandboxHere(t, dir, "apns")
	s := serveHere(t, dir, strings.ReplaceAll(campaigning(far, 600), "from users where",
		"from (select * from users union all select * from more) where"))
	id := s.start(t, "news", `{"news": 42}`)
	pushtest.Eventually(t, func() bool { return s.campaign(t, id).Problem != "" })
	if v := s.campaign(t, id); v.State != campaign.Running || v.Made != 100 || !strings.Contains(v.Problem,
		"two items have the id 120") || !strings.Contains(v.Problem, "dead letter: put this right and replay it") {
		t.Errorf("%+v", v)
	}
	changeUsers(t, dir, "delete from more")
	if r := s.do(t, "", "queue", "replay", "users_dead"); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	pushtest.Eventually(t, func() bool { return s.campaign(t, id).State == campaign.Done })
	if v := s.campaign(t, id); v.Made != phones || v.Sent != phones || v.Problem != "" {
		t.Errorf("%+v", v)
	}
	if c := far.counts(t); c.Accepted != phones {
		t.Errorf("%d pushes were taken", c.Accepted)
	}
}

// TestACampaignWaitsForAFarEndThatIsAway, and loses nobody by it, however few attempts a message has.
func TestACampaignWaitsForAFarEndThatIsAway(t *testing.T) {
	const phones = 1000
	dir := t.TempDir()
	users(t, filepath.Join(dir, "users.db"), phones)
	far := sandboxHere(t, dir, "apns", "--latency", "200ms") // so that there are pushes under way when it is killed
	s := serveHere(t, dir, campaigning(far, 300))            // most are left when it is seen that some have come
	id := s.start(t, "news", `{"news": 42}`)
	pushtest.Eventually(t, func() bool { return far.counts(t).Accepted >= 50 })
	far.kill(t)
	pushtest.Eventually(t, func() bool {
		return s.metric(t, `hikyaku_push_connections{sink="phones"}`) == "0" &&
			s.metric(t, `hikyaku_sink_retries_total{sink="phones"}`) != "0"
	})
	before := s.campaign(t, id)
	if before.State != campaign.Running || before.Sent >= phones {
		t.Fatalf("%+v", before)
	}
	back := sandboxAt(t, s.dir, strings.TrimPrefix(far.url, "https://"), "apns")
	pushtest.Eventually(t, func() bool { return s.campaign(t, id).State == campaign.Done })
	if v := s.campaign(t, id); v.Sent != phones || v.Refused != 0 || v.Dropped != 0 {
		t.Errorf("%+v", v)
	}
	if c := back.counts(t); uint64(c.Accepted) < phones-before.Sent {
		t.Errorf("%d of %d came to the one that is back", c.Accepted, phones-before.Sent)
	}
}
