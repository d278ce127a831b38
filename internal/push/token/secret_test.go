package token

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// office is a token endpoint for clients with secrets.
type office struct {
	*httptest.Server
	secret string
	asked  int
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{secret: "s3cret/+="}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.asked++
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("Authorization") != "" || r.FormValue("grant_type") != "client_credentials" ||
			r.FormValue("client_id") != "ms-app://S-1-15" || r.FormValue("client_secret") != o.secret ||
			r.FormValue("scope") != "notify.windows.com" {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":1101,"sub_error":20001,"error_description":"wrong: %s"}`, r.FormValue("client_id"))
			return
		}
		fmt.Fprintf(w, `{"access_token":"t%d","token_type":"bearer","expires_in":"3600"}`, o.asked)
	}))
	t.Cleanup(o.Close)
	return o
}

func (o *office) keeper(t *testing.T, c *clock, path string) *OAuth {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{}}
	k, err := NewSecret(SecretConfig{ID: "ms-app://S-1-15", File: path, Scopes: []string{"notify.windows.com"},
		URL: o.URL, Client: client, Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		k.Close()
		client.CloseIdleConnections()
	})
	return k
}

func TestATokenIsFetchedWithAnIDAndASecretAndRenewedAhead(t *testing.T) {
	o, c, path := newOffice(t), newClock(), filepath.Join(t.TempDir(), "secret")
	write(t, path, []byte(o.secret+"\n"))
	k := o.keeper(t, c, path)
	if err := k.Check(); err != nil {
		t.Error(err)
	}
	for range 3 {
		if text, err := use(k); text != "Bearer t1" || err != nil {
			t.Fatalf("%q, %v", text, err)
		}
	}
	c.pass(55 * time.Minute)
	if text, err := use(k); text != "Bearer t1" || err != nil {
		t.Fatalf("in its last minutes: %q, %v", text, err)
	}
	k.all.Wait()
	if text, err := use(k); text != "Bearer t2" || err != nil || o.asked != 2 {
		t.Errorf("%q, %v, asked %d times", text, err, o.asked)
	}
}

func TestASecretThatIsReplacedIsUsedAndOneThatIsRefusedIsNotShown(t *testing.T) {
	o, c, path := newOffice(t), newClock(), filepath.Join(t.TempDir(), "secret")
	write(t, path, []byte("an-old-one"))
	k := o.keeper(t, c, path)
	_, err := use(k)
	var failed *FetchError
	if !errors.As(err, &failed) || !failed.Final || failed.Account != "ms-app://S-1-15" ||
		strings.Contains(err.Error(), "an-old-one") {
		t.Fatalf("%v", err)
	}
	// Huawei's error is a number.
	if says := "the token endpoint answered 400 1101 wrong: ms-app://S-1-15"; !strings.HasSuffix(err.Error(), says) {
		t.Errorf("%v, want %q", err, says)
	}
	write(t, path, []byte(o.secret))
	c.pass(time.Minute)
	if text, err := use(k); text != "Bearer t2" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

func TestAClientWithASecretSaysWhatIsMissing(t *testing.T) {
	for says, c := range map[string]SecretConfig{
		"id is missing":   {File: "f", URL: "https://x/"},
		"file is missing": {ID: "i", URL: "https://x/"},
		"is no URL":       {ID: "i", File: "f", URL: "x"},
	} {
		if _, err := NewSecret(c); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

func TestWhatATokenEndpointSaysIsShownOnOneShortLine(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":1101,"sub_error":20001,"error_description":"invalid client_secret"}`: "1101 invalid client_secret",
		`{"error":"invalid_grant","error_description":"Invalid JWT\nSignature."}`:      "invalid_grant Invalid JWT Signature.",
		`{"error":{"code":403}}`: `{"code":403}`, `{"error":null,"error_description":7}`: "7",
		`<html>`: "", `{}`: "", ``: "",
		`{"error":"x","error_description":"` + strings.Repeat("é", 300) + `"}`: "x " + strings.Repeat("é", 97) + "…",
	} {
		if got := refusal([]byte(body)); got != want {
			t.Errorf("%s: %q", body, got)
		}
	}
}

func FuzzRefusal(f *testing.F) {
	for _, text := range []string{`{"error":1101,"error_description":"x\ny"}`, `{"error":"\u2028"}`, "{", "\xff"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		text := refusal(body)
		if len(text) > mostRefusal || strings.ContainsAny(text, "\r\n\x00\u2028") || !utf8.ValidString(text) {
			t.Errorf("%q", text)
		}
	})
}

func FuzzParseSecret(f *testing.F) {
	for _, text := range []string{"", "abc\n", " a b ", "é", "a\nb"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		secret, err := ParseSecret(text)
		if (err == nil) != (secret != "") || strings.ContainsAny(secret, " \r\n") {
			t.Errorf("%q, %v", secret, err)
		}
	})
}
