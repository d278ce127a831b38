package apns

import (
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

func TestTheMetricsTellWhatTheSinkDoes(t *testing.T) {
	f := newFar(t, nil)
	devices := []farend.Device{
		{Tokens: []string{device(1)}, Faults: refusing("Unregistered", 0).Faults},
		{Tokens: []string{device(2)}, Faults: refusing("TooManyRequests", 0).Faults},
	}
	f.behave(t, farend.Behaviour{Devices: devices})
	c := Config{Apps: map[string]App{bundle: f.app}}
	s := pushtest.StartWatched[*Sink](t, New, c, component.Env{Name: "phones", Store: pushtest.Store(t)})
	for range 2 {
		pushtest.Deliver(t, s, to(device(0)), to(device(1)), to(device(2)))
	}
	got := s.Figures()
	seen := f.Counts().Requests
	if got.Refused["Unregistered"] != 1 || got.Refused[countDead] != 1 || got.Refused["TooManyRequests"] != 1 {
		t.Errorf("refused: %v", got.Refused)
	}
	if got.Dead != 1 || got.Resting != 1 || got.Client.Responses != uint64(seen) || got.Client.Connections != 1 ||
		got.Client.StreamsLimit == 0 || got.Client.StreamsUsed != 0 || got.Client.Waiting != 0 {
		t.Errorf("%+v after %d requests", got, seen)
	}
	if app := got.Apps[bundle]; app.Paused || app.TokenAge <= 0 || app.TokenAge > time.Hour {
		t.Errorf("%+v", app)
	}
	f.behave(t, refusing("InvalidProviderToken", 0))
	pushtest.Deliver1(t, s, to(device(0)))
	if !s.Figures().Apps[bundle].Paused {
		t.Error("its key is refused, and it is not paused")
	}
}
