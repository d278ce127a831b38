package http

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/push/dead"
)

// overAll wants admin on everything, or without users an account that the door takes for the operator's. what is for
// the error: "may not …".
func (c *call) overAll(what string) error {
	switch {
	case c.d.users.AllowedAll(c.user, access.Admin):
		return nil
	case !c.d.users.Any():
		return c.sameAccount()
	}
	return forbidden.problemf("user %s may not %s", c.user.Name, what).
		withHint(`grant it in the configuration: users: … grants: [{can: [admin], on: ["*"]}]`)
}

// deadOf is what the sink of the path remembers.
func (c *call) deadOf() (sink string, r *dead.Registry, err error) {
	if err := c.overAll("see or revive dead devices"); err != nil {
		return "", nil, err
	}
	sink = c.r.PathValue("sink")
	all := c.d.dead()
	if r = all[sink]; r != nil {
		return sink, r, nil
	}
	hint := "this server has no sink that pushes: those of type apns, fcm, hms, webpush and wns remember dead devices"
	if names := slices.Sorted(maps.Keys(all)); len(names) > 0 {
		hint = "sinks that push here: " + strings.Join(names, ", ")
	}
	return "", nil, noSink.problemf("there is no sink %.100q that remembers dead devices", sink).withHint(hint)
}

// deadProblem makes a problem of an error of package dead.
func deadProblem(err error) error {
	switch {
	case errors.Is(err, dead.ErrNotOpen):
		return notReady.problem(err.Error()).withHint("it starts with the pipelines: see the log of the server")
	case errors.Is(err, dead.ErrNoSelection):
		return badRequest.problem(err.Error()).withHint("name a token, an app, a reason or a time, or say all: true")
	}
	return err
}

func listDead(c *call) error {
	if err := c.overAll("see or revive dead devices"); err != nil {
		return err
	}
	if err := c.only(); err != nil {
		return err
	}
	list := deadSinkList{Sinks: []DeadSink{}}
	all := c.d.dead()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		r := all[name]
		list.Sinks = append(list.Sinks, DeadSink{Sink: name, Platform: r.Platform(), Devices: r.Len()})
	}
	return c.w.json(http.StatusOK, list)
}

func showDead(c *call) error {
	sink, r, err := c.deadOf()
	if err != nil {
		return err
	}
	if err := c.only("app", "of", "reason", "since"); err != nil {
		return err
	}
	q := c.r.URL.Query()
	s := dead.Selection{App: q.Get("app"), Of: q.Get("of"), Reason: q.Get("reason")}
	if text := q.Get("since"); text != "" {
		if s.Since, err = time.Parse(time.RFC3339, text); err != nil {
			return badRequest.problemf("since=%.40s is no time", text).withHint("write it as 2006-01-02T15:04:05Z")
		}
	}
	totals, others, err := r.Totals(s)
	if err != nil {
		return deadProblem(err)
	}
	answer := DeadTotals{Sink: sink, Totals: make([]DeadTotal, len(totals)), Others: others}
	for i, t := range totals {
		answer.Totals[i] = DeadTotal{Cause: t.Cause, Day: t.Day.Format(time.DateOnly), Devices: t.Devices}
	}
	return c.w.json(http.StatusOK, answer)
}

// findDead is a POST: tokens are kept out of addresses, which are logged on the way.
func findDead(c *call) error {
	sink, r, err := c.deadOf()
	if err != nil {
		return err
	}
	var request DeadSelection
	if err := c.decode(&request, true); err != nil {
		return err
	}
	if request.Token == "" {
		return badRequest.problem("it is not said which token is meant").withHint(`send {"app": …, "token": …}`)
	}
	found, err := r.Find(request.selection())
	if err != nil {
		return deadProblem(err)
	}
	answer := DeadDevice{Sink: sink, Dead: len(found) > 0, Deaths: make([]DeadDeath, len(found))}
	for i, f := range found {
		answer.Deaths[i] = DeadDeath{Cause: f.Cause, Since: f.Since}
	}
	return c.w.json(http.StatusOK, answer)
}

func reviveDead(c *call) error {
	sink, r, err := c.deadOf()
	if err != nil {
		return err
	}
	var request ReviveRequest
	if err := c.decode(&request, true); err != nil {
		return err
	}
	s := request.selection()
	s.All = request.All
	n, err := r.Revive(c.ctx(), s, request.DryRun)
	if !request.DryRun && (err == nil || n > 0) {
		c.did("reviveDead", sink, map[string]int{"revived": n})
	}
	if err != nil && n > 0 {
		err = fmt.Errorf("%w; %d were revived before that", err, n)
	}
	if err != nil {
		return deadProblem(err)
	}
	return c.w.json(http.StatusOK, Revived{Revived: n, DryRun: request.DryRun})
}
