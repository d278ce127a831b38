package console_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/access"
	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/console"
	"github.com/hikyaku/hikyaku/internal/journal/memory"
	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/picture"
	"github.com/hikyaku/hikyaku/internal/pipeline"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a console of a real door over a store in memory.
type rig struct {
	t     *testing.T
	store *queue.Store
	door  *httpdoor.Server
	http  *http.Client
	url   string // of the server
	user  string // who looks; "": nobody in particular
	lang  string
}

func start(t *testing.T, c httpdoor.Config, users ...access.User) *rig {
	t.Helper()
	return startOver(t, works{}, c, users...)
}

// startWith is start with more that the door works with.
func startWith(t *testing.T, c httpdoor.Config, more func(*httpdoor.Options), users ...access.User) *rig {
	t.Helper()
	return startOver(t, works{more: more}, c, users...)
}

// works is what a door and its console show of what runs beside them.
type works struct {
	picture    func() *picture.Picture
	components func() []pipeline.NodeStats
	trace      *journey.Store
	more       func(*httpdoor.Options) // that the door works with
	each       time.Duration           // 0: 10 ms
	asked      func(*http.Request)     // is told of each request of the console at the door; nil: nobody is
}

func startOver(t *testing.T, runs works, c httpdoor.Config, users ...access.User) *rig {
	t.Helper()
	trace := runs.trace
	if trace == nil {
		trace = journey.New(journey.Options{})
	}
	j, err := memory.New().Open(memory.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := queue.Open(t.Context(), queue.Options{Journal: j, Trace: trace})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), j.Close()); err != nil {
			t.Error(err)
		}
	})
	known, err := access.New(users)
	if err != nil {
		t.Fatal(err)
	}
	c.Listen = "127.0.0.1:0"
	r := &rig{t: t, store: s}
	options := httpdoor.Options{Store: s, Users: known, Trace: trace, Components: runs.components,
		DataDir: t.TempDir(), Report: func(err error) { t.Error(err) },
		Console: func(operations http.Handler, readOnly bool) http.Handler {
			door := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if runs.asked != nil {
					runs.asked(r)
				}
				operations.ServeHTTP(w, r)
			})
			return console.New(console.Config{Door: door, ReadOnly: readOnly, Version: "test",
				Picture: runs.picture, Each: cmp.Or(runs.each, 10*time.Millisecond)})
		}}
	if runs.more != nil {
		runs.more(&options)
	}
	r.door, err = httpdoor.New(c, options)
	if err != nil {
		t.Fatal(err)
	}
	addr, err := r.door.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	r.url, r.http = "http://"+addr.String(), &http.Client{Jar: jar, Transport: transport}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := r.door.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *rig) request(method, path string, form url.Values, header ...string) *http.Request {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		r.t.Fatal(err)
	}
	if method == "POST" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	req.Header.Set("Accept-Language", r.lang)
	if r.user != "" {
		req.SetBasicAuth(r.user, r.user+"-secret")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return req
}

// want does a request, and returns the page that it leads to, which has to have this status.
func (r *rig) want(status int, req *http.Request) string {
	r.t.Helper()
	answer, err := r.http.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	if answer.StatusCode != status {
		r.t.Fatalf("%s %s: %s, not %d\n%s", req.Method, req.URL, answer.Status, status, body)
	}
	return string(body)
}

func (r *rig) page(path string) string {
	r.t.Helper()
	return r.want(200, r.request("GET", console.Base+path, nil))
}

func (r *rig) queue(name string, d queue.Definition, bodies ...string) {
	r.t.Helper()
	n := queue.Name{Namespace: queue.DefaultNamespace, Name: name}
	if _, err := r.store.CreateQueue(r.t.Context(), n, d); err != nil {
		r.t.Fatal(err)
	}
	for _, body := range bodies {
		if _, err := r.store.Put(r.t.Context(), n, messageOf(body)); err != nil {
			r.t.Fatal(err)
		}
	}
}

func has(t *testing.T, page string, wanted ...string) {
	t.Helper()
	for _, w := range wanted {
		if !strings.Contains(page, w) {
			t.Errorf("%q is not in\n%s", w, page)
		}
	}
}

func lacks(t *testing.T, page string, unwanted ...string) {
	t.Helper()
	for _, u := range unwanted {
		if strings.Contains(page, u) {
			t.Errorf("%q is in\n%s", u, page)
		}
	}
}

