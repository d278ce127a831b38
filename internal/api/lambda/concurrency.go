package lambda

import (
	"net/http"
	"time"

	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/function"
)

func (c *call) getConcurrency() error {
	f, err := c.d.functions.Get(c.function)
	if err != nil {
		return err
	}
	out := map[string]int{}
	if f.Reserved != nil {
		out["ReservedConcurrentExecutions"] = *f.Reserved
	}
	return c.answer(http.StatusOK, out)
}

func (c *call) putConcurrency() error {
	var in struct {
		N *int `json:"ReservedConcurrentExecutions"`
	}
	if err := c.decode(&in); err != nil {
		return err
	}
	if in.N == nil || *in.N < 0 {
		return wrongValue("ReservedConcurrentExecutions has to be a number from 0 on")
	}
	if _, err := c.d.functions.Change(c.ctx(), c.function, func(f *deployment.Function) error { f.Reserved = in.N; return nil }); err != nil {
		return err
	}
	return c.answer(http.StatusOK, map[string]int{"ReservedConcurrentExecutions": *in.N})
}

func (c *call) deleteConcurrency() error {
	if _, err := c.d.functions.Change(c.ctx(), c.function, func(f *deployment.Function) error { f.Reserved = nil; return nil }); err != nil {
		return err
	}
	c.send(http.StatusNoContent, "", nil)
	return nil
}

// describeProvisioned is what was asked for and what there is.
func (c *call) describeProvisioned(f *deployment.Function, qualifier string) map[string]any {
	want := f.Provisioned[qualifier]
	have := 0
	_, v, err := c.d.functions.Version(f.Name, qualifier)
	if err == nil {
		if stats, ok := c.d.functions.Deployed(f.Name, v.Number); ok {
			for _, i := range stats.Instances {
				if i.State != "starting" && i.State != "stopping" {
					have++
				}
			}
		}
	}
	have = min(have, want)
	status := "IN_PROGRESS"
	if have == want {
		status = "READY"
	}
	return map[string]any{
		"FunctionArn": c.d.functions.ARN(f.Name, qualifier), "RequestedProvisionedConcurrentExecutions": want, "AvailableProvisionedConcurrentExecutions": have,
		"AllocatedProvisionedConcurrentExecutions": have, "Status": status, "LastModified": f.Latest.Changed.UTC().Format("2006-01-02T15:04:05+0000"),
	}
}

func (c *call) getProvisioned() error {
	f, err := c.d.functions.Get(c.function)
	if err != nil {
		return err
	}
	if c.r.URL.Query().Get("List") == "ALL" {
		all := []map[string]any{}
		for _, q := range sortedKeys(f.Provisioned) {
			all = append(all, c.describeProvisioned(f, q))
		}
		page, next, err := pages(c, all)
		if err != nil {
			return err
		}
		return c.answer(http.StatusOK, map[string]any{"ProvisionedConcurrencyConfigs": page, "NextMarker": next})
	}
	if f.Provisioned[c.qualifier] == 0 {
		return &Error{Name: "ProvisionedConcurrencyConfigNotFoundException", Status: http.StatusNotFound, Message: "No Provisioned Concurrency Config found for this function"}
	}
	return c.answer(http.StatusOK, c.describeProvisioned(f, c.qualifier))
}

func (c *call) putProvisioned() error {
	var in struct {
		N int `json:"ProvisionedConcurrentExecutions"`
	}
	if err := c.decode(&in); err != nil {
		return err
	}
	if in.N < 1 {
		return wrongValue("ProvisionedConcurrentExecutions is a number from 1 on")
	}
	if c.qualifier == "" || c.qualifier == function.Latest {
		return wrongValue("Provisioned Concurrency Configs cannot be applied to unpublished function versions.")
	}
	if _, _, err := c.d.functions.Version(c.function, c.qualifier); err != nil {
		return err
	}
	f, err := c.d.functions.Change(c.ctx(), c.function, func(f *deployment.Function) error {
		if f.Provisioned == nil {
			f.Provisioned = map[string]int{}
		}
		f.Provisioned[c.qualifier] = in.N
		return nil
	})
	if err != nil {
		return err
	}
	return c.answer(http.StatusAccepted, c.describeProvisioned(f, c.qualifier))
}

func (c *call) deleteProvisioned() error {
	if _, err := c.d.functions.Change(c.ctx(), c.function, func(f *deployment.Function) error { delete(f.Provisioned, c.qualifier); return nil }); err != nil {
		return err
	}
	c.send(http.StatusNoContent, "", nil)
	return nil
}

