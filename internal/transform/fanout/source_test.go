package fanout

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	_ "modernc.org/sqlite"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/fetch"
)

func users(t testing.TB, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "users.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range []string{"create table users (id integer primary key, campaign int, lang text)",
		fmt.Sprintf("with recursive n(i) as (select 1 union all select i + 1 from n where i <= %d) insert into users "+
			"select i, i %% 2 + 41, 'ja' from n where i <= %d", n, n)} {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// made runs one message through a transform and returns the bodies that came of it.
func made(t *testing.T, c Config) ([]string, error) {
	t.Helper()
	m, err := New(c, component.Env{Name: "users"})
	if err != nil {
		t.Fatal(err)
	}
	f := m.(*Fanout)
	if err := f.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	one, out := newCampaign(), &port{auto: true}
	if err := f.Stream(t.Context(), one.delivery(), out); err != nil {
		return out.bodies(), err
	}
	if v := one.verdict(t); v != component.Delivered {
		t.Errorf("it is %v", v)
	}
	return out.bodies(), nil
}

func TestAQueryIsReadPageByPageOrAsAWhole(t *testing.T) {
	path := users(t, 5000)
	for _, c := range []Config{
		{Page: 100, Key: "id", Start: 0, Source: Source{SQL: fetch.SQL{Query: "select id from users where campaign = " +
			":campaign and id > :after order by id limit :limit"}}},
		{Page: 2500, Key: "id", Start: 0, Source: Source{SQL: fetch.SQL{Query: "select id from users where campaign " +
			"= :campaign and id > :after order by id limit :limit"}}},
		{Page: 7, Key: "id", Start: 0, Source: Source{SQL: fetch.SQL{Query: "select id from users where campaign = " +
			":campaign and id > :after order by id"}}},
		{Page: 100, Key: "id",
			Source: Source{SQL: fetch.SQL{Query: "select id from users where campaign = :campaign"}}},
		{Source: Source{SQL: fetch.SQL{Query: "select id from users where campaign = :campaign order by id"}}},
	} {
		c.Source.Type, c.Source.Database = "sql", path
		got, err := made(t, c)
		if err != nil || len(got) != 2500 || got[0] != `{"id":1}` || got[2499] != `{"id":4999}` {
			t.Errorf("%s: %d, %v", c.Source.Query, len(got), err)
		}
	}
}

func TestAServerIsReadPageByPage(t *testing.T) {
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		from, _ := strconv.Atoi(r.URL.Query().Get("from"))
		var ids []string
		for id := from + 1; id <= min(from+10, 95); id++ {
			ids = append(ids, fmt.Sprintf(`{"id": %d}`, id))
		}
		next := "null"
		if from+10 < 95 {
			next = fmt.Sprintf(`"?from=%d"`, from+10)
		}
		fmt.Fprintf(w, `{"page": {"users": [%s], "next": %s}}`, strings.Join(ids, ","), next)
	}))
	defer server.Close()
	for _, c := range []Config{
		{Key: "id", Page: 4, Source: Source{Next: "page.next",
			HTTP: fetch.HTTP{URL: server.URL + "?campaign={campaign}"}}},
		{Key: "id", Page: 4, Start: 0, Source: Source{HTTP: fetch.HTTP{URL: server.URL + "?from={after}"}}},
	} {
		c.Source.Type, c.Source.Items = "http", "page.users"
		requests.Store(0)
		got, err := made(t, c)
		if err != nil || len(got) != 95 || got[94] != `{"id":95}` || requests.Load() < 10 {
			t.Errorf("%s: %d in %d requests, %v", c.Source.URL, len(got), requests.Load(), err)
		}
	}
}

func TestASourceThatHangsIsARetry(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("from") == "2" {
			<-r.Context().Done()
			return
		}
		io.WriteString(w, `[{"id": 1}, {"id": 2}]`)
	}))
	defer server.Close()
	got, err := made(t, Config{Key: "id", Start: 0, Timeout: 2 * time.Second,
		Source: Source{Type: "http", HTTP: fetch.HTTP{URL: server.URL + "?from={after}"}}})
	if _, again := component.AsRetry(err); !again || len(got) != 2 ||
		!strings.Contains(err.Error(), "no answer within 2s (timeout)") {
		t.Errorf("%q, %v", got, err)
	}
}

