package main

import (
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/isolate"
)

func TestWithUsersFunctionsAreIsolatedWholeUnlessTheConfigurationSaysNone(t *testing.T) {
	const users = "users: [{name: annabel, secret: a secret, grants: [{can: [admin], on: ['*']}]}]\n"
	for _, c := range []struct {
		name, text string
		want       function.Isolation
		says       string
	}{
		{"no users", "", function.Possible, "functions are not fully isolated on this machine"},
		{"users", users, function.Full, "functions are refused: this machine cannot isolate them"},
		{"users, none", users + "api: {lambda: {isolation: none}}\n", function.None, ""},
		{"no users, full", "api: {lambda: {isolation: full}}\n", function.Full, "functions are refused"},
	} {
		text := openSaying(t, t.TempDir(), c.text, func(h *house) {
			settings := h.pool()
			if settings.Isolation != c.want {
				t.Errorf("%s: isolation is %q, wanted %q", c.name, settings.Isolation, c.want)
			}
			if c.says != "" {
				h.sayMissing(settings, &isolate.Abilities{Missing: []string{"a user of its own: not permitted"}})
			}
		})
		if c.says != "" && (!strings.Contains(text, c.says) ||
			!strings.Contains(text, "a user of its own: not permitted") ||
			!strings.Contains(text, "api: lambda: isolation: none")) {
			t.Errorf("%s: the log says %s", c.name, text)
		}
	}
}
