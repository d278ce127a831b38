package push

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/machine"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// campaignConfig makes of one message a push for each user of a database: durably twice on the way, when the message
// comes and when a user's push is due.
const campaignConfig = `
queues:
  measured: { max_attempts: 0 }
  outbox: {}
sources:
  orders: { type: queue, queue: measured, lease: 1m }
  due: { type: queue, queue: outbox, lease: 1m }
transforms:
  users:
    type: fanout
    inputs: [orders]
    key: id
    start: 0
    into: user
    attributes: [token]
    source:
      type: sql
      database: ${PUSH_USERS}
      query: select id, token, lang from users where id > :after order by id limit :limit
  content:
    type: lookup
    inputs: [users]
    key: user.lang
    cache: { size: 100, ttl: 1h }
    source:
      type: sql
      database: ${PUSH_USERS}
      query: select lang, title from contents where lang in (:keys)
sinks:
  outbox: { type: queue, inputs: [content], queue: outbox }
  phones:
    type: apns
    inputs: [due]
    apps:
      com.example.news: { endpoint: "${PUSH_ADDR}", ca_file: "${PUSH_CA}", team: TEAM123456, key_id: KEY1234567, key_file: "${PUSH_SIGNER}" }
    payload: '{aps: {alert: {title: .content.title, body: "to \(.user.id)"}}}'
    priority: 10
    connections: ${PUSH_CONNECTIONS}
`

// makeUsers fills a database with so many users.
func makeUsers(ctx context.Context, file string, n int) (err error) {
	db, err := sql.Open("sqlite", file)
	if err != nil {
		return fmt.Errorf("users: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, statement := range []string{
		`create table users (id integer primary key, token text not null, lang text not null)`,
		`create table contents (lang text primary key, title text not null)`,
		`insert into contents values ('ja', '飛脚が参ります'), ('en', 'The courier is coming'), ('fr', 'Le courrier arrive')`,
		fmt.Sprintf(`with recursive n (i) as (select 1 union all select i + 1 from n where i < %d)
			insert into users select i, printf('%%064x', i), case i %% 3 when 0 then 'ja' when 1 then 'en' else 'fr' end from n`, n),
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("users: %w", err)
		}
	}
	return nil
}

// campaigned is what a campaign took, and how large the process was on its way.
type campaigned struct {
	pushed
	Left    int64   `json:"left"`     // messages in the queues at the end
	RSS     []int64 `json:"rss"`      // bytes, at every quarter of a second
	SentUS  int64   `json:"sent_us"`  // when the last was answered
	EmptyMB float64 `json:"empty_mb"` // before it began
}

// campaign puts the one message, and waits until each user's push is answered and settled.
func (r *runningPipeline) campaign(ctx context.Context, users int) (took campaigned, err error) {
	answered, settled := r.sink.begin(users), r.seen.begin(2*users) // into the outbox, and out of it
	took.EmptyMB = harness.Megabytes(machine.ResidentBytes())
	cpu, start := machine.ProcessorTime(), time.Now()
	r.sink.since(start)
	if _, err := r.house.rig.Store.Put(ctx, harness.Measured,
		[]message.Message{{Body: []byte(`{"campaign": 42}`)}}); err != nil {
		return took, err
	}
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for answered != nil || settled != nil {
		select {
		case <-tick.C:
			took.RSS = append(took.RSS, machine.ResidentBytes())
		case <-answered:
			answered, took.SentUS = nil, time.Since(start).Microseconds()
		case <-settled:
			settled = nil
		case <-r.ended:
			return took, fmt.Errorf("the pipeline ended: %w", r.err)
		case <-ctx.Done():
			return took, ctx.Err()
		}
	}
	took.RSS = append(took.RSS, machine.ResidentBytes())
	took.N, took.ElapsedUS, took.CPUUS = users, time.Since(start).Microseconds(),
		(machine.ProcessorTime() - cpu).Microseconds()
	took.TimesUS, took.Failed = r.sink.end()
	took.Left, err = r.left(ctx)
	return took, err
}

// left counts what waits in the campaign's queues. What is settled is gone from them a moment after the pipeline's
// observer is told.
func (r *runningPipeline) left(ctx context.Context) (n int64, err error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for tries := 1000; tries > 0; tries-- {
		n = 0
		for _, name := range []string{"measured", "outbox", "phones_dead", "outbox_dead", "users_dead",
			"content_dead"} {
			s, err := r.house.rig.Store.Stats(ctx, queue.Name{Namespace: queue.DefaultNamespace, Name: name})
			if err != nil && !errors.Is(err, queue.ErrNotFound) {
				return n, err
			}
			n += int64(s.Messages())
		}
		if n == 0 {
			return 0, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return n, ctx.Err()
		}
	}
	return n, nil
}

// campaigning is one message that becomes a push for each of very many users.
func (s *session) campaigning(ctx context.Context) (err error) {
	var ends []func() error
	defer func() { err = harness.JoinCleanup(err, closeThem(ends...)) }()
	users := filepath.Join(s.Temp, "users.db")
	if err := makeUsers(ctx, users, s.campaign); err != nil {
		return err
	}
	far, err := startSandbox(ctx, s.Push, filepath.Join(s.Temp, "campaign"),
		farend.Behaviour{Latency: seedLatency, OneUntilTrusted: true})
	if err != nil {
		return err
	}
	ends = append(ends, far.close)
	p, err := s.startPipeline(ctx, far, kindCampaign, seedConnections, "--users", users)
	if err != nil {
		return err
	}
	ends = append(ends, p.Close)
	line, err := json.Marshal(pushTrial{Messages: 1, Users: s.campaign})
	if err != nil {
		return err
	}
	var took campaigned
	if err := p.Ask(string(line), &took); err != nil {
		return err
	}
	seen, err := far.counts()
	if err != nil {
		return err
	}
	// Every user is accounted for: each phone was pushed to, once.
	if seen.Devices != s.campaign || seen.Doubles != 0 || seen.Accepted != int64(s.campaign) || took.Left != 0 ||
		took.Failed != 0 {
		return fmt.Errorf("of %d users %d phones were pushed to, %d pushes were accepted, %d came twice, %d failed, "+
			"%d are left", s.campaign, seen.Devices, seen.Accepted, seen.Doubles, took.Failed, took.Left)
	}
	s.Step()
	times := measure.NewHistogram()
	for _, us := range took.TimesUS {
		times.Record(time.Duration(us) * time.Microsecond)
	}
	var most int64
	for _, rss := range took.RSS {
		most = max(most, rss)
	}
	r := s.Report.Row(harness.CaseOurs, workCampaign).Set("users", s.campaign).Times(times).Rate(int64(took.N),
		took.elapsed())
	r.Set("cpu_us", harness.Hundredths(float64(took.CPUUS)/float64(took.N)))
	r.Set("rss_mb", harness.Megabytes(most)).Set("empty_rss_mb", took.EmptyMB).Set("rss_quarter_mb",
		harness.Megabytes(took.RSS[len(took.RSS)/4]))
	harness.Judge(r, s.Quick, harness.AtMost("p50_ms", 60_000), harness.AtMost("p99_ms", 90_000))
	return nil
}
