//go:build linux

package databases_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/fetch"
	"github.com/hikyaku/hikyaku/internal/journal"
	journalfile "github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/pipeline"
	"github.com/hikyaku/hikyaku/internal/queue"
)

const users = 20_000

// shop is what differs between the databases.
type shop struct {
	start  func(t *testing.T) *server
	keys   string // the condition of a look-up of many
	values string // a query of one row of each type
	want   string // what it becomes
	tables []string
}

var shops = map[string]shop{
	"PostgreSQL": {postgres, "user_id = any(:keys)",
		`select 1 as a, 1.10::numeric(5,2) as n, true as b, 'x''y飛脚' as t, timestamptz '2026-01-02 03:04:05+09' as tz, date '2026-01-02' as d, '{"a": 1}'::jsonb as j, '\x00ff'::bytea as y, null as z, 1.5e300::float8 as f, 9007199254740993 as i`,
		`{"a":1,"n":1.10,"b":true,"t":"x'y飛脚","tz":"2026-01-01T18:04:05Z","d":"2026-01-02","j":{"a":1},"y":"AP8=","z":null,"f":1.5e+300,"i":9007199254740993}`,
		[]string{"insert into users select i, 'user ' || i from generate_series(1, 20000) i",
			"insert into phones select id, 'token-' || id from users"}},
	"MariaDB": {mariaDB, "user_id in (:keys)",
		`select 1 as a, cast(1.10 as decimal(5,2)) as n, true as b, 'x''y飛脚' as t, timestamp '2026-01-02 03:04:05' as tz, date '2026-01-02' as d, x'00ff' as y, null as z, 1.5e300 as f, cast(18446744073709551615 as unsigned) as u`,
		`{"a":1,"n":1.10,"b":1,"t":"x'y飛脚","tz":"2026-01-02T03:04:05Z","d":"2026-01-02","y":"AP8=","z":null,"f":1.5e+300,"u":18446744073709551615}`,
		[]string{"insert into users select seq, concat('user ', seq) from seq_1_to_20000",
			"insert into phones select id, concat('token-', id) from users"}},
}

func TestValuesOfRealDatabasesBecomeJSON(t *testing.T) {
	for name, shop := range shops {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shop.start(t)
			ask := func(query string, p fetch.Params) (rows []string, err error) {
				db, err := fetch.NewSQL(fetch.SQL{Database: s.address, Query: query}, "")
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				if err := db.Start(t.Context()); err != nil {
					return nil, err
				}
				err = db.Ask(t.Context(), p, func(r fetch.Row) error {
					rows = append(rows, string(r.AppendJSON(nil)))
					return nil
				})
				return rows, err
			}
			if rows, err := ask(shop.values, nil); err != nil || len(rows) != 1 || rows[0] != shop.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, rows, shop.want)
			}
			s.must(t, "create table t (user_id int primary key, name varchar(50))",
				"insert into t values (1, 'a'), (2, 'b'' or 1=1 --'), (3, 'c')")
			for query, want := range map[string]int{
				"select user_id from t where name = :name":                                   1,
				"select user_id from t where " + shop.keys:                                   2,
				"select user_id from t where user_id in (:keys)":                             2,
				"select user_id from t where user_id > :after order by user_id limit :limit": 1,
			} {
				p := fetch.Params{"name": {message.String("b' or 1=1 --")},
					"keys": {message.Int(1), message.String("3"), message.Int(9)}, "after": {message.Int(1)},
					"limit": {message.Int(1)}}
				if rows, err := ask(query, p); err != nil || len(rows) != want {
					t.Errorf("%s: %s, %v", query, rows, err)
				}
			}
			if _, err := ask("select nothing from t", nil); err == nil {
				t.Error("a wrong query starts")
			}
			db, err := fetch.NewSQL(fetch.SQL{Database: s.address, Query: "select 1"}, "")
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			s.stop(t)
			err = db.Ask(t.Context(), nil, func(fetch.Row) error { return nil })
			if _, again := component.AsRetry(err); !again {
				t.Errorf("a server that is away: %v", err)
			}
		})
	}
}

