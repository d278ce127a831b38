package fetch

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

func serve(t *testing.T, h http.HandlerFunc) string {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func mustHTTP(t *testing.T, c HTTP) *Server {
	t.Helper()
	s, err := NewHTTP(c, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestParametersAreEscapedInAddressesAndJSONInBodies(t *testing.T) {
	var line, body, token string
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		line, body, token = r.Method+" "+r.RequestURI, string(b), r.Header.Get("Authorization")
		io.WriteString(w, `{"data": {"rows": [1]}}`)
	})
	p := Params{"name": texts(`a/b?c=d&e "f" ..`), Keys: {message.Int(7), message.String("x,y")}, "dots": texts("..")}
	s := mustHTTP(t, HTTP{URL: url + "/{name}/{dots}?ids={keys}",
		Headers: map[string]string{"Authorization": "Bearer s3cret"}, Items: "data.rows"})
	answer, items, err := s.Ask(t.Context(), p)
	if err != nil || string(items) != "[1]" || string(answer) != `{"data": {"rows": [1]}}` {
		t.Fatalf("%s, %s, %v", answer, items, err)
	}
	if want := "GET /a%2Fb%3Fc%3Dd%26e%20%22f%22%20../%2E%2E?ids=7,x%2Cy"; line != want || token != "Bearer s3cret" {
		t.Errorf("%s, want %s; %s", line, want, token)
	}
	s = mustHTTP(t, HTTP{URL: url, Body: `{"name": {name}, "ids": {keys}, "fixed": {"a": 1}}`})
	if _, _, err := s.Ask(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if want := `{"name": "a/b?c=d&e \"f\" ..", "ids": [7,"x,y"], "fixed": {"a": 1}}`; body != want || line != "POST /" {
		t.Errorf("%s %s, want %s", line, body, want)
	}
}

func TestAnswersThatMayPassAreRetriesAndTheRestIsNot(t *testing.T) {
	for _, c := range []struct {
		do    http.HandlerFunc
		again bool
		after time.Duration
		says  string
	}{
		{func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(429)
		}, true, 7 * time.Second, "429 Too Many Requests"},
		{func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, true, 0, "503"},
		{func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }, true, 0, "EOF"},
		{func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, "{")
		}, true, 0, "broke off"},
		{func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(400); io.WriteString(w, "bad\nid") }, false, 0,
			"400 Bad Request: bad id"},
		{func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://elsewhere.example/", http.StatusFound)
		}, false, 0, "302"},
		{func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, false, 0, "404"},
		{func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>") }, false, 0, "not JSON"},
		{func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"data": []}`) }, false, 0,
			`no "data.rows"`},
	} {
		s := mustHTTP(t, HTTP{URL: serve(t, c.do) + "/s3cret", Items: "data.rows"})
		_, _, err := s.Ask(t.Context(), Params{})
		after, again := component.AsRetry(err)
		if err == nil || again != c.again || after != c.after || !strings.Contains(err.Error(), c.says) ||
			strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v, again %v after %v", c.says, err, again, after)
		}
		if errors.Is(err, ErrNotFound) != (c.says == "404") {
			t.Errorf("not found: %v", err)
		}
	}
}

func TestAServerThatHangsEndsWithTheContext(t *testing.T) {
	s := mustHTTP(t, HTTP{URL: serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, _, err := s.Ask(ctx, Params{})
	if _, again := component.AsRetry(err); !again || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestTheNextPageIsOnTheSameHost(t *testing.T) {
	var lines []string
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		lines = append(lines, r.RequestURI)
		io.WriteString(w, "[]")
	})
	s := mustHTTP(t, HTTP{URL: url + "/users?page={after}"})
	for _, address := range []string{"/users?page=2", "?page=3", url + "/more"} {
		if _, _, err := s.Follow(t.Context(), address); err != nil {
			t.Error(err)
		}
	}
	if got := strings.Join(lines, " "); got != "/users?page=2 /users?page=3 /more" {
		t.Error(got)
	}
	for _, address := range []string{"http://elsewhere.example/", "//elsewhere.example/x", "%zz"} {
		if _, _, err := s.Follow(t.Context(), address); err == nil {
			t.Errorf("%s was followed", address)
		}
	}
}

func TestSettingsOfAServerAreChecked(t *testing.T) {
	for setting, c := range map[string]HTTP{
		"url":     {URL: "ftp://h/{a}"},
		"body":    {URL: "http://h", Method: "GET", Body: "{}"},
		"headers": {URL: "http://h", Headers: map[string]string{"A": "b\r\nC: d"}},
	} {
		_, err := NewHTTP(c, "", nil)
		var e *component.SettingError
		if !errors.As(err, &e) || e.Setting != setting {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, url := range []string{"", "https://{host}/x", "https://a.{tenant}.example/x", "{all}", "/x"} {
		if _, err := NewHTTP(HTTP{URL: url}, "", nil); err == nil {
			t.Errorf("%s was taken", url)
		}
	}
}

func TestAServerThatIsAwayWasNotAsked(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	s := mustHTTP(t, HTTP{URL: srv.URL})
	srv.Close()
	if _, _, err := s.Ask(t.Context(), Params{}); !component.IsHold(err) {
		t.Errorf("%v is a try", err)
	}
}
