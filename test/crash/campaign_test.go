//go:build linux

package crash

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite"
)

const (
	campaignUsers = 6000
	campaignKills = 24
)

// campaignTables makes an SQLite file of users and contents.
func campaignTables(t *testing.T, users int) (path string, db *sql.DB) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "campaign.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	for _, s := range []string{
		"create table users (id integer primary key, lang text not null)",
		"create table contents (lang text primary key, title text not null)",
		"insert into contents values ('ja', '飛脚'), ('en', 'courier')",
		fmt.Sprintf("with recursive n(i) as (select 1 union all select i + 1 from n where i < %d) insert into users "+
			"select i, case i %% 2 when 0 then 'ja' else 'en' end from n", users),
	} {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	return path, db
}

// campaign is from one message to a message a user, in a queue and at a webhook.
func campaign(dir, tables, url, query, sinks string) string {
	return preamble(filepath.Join(dir, "data")) + strings.NewReplacer("TABLES", tables, "URL", url).Replace(strings.NewReplacer("QUERY", query, "SINKS", sinks).Replace(`
sources:
  waiting: { type: queue, queue: campaigns, lease: 1s }
transforms:
  users:
    type: fanout
    inputs: [waiting]
    key: id
    into: user
    attributes: [lang]
    page: 100
    QUERY
    request: { retry_attempts: unlimited, retry_initial_backoff_secs: 0.05, retry_max_duration_secs: 0.5 }
  content:
    type: lookup
    inputs: [users]
    key: lang
    batch: 50
    timeout: 1s
    source: { type: sql, database: TABLES, query: "select lang, title from contents where lang in (:keys)" }
    request: { retry_attempts: unlimited, retry_initial_backoff_secs: 0.05, retry_max_duration_secs: 0.5 }
SINKS
`))
}

const (
	pagedQuery = `start: 0
    source: { type: sql, database: TABLES, query: "select id, lang from users where id > :after order by id limit :limit" }`
	// plainQuery brings the users in another order each time.
	plainQuery = `source: { type: sql, database: TABLES, query: "select id, lang from users order by random()" }`
)

const (
	toQueue = `sinks:
  outbox: { type: queue, inputs: [content], queue: outbox, batch: { max_events: 20 } }`
	toHook = `sinks:
  hook:
    type: webhook
    inputs: [content]
    url: URL
    request: { concurrency: 4, retry_attempts: unlimited, retry_initial_backoff_secs: 0.01, retry_max_duration_secs: 0.1 }`
)

// phones note when each user was told.
type phones struct {
	*httptest.Server
	mu    sync.Mutex
	times map[int][]time.Time
	wrong []string
}

func newPhones(t *testing.T) *phones {
	p := &phones{times: map[int][]time.Time{}}
	p.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var m struct {
			User    struct{ ID int }
			Content struct{ Title string }
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // it was killed while it sent
		}
		err = json.Unmarshal(body, &m)
		p.mu.Lock()
		defer p.mu.Unlock()
		if want := []string{"飛脚", "courier"}[m.User.ID%2]; err != nil || m.User.ID == 0 || m.Content.Title != want {
			p.wrong = append(p.wrong, string(body))
		}
		p.times[m.User.ID] = append(p.times[m.User.ID], time.Now())
	}))
	t.Cleanup(p.Server.Close)
	return p
}

// told is how many users were told, and how many of them more than once.
func (p *phones) told() (users, twice int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, at := range p.times {
		users++
		if len(at) > 1 {
			twice++
		}
	}
	return users, twice
}

// settlesWithin is by when a settlement is durable that nothing but a busy machine delays.
const settlesWithin = 3 * time.Second

// kill is one end of the program. Until the next one is up a webhook may still read what the killed one sent.
type kill struct{ at, up time.Time }

// unexcused lists the users who were told again without a kill shortly after they were told: they were settled.
func (p *phones) unexcused(kills []kill) (list []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, at := range p.times {
		for i, again := range at[1:] {
			if !slices.ContainsFunc(kills, func(k kill) bool {
				return k.up.After(at[i]) && k.at.Before(again) && k.at.Sub(at[i]) < settlesWithin
			}) {
				list = append(list, fmt.Sprintf("user %d at %v and %v", id, at[i], again))
			}
		}
	}
	return list
}