const campaignFile = `
sources:
  waiting: { type: queue, queue: campaigns }
transforms:
  users:
    type: fanout
    inputs: [waiting]
    key: id
    start: 0
    into: user
    page: 500
    source: { type: sql, database: "ADDRESS", query: "select id, name from users where id > :after order by id limit :limit" }
    request: { retry_attempts: unlimited, retry_max_duration_secs: 1 }
  phone:
    type: lookup
    inputs: [users]
    key: user.id
    batch: 200
    timeout: 2s
    source: { type: sql, database: "ADDRESS", query: "select user_id, token from phones where KEYS" }
    request: { retry_attempts: unlimited, retry_max_duration_secs: 1 }
sinks:
  hook: { type: webhook, inputs: [phone], url: URL, payload: array, encoding: { codec: json }, batch: { max_events: 100 }, request: { concurrency: 4 } }
`

// TestADatabaseThatCrashesInTheMiddleOfACampaignLosesNobody kills the server when some are told, and starts it again
// ten seconds later: everybody is told once.
func TestADatabaseThatCrashesInTheMiddleOfACampaignLosesNobody(t *testing.T) {
	for name, shop := range shops {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shop.start(t)
			s.must(t, "create table users (id int primary key, name varchar(50) not null)", "create table phones "+
				"(user_id int primary key, token varchar(50) not null)")
			s.must(t, shop.tables...)
			told := map[string]int{}
			var mu sync.Mutex
			begun := make(chan struct{})
			hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				var all []struct{ Phone struct{ Token string } }
				body, err := io.ReadAll(r.Body)
				if err == nil {
					err = json.Unmarshal(body, &all)
				}
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				before := len(told)
				for _, m := range all {
					told[m.Phone.Token]++
				}
				if before < users/20 && len(told) >= users/20 {
					close(begun)
				}
			}))
			defer hook.Close()
			store := open(t)
			campaigns := queue.Name{Namespace: queue.DefaultNamespace, Name: "campaigns"}
			if _, err := store.Put(t.Context(), campaigns,
				[]message.Message{{Body: []byte(`{"campaign":42}`)}}); err != nil {
				t.Fatal(err)
			}
			p := assemble(t, store, strings.NewReplacer("ADDRESS", s.address, "KEYS", shop.keys, "URL",
				hook.URL).Replace(campaignFile))
			ended := make(chan pipeline.Result, 1)
			go func() {
				r, err := p.Run(t.Context())
				if err != nil {
					t.Error(err)
				}
				ended <- r
			}()
			<-begun
			s.stop(t)
			select {
			case <-ended:
				t.Error("it ended without its database")
			case <-time.After(10 * time.Second):
			}
			s.start(t)
			r := <-ended
			if r.Delivered != users+1 || r.DeadLettered+r.GivenBack > 0 || r.Retried == 0 {
				t.Errorf("delivered %d, dead %d, given back %d, retried %d", r.Delivered, r.DeadLettered, r.GivenBack,
					r.Retried)
			}
			if len(told) != users {
				t.Errorf("%d users were told, of %d", len(told), users)
			}
			for token, n := range told {
				if n != 1 || !strings.HasPrefix(token, "token-") {
					t.Fatalf("%q was told %d times", token, n)
				}
			}
		})
	}
}

func open(t *testing.T) *queue.Store {
	t.Helper()
	j, err := journalfile.Open(t.Context(), journalfile.Options{Dir: t.TempDir(), Durability: journal.OS})
	if err != nil {
		t.Fatal(err)
	}
	store, err := queue.Open(t.Context(), queue.Options{Journal: j, OnDemand: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(store.Close(), j.Close()); err != nil {
			t.Error(err)
		}
	})
	return store
}

func assemble(t *testing.T, store *queue.Store, text string) *pipeline.Pipeline {
	t.Helper()
	path := filepath.Join(t.TempDir(), "campaign.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := config.Load(path, func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	a, err := f.Build(store, component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := pipeline.New(a.Nodes, pipeline.Options{Store: store, Finite: true})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
