package lambda

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/function"
)

// eventsIn is what a client says of events. nil: it does not say.
type eventsIn struct {
	MaximumRetryAttempts     *int
	MaximumEventAgeInSeconds *int
	DestinationConfig        *struct {
		OnSuccess, OnFailure struct{ Destination string }
	}
}

func (in *eventsIn) apply(e *deployment.Events) {
	if in.MaximumRetryAttempts != nil {
		e.Retries = in.MaximumRetryAttempts
	}
	if in.MaximumEventAgeInSeconds != nil {
		e.MaxAge = time.Duration(*in.MaximumEventAgeInSeconds) * time.Second
	}
	if d := in.DestinationConfig; d != nil {
		e.OnSuccess, e.OnFailure = d.OnSuccess.Destination, d.OnFailure.Destination
	}
	e.Changed = time.Now()
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
	out := map[string]any{"FunctionArn": c.d.functions.ARN(c.function, qualifier),
		"LastModified": float64(e.Changed.UnixMilli()) / 1000, "DestinationConfig": destinations}
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

func (c *call) noEvents() *Error {
	return notFound("The function " + c.d.functions.ARN(c.function, c.eventsKey()) +
		" doesn't have an EventInvokeConfig")
}

func (c *call) getEvents() error {
	f, err := c.d.functions.Get(c.function)
	if err != nil {
		return c.noEvents()
	}
	e, ok := f.Events[c.eventsKey()]
	if !ok {
		return c.noEvents()
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
	if fresh && in.MaximumRetryAttempts == nil && in.MaximumEventAgeInSeconds == nil && in.DestinationConfig == nil {
		return wrongValue("You must specify at least one of error handling or destination setting.")
	}
	if err := c.destinations(&in); err != nil {
		return err
	}
	if _, _, err := c.d.functions.Version(c.function, c.qualifier); err != nil {
		return missing(err, noFunction2)
	}
	var e deployment.Events
	_, err := c.d.functions.Change(c.ctx(), c.function, func(f *deployment.Function) error {
		if !fresh {
			have, ok := f.Events[c.eventsKey()]
			if !ok {
				return c.noEvents()
			}
			e = have
		}
		in.apply(&e)
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

// destinations refuses those that the service refuses, and those that the caller may not put into.
func (c *call) destinations(in *eventsIn) error {
	d := in.DestinationConfig
	if d == nil {
		return nil
	}
	for _, to := range []string{d.OnSuccess.Destination, d.OnFailure.Destination} {
		parts := strings.SplitN(to, ":", 6)
		switch {
		case to == "":
			continue
		case len(parts) < 6 || !slices.Contains([]string{"lambda", "sqs", "sns"}, parts[2]):
			return wrongValue("The provided destination config DestinationConfig(onSuccess=%s, onFailure=%s) is "+
				"invalid.",
				said("OnSuccess", d.OnSuccess.Destination), said("OnFailure", d.OnFailure.Destination))
		}
		if parts[2] == "lambda" {
			if err := c.destinationFunction(to); err != nil {
				return err
			}
		}
		if err := c.mayTarget(to); err != nil {
			return err
		}
	}
	return nil
}

// said is a destination as the service prints it.
func said(name, arn string) string {
	if arn == "" {
		return "null"
	}
	return name + "(destination=" + shortened(arn) + ")"
}

// destinationFunction refuses a function that is not there, and that whose events they are.
func (c *call) destinationFunction(arn string) error {
	name, qualifier, err := deployment.ParseName(arn)
	if err != nil {
		return err
	}
	if name == c.function {
		return wrongValue("You can't specify the function as a destination for itself.")
	}
	if _, _, err := c.d.functions.Version(name, qualifier); err != nil || c.seen(name) != nil {
		return wrongValue("The destination ARN %s is invalid.", shortened(arn))
	}
	return nil
}

func (c *call) deleteEvents() error {
	_, err := c.d.functions.Change(c.ctx(), c.function, func(f *deployment.Function) error {
		if _, ok := f.Events[c.eventsKey()]; !ok {
			return c.noEvents()
		}
		delete(f.Events, c.eventsKey())
		return nil
	})
	if err != nil {
		return missing(err, c.noEvents().Message)
	}
	c.send(http.StatusNoContent, "", nil)
	return nil
}

func (c *call) listEvents() error {
	f, err := c.d.functions.Get(c.function)
	if err != nil {
		return missing(err, noFunction2)
	}
	all := []entry{}
	for _, q := range sortedKeys(f.Events) {
		all = append(all, func() any { return c.describeEvents(q, f.Events[q]) })
	}
	return c.answerPage("FunctionEventInvokeConfigs", all)
}
