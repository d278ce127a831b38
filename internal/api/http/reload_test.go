package http_test

import (
	"errors"
	"testing"

	door "github.com/hikyaku/hikyaku/internal/api/http"
)

func TestAReloadIsToldWhole(t *testing.T) {
	var asked []bool
	var fails error
	r := start(t, settings{reload: func(only bool) (door.Reloaded, error) {
		asked = append(asked, only)
		return door.Reloaded{Stopped: []string{"a"}, Started: []string{"a", "b"}}, fails
	}})
	const want = `{"changed":[],"stopped":["a"],"started":["a","b"],"needs_restart":[],"dry_run":true}` + "\n"
	if got := string(r.want(200, "POST", "/-/reload", `{"dry_run": true}`).body); got != want {
		t.Errorf("%s", got)
	}
	r.want(200, "POST", "/-/reload", `{}`)
	if len(asked) != 2 || !asked[0] || asked[1] {
		t.Errorf("asked %v", asked)
	}
	fails = errors.New("a.yaml:1:2: not so")
	if p := r.refused("bad-configuration", "POST", "/-/reload", `{}`); p.Detail != fails.Error() {
		t.Errorf("%+v", p)
	}
	start(t, settings{}).refused("no-configuration", "POST", "/-/reload", `{}`)
}
