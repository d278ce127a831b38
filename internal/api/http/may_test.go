package http_test

import (
	"slices"
	"testing"

	door "github.com/hikyaku/hikyaku/internal/api/http"
)

func TestEachUserIsToldWhatHeMayDoWithAName(t *testing.T) {
	r := start(t, settings{users: team})
	for user, can := range map[string][]string{"boss": {"put", "take", "admin"}, "keeper": {"admin"}, "nobody": {},
		"sender": {"put", "push"}} {
		r.secret = user + "-secret"
		var m door.May
		r.want(200, "GET", "/default/may/news_of_today", "").json(t, &m)
		if m.User != user || !slices.Equal(m.Can, can) {
			t.Errorf("%s is told %+v", user, m)
		}
	}
	r.secret = "keeper-secret"
	var m door.May
	if r.want(200, "GET", "/default/may/other", "").json(t, &m); len(m.Can) != 0 {
		t.Errorf("of another name %+v", m)
	}
	all := start(t, settings{})
	m = door.May{}
	all.want(200, "GET", "/default/may/news", "").json(t, &m)
	if want := []string{"put", "take", "admin", "push"}; m.User != "" || !slices.Equal(m.Can, want) {
		t.Errorf("without users %+v", m)
	}
}
