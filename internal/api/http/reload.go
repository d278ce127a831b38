package http

import (
	"errors"
	"net/http"
)

// ReloadRequest has the server read its configuration again.
type ReloadRequest struct {
	DryRun bool `json:"dry_run,omitempty"` // tell what would change, and change nothing
}

// Reloaded is what reading the configuration again has changed, or would change.
type Reloaded struct {
	Changed      []string `json:"changed"`       // parts of the configuration that are taken
	Stopped      []string `json:"stopped"`       // components of pipelines that run no more as they were
	Started      []string `json:"started"`       // components that run anew
	NeedsRestart []string `json:"needs_restart"` // settings that a restart takes
	DryRun       bool     `json:"dry_run,omitempty"`
}

// ErrNoReload: there is nothing to read again, as Options.Reload tells it.
var ErrNoReload = errors.New("this server was started without a configuration")

// reload reads the configuration again. What is wrong with it is told to who asks: he may do everything.
func reload(c *call) error {
	if err := c.overAll("have the configuration be read again"); err != nil {
		return err
	}
	var request ReloadRequest
	if err := c.decode(&request, true); err != nil {
		return err
	}
	r, err := c.d.reload(request.DryRun)
	switch {
	case errors.Is(err, ErrNoReload):
		return noReload.problem(err.Error())
	case err != nil:
		return badConfiguration.problem(err.Error())
	}
	if !request.DryRun {
		c.did("reload", "", nil)
	}
	r.DryRun = request.DryRun
	for _, names := range []*[]string{&r.Changed, &r.Stopped, &r.Started, &r.NeedsRestart} {
		*names = append([]string{}, *names...) // a list in JSON, also when it is empty
	}
	return c.w.json(http.StatusOK, r)
}
