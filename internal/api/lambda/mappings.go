package lambda

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// mappingIn is what a client says of a mapping. nil: it does not say.
type mappingIn struct {
	EventSourceArn                 string
	FunctionName                   *string
	Enabled                        *bool
	BatchSize                      *int
	MaximumBatchingWindowInSeconds *int
	FunctionResponseTypes          *[]string
	ScalingConfig                  *struct{ MaximumConcurrency *int }
	FilterCriteria                 *filtersIn
	Tags                           map[string]string // when it is made

	MetricsConfig, KMSKeyArn, ProvisionedPollerConfig json.RawMessage
	streamsIn
}

// filtersIn are the filters of a mapping, in calls and answers.
type filtersIn struct{ Filters []filterIn }

type filterIn struct {
	Pattern *string `json:",omitempty"`
}

// maxPattern is how many characters a pattern has at most.
const maxPattern = 4096

func (in *filtersIn) apply(m *deployment.Mapping) error {
	m.Filters = nil
	for _, f := range in.Filters {
		if f.Pattern == nil {
			return wrongValue("Invalid filter pattern definition. A filter has a pattern")
		}
		m.Filters = append(m.Filters, *f.Pattern)
	}
	return nil
}

func (c *call) applyMapping(in *mappingIn, m *deployment.Mapping) error {
	if err := in.streamsIn.check(); err != nil {
		return err
	}
	in.keep(m)
	if in.FilterCriteria != nil {
		if err := in.FilterCriteria.apply(m); err != nil {
			return err
		}
	}
	if in.FunctionName != nil {
		name, qualifier, err := c.parsedName(*in.FunctionName, "")
		if err != nil {
			return err
		}
		m.Function, m.Qualifier = name, qualifier
	}
	if err := c.may(access.Admin, m.Function); err != nil {
		return err
	}
	if in.Enabled != nil {
		m.Off = !*in.Enabled
	}
	if in.BatchSize != nil {
		m.Batch = *in.BatchSize
	}
	if in.MaximumBatchingWindowInSeconds != nil {
		m.Window = time.Duration(*in.MaximumBatchingWindowInSeconds) * time.Second
	}
	if in.FunctionResponseTypes != nil {
		m.PartialFailures = false
		for _, t := range *in.FunctionResponseTypes {
			m.PartialFailures = m.PartialFailures || t == "ReportBatchItemFailures"
		}
	}
	if in.ScalingConfig != nil {
		m.MaxConcurrency = 0
		if n := in.ScalingConfig.MaximumConcurrency; n != nil {
			m.MaxConcurrency = *n
		}
	}
	return nil
}

func (c *call) createMapping() error {
	var in mappingIn
	if err := c.decode(&in); err != nil {
		return err
	}
	if in.EventSourceArn == "" {
		return wrongValue("Unrecognized event source.")
	}
	parts := strings.SplitN(in.EventSourceArn, ":", 6)
	if len(parts) != 6 || parts[2] != "sqs" {
		return unsupported("event source %q: a source is a queue, named by its ARN (arn:aws:sqs:REGION:ACCOUNT:NAME)",
			shortened(in.EventSourceArn))
	}
	n := queue.Name{Namespace: parts[4], Name: parts[5]}
	if err := n.Check(); err != nil {
		return wrongValue("%v", err)
	}
	n = c.d.store.Resolve(n)
	if err := c.mayQueue(access.Take, n); err != nil {
		return err
	}
	m := deployment.Mapping{Queue: n.String(), SourceARN: in.EventSourceArn, Tags: in.Tags}
	if err := checkTags(in.Tags); err != nil {
		return err
	}
	if err := c.applyMapping(&in, &m); err != nil {
		return err
	}
	if _, _, err := c.d.functions.Version(m.Function, m.Qualifier); err != nil {
		return wrongValue(noFunction)
	}
	m, err := c.d.functions.Map(c.ctx(), m)
	if err != nil {
		return err
	}
	c.rest = m.ID
	return c.answer(http.StatusAccepted, c.describeMapping(m, ""))
}

func (c *call) describeMapping(m deployment.Mapping, state string) map[string]any {
	if state == "" {
		state = "Enabled"
		if m.Off {
			state = "Disabled"
		}
	}
	out := map[string]any{
		"UUID": m.ID, "BatchSize": m.Batch, "MaximumBatchingWindowInSeconds": int(m.Window / time.Second),
		"EventSourceArn": m.SourceARN,
		"FunctionArn":    c.d.functions.ARN(m.Function, m.Qualifier),
		"LastModified":   float64(m.Changed.UnixMilli()) / 1000, "State": state,
		"StateTransitionReason": "USER_INITIATED", "FunctionResponseTypes": []string{},
		"EventSourceMappingArn": "arn:aws:lambda:" + c.d.functions.Region() + ":" + c.d.functions.Account() +
			":event-source-mapping:" + m.ID,
	}
	if m.PartialFailures {
		out["FunctionResponseTypes"] = []string{"ReportBatchItemFailures"}
	}
	if len(m.Filters) > 0 {
		var f filtersIn
		for _, text := range m.Filters {
			f.Filters = append(f.Filters, filterIn{&text})
		}
		out["FilterCriteria"] = f
	}
	for name, value := range m.Extra {
		out[name] = value
	}
	if said := m.Extra["ProvisionedPollerConfig"]; said != nil {
		out["ProvisionedPollerConfig"] = whole(said, map[string]any{"MinimumPollers": 2, "MaximumPollers": 200})
	}
	if m.MaxConcurrency > 0 {
		out["ScalingConfig"] = map[string]int{"MaximumConcurrency": m.MaxConcurrency}
	}
	return out
}

// theMapping finds the mapping that the path names, if the caller may do that with its function.
func (c *call) theMapping(change bool) (deployment.Mapping, error) {
	m, err := c.d.functions.Mapping(c.rest)
	if err != nil {
		return m, err
	}
	if change {
		return m, c.may(access.Admin, m.Function)
	}
	return m, c.seen(m.Function)
}

func (c *call) getMapping() error {
	m, err := c.theMapping(false)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, c.describeMapping(m, ""))
}

func (c *call) updateMapping() error {
	m, err := c.theMapping(true)
	if err != nil {
		return err
	}
	var in mappingIn
	if err := c.decode(&in); err != nil {
		return err
	}
	if err := c.applyMapping(&in, &m); err != nil {
		return err
	}
	if m, err = c.d.functions.Map(c.ctx(), m); err != nil {
		return err
	}
	return c.answer(http.StatusAccepted, c.describeMapping(m, ""))
}

func (c *call) deleteMapping() error {
	if _, err := c.theMapping(true); err != nil {
		return err
	}
	m, err := c.d.functions.Unmap(c.ctx(), c.rest)
	if err != nil {
		return err
	}
	return c.answer(http.StatusAccepted, c.describeMapping(m, "Deleting"))
}

func (c *call) listMappings() error {
	q := c.r.URL.Query()
	name, qualifier := "", ""
	if text := q.Get("FunctionName"); text != "" {
		var err error
		if name, qualifier, err = deployment.ParseName(text); err != nil {
			return err
		}
	}
	all := []entry{}
	for _, m := range c.d.functions.Mappings() {
		if (name == "" || m.Function == name) && (qualifier == "" || m.Qualifier == qualifier) &&
			(q.Get("EventSourceArn") == "" || m.SourceARN == q.Get("EventSourceArn")) && c.seen(m.Function) == nil {
			all = append(all, func() any { return c.describeMapping(m, "") })
		}
	}
	return c.answerPage("EventSourceMappings", all)
}
