package lookup

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	_ "modernc.org/sqlite"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/fetch"
	"github.com/hikyaku/hikyaku/internal/journal"
	journalfile "github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// database makes an SQLite file.
func database(t testing.TB, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "users.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

const (
	usersTable = "create table users (id integer primary key, name text, lang text)"
	usersRows  = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000) insert into users " +
		"select i, 'user ' || i, case i % 2 when 0 then 'ja' else 'en' end from n"
)

func bySQL(path, query string) Source {
	return Source{Type: "sql", SQL: fetch.SQL{Database: path, Query: query}}
}

func start(t testing.TB, c Config, env component.Env) *Lookup {
	t.Helper()
	if env.Name == "" {
		env.Name = "user"
	}
	made, err := New(c, env)
	if err != nil {
		t.Fatal(err)
	}
	l := made.(*Lookup)
	if err := l.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// look gives a group of bodies and returns what became of each: the new body, or the error.
func look(ctx context.Context, l *Lookup, bodies ...string) (out []string, errs []error) {
	ms := make([]*message.Message, len(bodies))
	out = make([]string, len(bodies))
	for i, b := range bodies {
		ms[i] = &message.Message{ID: message.NewID(), Body: []byte(b)}
	}
	errs = l.TransformGroup(ctx, ms, func(i int, port string, m *message.Message) {
		if port != "" || out[i] != "" || m.ID != ms[i].ID || string(ms[i].Body) != bodies[i] {
			panic("emitted twice, to a port, with another id, or changed")
		}
		out[i] = string(m.Body)
	})
	return out, errs
}

func TestManyKeysAreOneQuestion(t *testing.T) {
	path := database(t, usersTable, usersRows)
	l := start(t, Config{Key: "user_id", Attributes: []string{"lang"},
		Source: bySQL(path, "select id, name, lang from users where id in (:keys)")}, component.Env{})
	if g := l.Grouping(); g.MaxEvents != DefaultBatch || !g.Ordered || g.Concurrency < 4 {
		t.Errorf("%+v", g)
	}
	out, errs := look(t.Context(), l, `{"user_id": 7, "x": [1]}`, `{"user_id": "8"}`, `{"user_id": 7}`,
		`{"user_id": 9999}`, `{}`, `[1]`)
	want := []string{`{"user_id":7,"x":[1],"user":{"id":7,"name":"user 7","lang":"en"}}`,
		`{"user_id":"8","user":{"id":8,"name":"user 8","lang":"ja"}}`,
		`{"user_id":7,"user":{"id":7,"name":"user 7","lang":"en"}}`, "", "", ""}
	if !slices.Equal(out, want) {
		t.Errorf("got %q", out)
	}
	for i, says := range []string{"", "", "", "nothing was found for user_id 9999", "has no user_id",
		"has no user_id"} {
		if (errs[i] != nil) != (says != "") || errs[i] != nil && !strings.Contains(errs[i].Error(), says) {
			t.Errorf("message %d: %v", i, errs[i])
		}
		if _, again := component.AsRetry(errs[i]); again {
			t.Errorf("message %d would be tried again", i)
		}
	}
	before := l.loader.Stats()
	if before.Keys != 3 {
		t.Errorf("%+v", before)
	}
	// The first key may travel alone, and a few with it on a busy machine: the others gather meanwhile.
	many := make([]string, 200)
	for i := range many {
		many[i] = fmt.Sprintf(`{"user_id": %d}`, 20_000+i)
	}
	look(t.Context(), l, many...)
	if s := l.loader.Stats(); s.Keys-before.Keys != 200 || s.Fetches-before.Fetches > 50 {
		t.Errorf("%+v, before %+v", s, before)
	}
}

func TestAnAnswerIsPutWhereTheSettingsSay(t *testing.T) {
	path := database(t, usersTable, usersRows)
	one := bySQL(path, "select name, lang from users where id = :user_id and lang = :lang")
	for _, c := range []struct {
		config     Config
		body, want string
	}{
		{Config{Source: one}, `{"user_id":2,"lang":"ja"}`,
			`{"user_id":2,"lang":"ja","user":{"name":"user 2","lang":"ja"}}`},
		{Config{Source: one, Into: "who"}, `{"who":1,"user_id":2,"lang":"ja"}`,
			`{"who":{"name":"user 2","lang":"ja"},"user_id":2,"lang":"ja"}`},
		{Config{Source: one, Merge: true}, `{"user_id":2,"lang":"ja"}`, `{"user_id":2,"lang":"ja","name":"user 2"}`},
		{Config{Source: one, OnMissing: "pass"}, `{"user_id":3,"lang":"ja"}`, `{"user_id":3,"lang":"ja","user":null}`},
		{Config{Source: one, OnMissing: "default", Default: map[string]any{"name": "nobody"}},
			`{"user_id":3,"lang":"ja"}`, `{"user_id":3,"lang":"ja","user":{"name":"nobody"}}`},
		{Config{Source: one, OnMissing: "default", Default: map[string]any{"name": "nobody"}, Merge: true},
			`{"user_id":3,"lang":"ja"}`, `{"user_id":3,"lang":"ja","name":"nobody"}`},
		{Config{Source: bySQL(path, "select id from users where id <= :n order by id"), Many: true}, `{"n":2}`,
			`{"n":2,"user":[{"id":1},{"id":2}]}`},
		{Config{Source: bySQL(path, "select lang, id from users where id < 4 and lang in (:keys) order by id"),
			Many: true, Key: "l"}, `{"l":"en"}`, `{"l":"en","user":[{"lang":"en","id":1},{"lang":"en","id":3}]}`},
		{Config{Source: Source{Type: "static", Values: map[string]any{"ja": map[string]any{"title": "飛脚"},
			"7": "seven"}}, Key: "lang"}, `{"lang":"ja"}`, `{"lang":"ja","user":{"title":"飛脚"}}`},
		{Config{Source: Source{Type: "static", Values: map[string]any{"7": "seven"}}, Key: "n"}, `{"n":7}`,
			`{"n":7,"user":"seven"}`},
	} {
		out, errs := look(t.Context(), start(t, c.config, component.Env{}), c.body)
		if errs[0] != nil || out[0] != c.want {
			t.Errorf("%+v\ngot  %s, %v\nwant %s", c.config, out[0], errs[0], c.want)
		}
	}
}

func TestAnAnswerThatIsNotWhatWasAskedForLetsNothingThrough(t *testing.T) {
	path := database(t, usersTable, usersRows)
	for query, says := range map[string]string{
		"select lang, name from users where id < 9 and lang in (:keys)":          "4 rows were found where one is expected",
		"select id, name from users where :keys is not null limit 3":             "a key that was not asked for",
		"select lang as code from users where id < 2 or lang in (:keys) is null": "no name for the attribute",
	} {
		l := start(t, Config{Key: "l", Attributes: []string{"name"}, Source: bySQL(path, query)}, component.Env{})
		out, errs := look(t.Context(), l, `{"l":"en"}`)
		if out[0] != "" || errs[0] == nil || !strings.Contains(errs[0].Error(), says) {
			t.Errorf("%s: %q, %v", query, out, errs)
		}
	}
}

func TestOneBadKeyHarmsNoOther(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ids := strings.Split(r.URL.Query().Get("ids"), ",")
		if slices.Contains(ids, "bad") {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		answer := map[string]any{}
		for _, id := range ids {
			answer[id] = map[string]string{"name": "user " + id}
		}
		json.NewEncoder(w).Encode(answer)
	}))
	defer server.Close()
	h := start(t, Config{Key: "id", Source: Source{Type: "http", HTTP: fetch.HTTP{URL: server.URL + "?ids={keys}"}}},
		component.Env{})
	var bodies []string
	for i := range 64 {
		bodies = append(bodies, fmt.Sprintf(`{"id":%d}`, i))
	}
	bodies[17] = `{"id":"bad"}`
	out, errs := look(t.Context(), h, bodies...)
	for i := range bodies {
		if (errs[i] == nil) == (i == 17) || (out[i] == "") != (i == 17) {
			t.Errorf("%s: %s, %v", bodies[i], out[i], errs[i])
		}
	}
}

