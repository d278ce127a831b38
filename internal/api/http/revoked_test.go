package http_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/access"
	door "github.com/hikyaku/hikyaku/internal/api/http"
)

// TestAGrantThatIsTakenAwayEndsWhatStands: a claim that waits, a token that was handed out, and a stream of messages.
func TestAGrantThatIsTakenAwayEndsWhatStands(t *testing.T) {
	may := func(can ...string) []access.User {
		return []access.User{team[0], {Name: "eve", Secret: "eve-secret",
			Grants: []access.Grant{{Can: can, On: []string{"news", "olds"}}}}}
	}
	r := start(t, settings{users: may("put", "take")})
	r.secret = "boss-secret"
	r.want(201, "PUT", "/default/queues/news", "")
	r.want(201, "PUT", "/default/queues/olds", "")
	r.want(200, "POST", "/default/queues/olds/messages", `{"messages": [{}, {}]}`)
	// what stands
	stream, lines := io.Pipe()
	send := func(path, kind string, body io.Reader) (answer chan *http.Response) {
		req, err := http.NewRequestWithContext(t.Context(), "POST", r.url+path, body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer eve-secret")
		req.Header.Set("Content-Type", kind)
		answer = make(chan *http.Response, 1)
		go func() {
			got, err := r.http.Do(req)
			if err != nil {
				t.Error(err)
			}
			answer <- got
		}()
		return answer
	}
	claim := send("/default/queues/news/claim", "application/json", strings.NewReader(`{"wait": "20s"}`))
	waitFor(t, func() bool { return r.stats("news").Waiters == 1 })
	put := send("/default/queues/olds/messages", ndjson, stream)
	if _, err := io.WriteString(lines, "{}\n"); err != nil {
		t.Fatal(err)
	}
	streamed := <-put
	defer streamed.Body.Close()
	answers := bufio.NewScanner(streamed.Body)
	if !answers.Scan() || strings.Contains(answers.Text(), "problem") {
		t.Fatal(answers.Text())
	}
	r.secret = "eve-secret"
	held := r.claim("olds", `{"max": 2}`)
	if err := r.users.Replace(may("admin")); err != nil {
		t.Fatal(err)
	}

	for i, c := range held {
		path, body := "/default/settle", fmt.Sprintf(`{"settlements": [{"token": %q}]}`, c.Token)
		if i > 0 {
			path, body = "/default/extend", fmt.Sprintf(`{"tokens": [%q], "lease": "1m"}`, c.Token)
		}
		var got struct{ Results []door.TokenResult }
		if r.want(200, "POST", path, body).json(t, &got); got.Results[0].OK ||
			got.Results[0].Problem.Type != "urn:hikyaku:forbidden" {
			t.Errorf("%s: %+v", path, got.Results)
		}
	}
	if _, err := io.WriteString(lines, "{}\n"); err != nil {
		t.Fatal(err)
	}
	if !answers.Scan() || !strings.Contains(answers.Text(), "urn:hikyaku:forbidden") {
		t.Errorf("the stream goes on: %s", answers.Text())
	}
	lines.Close()
	r.secret = "boss-secret"
	r.want(200, "POST", "/default/queues/news/messages", `{}`)
	got := <-claim
	defer got.Body.Close()
	if text, _ := io.ReadAll(got.Body); got.StatusCode != 403 {
		t.Errorf("the claim is answered %d: %s", got.StatusCode, text)
	}
	if s := r.stats("news"); s.Ready != 1 {
		t.Errorf("%+v", s)
	}
}
