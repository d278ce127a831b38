package fcm

import (
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
)

func TestTheMetricsTellWhatTheSinkDoes(t *testing.T) {
	f := newFar(t, nil)
	c := Config{Projects: map[string]Project{"news": f.project}}
	s := pushtest.StartWatched[*Sink](t, New, c, component.Env{Name: "phones", Store: pushtest.Store(t)})
	pushtest.Deliver1(t, s, to(device(0)))
	f.refuse(t, "UNREGISTERED", 0)
	for range 2 {
		pushtest.Deliver1(t, s, to(device(1)))
	}
	got := s.Figures()
	if got.Refused["UNREGISTERED"] != 1 || got.Refused[countDead] != 1 || got.Dead != 1 || got.Client.Responses != 2 ||
		got.Client.Connections != 1 || got.Client.StreamsLimit == 0 {
		t.Errorf("%+v", got)
	}
	if p := got.Apps["news"]; p.Paused || p.TokenAge <= 0 || p.TokenAge > time.Hour {
		t.Errorf("%+v", p)
	}
	f.refuse(t, "QUOTA_EXCEEDED", 30)
	for n := range 20 { // of several devices: it is the project's quota
		pushtest.Deliver1(t, s, to(device(10+n)))
	}
	if got := s.Figures(); !got.Apps["news"].Paused || got.Resting == 0 {
		t.Errorf("%+v", got)
	}
}
