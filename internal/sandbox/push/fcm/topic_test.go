package fcm

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// TestTheOlderAPIOfTopicsChangesTheSameMembers: that of older clients, with up to a thousand devices in a request.
func TestTheOlderAPIOfTopicsChangesTheSameMembers(t *testing.T) {
	r := newRig(t, Config{})
	token, err := r.token(ScopeMessaging)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, path, body, auth string) (int, string) {
		t.Helper()
		req, err := http.NewRequest(method, r.URL()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("authorization", "Bearer "+token)
		req.Header.Set("access_token_auth", auth)
		resp, err := r.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	many := strings.Repeat(`"`+device+`",`, 999) + `"none"`
	for _, c := range []struct {
		method, path, body, auth string
		status                   int
		says                     string
	}{
		{"POST", "/iid/v1:batchAdd", `{"to":"/topics/news","registration_tokens":[` + many + `]}`, "true", 200,
			`{},{"error":"INVALID_ARGUMENT"}]}`},
		{"POST", "/iid/v1:batchAdd", `{"to":"/topics/news","registration_tokens":[` + many + `,"x"]}`, "true", 400,
			"TooManyTokens"},
		{"POST", "/iid/v1:batchAdd", `{"to":"news","registration_tokens":["` + device + `"]}`, "true", 400,
			"InvalidParameters"},
		{"POST", "/iid/v1:batchAdd", `{"to":"/topics/news","registration_tokens":["` + device + `"]}`, "", 401,
			"Unauthenticated"},
		{"GET", "/v1/projects/campaign/registrations/" + device + "/topicSubscriptions", "", "", 200,
			`"topic_name":"news"`},
		{"POST", "/v1/projects/campaign/registrations/" + device + "/topicSubscriptions?topic_name=news", "{}", "", 409,
			"ALREADY_EXISTS"},
		{"POST", "/v1/projects/other/registrations/" + device + "/topicSubscriptions?topic_name=news", "{}", "", 403,
			"PERMISSION_DENIED"},
		{"POST", "/iid/v1:batchRemove", `{"to":"/topics/news","registration_tokens":["` + device + `"]}`, "true", 200,
			`{"results":[{}]}`},
		{"DELETE", "/v1/projects/campaign/registrations/" + device + "/topicSubscriptions/news", "", "", 404,
			"NOT_FOUND"},
	} {
		status, said := ask(c.method, c.path, c.body, c.auth)
		if status != c.status || !strings.Contains(said, c.says) {
			t.Errorf("%s %s: %d %.300s", c.method, c.path, status, said)
		}
		if c.says == `"topic_name":"news"` && !slices.Equal(r.Topics("campaign", device), []string{"news"}) {
			t.Errorf("its topics: %q", r.Topics("campaign", device))
		}
	}
	if n := r.Counts().Accepted; n != 0 {
		t.Errorf("%d messages are counted", n)
	}
}
