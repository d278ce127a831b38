package page_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/macro/page"
	"github.com/hikyaku/hikyaku/pace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stand plays scripts with the plain driver and writes down which.
type stand struct {
	*httptest.Server
	page *page.Page

	mu     sync.Mutex
	played []string
}

type silent struct{}

func (silent) Frame(int64) error { return nil }
func (silent) Stop() error       { return nil }

type config = page.Config

func open(t *testing.T, set ...func(*config)) *stand {
	t.Helper()
	s := new(stand)
	host := pace.Plain(pace.Players{"silent": func([]byte) (pace.Player, error) { return silent{}, nil }})
	rate, err := pace.PerSecond(10000, 1)
	if err != nil {
		t.Fatal(err)
	}
	c := page.Config{
		Title: "a stand", Rate: rate, Text: "lp 2", Hosts: []string{"pad.example"},
		Start: func(ctx context.Context, script *macro.Script, progress func(pace.Progress)) (*pace.Run, error) {
			var states []string
			for _, player := range script.Players() {
				for _, step := range script.Tracks[player-1] {
					states = append(states, step.State.String())
				}
			}
			s.mu.Lock()
			s.played = append(s.played, strings.Join(states, " "))
			s.mu.Unlock()
			if states[0] == "ps" {
				return nil, errors.New("the pad is not there")
			}
			return host.Start(ctx, pace.Job{Player: "silent", Rate: rate, Frames: script.Frames(), Progress: progress})
		},
	}
	for _, f := range set {
		f(&c)
	}
	s.page = page.New(c)
	s.Server = httptest.NewServer(s.page)
	t.Cleanup(func() {
		s.page.Close()
		s.Close()
	})
	return s
}

