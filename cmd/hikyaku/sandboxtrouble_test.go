package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/push/pushtest"
)

// TestASandboxSaysOnStderrWhyItRefuses: to a client that trusts nobody here, and to one without a token.
func TestASandboxSaysOnStderrWhyItRefuses(t *testing.T) {
	dir := t.TempDir()
	s := sandboxHere(t, dir, "apns")
	if resp, err := http.Post(s.url+"/3/device/00", "application/json", strings.NewReader("{}")); err == nil {
		resp.Body.Close()
		t.Fatal("its certificate is trusted")
	}
	resp, err := trusting(t, dir).Post(s.url+"/3/device/00", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	pushtest.Eventually(t, func() bool {
		return s.stderr.has("authority.pem") &&
			s.stderr.has("403 MissingProviderToken: it has no authorization header")
	})
	if n := s.counts(t).BrokenBy; n["certificate not trusted"] != 1 {
		t.Errorf("%v", n)
	}
}
