package console

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
)

// phones are the sinks that remember dead devices.
type phones struct{ Sinks []httpdoor.DeadSink }

func push(ctx context.Context, a *asking) (any, error) {
	sinks, err := a.door.DeadSinks(ctx)
	return &phones{sinks}, err
}

func pushSink(ctx context.Context, a *asking) (any, error) {
	t, err := a.door.DeadTotals(ctx, a.r.PathValue("sink"), httpdoor.DeadSelection{})
	if len(t.Totals) > listRows {
		for _, more := range t.Totals[listRows:] {
			t.Others += more.Devices
		}
		t.Totals = t.Totals[:listRows]
	}
	return &t, err
}

// PushPath is the path of the page of a sink's dead devices below Base.
func (v *view) PushPath(sink string) string { return "push/" + segment(sink) }

// selection is which devices a form means.
func (a *asking) selection() (httpdoor.DeadSelection, error) {
	form := a.r.PostForm
	s := httpdoor.DeadSelection{App: form.Get("app"), Of: form.Get("of"), Reason: form.Get("reason"),
		Token: strings.TrimSpace(form.Get("token"))}
	if text := form.Get("since"); text != "" {
		day, err := time.Parse(time.DateOnly, text)
		if err != nil {
			return s, &httpdoor.Problem{Title: a.T("%q is no day", text), Status: http.StatusBadRequest}
		}
		s.Since = &day
	}
	return s, nil
}

// shownDeaths bounds the deaths of one device that a line tells.
const shownDeaths = 3

// findDevice tells whether a device is dead. It is an act, so that no address has the token.
func findDevice(ctx context.Context, a *asking) (outcome, error) {
	sink := a.r.PathValue("sink")
	s, err := a.selection()
	if err != nil {
		return outcome{}, err
	}
	found, err := a.door.FindDead(ctx, sink, s)
	if err != nil {
		return outcome{}, err
	}
	said := a.T("The device with that token is not dead.")
	if found.Dead {
		said = a.T("The device with that token is dead:")
		for _, d := range found.Deaths[:min(len(found.Deaths), shownDeaths)] {
			words := slices.DeleteFunc([]string{d.App, d.Of, d.Reason}, func(w string) bool { return w == "" })
			said += " " + strings.Join(words, " ") + " (" + a.Clock(d.Since) + ")"
		}
	}
	return outcome{to: a.PushPath(sink), said: said}, nil
}

// revive takes deaths back, or counts those that it would.
func revive(ctx context.Context, a *asking) (outcome, error) {
	sink := a.r.PathValue("sink")
	s, err := a.selection()
	if err != nil {
		return outcome{}, err
	}
	count := a.r.PostForm.Get("count") != ""
	did, err := a.door.ReviveDead(ctx, sink, httpdoor.ReviveRequest{DeadSelection: s,
		All: a.r.PostForm.Get("all") != "", DryRun: count})
	if err != nil {
		return outcome{}, err
	}
	said := a.T("Taken for alive again: %s.", a.Count(did.Revived))
	if count {
		said = a.T("They would be: %s.", a.Count(did.Revived))
	}
	return outcome{to: a.PushPath(sink), said: said}, nil
}