// eventsIn is what a client says of events. nil: it does not say.
type eventsIn struct {
	MaximumRetryAttempts     *int
	MaximumEventAgeInSeconds *int
	DestinationConfig        *struct {
		OnSuccess, OnFailure struct{ Destination string }
	}
}

func (in *eventsIn) apply(e *deployment.Events) error {
	if in.MaximumRetryAttempts != nil {
		if n := *in.MaximumRetryAttempts; n < 0 || n > 2 {
			return wrongValue("MaximumRetryAttempts is a number from 0 to 2")
		}
		e.Retries = in.MaximumRetryAttempts
	}
	if in.MaximumEventAgeInSeconds != nil {
		if n := *in.MaximumEventAgeInSeconds; n < 60 || n > 21600 {
			return wrongValue("MaximumEventAgeInSeconds is a number from 60 to 21600")
		}
		e.MaxAge = time.Duration(*in.MaximumEventAgeInSeconds) * time.Second
	}
	if d := in.DestinationConfig; d != nil {
		e.OnSuccess, e.OnFailure = d.OnSuccess.Destination, d.OnFailure.Destination
	}
	e.Changed = time.Now()
	return nil
}

func (c *call) describeEvents(qualifier string, e deployment.Events) map[string]any {
	if qualifier == "" {
		qualifier = function.Latest
	}
	destinations := map[string]any{"OnSuccess": map[string]string{}, "OnFailure": map[string]string{}}
	for name, to := range map[string]string{"OnSuccess": e.OnSuccess, "OnFailure": e.OnFailure} {
		if to != "" {
			destinations[name] = map[string]string{"Destination": to}
		}
	}
	out := map[string]any{"FunctionArn": c.d.functions.ARN(c.function, qualifier), "LastModified": float64(e.Changed.UnixMilli()) / 1000, "DestinationConfig": destinations}
	if e.Retries != nil {
		out["MaximumRetryAttempts"] = *e.Retries
	}
	if e.MaxAge != 0 {
		out["MaximumEventAgeInSeconds"] = int(e.MaxAge / time.Second)
	}
	return out
}

func (c *call) eventsKey() string {
	if c.qualifier == "" {
		return function.Latest
	}
	return c.qualifier
}

func (c *call) getEvents() error {
	f, err := c.d.functions.Get(c.function)
	if err != nil {
		return err
	}
	e, ok := f.Events[c.eventsKey()]
	if !ok {
		return notFound("The function " + c.d.functions.ARN(c.function, c.eventsKey()) + " doesn't have an EventInvokeConfig")
	}
	return c.answer(http.StatusOK, c.describeEvents(c.eventsKey(), e))
}

func (c *call) putEvents() error    { return c.setEvents(true) }
func (c *call) updateEvents() error { return c.setEvents(false) }

func (c *call) setEvents(fresh bool) error {
	var in eventsIn
	if err := c.decode(&in); err != nil {
		return err
	}
	if d := in.DestinationConfig; d != nil {
		for _, to := range []string{d.OnSuccess.Destination, d.OnFailure.Destination} {
			if err := c.mayTarget(to); err != nil {
				return err
			}
		}
	}
	if _, _, err := c.d.functions.Version(c.function, c.qualifier); err != nil {
		return err
	}
	var e deployment.Events
	_, err := c.d.functions.Change(c.ctx(), c.function, func(f *deployment.Function) error {
		if !fresh {
			e = f.Events[c.eventsKey()]
		}
		if err := in.apply(&e); err != nil {
			return err
		}
		if f.Events == nil {
			f.Events = map[string]deployment.Events{}
		}
		f.Events[c.eventsKey()] = e
		return nil
	})
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, c.describeEvents(c.eventsKey(), e))
}

func (c *call) deleteEvents() error {
	if _, err := c.d.functions.Change(c.ctx(), c.function, func(f *deployment.Function) error { delete(f.Events, c.eventsKey()); return nil }); err != nil {
		return err
	}
	c.send(http.StatusNoContent, "", nil)
	return nil
}

func (c *call) listEvents() error {
	f, err := c.d.functions.Get(c.function)
	if err != nil {
		return err
	}
	all := []map[string]any{}
	for _, q := range sortedKeys(f.Events) {
		all = append(all, c.describeEvents(q, f.Events[q]))
	}
	page, next, err := pages(c, all)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, map[string]any{"FunctionEventInvokeConfigs": page, "NextMarker": next})
}
