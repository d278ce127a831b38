package http_test

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/access"
)

func TestPushingByHandIsARightOfItsOwn(t *testing.T) {
	all := []access.Grant{{Can: []string{"put", "take", "admin"}, On: []string{"*"}}}
	r := start(t, settings{users: []access.User{
		{Name: "all", Secret: "all-secret-of-a-user", Grants: all},
		{Name: "sender", Secret: "sender-secret-of-a-user",
			Grants: []access.Grant{{Can: []string{"push"}, On: []string{"phones"}}}},
	}})
	const body = `{"attributes":{"token":"aa"},"json":{}}`
	r.refused("unauthenticated", "POST", "/default/push/phones", body)
	r.secret = "all-secret-of-a-user"
	r.refused("forbidden", "POST", "/default/push/phones", body)
	r.secret = "sender-secret-of-a-user"
	r.refused("forbidden", "POST", "/default/push/others", body)
	r.refused("forbidden", "POST", "/elsewhere/push/phones", body)
	if p := r.refused("no-such-sink", "POST", "/default/push/phones", body); p.Hint == "" {
		t.Errorf("%+v", p)
	}
}