// TestACampaignReachesEveryUserThroughKills kills the program while it makes one message into many: every user is in
// the queue once, and only those who were under way at a kill can be told twice by a webhook.
func TestACampaignReachesEveryUserThroughKills(t *testing.T) {
	queries, ends := map[string]string{"paged": pagedQuery, "plain": plainQuery},
		map[string]string{"queue": toQueue, "hook": toHook}
	for _, name := range some(t, 2, "paged queue", "paged hook", "plain queue", "plain hook") {
		from, to, _ := strings.Cut(name, " ")
		query, sinks := queries[from], ends[to]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := newRandom(t)
			dir := t.TempDir()
			tables, _ := campaignTables(t, campaignUsers)
			told := newPhones(t)
			config := campaign(dir, tables, told.URL, query, sinks)
			s := serve(t, config)
			s.put(t, "campaigns", `{"campaign":42}`)
			reached := func() int {
				users, _ := told.told()
				return users + int(s.stats(t, "outbox").Totals.Put)
			}
			var kills []kill
			for len(kills) < campaignKills && reached() < campaignUsers {
				before := reached()
				until(t, func() string {
					return fmt.Sprintf("it goes on after a kill, from %d\n%s", before,
						s.log())
				},
					func() bool { return reached() > before || before == campaignUsers })
				<-time.After(between(random, 0, 120*time.Millisecond))
				s.kill()
				at := time.Now()
				s = serve(t, config)
				kills = append(kills, kill{at, time.Now()})
			}
			until(t, func() string {
				return fmt.Sprintf("everybody is reached: %d of %d; %+v\n%s", reached(), campaignUsers,
					s.stats(t, "campaigns"), s.log())
			},
				func() bool { return s.stats(t, "campaigns").Totals.Done == 1 })
			users, twice := told.told()
			if n := reached(); n != campaignUsers || len(told.wrong) > 0 {
				t.Errorf("%d of %d users were reached, %d of them by the webhook; not what they should be: %.3q", n,
					campaignUsers, users, told.wrong)
			}
			if list := told.unexcused(kills); len(list) > 0 {
				t.Errorf("%d users were settled and told again: %.3q", len(list), list)
			}
			t.Logf("%d kills, %d users told twice", len(kills), twice)
			s.kill()
			checkJournal(t, filepath.Join(dir, "data"))
		})
	}
}

// TestADatabaseThatIsAwayForAWhileLosesNobody locks the database in the middle of a campaign for longer than anything
// waits.
func TestADatabaseThatIsAwayForAWhileLosesNobody(t *testing.T) {
	t.Parallel()
	const users, away = 20_000, 10 * time.Second
	dir := t.TempDir()
	tables, db := campaignTables(t, users)
	told := newPhones(t)
	s := serve(t, campaign(dir, tables, told.URL, pagedQuery, toHook))
	s.put(t, "campaigns", `{"campaign":42}`)
	until(t, says("the campaign has begun"), func() bool { n, _ := told.told(); return n > 500 })
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lock := func() bool {
		_, err := conn.ExecContext(context.WithoutCancel(t.Context()), "begin exclusive")
		return err == nil
	}
	until(t, says("the database can be locked"), lock)
	at, _ := told.told()
	<-time.After(away)
	still, _ := told.told()
	if _, err := conn.ExecContext(t.Context(), "rollback"); err != nil {
		t.Fatal(err)
	}
	if still == users {
		t.Fatalf("everybody was told while the database was away, %d of them before", at)
	}
	until(t, func() string {
		n, _ := told.told()
		return fmt.Sprintf("everybody is told: %d of %d\n%s", n, users, s.log())
	},
		func() bool { return s.stats(t, "campaigns").Totals.Done == 1 })
	if n, twice := told.told(); n != users || twice > 0 || len(told.wrong) > 0 {
		t.Errorf("%d of %d were told, %d twice; not what they should be: %.3q", n, users, twice, told.wrong)
	}
	for _, queue := range []string{"users_dead", "content_dead", "hook_dead"} {
		if st := s.stats(t, queue); st.Totals.Put > 0 {
			t.Errorf("%d dead letters in %s", st.Totals.Put, queue)
		}
	}
	s.stop(t)
}
