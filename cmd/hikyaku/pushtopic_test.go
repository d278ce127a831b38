package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/outbound/proxytest"
)

// TestMembersOfATopicAreChangedByTheCommand against the sandbox: many from stdin, one that is none, and all that leave.
func TestMembersOfATopicAreChangedByTheCommand(t *testing.T) {
	dir := t.TempDir()
	far := sandboxHere(t, dir, "fcm")
	change := func(stdin string, args ...string) result {
		t.Helper()
		return hikyaku(t, stdin, nil, append([]string{"push", "topic"}, append(args, "--endpoint",
			strings.TrimPrefix(far.url, "https://"), "--ca-file",
			filepath.Join(dir, "hikyaku-sandbox", "authority.pem"), "--account-file",
			filepath.Join(dir, "hikyaku-sandbox", "account-news.json"))...)...)
	}
	var tokens strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&tokens, "registration-token-%040d\n\n", i)
	}
	for range 2 { // who is a member stays one
		if r := change(tokens.String(), "subscribe", "weather"); r.code != exitOK || r.stdout != "1,500 devices\n" {
			t.Fatalf("%+v", r)
		}
	}
	r := change("", "subscribe", "weather", "--token", "none", "--token", "cx0mHBlDR4-y_ZEWDqvXb1", "--json")
	if r.code != exitFailed || !strings.Contains(r.stdout, `{"token":"none","error":"FCM answered 400 INVALID_ARGUMENT`) ||
		!strings.Contains(r.stdout, `{"token":"cx0mHBlDR4-y_ZEWDqvXb1"}`) || !strings.Contains(r.stderr, "1 of 2") {
		t.Errorf("%+v", r)
	}
	proxy, to := proxytest.Start(t, nil, nil), strings.TrimPrefix(far.url, "https://")
	if r := change(tokens.String(), "unsubscribe", "weather", "--proxy", proxy.URL.String()); r.code != exitOK {
		t.Errorf("%+v", r)
	}
	if asked := proxy.Asked(); !slices.Contains(asked, to) || len(slices.Compact(asked)) != 1 {
		t.Errorf("the proxy was asked for %v, want %s alone", asked, to)
	}
	r = change("x", "subscribe", "wea ther")
	if r.code != exitFailed || !strings.Contains(r.stdout, "no name of a topic") {
		t.Errorf("%+v", r)
	}
	if r := hikyaku(t, "x", nil, "push", "topic", "subscribe", "weather"); r.code == exitOK ||
		!strings.Contains(r.stderr, "--account-file") {
		t.Errorf("%+v", r)
	}
}
