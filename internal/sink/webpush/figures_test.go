package webpush

import (
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	sandbox "github.com/hikyaku/hikyaku/internal/sandbox/push/webpush"
)

func TestTheMetricsTellWhatTheSinkDoes(t *testing.T) {
	one := newFar(t, nil)
	other := newFar(t, func(c *sandbox.Config) { c.Authority = one.Authority })
	c := Config{
		KeyFile: one.key, Subject: "mailto:push@example.com", CAFile: one.ca, Services: []string{"*"}, MaxServices: 1,
	}
	s := pushtest.StartWatched[*Sink](t, New, c, component.Env{Name: "browsers", Store: pushtest.Store(t)})
	gone := one.subscribe(t)
	one.Unsubscribe(gone.Endpoint)
	pushtest.Deliver1(t, s, to(one.subscribe(t)))
	for range 2 {
		pushtest.Deliver1(t, s, to(gone))
	}
	got := s.Figures()
	if got.Refused["answer 410"] != 1 || got.Refused[countDead] != 1 || got.Dead != 1 || got.Client.Responses != 2 ||
		got.Client.Connections != 1 {
		t.Errorf("%+v", got)
	}
	if app := got.Apps[one.URL()]; app.Paused || app.TokenAge <= 0 || app.TokenAge > time.Hour {
		t.Errorf("%+v", got.Apps)
	}
	pushtest.Deliver1(t, s, to(other.subscribe(t))) // takes the place of the first
	if got := s.Figures(); got.Client.Responses != 3 || len(got.Apps) != 1 {
		t.Errorf("after another push service: %+v", got)
	}
}
