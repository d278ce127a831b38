package apns

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/push/token"
)

// newChannel makes a broadcast channel at the sandbox and returns its id.
func (f *far) newChannel(t *testing.T) string {
	t.Helper()
	key, err := token.NewApple(token.AppleConfig{Team: team, Key: keyID, File: f.key})
	if err != nil {
		t.Fatal(err)
	}
	authorization, err := key.Authorization()
	if err != nil {
		t.Fatal(err)
	}
	app := &app{config: f.app}
	secure, err := app.secure()
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: secure, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		"https://"+f.Addr().String()+"/1/apps/"+bundle+"/channels",
		strings.NewReader(`{"message-storage-policy": 1, "push-type": "LiveActivity"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("authorization", authorization)
	answer, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	id := answer.Header.Get("apns-channel-id")
	if err != nil || id == "" {
		t.Fatalf("%s: %s, %v", answer.Status, body, err)
	}
	return id
}