func TestAServerThatMisbehavesIsARetryOrARejectionAsTheSettingsSay(t *testing.T) {
	var hang, broken atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case hang.Load():
			<-r.Context().Done()
		case broken.Load():
			w.WriteHeader(503)
		case r.URL.Path == "/404":
			w.WriteHeader(404)
		default:
			io.WriteString(w, `{"name": "x"}`)
		}
	}))
	defer server.Close()
	for _, onError := range []string{"retry", "reject"} {
		l := start(t, Config{Source: Source{Type: "http", HTTP: fetch.HTTP{URL: server.URL + "/{id}"}},
			Timeout: 2 * time.Second, OnError: onError}, component.Env{})
		for _, c := range []struct {
			flag *atomic.Bool
			says string
		}{{&hang, "no answer within 2s (timeout)"}, {&broken, "503"}} {
			c.flag.Store(true)
			out, errs := look(t.Context(), l, `{"id":1}`)
			_, again := component.AsRetry(errs[0])
			if out[0] != "" || again != (onError == "retry") || again && !strings.Contains(errs[0].Error(), c.says) {
				t.Errorf("%s: %q, %v", onError, out, errs)
			}
			c.flag.Store(false)
		}
		if out, errs := look(t.Context(), l, `{"id":1}`); errs[0] != nil || out[0] != `{"id":1,"user":{"name":"x"}}` {
			t.Errorf("afterwards: %q, %v", out, errs)
		}
		if _, errs := look(t.Context(), l, `{"id":404}`); errs[0] == nil ||
			!strings.Contains(errs[0].Error(), "nothing was found for id 404") {
			t.Errorf("not found: %v", errs)
		}
	}
}