func TestEachPageShowsWhatThereIs(t *testing.T) {
	r := start(t, httpdoor.Config{})
	r.queue("orders", queue.Definition{MaxAttempts: 3}, `{"n":1}`, "two")
	has(t, r.page(""), "default/orders", "hikyaku top", "The server takes messages.")
	has(t, r.page("queues?filter=ord"), "default/orders", `value="ord"`)
	lacks(t, r.page("queues?filter=none"), "default/orders")
	page := r.page("queue/default/orders")
	has(t, page, "max attempts", "/letter/default/orders/1", "hikyaku queue peek default/orders")
	has(t, r.page("letter/default/orders/1"), "{\n  &#34;n&#34;: 1\n}")
	has(t, r.page("queue/default/orders?where=n+%3D%3D+"), "warning", "\n         ^")
	has(t, r.want(404, r.request("GET", console.Base+"queue/default/none", nil)), "problem")
	has(t, r.want(404, r.request("GET", console.Base+"letter/default/orders/9", nil)), "not in the queue")
	has(t, r.want(404, r.request("GET", console.Base+"elsewhere", nil)), "Nothing here")
	has(t, r.page("slow"), "hikyaku slow")
	has(t, r.page("dead"), "No message became a dead letter.")
	has(t, r.want(200, r.request("GET", "/console", nil)), "<h1>Overview</h1>")
	has(t, r.page("find?for=orders"), "<h1>default/orders</h1>")
	has(t, r.page("find?for=ord"), "<h1>Queues</h1>")
}

func TestWhatOthersWroteIsTextAlone(t *testing.T) {
	r := start(t, httpdoor.Config{})
	evil := `<script>alert(1)</script>"'><img src=x onerror=alert(1)>` + "\u202e"
	r.queue("q", queue.Definition{Labels: map[string]string{"x": evil}, DeadLetter: "graves"}, evil)
	r.queue("graves", queue.Definition{})
	if _, err := r.store.Put(t.Context(), queue.Name{Namespace: queue.DefaultNamespace, Name: "q"},
		[]message.Message{{Key: evil, Attributes: message.Attributes{{Name: evil, Value: message.String(evil)}}}},
	); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", "queues?filter=" + url.QueryEscape(evil), "queue/default/q",
		"queue/default/q?where=" + url.QueryEscape(evil), "letter/default/q/1", "letter/default/q/2",
		"dead?queue=default/graves",
		"slow?sink=" + url.QueryEscape(evil), "find?for=" + url.QueryEscape(evil)} {
		lacks(t, r.page(path), "<script>alert", "<img")
	}
	has(t, r.page("letter/default/q/1"), "&lt;script&gt;alert(1)&lt;/script&gt;")
	r.queue("zero", queue.Definition{}, "a\x00b")
	has(t, r.page("letter/default/zero/1"), "00000000  61 00 62")
}

// events reads the deltas of a page.
func (r *rig) events(ctx context.Context, path, shape string) func() (cells map[string]string, html, shape string) {
	r.t.Helper()
	sep := "?"
	if strings.Contains(path, "?") {
		sep = "&"
	}
	req := r.request("GET", console.Base+path+sep+"live="+shape, nil, "Accept", "text/event-stream").WithContext(ctx)
	answer, err := r.http.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { answer.Body.Close() })
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	return func() (map[string]string, string, string) {
		r.t.Helper()
		for lines.Scan() {
			text, ok := strings.CutPrefix(lines.Text(), "data: ")
			if !ok {
				continue
			}
			var d struct {
				Cells       map[string]string
				HTML, Shape string
			}
			if err := json.Unmarshal([]byte(text), &d); err != nil {
				r.t.Fatal(err)
			}
			return d.Cells, d.HTML, d.Shape
		}
		r.t.Fatalf("the stream has ended: %v", lines.Err())
		return nil, "", ""
	}
}

func shapeOf(page string) string {
	_, rest, _ := strings.Cut(page, `data-shape="`)
	shape, _, _ := strings.Cut(rest, `"`)
	return shape
}

func TestAPageIsBroughtUpToDateByItsCells(t *testing.T) {
	r := start(t, httpdoor.Config{})
	r.queue("orders", queue.Definition{}, "one")
	page := r.page("queue/default/orders")
	next := r.events(t.Context(), "queue/default/orders", shapeOf(page))
	if cells, html, _ := next(); html != "" || cells["0"] != "1" {
		t.Errorf("at first came %v and %q", cells, html)
	}
	n := queue.Name{Namespace: queue.DefaultNamespace, Name: "orders"}
	claims, err := r.store.Claim(t.Context(), queue.ClaimRequest{From: []queue.From{{Queue: n}}, Max: 1,
		Lease: time.Minute})
	if err != nil || len(claims) != 1 {
		t.Fatal(claims, err)
	}
	for { // ages change, too
		cells, html, _ := next()
		if html != "" {
			t.Fatalf("all of it came: %s", html)
		}
		if cells["0"] == "0" && cells["1"] == "1" {
			break
		}
	}
	r.queue("more", queue.Definition{})
	if _, err := r.store.Put(t.Context(), n, messageOf("<b>")); err != nil {
		t.Fatal(err)
	}
	for {
		_, html, shape := next()
		if html == "" {
			continue
		}
		if strings.Count(html, "/letter/default/orders/") != 2 || shape == shapeOf(page) {
			t.Errorf("another row made of it %s", html)
		}
		break
	}
}

func TestAPageThatHasAnotherShapeIsSentWhole(t *testing.T) {
	r := start(t, httpdoor.Config{})
	if _, html, shape := r.events(t.Context(), "queues", "of-another-server")(); html == "" || shape == "" {
		t.Error("nothing came")
	}
}

func TestAnOpenPageDoesNotHoldUpTheStop(t *testing.T) {
	r := start(t, httpdoor.Config{})
	next := r.events(t.Context(), "", "none")
	next()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := r.door.Close(ctx); err != nil {
		t.Error(err)
	}
}

