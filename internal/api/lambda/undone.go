package lambda

import (
	"encoding/json"
	"net/http"

	"github.com/hikyaku/hikyaku/internal/api/lambda/shape"
)

// Members of the service's model that nothing here stands behind. Who sends one counts on it, so that the call is
// refused instead of done without it: a function whose tenants were to be apart must not have them together.

// undoneIn are those of a function's settings.
type undoneIn struct {
	TenancyConfig, CapacityProviderConfig, DurableConfig, RuntimeConfig, AcceleratorConfig json.RawMessage
	ImageConfig                                                                            map[string]json.RawMessage
}

func (in *undoneIn) check() error {
	for _, m := range []struct {
		value     json.RawMessage
		name, why string
	}{
		{in.TenancyConfig, "TenancyConfig", "instances are not kept apart by tenants: make a function for each"},
		{in.CapacityProviderConfig, "CapacityProviderConfig", "there are no capacity providers: leave it out"},
		{in.DurableConfig, "DurableConfig", "there are no durable executions: leave it out"},
		{in.RuntimeConfig, "RuntimeConfig", "runtimes are those of this machine: name one as Runtime"},
		{in.AcceleratorConfig, "AcceleratorConfig", "instances have no accelerators: leave it out"},
	} {
		if given(m.value) {
			return unsupported("%s: %s", m.name, m.why)
		}
	}
	if len(in.ImageConfig) > 0 {
		return unsupported("ImageConfig: it is for container images, and a function is an archive here: leave it out")
	}
	return nil
}

// published refuses the one value that PublishTo has.
func published(to string) error {
	if to == "" {
		return nil
	}
	return unsupported("PublishTo: it is for functions of capacity providers; PublishVersion and Publish make a version")
}

var (
	executionName = shape.String(1, 64, shape.Form(`[a-zA-Z0-9-_]+`))
	tenantID      = shape.String(1, 256, shape.Form(`[a-zA-Z0-9\._:\/=+\-@ ]+`))
)

// undone refuses an invocation for a tenant or of a durable execution.
func undone(h http.Header) error {
	for _, m := range []struct {
		header, name string
		form         *shape.Shape
		why          string
	}{
		{"X-Amz-Tenant-Id", "TenantId", tenantID, "functions have no tenancy configuration: leave it out"},
		{"X-Amz-Durable-Execution-Name", "DurableExecutionName", executionName, "there are no durable executions"},
	} {
		value := h.Get(m.header)
		if value == "" {
			continue
		}
		var p shape.Problems
		p.Text(m.form, m.name, value)
		if err := p.Err(); err != nil {
			return formError(err)
		}
		return unsupported("%s: %s", m.name, m.why)
	}
	return nil
}
