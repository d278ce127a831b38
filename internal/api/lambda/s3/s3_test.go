package s3

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/access/sigv4"
	"github.com/hikyaku/hikyaku/internal/outbound"
)

func noBound(int64) error { return nil }

// opened is a Store of a server that answers as it is told.
func opened(t *testing.T, answer http.HandlerFunc) *Store {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	s, err := Open(Config{Endpoint: server.URL, AccessKey: "me", Secret: "hidden"}, "eu-west-1", nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRequestsAreSignedForTheirPath(t *testing.T) {
	v := &sigv4.Verifier{Service: "s3", Region: "eu-west-1",
		Secrets: func(key string) ([]string, bool) { return []string{"hidden"}, key == "me" }}
	s := opened(t, func(w http.ResponseWriter, r *http.Request) {
		if _, err := v.Verify(r, nil); err != nil {
			t.Errorf("%s: %v", r.URL, err)
		}
		fmt.Fprint(w, r.URL.Path, "?", r.URL.RawQuery)
	})
	for _, c := range []struct{ key, version, want string }{
		{"a.zip", "", "/bucket/a.zip?"},
		{"新しい folder/a+b&c=d%20.zip", "1/2", "/bucket/新しい folder/a+b&c=d%20.zip?versionId=1%2F2"},
		{"what?is#this", "", "/bucket/what?is#this?"},
	} {
		got, err := s.Get(t.Context(), "bucket", c.key, c.version, noBound)
		if err != nil || string(got) != c.want {
			t.Errorf("%q: %q, %v", c.key, got, err)
		}
	}
}

func TestAServerThatMisbehavesIsAnError(t *testing.T) {
	errFull := errors.New("no room")
	for _, c := range []struct {
		name, code string
		answer     http.HandlerFunc
	}{
		{"an object that is too large", "EntityTooLarge", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(MaxBytes+1))
		}},
		{"an object without an end", "MissingContentLength", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat("x", 10_000))
		}},
		{"an object that is cut off", "IncompleteBody", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "x")
		}},
		{"another place", "Unknown", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/elsewhere" {
				t.Error("a redirect was followed")
			}
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}},
		{"a refusal", "AccessDenied", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code><Message>Access "+
				"Denied</Message></Error>")
		}},
		{"nonsense", "Unknown", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusTeapot)
			_, _ = w.Write(bytes.Repeat([]byte("<"), 1<<20))
		}},
	} {
		got, err := opened(t, c.answer).Get(t.Context(), "b", "k", "", noBound)
		var e *Error
		if !errors.As(err, &e) || e.Code != c.code || got != nil {
			t.Errorf("%s: %v, %d bytes", c.name, err, len(got))
		}
	}
	full := opened(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "object") })
	if _, err := full.Get(t.Context(), "b", "k", "", func(n int64) error {
		if n != 6 {
			t.Errorf("room for %d bytes", n)
		}
		return errFull
	}); !errors.Is(err, errFull) {
		t.Errorf("without room: %v", err)
	}
}

func TestAnAddressThatMayNotBeReachedIsRefused(t *testing.T) {
	none, err := outbound.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := none.Set([]string{}); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Config{Endpoint: "http://127.0.0.1:9000"}, "", none); err == nil ||
		!strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("%v", err)
	}
}

func TestSettingsThatCannotBe(t *testing.T) {
	for _, c := range []Config{
		{Endpoint: "127.0.0.1:9000"}, {Endpoint: "ftp://x"}, {Endpoint: "http://a:b@x"}, {Endpoint: "http://x?y=z"},
		{Endpoint: "http://x", AccessKey: "a"},
		{Endpoint: "http://x", Secret: "a"}, {AccessKey: "a", Secret: "b"},
	} {
		if _, err := Open(c, "", nil); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
	if s, err := Open(Config{}, "", nil); s != nil || err != nil {
		t.Errorf("without an endpoint: %v, %v", s, err)
	}
}

// What stands for a name in a path is the name again, and has nothing in it that a path ends with.
func FuzzEscaped(f *testing.F) {
	f.Add("a b/c?d#e%2F新")
	f.Fuzz(func(t *testing.T, name string) {
		got := escaped(name)
		var back []byte
		for i := 0; i < len(got); i++ {
			if got[i] != '%' {
				back = append(back, got[i])
				continue
			}
			b, err := hex.DecodeString(got[i+1 : i+3])
			if err != nil {
				t.Fatal(err)
			}
			back, i = append(back, b...), i+2
		}
		if string(back) != name || strings.ContainsAny(got, "?# ") {
			t.Errorf("%q is %q", name, got)
		}
	})
}