func (s *stand) post(t *testing.T, path, body string) (int, string) {
	t.Helper()
	r, err := http.Post(s.URL+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

type news struct {
	Number, Waiting int
	Playing         bool
	Frame, Frames   int64
	Last            *struct {
		Number         int
		Error          string
		Stopped        bool
		Played, Frames int64
		Summary        []string
		Lateness       string
	}
}

// until reads what the page tells until it tells what is awaited.
func (s *stand) until(t *testing.T, awaited func(n news) bool) news {
	t.Helper()
	r, err := http.Get(s.URL + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	for sc := bufio.NewScanner(r.Body); sc.Scan(); {
		data, ok := strings.CutPrefix(sc.Text(), "data: ")
		if !ok {
			continue
		}
		var n news
		if err := json.Unmarshal([]byte(data), &n); err != nil {
			t.Fatal(err)
		}
		if awaited(n) {
			return n
		}
	}
	t.Fatal("the page stopped telling")
	return news{}
}

func ended(number int) func(news) bool {
	return func(n news) bool { return n.Last != nil && n.Last.Number == number && !n.Playing }
}

func TestATextIsCheckedBeforeAnythingIsPlayed(t *testing.T) {
	s := open(t)
	status, body := s.post(t, "/check", `{"text":"lq 2\nhp","player":1}`)
	if status != 200 || !strings.Contains(body, "did you mean lp?") || !strings.Contains(body, `"line":2`) {
		t.Errorf("%d %s", status, body)
	}
	status, body = s.post(t, "/check", `{"text":"236hp 2","player":2,"mirror":true}`)
	if status != 200 || !strings.Contains(body, `"frames":6`) || !strings.Contains(body, "P2 hp") ||
		!strings.Contains(body, `"mistakes":null`) {
		t.Errorf("%d %s", status, body)
	}
	if status, body := s.post(t, "/run", `{"text":"lq 2"}`); status != 422 ||
		!strings.Contains(body, "did you mean lp?") {
		t.Errorf("%d %s", status, body)
	}
	for _, bad := range []string{`{"text":"lp 2","player":3}`, `{"text":`, `[]`} {
		if status, body := s.post(t, "/run", bad); status != 400 || !strings.Contains(body, `"error"`) {
			t.Errorf("%s: %d %s", bad, status, body)
		}
	}
	for _, bad := range []string{`{"press":"lp 2\nhp"}`, `{"press":"<loop"}`} {
		if status, _ := s.post(t, "/press", bad); status != 400 {
			t.Errorf("%s: %d", bad, status)
		}
	}
	if len(s.played) > 0 {
		t.Errorf("played %q", s.played)
	}
}

func TestRunsArePlayedOneAtATimeAndPressesWait(t *testing.T) {
	s := open(t)
	if status, body := s.post(t, "/run", `{"text":"hp 1000000"}`); status != 202 {
		t.Fatal(body)
	}
	s.until(t, func(n news) bool { return n.Playing && n.Frame > 0 })
	if status, body := s.post(t, "/run", `{"text":"hp 2"}`); status != 409 || !strings.Contains(body, "stop it first") {
		t.Errorf("a second run: %d %s", status, body)
	}
	accepted := 0
	for {
		status, _ := s.post(t, "/press", `{"press":"lp","player":1}`)
		if status == 429 {
			break
		}
		if accepted++; status != 202 || accepted > 100 {
			t.Fatal(status, accepted)
		}
	}
	if status, _ := s.post(t, "/stop", `{}`); status != 200 {
		t.Error(status)
	}
	n := s.until(t, ended(1))
	if !n.Last.Stopped || n.Last.Error != "" || n.Waiting != 0 || n.Last.Played == 0 {
		t.Errorf("%+v", n.Last)
	}
	if status, body := s.post(t, "/press", `{"press":"9","player":2}`); status != 202 ||
		!strings.Contains(body, `"text":"9 2"`) {
		t.Errorf("%d %s", status, body)
	}
	n = s.until(t, ended(accepted+2))
	if n.Last.Played != 2 || len(n.Last.Summary) < 3 || !strings.HasPrefix(n.Last.Lateness, "<svg") {
		t.Errorf("%+v", n.Last)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.Join(s.played, "; ") != "hp; 9" {
		t.Errorf("played %q", s.played)
	}
}

func TestADeviceThatFailsIsTold(t *testing.T) {
	s := open(t)
	if status, body := s.post(t, "/press", `{"press":"ps"}`); status != 202 {
		t.Fatal(body)
	}
	if n := s.until(t, ended(1)); n.Last.Error != "the pad is not there" || n.Last.Played != 0 {
		t.Errorf("%+v", n.Last)
	}
}

func TestClosingEndsWhatIsPlayed(t *testing.T) {
	s := open(t)
	s.post(t, "/run", `{"text":"hp 1000000"}`)
	s.until(t, func(n news) bool { return n.Playing })
	s.page.Close()
	if status, _ := s.post(t, "/run", `{"text":"hp 1"}`); status != 503 {
		t.Errorf("a closed page answers %d", status)
	}
}

func TestOnlyThePageItselfMayPress(t *testing.T) {
	s := open(t)
	host := strings.TrimPrefix(s.URL, "http://")
	for name, c := range map[string]struct {
		host, origin, site, kind string
		status                   int
	}{
		"the page":  {host, s.URL, "same-origin", "application/json", 202},
		"a program": {host, "", "", "application/json", 202},
		"by a configured name": {"pad.example:80", "http://pad.example:80", "same-origin",
			"application/json", 202},
		"localhost":                      {"localhost:80", "", "", "application/json", 202},
		"by address":                     {"[::1]:80", "", "", "application/json; charset=utf-8", 202},
		"another page":                   {host, "http://evil.example", "cross-site", "application/json", 403},
		"another page of an old browser": {host, "http://evil.example", "", "application/json", 403},
		"another port of this machine":   {host, "http://127.0.0.1:1", "same-site", "application/json", 403},
		"a sandboxed page":               {host, "null", "", "application/json", 403},
		"a form":                         {host, "", "", "application/x-www-form-urlencoded", 403},
		"a form that says it is text":    {host, "", "", "text/plain", 403},
		"nothing said":                   {host, "", "", "", 403},
		"a name that was pointed here": {"evil.example", "http://evil.example", "same-origin",
			"application/json", 403},
		"a name that looks like an address":    {"127.0.0.1.evil.example", "", "", "application/json", 403},
		"a name that looks like the local one": {"localhost.evil.example", "", "", "application/json", 403},
	} {
		r, err := http.NewRequest(http.MethodPost, s.URL+"/press", strings.NewReader(`{"press":"lp"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = c.host
		for key, value := range map[string]string{"Origin": c.origin, "Sec-Fetch-Site": c.site,
			"Content-Type": c.kind} {
			if value != "" {
				r.Header.Set(key, value)
			}
		}
		w := httptest.NewRecorder()
		s.page.ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		if c.status == 202 {
			s.post(t, "/stop", "{}")
		}
	}
	get := httptest.NewRequest(http.MethodGet, "http://evil.example/events", nil)
	w := httptest.NewRecorder()
	if s.page.ServeHTTP(w, get); w.Code != 403 {
		t.Errorf("events by a name that was pointed here: %d", w.Code)
	}
}

func TestThePageNeedsNothingFromElsewhere(t *testing.T) {
	s := open(t)
	for _, path := range []string{"/", "/app.js", "/words.js", "/kept.js", "/pads.js", "/mistakes.js", "/manifest.json",
		"/style.css", "/icon.svg", "/icon-maskable.svg"} {
		r, err := http.Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || r.StatusCode != 200 || len(b) == 0 {
			t.Errorf("%s: %d, %v", path, r.StatusCode, err)
		}
		if !strings.Contains(r.Header.Get("Content-Security-Policy"), "default-src 'self'") {
			t.Errorf("%s has no policy", path)
		}
		rest := bytes.ReplaceAll(b, []byte("http://www.w3.org/2000/svg"), nil)
		if bytes.Contains(rest, []byte("http://")) || bytes.Contains(rest, []byte("https://")) ||
			bytes.Contains(b, []byte("<script>")) || bytes.Contains(b, []byte(" style=")) {
			t.Errorf("%s takes something from elsewhere, or has what the policy forbids", path)
		}
	}
}