func TestACancelledLookUpIsGivenBackAndHarmsNobody(t *testing.T) {
	release := make(chan struct{})
	asked := make(chan struct{}, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-release
		io.WriteString(w, `{"name": "x"}`)
	}))
	defer server.Close()
	l := start(t, Config{Source: Source{Type: "http", HTTP: fetch.HTTP{URL: server.URL + "/{id}"}}}, component.Env{})
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	work.Go(func() {
		out, errs := look(ctx, l, `{"id":1}`)
		if _, again := component.AsRetry(errs[0]); !again || out[0] != "" {
			t.Errorf("the cancelled: %q, %v", out, errs)
		}
	})
	<-asked
	work.Go(func() {
		if out, errs := look(t.Context(), l, `{"id":1}`); errs[0] != nil || out[0] == "" {
			t.Errorf("the other: %q, %v", out, errs)
		}
	})
	for l.loader.Stats().Shared == 0 {
		select {
		case <-asked:
			t.Error("it was asked twice")
		case <-time.After(time.Millisecond):
		}
	}
	cancel()
	close(release)
	work.Wait()
}

func TestWhatIsKeptIsNotAskedForAgain(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			w.WriteHeader(503) // failures are not kept
			return
		}
		fmt.Fprintf(w, `{"n": %d}`, asked.Load())
	}))
	defer server.Close()
	l := start(t, Config{Source: Source{Type: "http", HTTP: fetch.HTTP{URL: server.URL + "/{id}"}},
		Cache: Cache{Size: 1, TTL: time.Hour}}, component.Env{})
	for i, want := range []string{"", `{"id":1,"user":{"n":2}}`, `{"id":1,"user":{"n":2}}`, `{"id":2,"user":{"n":3}}`,
		`{"id":1,"user":{"n":4}}`} {
		body := `{"id":1}`
		if i == 3 {
			body = `{"id":2}`
		}
		if out, _ := look(t.Context(), l, body); out[0] != want {
			t.Errorf("look %d: %s, want %s", i, out[0], want)
		}
	}
}

func TestMessagesOfAQueueAreFound(t *testing.T) {
	j, err := journalfile.Open(t.Context(), journalfile.Options{Dir: t.TempDir(), Durability: journal.None})
	if err != nil {
		t.Fatal(err)
	}
	s, err := queue.Open(t.Context(), queue.Options{Journal: j, OnDemand: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(s.Close(), j.Close()); err != nil {
			t.Error(err)
		}
	}()
	var ms []message.Message
	for i, id := range []string{"a", "b", `it's \ "c"`, "a"} {
		m := message.Message{Body: fmt.Appendf(nil, `{"n":%d}`, i)}
		m.Attributes.Set("user", message.String(id))
		ms = append(ms, m)
	}
	if _, err := s.Put(t.Context(), queue.Name{Namespace: "default", Name: "profiles"}, ms); err != nil {
		t.Fatal(err)
	}
	c := Config{Key: "id", Source: Source{Type: "queue", Queue: "profiles", Match: "user"}}
	out, errs := look(t.Context(), start(t, c, component.Env{Store: s}), `{"id":"a"}`, `{"id":"it's \\ \"c\""}`,
		`{"id":"z"}`)
	if out[0] != `{"id":"a","user":{"n":3}}` || !strings.HasSuffix(out[1], `"user":{"n":2}}`) || errs[2] == nil {
		t.Errorf("%q, %v", out, errs)
	}
	c.Many = true
	if out, errs := look(t.Context(), start(t, c, component.Env{Store: s}),
		`{"id":"a"}`); out[0] != `{"id":"a","user":[{"n":0},{"n":3}]}` {
		t.Errorf("%q, %v", out, errs)
	}
	c.Source.Queue = "none"
	if _, errs := look(t.Context(), start(t, c, component.Env{Store: s}), `{"id":"a"}`); errs[0] == nil {
		t.Error("it was found in a queue that is not there")
	}
}