func TestTheTimeThatThePipelineTakesIsNotTheSources(t *testing.T) {
	path := users(t, 100)
	synctest.Test(t, func(t *testing.T) {
		m, err := New(Config{Key: "id", Page: 10, Timeout: 50 * time.Millisecond,
			Source: Source{Type: "sql", SQL: fetch.SQL{Database: path, Query: "select id from users"}}},
			component.Env{Name: "users"})
		if err != nil {
			t.Fatal(err)
		}
		f := m.(*Fanout)
		if err := f.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		n := 0
		c := newCampaign()
		err = f.Stream(t.Context(), c.delivery(), sendFunc(func(_ context.Context, d component.Delivery) error {
			if n++; n == 15 {
				time.Sleep(time.Minute)
			}
			d.Settle(component.OK(time.Time{}))
			return nil
		}))
		if err != nil || c.verdict(t) != component.Delivered || n != 100 {
			t.Errorf("%d, %v", n, err)
		}
	})
}

func TestSettingsAreChecked(t *testing.T) {
	query := func(q string) Source { return Source{Type: "sql", SQL: fetch.SQL{Database: "x.db", Query: q}} }
	const paged = "select id from t where id > :after order by id limit :limit"
	for _, c := range []struct {
		setting string
		offset  int
		config  Config
	}{
		{"source.type", -1, Config{}},
		{"source.type", -1, Config{Source: Source{Type: "queue"}}},
		{"page", -1, Config{Page: 4001, Source: Source{Type: "body"}}},
		{"timeout", -1, Config{Timeout: -1, Source: Source{Type: "body"}}},
		{"source.query", -1, Config{Source: Source{Type: "body", SQL: fetch.SQL{Query: "select 1"}}}},
		{"source.next", -1, Config{Source: Source{Type: "body", Next: "next"}}},
		{"source.database", -1, Config{Source: Source{Type: "sql"}}},
		{"source.query", 7, Config{Source: query("select 'x")}},
		{"source.query", -1, Config{Key: "id", Source: query("select id from t where id in (:keys)")}},
		{"source.query", -1, Config{Key: "id", Source: query("select id from t limit :limit")}},
		{"start", -1, Config{Key: "id", Start: 0, Source: query("select id from t")}},
		{"start", -1, Config{Key: "id", Source: query(paged)}},
		{"start", -1, Config{Key: "id", Start: []any{1}, Source: query(paged)}},
		{"key", -1, Config{Start: 0, Source: query(paged)}},
		{"source.query", 30, Config{Key: "id", Start: 0, Source: query("select id from t where id >   :after")}},
		{"source.url", -1, Config{Source: Source{Type: "http"}}},
		{"source.next", -1, Config{Key: "id", Start: 0,
			Source: Source{Type: "http", Next: "n", HTTP: fetch.HTTP{URL: "http://h?a={after}"}}}},
	} {
		_, err := New(c.config, component.Env{Name: "users"})
		var e *component.SettingError
		if !errors.As(err, &e) || e.Setting != c.setting || e.Offset != c.offset {
			t.Errorf("%+v: got %v, want an error about %s at %d", c.config, err, c.setting, c.offset)
		}
	}
}

// FuzzNotes: whatever lies in the memory, it is read or refused.
func FuzzNotes(f *testing.F) {
	p := &page{label: 7, end: []byte(`"x"`), items: []uint64{1, 2, 3}}
	f.Add(encodePage(p), []byte{5})
	f.Add([]byte{}, []byte{})
	f.Add(make([]byte, 9), []byte{})
	f.Fuzz(func(t *testing.T, text, done []byte) {
		p, err := decodePage(3, text)
		if err != nil {
			return
		}
		if again, err := decodePage(3, encodePage(p)); err != nil || again.label != p.label ||
			string(again.end) != string(p.end) || len(again.items) != len(p.items) {
			t.Fatalf("%+v, %+v, %v", p, again, err)
		}
		if err := p.settle(done); err == nil && p.left < 0 {
			t.Fatalf("%d of %d are left", p.left, len(p.items))
		}
	})
}