func TestUsersSeeAndDoWhatTheirGrantsSay(t *testing.T) {
	grant := func(on string, can ...string) []access.Grant { return []access.Grant{{Can: can, On: []string{on}}} }
	r := start(t, httpdoor.Config{},
		access.User{Name: "all", Secret: "all-secret", Grants: grant("*", "put", "take", "admin")},
		access.User{Name: "reader", Secret: "reader-secret", Grants: grant("news", "take")})
	r.queue("news", queue.Definition{}, "one")
	r.queue("jobs", queue.Definition{}, "one")
	answer, err := r.http.Do(r.request("GET", console.Base, nil))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != 401 || !strings.Contains(fmt.Sprint(answer.Header["Www-Authenticate"]), "Basic") {
		t.Errorf("a stranger got %s", answer.Status)
	}
	r.user = "all"
	has(t, r.page(""), "default/news", "default/jobs")
	r.user = "reader"
	has(t, r.page(""), "default/news")
	lacks(t, r.page(""), "default/jobs")
	r.want(403, r.request("GET", console.Base+"queue/default/jobs", nil))
	r.want(403, r.request("POST", console.Base+"queue/default/news/purge", url.Values{"name": {"news"}}))
	r.want(403, r.request("POST", console.Base+"queue/default/news/put", url.Values{"body": {"x"}}))
	r.user = "all"
	has(t, r.want(200, r.request("POST", console.Base+"queue/default/news/purge", url.Values{"name": {"news"}})),
		"Purged: 1 message.")
}

func TestActsDoWhatTheySayAndSayWhatTheyDid(t *testing.T) {
	r := start(t, httpdoor.Config{})
	r.queue("orders", queue.Definition{})
	page := r.want(200, r.request("POST", console.Base+"queue/default/orders/put",
		url.Values{"body": {"one"}, "key": {"k"}, "dedup": {"d"}}))
	has(t, page, "was put.", "/letter/default/orders/1")
	lacks(t, r.page("queue/default/orders"), "was put.") // it is said once
	has(t, r.want(200, r.request("POST", console.Base+"queue/default/orders/put",
		url.Values{"body": {"one"}, "dedup": {"d"}})), "Nothing was put")
	has(t, r.page("queue/default/orders"), "1 message of default/orders will be gone.")
	has(t, r.want(400, r.request("POST", console.Base+"queue/default/orders/purge", url.Values{"name": {"order"}})),
		"is not the name of the queue")
	has(t, r.want(200, r.request("POST", console.Base+"queue/default/orders/purge", url.Values{"name": {"orders"}})),
		"Purged: 1 message.")
}

func TestAConsoleThatIsReadOnlyDoesNothing(t *testing.T) {
	r := start(t, httpdoor.Config{Console: "read"})
	r.queue("orders", queue.Definition{})
	lacks(t, r.page("queue/default/orders"), "/purge", "/put")
	r.want(403, r.request("POST", console.Base+"queue/default/orders/put", url.Values{"body": {"one"}}))
	off := start(t, httpdoor.Config{Console: "off"})
	off.want(404, off.request("GET", console.Base, nil))
}

func TestPagesOfOthersCanDoNothing(t *testing.T) {
	r := start(t, httpdoor.Config{})
	r.queue("orders", queue.Definition{}, "one")
	purge := console.Base + "queue/default/orders/purge"
	form := url.Values{"name": {"orders"}}
	r.want(403, r.request("POST", purge, form, "Origin", "https://evil.example"))
	r.want(403, r.request("POST", purge, form, "Sec-Fetch-Site", "cross-site"))
	rebound := r.request("GET", console.Base, nil)
	rebound.Host = "evil.example"
	r.want(403, rebound)
	answer, err := r.http.Do(r.request("GET", console.Base, nil))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	for name, wanted := range map[string]string{"Content-Security-Policy": "frame-ancestors 'none'",
		"X-Content-Type-Options": "nosniff"} {
		if !strings.Contains(answer.Header.Get(name), wanted) {
			t.Errorf("%s is %q", name, answer.Header.Get(name))
		}
	}
	to := r.request("POST", console.Base+"language", url.Values{"to": {"ja"}, "back": {"//evil.example/"}})
	has(t, r.want(200, to), `<html lang="ja">`, "<h1>概要</h1>") // our own page, and nobody else's
}

func TestThePagesSpeakEnglishAndJapanese(t *testing.T) {
	r := start(t, httpdoor.Config{})
	r.lang = "fr, ja-JP;q=0.8, en;q=0.5"
	has(t, r.page("queues"), `<html lang="ja">`, "キュー一覧")
	r.want(200, r.request("POST", console.Base+"language", url.Values{"to": {"en"}, "back": {console.Base + "slow"}}))
	has(t, r.page("slow"), `<html lang="en">`, "<h1>Slow messages</h1>")
	r.want(400, r.request("POST", console.Base+"language", url.Values{"to": {"xx"}}))
}

func messageOf(body string) []message.Message { return []message.Message{{Body: []byte(body)}} }
